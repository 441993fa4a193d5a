"""How does one get a knowledge base?"""

from __future__ import annotations

from pathlib import Path

from everlog.errors import UsageError
from everlog.limits import Limits
from everlog.store.store import KnowledgeBase


def open(path: str | Path | None = None, *, engine: str = "columnar", limits: Limits | None = None) -> KnowledgeBase:
    """Open a knowledge base in memory.

    Args:
        path: The folder of a durable one; these do not exist yet, so only None is accepted.
        engine: "columnar" (fast) or "reference" (plain sets, for checking).
        limits: Bounds on each update.
    """
    if path is not None:
        raise UsageError("durable knowledge bases are not there yet", hint="call everlog.open() and load your files")
    return KnowledgeBase(engine=engine, limits=limits)

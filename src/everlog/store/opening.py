"""How does one get a knowledge base?"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from everlog.addresses import is_remote
from everlog.errors import NotFoundError, UsageError
from everlog.limits import Limits
from everlog.logs import logger
from everlog.maintenance.strategies import CHOOSE
from everlog.progress import Bar
from everlog.store.history import HistoryLimits
from everlog.store.store import KnowledgeBase
from everlog.tables.places import TablePlace, table_place
from everlog.tables.table_store import is_table_folder


def open(
    path: str | Path | None = None,
    *,
    engine: str = "columnar",
    limits: Limits | None = None,
    strategy: str = CHOOSE,
    rewrites: bool = True,
    history: HistoryLimits | None = None,
    coalesce: bool = False,
    read_only: bool = False,
    follow: bool = False,
    strict: bool = False,
    progress: bool = True,
    storage: Mapping[str, str] | None = None,
) -> KnowledgeBase:
    """Open a knowledge base, in memory or in a folder.

    Args:
        path: The folder of a durable one, made if it is not there; None keeps all in memory. One at a time may write to
            it: close it, or use it in a `with` block. The tables of a pipeline can be opened too, also in an object
            store: `s3://bucket/prefix`.
        engine: "columnar" (fast), "spark" (large), "reference" (plain sets, for checking), or "paged" for tables of a
            pipeline that are larger than memory.
        limits: Bounds on each update.
        strategy: How updates are maintained unless they say otherwise: "choose", "counting", "ranked", "bf",
            "bf-counting", "dred" or "rematerialise".
        rewrites: Evaluate transitive rules linearly; results are the same without, only slower.
        history: How many past versions can be asked for.
        coalesce: Updates that several threads make at the same time are applied as one, many times faster; each gets
            the change of all of them.
        read_only: Read what a folder keeps, while another process may be writing to it; `kb.refresh()` makes its newer
            updates.
        follow: The same, and stay up to date by itself.
        strict: Rules and Datalog queries that read a relation which no fact, rule or declaration knows are errors; a
            warning (`UnknownRelationWarning`) tells of them otherwise.
        progress: Whether opening, loading and updates that take longer than a second show a bar, on a terminal or in a
            notebook.
        storage: Options for an object store, as `deltalake` knows them, such as AWS_ENDPOINT_URL; the environment
            counts too.
    """
    kb = KnowledgeBase(
        engine=engine,
        limits=limits,
        strategy=strategy,
        rewrites=rewrites,
        history=history,
        coalesce=coalesce,
        strict=strict,
        progress=progress,
    )
    if path is None:
        return kb
    started = time.perf_counter()
    with Bar(f"opening {path}", shown=progress):
        place = _tables(path, storage)
        if place is not None:
            if follow:
                raise UsageError("tables are not followed by themselves", hint="open them again for newer versions")
            kb.open_tables(place, read_only=read_only)
        elif read_only or follow:
            kb.follow_folder(Path(path), by_itself=follow)
        else:
            kb.open_folder(Path(path))
    logger.info("opened %s at version %d in %.2f s", path, kb.version, time.perf_counter() - started)
    return kb


def _tables(path: str | Path, storage: Mapping[str, str] | None) -> TablePlace | None:
    """The place of tables, if that is what a path names; nothing else is kept in an object store."""
    place = table_place(path, storage)
    if is_table_folder(place):
        return place
    if is_remote(str(path)):
        raise NotFoundError(
            f"{place}: there are no tables there",
            hint='a pipeline makes them, and so does kb.export("s3://…", format="tables")',
        )
    return None

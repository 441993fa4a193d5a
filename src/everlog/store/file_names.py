"""What are the files called that relations are written to?

A name that file systems take is kept. Any other, such as an IRI, loses what they do not take and gets a few digits that
tell it apart from all others; so do names that differ only in upper and lower case, which some file systems take for
one.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

from everlog.logs import logger

_TAKEN = re.compile(r"\w[\w.-]*")
_LIKE_CHANGED = re.compile(r".*-[0-9a-f]{8}", re.DOTALL)  # names that a changed one might come to
_LONGEST = 80


def file_names(relations: Iterable[str]) -> dict[str, str]:
    """A name for the file of each relation, no two of them the same on any file system.

    >>> file_names(["path", "p", "p_"])
    {'path': 'path', 'p': 'p', 'p_': 'p_'}
    >>> file_names(["http://ex.org/a#b", "Edge", "edge"])
    {'http://ex.org/a#b': 'http_ex.org_a_b-49086f83', 'Edge': 'Edge-0f82fe72', 'edge': 'edge-a1cb100f'}
    """
    wanted = list(dict.fromkeys(relations))
    alike = Counter(name.casefold() for name in wanted)
    return {name: name if alike[name.casefold()] == 1 and _is_taken(name) else _changed(name) for name in wanted}


def tell_changed(relation: str, place: str, name: str) -> None:
    """Say that a relation's file does not have its name."""
    if name != relation:
        logger.warning("the relation %s is written to %s, since its name cannot be a file's", relation, place)


def _is_taken(name: str) -> bool:
    hidden = name.startswith("_")  # from Spark, and whoever else reads folders as it does
    return not hidden and len(name) <= _LONGEST and bool(_TAKEN.fullmatch(name)) and not _LIKE_CHANGED.fullmatch(name)


def _changed(name: str) -> str:
    safe = re.sub(r"[^\w.-]+", "_", name).strip("_.")[:_LONGEST] or "relation"
    return f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"

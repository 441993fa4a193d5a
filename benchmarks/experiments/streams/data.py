"""Which streams of updates are there? The marking paper's, synthetic and real, and those its authors ship."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.datasets.shared_data import shared_data
from everlog.store.updates import Update, read_updates

TRANS = "path(X, Y) :- edge(X, Y).   path(X, Z) :- edge(X, Y), path(Y, Z)."
SEQ = """
    edge1(X, Y) :- edge(X, Y).    edge2(X, Y) :- edge1(X, Y).
    edge3(X, Y) :- edge2(X, Y).   edge4(X, Y) :- edge3(X, Y).
"""
TRACK = """
    connection(A, B) :- nextInWay(X, _, A), nextInWay(X, _, B), A != B.
    connection(A, B) :- nextInWay(X, _, A), nextInWay(_, X, B), A != B.
    connection(A, B) :- nextInWay(_, X, A), nextInWay(X, _, B), A != B.
    connection(A, B) :- nextInWay(_, X, A), nextInWay(_, X, B), A != B.
    connection(A, C) :- connection(A, B), connection(B, C).
"""

SIZES = (10, 20, 30, 40, 50, 60, 70, 80)
SEEDS = (1, 2, 3)
_SHIPPED = re.compile(r"shipped_(?P<case>[a-z-]+)_(?P<kb>path|sequence)_run(?P<run>\d)_(?P<size>[\d-]+)\.jsonl\.gz")


@dataclass(frozen=True)
class Stream:
    """Updates from an empty state on, in order. Streams of one family and size differ by seed and stand in one line."""

    family: str  # trans, seq, track, or the kind of a shipped one
    size: int | str  # of its updates; for tracks the number of the track
    seed: int
    rules: str
    path: Path
    explicit: str  # the relation that is updated

    def updates(self) -> list[Update]:
        return list(read_updates(self.path))

    def expected_sizes(self) -> list[tuple[int, int]] | None:
        """After each update, how many facts are explicit and how many derived; None where nobody has counted."""
        found = _sizes(self.path.parent).get(self.path.name.split(".")[0])
        return [(explicit, derived) for explicit, derived in found] if found is not None else None


def paper_streams(sizes: tuple[int, ...] = SIZES, seeds: tuple[int, ...] = SEEDS) -> Iterator[Stream]:
    """Those of Tables 1 and 2."""
    for family, rules in (("trans", TRANS), ("seq", SEQ)):
        for size in sizes:
            for seed in seeds:
                path = shared_data("streams", f"{family}_size{size}_seed{seed}.jsonl.gz")
                yield Stream(family, size, seed, rules, path, "edge")


def tracks() -> Iterator[Stream]:
    """Those of Table 3."""
    for number in range(3):
        yield Stream("track", number, 1, TRACK, shared_data("tracks", f"track_{number}.jsonl"), "nextInWay")


def shipped_streams() -> Iterator[Stream]:
    """Those that come with the authors' programs; what differs only by seed comes together."""
    found = [_shipped(path) for path in shared_data("streams").glob("shipped_*.jsonl.gz")]
    yield from sorted(found, key=lambda stream: (stream.family, str(stream.size), stream.seed))


def _shipped(path: Path) -> Stream:
    found = _SHIPPED.fullmatch(path.name)
    assert found, f"a name of another form: {path.name}"
    rules = TRANS if found["kb"] == "path" else SEQ
    return Stream(f"{found['case']}, {found['kb']}", found["size"], int(found["run"]), rules, path, "edge")


@cache
def _sizes(folder: Path) -> dict[str, Any]:
    for name, reads in (("expected_sizes.json.gz", gzip.open), ("expected_sizes.json", open)):
        if (folder / name).exists():
            with reads(folder / name, "rt", encoding="utf-8") as file:
                sizes: dict[str, Any] = json.load(file)
                return sizes
    return {}

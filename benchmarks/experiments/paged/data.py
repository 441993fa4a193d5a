"""What is in the runs that are measured? LUBM's ten universities with all that its rules derive, once or several times.

A copy has ids of its own for people, courses and papers; classes and properties are the same for all. So rules derive
for each copy what they derive for the first, with the same numbers of derivations and ranks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import everlog
from benchmarks.datasets.shared_data import shared_data
from everlog.dictionary.hashed_ids import id_of_key
from everlog.engines.dumps import RelationDump
from everlog.engines.paged.dictionary import PagedDictionary
from everlog.engines.paged.engine import PagedEngine
from everlog.engines.paged.folder import RunFolder
from everlog.facts.terms import RDF_TYPE
from everlog.rules.syntax import TRIPLE
from everlog.store.state import Definitions

Ids = npt.NDArray[np.int64]
_PROGRAM = Path(__file__).resolve().parents[2] / "programs" / "lubm.dl"
_APART = 0x5851F42D4C957F28  # between the ids of two copies; its last three bits are zero: they are a term's kind


class Universities(NamedTuple):
    """Facts, explicit and derived, with hashed ids, and the program they follow from."""

    dumps: list[RelationDump]
    definitions: Definitions
    terms: list[tuple[int, str]]

    @property
    def facts(self) -> int:
        return sum(len(dump.facts) for dump in self.dumps)


def universities(*, quick: bool) -> Universities:
    """Derive everything once, in process."""
    rules = re.sub(r"^@import.*$", "", _PROGRAM.read_text(encoding="utf-8"), flags=re.MULTILINE)
    kb = everlog.open()
    kb.load(shared_data("lubm", "LUBM1.nt.gz" if quick else "LUBM10.nt.gz"))
    kb.add_rules(rules)
    state = kb.state()
    keys = [state.dictionary.key(id_) for id_ in range(len(state.dictionary))]
    hashed = np.array([0, *(id_of_key(key) for key in keys[1:])], np.int64)
    dumps = [
        RelationDump(dump.shape, hashed[dump.facts], dump.explicit.copy(), _copied(dump.weights), _copied(dump.ranks))
        for dump in state.facts.capture.dump()
    ]
    return Universities(dumps, state.definitions, [(id_of_key(key), key) for key in keys[1:]])


def _copied(values: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
    return None if values is None else values.copy()


def copied(dump: RelationDump, number: int) -> list[Ids]:
    """The columns of one copy of a relation."""
    subject, predicate, value = dump.facts.T  # triples, and those that a closure starts from
    moved = np.uint64(_APART * number & (1 << 64) - 1)

    def away(column: Ids) -> Ids:
        return (column.astype(np.uint64) + moved).astype(np.int64)

    is_class = predicate == id_of_key(f"<{RDF_TYPE}")
    return [away(subject), predicate, np.where(is_class, value, away(value))]


def write_runs(data: Universities, copies: int, path: Path) -> RunFolder:
    """Runs of all copies, sorted in the orders that the program asks for."""
    folder = RunFolder(path, np.int64)
    path.mkdir(parents=True)
    for dump in data.dumps:
        for number in range(copies):
            folder.add(
                dump.shape,
                copied(dump, number),
                explicit=dump.explicit,
                derivations=0 if dump.weights is None else dump.weights,
                ranks=0 if dump.ranks is None else dump.ranks,
            )
    folder.add_terms(np.array([id_ for id_, _ in data.terms], np.int64), [key for _, key in data.terms])
    folder.finish(version=1)
    PagedEngine(PagedDictionary(folder.terms), folder).prepare(data.definitions.program.components)
    return folder


def samples(data: Universities, rows: int, times: int, seed: int) -> Iterator[list[Ids]]:
    """Explicit triples, a few at a time, of the first copy."""
    (triples,) = (dump for dump in data.dumps if dump.shape.name == TRIPLE)
    explicit = np.flatnonzero(triples.explicit)
    chosen = np.random.RandomState(seed).permutation(explicit)[: rows * times].reshape(times, rows)
    for each in chosen:
        yield list(np.ascontiguousarray(triples.facts[each].T))

"""How do runs follow the versions of what they are a copy of?

A folder holds the runs of all relations, a log of what updates have changed since they were written, and a manifest
that says which of these belong to which version. The manifest is replaced last, in one step, so that a folder is of one
version or of the one before. Nothing here is worth saving: a folder that is of another version than wanted, or does not
fit its checksums, is made again from what it is a copy of (tables, say), and so nothing waits for the disk.

    manifest            a checksum, then JSON: version, relations with their runs and counts, how much of the log counts
    changes-N.log       a record for each version since the runs were written
    rN.pages            facts of one relation in its first order; rN.1-0.pages the same in another order
    tN.terms            terms by id (terms.py)
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from everlog.dictionary.dictionary import Ids
from everlog.engines.interface import Shape
from everlog.engines.paged import sizes as default_sizes
from everlog.engines.paged.changes_log import Record, read_changes, write_record
from everlog.engines.paged.counters import Counters
from everlog.engines.paged.page_files import Order
from everlog.engines.paged.relation_runs import RelationRuns, Run
from everlog.engines.paged.sizes import Sizes
from everlog.engines.paged.stored_facts import EXPLICIT, StoredFacts, concatenated
from everlog.engines.paged.terms import PagedTerms, write_terms
from everlog.errors import DamagedRunsError

if TYPE_CHECKING:
    from everlog.engines.paged.relation import PagedRelation

_MANIFEST = "manifest"
_FORMAT = 2


class StoredRelation:
    """A relation of a folder: its runs, and what the log says that is newer."""

    def __init__(self, shape: Shape, runs: RelationRuns, facts: int = 0, explicit: int = 0) -> None:
        self.shape, self.runs, self.facts, self.explicit = shape, runs, facts, explicit
        self._changes: list[StoredFacts] = []
        self._waiting: list[StoredFacts] = []  # to be written, when there are enough for a run

    def gather(self, facts: StoredFacts, most: int, folder: Path, names: Iterator[str]) -> None:
        """Take more facts to be written; so many at most wait before that happens."""
        if self._waiting and sum(part.rows for part in self._waiting) + facts.rows > most:
            self._write(folder, names)
        self._waiting.append(facts)

    def _write(self, folder: Path, names: Iterator[str]) -> None:
        if self._waiting:
            self.runs.append(concatenated(self._waiting), folder, names)
            self._waiting = []

    def gathered(self, folder: Path, names: Iterator[str]) -> list[Run]:
        """All were taken: write what waits, and make one run of all; returns those that are no longer needed."""
        self._write(folder, names)
        return self.runs.merge(len(self.runs.runs), folder, names)

    def add_change(self, facts: StoredFacts) -> None:
        self._changes.append(facts)

    def take_changes(self) -> list[StoredFacts]:
        """What the log says, oldest first; for the engine that holds it from now on."""
        changes, self._changes = self._changes, []
        return changes


class RunFolder:
    """The runs of all relations in a folder."""

    def __init__(self, path: Path | None, dtype: type[np.signedinteger[Any]], sizes: Sizes | None = None) -> None:
        """An empty one; without a path it is made, where it vanishes with this object, when there is a first run."""
        self._path, self.dtype, self.sizes = path, dtype, sizes or default_sizes.DEFAULT
        self._vanishes = path is None
        self.version: int | None = None
        self.identity = ""  # of the version, where another may have its number
        self.counters = Counters()
        self.relations: dict[str, StoredRelation] = {}
        self.terms = PagedTerms()
        self._number = 0  # of the next file
        self._log: dict[str, Any] = {"file": None, "bytes": 0}
        self._new_terms: list[tuple[int, str]] = []  # that are not written yet

    @classmethod
    def scratch(cls, dtype: type[np.signedinteger[Any]], sizes: Sizes | None = None) -> RunFolder:
        """A folder for as long as somebody uses it."""
        return cls(None, dtype, sizes)

    @property
    def path(self) -> Path:
        if self._path is None:
            self._path = Path(tempfile.mkdtemp(prefix="everlog-paged-"))
            weakref.finalize(self, shutil.rmtree, self._path, ignore_errors=True)
        return self._path

    def _names(self) -> Iterator[str]:
        for number in count(self._number):
            self._number = number + 1
            yield f"r{number}"

    # --- making -------------------------------------------------------------------------------------------------------

    def add(
        self,
        shape: Shape,
        columns: Sequence[Ids],
        *,
        rows: int | None = None,
        explicit: Any = True,
        derivations: Any = 0,
        ranks: Any = 0,
    ) -> None:
        """Facts that are not there yet, with what is known of each; call it many times for a relation that is large.

        Columns are of ids, NumPy's or Arrow's; what is known is an array, or one value for all facts.
        At most `sizes.run` facts of a relation wait in memory before they are written.
        """
        stored = self._stored(shape)
        if not shape.arity:
            assert rows is not None, "facts without arguments have no columns to be counted"
            columns = [np.zeros(rows, self.dtype)]
        count_ = len(columns[0])
        if not count_:
            return
        states = np.where(np.broadcast_to(np.asarray(explicit, bool), count_), EXPLICIT, 0).astype(np.uint8)
        facts = StoredFacts(
            tuple(np.ascontiguousarray(column, self.dtype) for column in columns),
            states,
            np.broadcast_to(np.asarray(derivations, np.int64), count_),
            np.broadcast_to(np.asarray(ranks, np.int32), count_),
        )
        stored.facts += count_
        stored.explicit += int((states != 0).sum())
        stored.gather(facts, self.sizes.run, self.path, self._names())

    def _stored(self, shape: Shape) -> StoredRelation:
        known = self.relations.get(shape.name)
        if known is None:
            runs = RelationRuns(max(1, shape.arity), self.dtype, self.sizes, self.counters)
            known = self.relations[shape.name] = StoredRelation(shape, runs)
        return known

    def add_terms(self, ids: Ids, keys: Sequence[str]) -> None:
        """Write terms with their ids; many times, if there are many."""
        if len(ids):
            name = f"t{self._number}.terms"
            self._number += 1
            write_terms(self.path / name, ids, keys)
            self.terms.open(self.path / name)

    def sort_by(self, orders: Mapping[str, Iterable[Order]]) -> None:
        """Sort relations in these orders now, rather than when somebody first asks for them."""
        for name, wanted in orders.items():
            if name in self.relations:
                runs = self.relations[name].runs
                runs.orders = list(dict.fromkeys([*runs.orders, *wanted]))
                runs.prepare()
        if self.version is not None:
            self._write_manifest(self.version)

    def finish(self, version: int, identity: str = "") -> None:
        """All was added: write what waits, and the folder is of this version from now on."""
        self.identity = identity
        for stored in self.relations.values():
            self._remove(stored.gathered(self.path, self._names()))
        self._write_manifest(version)

    # --- following versions -------------------------------------------------------------------------------------------

    @property
    def is_scratch(self) -> bool:
        """Does nobody open this folder again?"""
        return self._vanishes

    def save(
        self,
        version: int,
        relations: Mapping[str, PagedRelation],
        terms: Sequence[tuple[int, str]],
        identity: str = "",
    ) -> None:
        """Write what commits have changed of relations; the folder is then of this version.

        A record in the log or, if much is held, runs, and then nothing is held any more.
        """
        self.identity = identity
        self._new_terms += terms
        if self.is_due(relations):
            self._save_as_runs(version, relations)
        else:
            self._save_in_log(version, relations)
        self._new_terms = []

    def _save_as_runs(self, version: int, relations: Mapping[str, PagedRelation]) -> None:
        left, log = self._flushed(relations), self._log["file"]
        learned = self.terms.take_learned()
        self.add_terms(np.array([id_ for id_, _ in learned], np.int64), [key for _, key in learned])
        self._log = {"file": None, "bytes": 0}
        self._write_manifest(version)
        self._remove(left)
        if log is not None:
            (self.path / log).unlink(missing_ok=True)

    def _save_in_log(self, version: int, relations: Mapping[str, PagedRelation]) -> None:
        changes = {name: relation.changed_facts() for name, relation in relations.items()}
        changed = {name: (relations[name].shape, facts) for name, facts in changes.items() if facts is not None}
        log = self._log
        if log["file"] is None:
            log = {"file": f"changes-{self._number}.log", "bytes": 0}
            self._number += 1
        end = write_record(self.path / log["file"], log["bytes"], Record(version, changed, self._new_terms))
        self._log = {"file": log["file"], "bytes": end}
        self._follow(relations)
        for relation in relations.values():
            relation.changed = []  # not before it is written: a full disk is tried again
        self._write_manifest(version)

    def is_due(self, relations: Mapping[str, PagedRelation]) -> bool:
        """Is so much held of relations that it is to become runs?"""
        return sum(relation.held.size for relation in relations.values()) > self.sizes.held

    def flush(self, relations: Mapping[str, PagedRelation]) -> None:
        """Write what is held of relations as runs, and hold nothing; in a folder that nobody opens again."""
        self._remove(self._flushed(relations))

    def _flushed(self, relations: Mapping[str, PagedRelation]) -> list[Run]:
        """The same; returns the runs that are no longer needed, though a manifest may name them."""
        left: list[Run] = []
        for relation in relations.values():
            if relation.held.size:
                left += relation.runs.add(relation.stored(), self.path, self._names())
                relation.hold_nothing()
        self._follow(relations)
        return left

    def _follow(self, relations: Mapping[str, PagedRelation]) -> None:
        for name in self.relations.keys() - relations.keys():
            del self.relations[name]
        for name, relation in relations.items():
            self.relations[name] = StoredRelation(relation.shape, relation.runs, relation.facts, relation.explicit)

    def _remove(self, runs: Iterable[Run]) -> None:
        for run in runs:
            run.remove()

    # --- manifest -----------------------------------------------------------------------------------------------------

    def _write_manifest(self, version: int) -> None:
        relations = {
            name: {
                "arity": stored.shape.arity,
                "bag": stored.shape.bag,
                "weighted": stored.shape.weighted,
                "ranked": stored.shape.ranked,
                "facts": stored.facts,
                "explicit": stored.explicit,
                "orders": stored.runs.orders,
                "runs": [[run.name, run.rows, run.check] for run in stored.runs.runs],
            }
            for name, stored in self.relations.items()
        }
        told = {
            "format": _FORMAT,
            "version": version,
            "identity": self.identity,
            "ids": np.dtype(self.dtype).str,
            "page": self.sizes.page,
            "number": self._number,
            "log": self._log,
            "terms": [path.name for path in self.terms.paths],
            "relations": relations,
        }
        text = json.dumps(told).encode()
        half = self.path / f"{_MANIFEST}.half"
        half.write_bytes(b"%08x\n" % zlib.crc32(text) + text)
        os.replace(half, self.path / _MANIFEST)
        self.version = version

    @classmethod
    def open(cls, path: Path, version: int | None = None, sizes: Sizes | None = None) -> RunFolder | None:
        """The runs in a folder; None if there are none, or they are not of the version wanted.

        Raises DamagedRunsError where something does not fit its checksum, as far as opening looks: pages are looked at
        when they are read.
        """
        try:
            check, _, text = (path / _MANIFEST).read_bytes().partition(b"\n")
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            if int(check, 16) != zlib.crc32(text):
                raise ValueError
            told = json.loads(text)
            if told["format"] != _FORMAT or (version is not None and told["version"] != version):
                return None
        except (ValueError, KeyError, TypeError) as error:
            raise DamagedRunsError(
                "damaged: the manifest does not fit its checksum",
                path=str(path / _MANIFEST),
                hint="make the runs again from the tables",
            ) from error
        folder = cls(path, np.dtype(told["ids"]).type, sizes)
        folder._read(told)
        folder._remove_what_nobody_names()
        return folder

    def _read(self, told: dict[str, Any]) -> None:
        self.version, self._number, self._log = told["version"], told["number"], told["log"]
        self.identity = told["identity"]
        for name, about in told["relations"].items():
            shape = Shape(name, about["arity"], about["bag"], about["weighted"], about["ranked"])
            runs = [Run(self.path, run, rows, check, self.counters) for run, rows, check in about["runs"]]
            width, orders = max(1, shape.arity), [tuple(order) for order in about["orders"]]
            self.relations[name] = StoredRelation(
                shape,
                RelationRuns(width, self.dtype, self.sizes, self.counters, runs, orders),
                about["facts"],
                about["explicit"],
            )
        for file in told["terms"]:
            self.terms.open(self.path / file)
        if self._log["file"] is not None:
            for record in read_changes(self.path / self._log["file"], self._log["bytes"], self.dtype):
                self.terms.learn(record.terms)
                for name, (_, facts) in record.relations.items():
                    if name in self.relations:
                        self.relations[name].add_change(facts)

    def _remove_what_nobody_names(self) -> None:
        """What was left behind by a process that died, and order files of runs that are gone."""
        named = {run.name for stored in self.relations.values() for run in stored.runs.runs}
        named |= {path.stem for path in self.terms.paths} | {_MANIFEST, str(self._log["file"]).partition(".")[0]}
        for path in self.path.iterdir():
            if path.suffix == ".half" or path.name.partition(".")[0] not in named:
                path.unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete the folder."""
        self.relations.clear()
        if self._path is not None:
            shutil.rmtree(self._path, ignore_errors=True)

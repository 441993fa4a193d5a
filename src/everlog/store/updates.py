"""What is an update, and how is it said?

Facts to insert and delete, rules to add and remove: one atomic step, applied as (explicit \\ delete) ∪ insert. Programs
write it as an `Update` or as a dictionary; files say it as JSON lines or RDF Patch (formats/update_files.py). Facts are
given by relation, or as a list in which each names its relation:

>>> update_of({"insert": {"edge": [("a", "b")]}}) == update_of({"insert": [["edge", "a", "b"]]})
True
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.errors import DataError, EverlogError
from everlog.facts.blocks import FactBlock
from everlog.facts.missing import MissingValues
from everlog.facts.terms import Term, key_of, term_of
from everlog.rules.syntax import Program, Rule
from everlog.store.given_facts import ColumnNames, EncodedFacts, FactsArgument, given_facts, kept, named_fact

if TYPE_CHECKING:
    from typing import BinaryIO

KEYS = ("insert", "delete", "add_rules", "remove_rules")


@dataclass(frozen=True)
class Place:
    """Where an update stands: a file and a line, or the name of a source and a number in it."""

    path: str
    line: int | None = None

    def __str__(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


@dataclass(frozen=True)
class Update:
    """Facts to insert and delete, rules to add and remove; a dictionary with the same keys will do too.

    Attributes:
        insert: Facts by relation.
        delete: Facts by relation.
        add_rules: Rules as text, or as they were parsed.
        remove_rules: Names of rules, or their texts.
        nulls: What becomes of rows in which a value is missing: "refuse", "skip" or "empty".
        place: File and line that it was read from, for messages.
    """

    insert: FactsArgument = field(default_factory=dict)
    delete: FactsArgument = field(default_factory=dict)
    add_rules: str | Program | Sequence[Rule] | None = None
    remove_rules: Sequence[str] = ()
    nulls: str = "refuse"  # facts/missing.py
    place: Place | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls,
        insert: FactsArgument | None,
        delete: FactsArgument | None,
        add_rules: str | Program | Sequence[Rule] | None,
        remove_rules: Sequence[str],
        nulls: str = "refuse",
    ) -> Update:
        """An update of what was named; nothing is as good as no facts."""
        return cls({} if insert is None else insert, {} if delete is None else delete, add_rules, remove_rules, nulls)

    @property
    def changes_rules(self) -> bool:
        """Does it add or remove rules?"""
        return self.add_rules is not None or bool(self.remove_rules)


def update_of(value: Update | Mapping[str, Any], place: Place | None = None) -> Update:
    """An update from how a program wrote it, whose facts can be read more than once: ahead, and when it is its turn."""
    if isinstance(value, Update):
        return replace(
            value,
            insert=_facts(value.insert, "insert", value.place or place),
            delete=_facts(value.delete, "delete", value.place or place),
            place=value.place or place,
        )
    if not isinstance(value, Mapping):
        raise _wrong(
            f"not an update: {value!r:.80}", place, hint='an update is such as {"insert": [["edge", "a", "b"]]}'
        )
    for key in value:
        if key not in KEYS:
            near = difflib.get_close_matches(str(key), KEYS, n=1)
            raise _wrong(
                f"{key!r} is no part of an update; its parts are {', '.join(KEYS)}",
                place,
                hint=f"did you mean {near[0]!r}?" if near else None,
            )
    remove = value.get("remove_rules") or ()
    if isinstance(remove, str) or not all(isinstance(name, str) for name in remove):
        raise _wrong("remove_rules is a list of rule names", place, hint='write {"remove_rules": ["r1"]}')
    return Update(
        insert=_facts(value.get("insert"), "insert", place),
        delete=_facts(value.get("delete"), "delete", place),
        add_rules=value.get("add_rules"),
        remove_rules=tuple(remove),
        place=place,
    )


def read_updates(path: str | Path, stream: BinaryIO | None = None) -> Iterator[Update]:
    """The updates of a file, one after the other as they are read; `stream` is read in the file's place."""
    from everlog.formats.update_files import read_update_file

    for written in read_update_file(Path(path), stream):
        yield Update(
            written.insert,
            written.delete,
            written.add_rules,
            written.remove_rules,
            place=Place(str(path), written.line),
        )


@contextmanager
def placing_errors(place: Place | None) -> Iterator[None]:
    """Errors of ours inside the block say where the update stands that caused them."""
    try:
        yield
    except EverlogError as error:
        if place is not None:
            error.stands_at(place.path, place.line)
        raise


def fact_keys(
    facts: FactsArgument, names: ColumnNames | None = None, nulls: str = "refuse"
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Relation and term keys of each fact, in the order given."""
    for part in given_facts(facts, names, MissingValues(nulls)):
        assert not isinstance(part, EncodedFacts), "only a log gives facts by ids"
        if isinstance(part, FactBlock):
            yield from _block_keys(part)
        else:
            for row in part.rows:
                yield part.relation, tuple(map(key_of, row))


def _block_keys(block: FactBlock) -> Iterator[tuple[str, tuple[str, ...]]]:
    columns = [column.to_pylist() for column in block.columns]
    for row in zip(*columns, strict=True) if columns else [()]:
        yield block.relation, row if block.form == "keys" else tuple(map(key_of, row))


def net_effect(updates: Sequence[Update], names: ColumnNames | None = None) -> Update:
    """One update that does what all of them do, one after the other; none of them changes rules.

    >>> first = update_of({"insert": [["p", 1], ["p", 2]]})
    >>> net = net_effect([first, update_of({"insert": [["p", 3]], "delete": [["p", 1]]})])
    >>> net.insert, net.delete
    ({'p': [(2,), (3,)]}, {'p': [(1,)]})
    """
    last: dict[tuple[str, tuple[str, ...]], bool] = {}  # each fact, and whether it is there in the end
    for update in updates:
        assert not update.changes_rules, "rules change one update at a time"
        last.update((fact, False) for fact in fact_keys(update.delete, names, update.nulls))
        last.update((fact, True) for fact in fact_keys(update.insert, names, update.nulls))
    insert: dict[str, list[tuple[Term, ...]]] = {}
    delete: dict[str, list[tuple[Term, ...]]] = {}
    for (relation, keys), there in last.items():
        (insert if there else delete).setdefault(relation, []).append(tuple(map(term_of, keys)))
    return Update(insert, delete, place=updates[-1].place)


def _facts(facts: Any, part: str, place: Place | None) -> FactsArgument:
    if facts is None:
        return {}
    if isinstance(facts, Mapping):
        return {relation: kept(rows) for relation, rows in facts.items()}
    if isinstance(facts, str) or not isinstance(facts, Iterable):
        raise _wrong(f"{part} is a list of facts", place, hint=f'write {{"{part}": [["edge", "a", "b"]]}}')
    listed = list(facts)
    if all(isinstance(each, FactBlock) for each in listed):
        return listed
    by_relation: dict[str, list[tuple[Any, ...]]] = {}
    for number, fact in enumerate(listed, start=1):
        with placing_errors(place):
            found = named_fact(fact, f"{part}, fact {number}: ")
        by_relation.setdefault(found.relation, []).extend(found.rows)
    return by_relation


def _wrong(message: str, place: Place | None, *, hint: str | None = None) -> DataError:
    path, line = (place.path, place.line) if place else (None, None)
    return DataError(message, path=path, line=line, hint=hint)

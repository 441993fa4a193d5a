"""What does an update come to for one knowledge base of a fleet, before it has its key?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from everlog.errors import DataError
from everlog.facts.blocks import FactBlock
from everlog.facts.terms import Term, key_of, keys_of, term_of
from everlog.rules.syntax import Atom, Constant
from everlog.store.doors import check_relation_name, check_rows
from everlog.store.updates import Update, fact_keys

Row = tuple[Term, ...]
Facts = dict[tuple[str, int], list[Row]]  # by relation and number of arguments


@dataclass(frozen=True)
class Edits:
    """Facts to insert and to delete."""

    insert: Facts = field(default_factory=dict)
    delete: Facts = field(default_factory=dict)
    updates: int = 1  # how many updates it is the net effect of

    def check_terms(self) -> None:
        """Raise for what is no term; done only where something is wrong already."""
        for facts in (self.insert, self.delete):
            for (relation, _), rows in facts.items():
                for row in rows:
                    try:
                        keys_of(row)
                    except (TypeError, ValueError) as error:
                        raise DataError(f"facts of {relation}: {error}") from error


def edits_of(update: Update, updates: int = 1) -> Edits:
    """The facts of an update, by relation and number of arguments."""
    edits = Edits(_facts(update.insert), _facts(update.delete), updates)
    for (relation, _), rows in edits.insert.items():
        check_relation_name(relation)
        check_rows(relation, rows)
    return edits


def after(explicit: Facts, edits: Edits) -> Facts:
    """What is explicit once an update has been made: (explicit \\ delete) ∪ insert."""
    found: Facts = {}
    for place in dict.fromkeys((*explicit, *edits.insert)):
        gone = {keys_of(row) for row in edits.delete.get(place, ())}
        kept = {keys: row for row in explicit.get(place, ()) if (keys := keys_of(row)) not in gone}
        kept.update((keys_of(row), row) for row in edits.insert.get(place, ()))
        found[place] = list(kept.values())
    return found


def facts_of_atoms(atoms: Iterable[Atom]) -> Facts:
    """The facts that stand among rules."""
    found: Facts = {}
    for atom in atoms:
        row = tuple(arg.term for arg in atom.args if isinstance(arg, Constant))
        found.setdefault((atom.relation, len(row)), []).append(row)
    return found


def _facts(facts: Any) -> Facts:
    found: Facts = {}
    for relation, row in _rows(facts):
        found.setdefault((relation, len(row)), []).append(row)
    return found


def _rows(facts: Any) -> Iterator[tuple[str, Row]]:
    if not isinstance(facts, Mapping):
        yield from _terms(fact_keys(facts))
        return
    for relation, rows in facts.items():
        if isinstance(rows, FactBlock) or hasattr(rows, "column_names"):  # an Arrow table
            yield from _terms(fact_keys({relation: rows}))
        else:
            for row in rows:
                yield relation, row if isinstance(row, tuple) else tuple(row) if isinstance(row, list) else (row,)


def _terms(keys: Iterable[tuple[str, tuple[str, ...]]]) -> Iterator[tuple[str, Row]]:
    return ((relation, tuple(map(term_of, row))) for relation, row in keys)


def as_data(facts: Facts) -> dict[str, list[list[str]]]:
    """Facts as JSON can hold them: by relation, rows of term keys."""
    return {
        f"{relation}/{arity}": [list(map(key_of, row)) for row in rows] for (relation, arity), rows in facts.items()
    }


def from_data(data: Mapping[str, list[list[str]]]) -> Facts:
    """The facts that `as_data` was given."""
    found: Facts = {}
    for name, rows in data.items():
        relation, _, arity = name.rpartition("/")
        found[relation, int(arity)] = [tuple(map(term_of, row)) for row in rows]
    return found

"""What does an update come to for one knowledge base of a fleet, before it has its key?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from everlog.errors import DataError
from everlog.facts.terms import Term, key_of, keys_of, term_of
from everlog.rules.syntax import Atom, Constant
from everlog.store.doors import check_relation_name, check_rows
from everlog.store.given_facts import FactsArgument, GivenRows, given_facts
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
    return Edits(_facts(update.insert), _facts(update.delete), updates)


def checked_edits(update: Update, updates: int = 1) -> Edits:
    """The facts of an update, which must be such as can be let in."""
    edits = edits_of(update, updates)
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


def _facts(facts: FactsArgument) -> Facts:
    found: Facts = {}
    for relation, row in _rows(facts):
        found.setdefault((relation, len(row)), []).append(row)
    return found


def _rows(facts: FactsArgument) -> Iterator[tuple[str, Row]]:
    for part in given_facts(facts):
        if isinstance(part, GivenRows):
            yield from ((part.relation, row) for row in part.rows)
        else:
            for relation, keys in fact_keys([part]):
                yield relation, tuple(map(term_of, keys))


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

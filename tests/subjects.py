"""How do tests talk to a knowledge base and to the oracle in the same words?

A subject takes updates and answers with what was gained and lost, and shows its whole state, as tuples of term keys.
Cases and property tests are written against subjects, so that the oracle itself runs every case too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.oracle import Fact, State, difference, instance, materialise

import everlog
from everlog.errors import NotFoundError
from everlog.facts.terms import Term, key_of, term_of
from everlog.rules.constraints import is_constraint, is_constraint_relation
from everlog.rules.parser import parse_program
from everlog.rules.syntax import Aggregate, Atom, Negation, Program, Rule

Rows = Mapping[str, Sequence[tuple[Term, ...]]]


@dataclass(frozen=True)
class Update:
    """Facts to insert and delete, rules to add (as text) and to remove (by name): one atomic step."""

    insert: Rows = field(default_factory=dict)
    delete: Rows = field(default_factory=dict)
    add_rules: str = ""
    remove_rules: tuple[str, ...] = ()


class Subject(Protocol):
    """What can be updated and looked at."""

    rules: list[Rule]  # those in force

    def update(self, update: Update) -> tuple[State, State]:
        """Apply it; the facts gained and the facts lost."""

    def state(self) -> State:
        """Every fact by relation; relations without facts are left out."""


class Broken(Exception):
    """A constraint would have a match."""


class OracleSubject:
    """The oracle: keeps rules and explicit facts, derives everything again after every update."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.explicit: State = {}
        self.derived: State = {}

    def update(self, update: Update) -> tuple[State, State]:
        added = parse_program(update.add_rules)
        rules = [rule for rule in self.rules if rule.name not in update.remove_rules]
        rules += [rule for rule in added.rules if rule not in rules]
        explicit = {relation: set(facts) for relation, facts in self.explicit.items()}
        for relation, rows in update.delete.items():
            explicit.setdefault(relation, set()).difference_update(map(keys, rows))
        for relation, rows in update.insert.items():
            explicit.setdefault(relation, set()).update(map(keys, rows))
        for atom in added.facts:
            explicit.setdefault(atom.relation, set()).add(instance(atom, {}))
        facts = {relation: [tuple(map(term_of, fact)) for fact in rows] for relation, rows in explicit.items()}
        derived = materialise(Program(rules=tuple(rules)), facts)  # refuses what is not stratified
        if any(map(is_constraint_relation, derived)):
            raise Broken
        change = difference(self.derived, derived)
        self.rules, self.explicit, self.derived = rules, explicit, derived
        return change

    def state(self) -> State:
        return self.derived


class EngineSubject:
    """A knowledge base in memory on one engine."""

    def __init__(self, engine: str, **options: Any) -> None:
        self.kb = everlog.open(engine=engine, **options)
        self.rules: list[Rule] = []
        self.relations: set[str] = set()

    def update(self, update: Update, **options: Any) -> tuple[State, State]:
        added = parse_program(update.add_rules)
        change = self.kb.update(
            insert=update.insert,
            delete=update.delete,
            add_rules=added if update.add_rules else None,
            remove_rules=list(update.remove_rules),
            **options,
        )
        return self.note(update, change)

    def note(self, update: Update, change: everlog.Change) -> tuple[State, State]:
        """Remember what an update named, and read what it changed."""
        added = parse_program(update.add_rules)
        self.rules = [rule for rule in self.rules if rule.name not in update.remove_rules] + list(added.rules)
        self.relations.update(update.insert, (atom.relation for atom in added.facts))
        for rule in added.rules:
            heads = () if is_constraint(rule) else rule.heads
            self.relations.update(atom.relation for atom in (*heads, *body_atoms(rule.body)))
        gained = {relation: key_set(change.gained(relation)) for relation in self.relations}
        lost = {relation: key_set(change.lost(relation)) for relation in self.relations}
        return {r: rows for r, rows in gained.items() if rows}, {r: rows for r, rows in lost.items() if rows}

    def state(self) -> State:
        return {relation: rows for relation in self.relations if (rows := self._rows(relation))}

    def _rows(self, relation: str) -> set[Fact]:
        try:
            return key_set(self.kb.facts(relation))
        except NotFoundError:
            return set()  # only deletions and removed rules ever named it


def keys(row: Iterable[Term]) -> Fact:
    return tuple(key_of(term) for term in row)


def key_set(rows: Iterable[Sequence[Term]]) -> set[Fact]:
    """The rows as key tuples; a row that comes twice is a mistake."""
    found = [keys(row) for row in rows]
    assert len(found) == len(set(found)), f"rows repeat: {sorted(found)}"
    return set(found)


def body_atoms(body: Iterable[Any]) -> Iterable[Atom]:
    """Every atom of a body, also those inside NOT and AGGREGATE."""
    for literal in body:
        if isinstance(literal, Atom):
            yield literal
        elif isinstance(literal, Negation | Aggregate):
            yield from body_atoms(literal.body)


def listing(state: State) -> list[str]:
    """A state as sorted lines, so that a failed comparison is easy to read."""
    return sorted(f"{relation}({', '.join(fact)})" for relation, facts in state.items() for fact in facts)

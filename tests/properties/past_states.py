"""Is what a knowledge base said at some version what it still says of that version, whatever has happened since?

A *record* is a version, what the oracle has there, and a snapshot of it or none. Records are made while updates go on
and checked when they are over.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tests.oracle import Fact, State, materialise
from tests.subjects import OracleSubject, key_set

from everlog.facts.terms import key_of, term_of
from everlog.rules.parser import parse_program
from everlog.store.reading import ReadOnlyKnowledgeBase

EX = "http://ex.org/"
QUERIES = (
    "edge(?x, ?y), path(?y, ?z)",
    "path(?x, ?x)",
    f"path(<{EX}a>, ?y)",
    f"edge(?x, <{EX}b>), edge(<{EX}b>, ?y)",
    "edge(?x, ?y), NOT path(?y, ?x)",
    "edge(?x, ?y), edge(?y, ?x)",
    "path(?x, ?y), edge(?z, ?y), open(?z)",
    f"[?x, <{EX}partOf>, ?y], edge(?y, ?z)",
    f"[<{EX}a>, ?p, ?y]",
)


@dataclass
class Record:
    """What was true at a version."""

    version: int
    facts: State
    explicit: State
    snapshot: ReadOnlyKnowledgeBase | None = None

    @classmethod
    def of(cls, kb: ReadOnlyKnowledgeBase, oracle: OracleSubject, *, hold: bool) -> Record:
        explicit = {relation: set(facts) for relation, facts in oracle.explicit.items() if facts}
        facts = {relation: set(facts) for relation, facts in oracle.state().items()}
        return cls(kb.version, facts, explicit, kb.snapshot() if hold else None)


def check_record(record: Record, seen: ReadOnlyKnowledgeBase) -> None:
    """A version is what the oracle had there: facts, explicit facts, answers."""
    assert seen.version == record.version
    known = {info.name: info for info in seen.relations()}
    for name, info in known.items():
        facts = key_set(seen.facts(name))
        assert facts == record.facts.get(name, set()), f"facts of {name} at version {record.version}"
        assert info.facts == len(facts)
        assert explicit_facts(seen, name) == record.explicit.get(name, set()), f"explicit facts of {name}"
        assert info.explicit == len(record.explicit.get(name, set()))
    assert {name for name in record.facts if record.facts[name]} <= known.keys()
    for query in QUERIES:
        check_query(seen, query, record.facts)


def explicit_facts(seen: ReadOnlyKnowledgeBase, relation: str) -> set[Fact]:
    state = seen.state()
    facts = state.facts.reader().collect(relation, explicit=True).facts()
    return {tuple(key_of(state.dictionary.decode(id_)) for id_ in fact) for fact, _ in facts}


def check_query(seen: ReadOnlyKnowledgeBase, query: str, facts: State) -> None:
    """The answers to a Datalog query are those of the oracle, if its relations are there."""
    rows = seen.query(query) if _is_known(seen, query) else None
    if rows is not None:
        rule = parse_program(f"answer({', '.join(f'?{name}' for name in rows.names)}) :- {query}.")
        given = {relation: [tuple(map(term_of, fact)) for fact in found] for relation, found in facts.items()}
        assert key_set(rows) == materialise(rule, given).get("answer", set()), f"{query} at version {seen.version}"


def _is_known(seen: ReadOnlyKnowledgeBase, query: str) -> bool:
    known = {info.name for info in seen.relations()}
    return all(name in known for name in ("edge", "path", "open") if f"{name}(" in query) and (
        "[" not in query or "triple" in known
    )


def check_changes(seen: ReadOnlyKnowledgeBase, records: list[Record]) -> None:
    """The changes since any version lead from its facts to those of now."""
    now = {info.name: Counter(key_set(seen.facts(info.name))) for info in seen.relations()}
    for record in records:
        changes = seen.changes(record.version)
        assert [change.version for change in changes] == list(range(record.version + 1, seen.version + 1))
        replayed = {relation: Counter(facts) for relation, facts in record.facts.items()}
        for change in changes:
            for relation in change.relations():
                facts = replayed.setdefault(relation, Counter())
                facts.subtract(key_set(change.lost(relation)))
                facts.update(key_set(change.gained(relation)))
        for relation in {*replayed, *now}:
            left = +replayed.get(relation, Counter())
            assert left == now.get(relation, Counter()), f"{relation} since version {record.version}"
            assert all(count >= 0 for count in replayed.get(relation, {}).values())

"""Do marks change the order of work, and never the result?

The same streams with marking, with marks that are passed on by rule applications alone, and without.
"""

from __future__ import annotations

from collections.abc import Sequence
from queue import Queue

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everlog
from everlog.engines.columnar import updates as columnar_updates
from everlog.errors import DataError
from everlog.store.changes import Change

RULES = """
    path(X, Y) :- edge(X, Y).
    path(X, Z) :- path(X, Y), edge(Y, Z).
    twin(X, Y) :- path(X, Y), path(Y, X).
    lone(X) :- edge(X, Y), NOT twin(X, X).
"""
RELATIONS = ("edge", "path", "twin", "lone")

Edges = list[tuple[int, int]]
Step = tuple[Edges, Edges]  # deleted and inserted
State = list[list[tuple[everlog.Term, ...]]]


def steps() -> st.SearchStrategy[list[Step]]:
    edges = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), max_size=6)
    return st.lists(st.tuples(edges, edges), min_size=2, max_size=5)


def followed(
    engine: str, strategy: str, marking: bool | str, stream: Sequence[Step]
) -> tuple[list[State], list[Change]]:
    """The states after each update of a stream whose next update is always there, and the changes."""
    kb = everlog.open(engine=engine)
    kb.add_rules(RULES)
    waiting: Queue[everlog.Update | None] = Queue()
    for deleted, inserted in stream:
        waiting.put(everlog.Update(insert={"edge": inserted}, delete={"edge": deleted}))
    waiting.put(None)
    states, changes = [], []
    for change in kb.stream(waiting, strategy=strategy, marking=marking):
        changes.append(change)
        states.append([kb.facts(relation).sorted() for relation in RELATIONS])
    return states, changes


@pytest.mark.parametrize("strategy", ["bf", "dred"])
@settings(max_examples=20)
@given(stream=steps())
def test_states_are_the_same_with_and_without(engine: str, strategy: str, stream: list[Step]) -> None:
    expected, _ = followed(engine, strategy, False, stream)
    for marking in (True, "printed"):
        assert followed(engine, strategy, marking, stream)[0] == expected


@pytest.mark.parametrize("strategy", ["bf", "dred"])
@settings(max_examples=20)
@given(stream=steps())
def test_marks_outlive_compacting(strategy: str, stream: list[Step]) -> None:
    stream = [step for deleted, inserted in stream for step in (([], inserted), (deleted, []), (inserted, []))]
    expected, _ = followed("reference", strategy, False, stream)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columnar_updates, "_COMPACT_FROM", 0)
        assert followed("columnar", strategy, True, stream)[0] == expected


@pytest.mark.parametrize("strategy", ["bf", "dred"])
def test_marks_are_counted_alike_on_each_engine(engine: str, strategy: str) -> None:
    chain = [(place, place + 1) for place in range(1, 9)]
    stream: list[Step] = [([], chain), (chain[3:4], [(20, 21)]), (chain[5:6], [(22, 23)]), (chain[:1], [])]
    _, changes = followed(engine, strategy, True, stream)
    marked = [(change.report.marked_explicit, change.report.marked_implicit) for change in changes]
    assert [explicit for explicit, _ in marked] == [0, 1, 1, 0]
    assert all(implicit for explicit, implicit in marked if explicit)
    _, without = followed(engine, strategy, False, stream)
    assert not any(change.report.marked_explicit or change.report.marked_implicit for change in without)


def test_deleting_what_is_only_derived_marks_nothing(engine: str) -> None:
    kb = everlog.open(engine=engine)
    kb.add_rules(RULES)
    kb.insert("edge", [(1, 2), (2, 3)])
    waiting: Queue[everlog.Update | None] = Queue()
    for update in (everlog.Update(insert={"edge": [(5, 6)]}), everlog.Update(delete={"path": [(1, 3)]}), None):
        waiting.put(update)
    first, second = kb.stream(waiting, strategy="dred", marking=True)
    assert (first.report.marked_explicit, first.report.marked_implicit) == (0, 0)
    assert second.report.not_there == 1
    assert second.report.rule_applications == 0
    assert (1, 3) in kb.facts("path").sorted()


@pytest.mark.parametrize("marking", [False, True])
def test_a_wrong_update_is_refused_also_if_it_was_seen_ahead(engine: str, marking: bool) -> None:
    kb = everlog.open(engine=engine)
    kb.add_rules(RULES)
    kb.insert("edge", [(1, 2)])
    waiting: Queue[everlog.Update | None] = Queue()
    waiting.put(everlog.Update(insert={"edge": [(2, 3)]}))
    waiting.put(everlog.Update(insert={"new": [(1, 2)]}, delete={"new": [(1, 2, 3)]}))
    changes = kb.stream(waiting, strategy="bf", marking=marking)
    assert next(changes).gained("edge") == [(2, 3)]
    with pytest.raises(DataError, match="new has 2 arguments"):
        next(changes)

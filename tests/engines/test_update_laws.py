"""Does each engine keep the laws of updates that engines/interface.py states?

`abort` leaves facts, explicit bits, weights and ranks as they were, wherever the update was stopped; `commit` returns
exactly what changed; and what both leave behind, the next update can build on.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.test_laws import Facts, columns_of, facts_of

import everlog
from everlog.dictionary.dictionary import Dictionary
from everlog.engines.columnar import layout as at
from everlog.engines.columnar import regroup, relations, runs, updates
from everlog.engines.columnar.engine import ColumnarEngine
from everlog.engines.interface import MaintainingEngine, Shape
from everlog.engines.paged.engine import PagedEngine
from everlog.engines.reference.engine import ReferenceEngine
from everlog.engines.states import FactStates
from everlog.errors import RoundLimitError
from everlog.limits import Limits, Watch
from everlog.maintenance.materialise import materialise
from everlog.maintenance.program import EvaluatedProgram
from everlog.maintenance.strategies import NAMES as STRATEGIES
from everlog.maintenance.update import Maintenance
from everlog.plans.labels import Bit
from everlog.rules.names import name_rules
from everlog.rules.parser import parse_program
from everlog.rules.syntax import Atom
from everlog.store.engines import make_engine

# Counted, recursive, under NOT and aggregated; facts of every relation may be explicit too.
RULES = """
    two(X, Z) :- edge(X, Y), edge(Y, Z).
    path(X, Y) :- edge(X, Y).
    path(X, Z) :- path(X, Y), path(Y, Z).
    far(X, Y) :- path(X, Y), NOT two(X, Y).
    reach(X, N, M) :- AGGREGATE(path(X, Y) ON X BIND COUNT(Y) AS N BIND MAX(Y) AS M).
"""
RELATIONS = ("edge", "two", "path", "far", "reach")
EDITED = ("edge", "path", "far")

Edits = dict[str, list[tuple[int, int]]]
number = Dictionary().encode  # small integers live in their ids, whatever the dictionary


def edges() -> st.SearchStrategy[list[tuple[int, int]]]:
    node = st.integers(1, 6).map(number)
    return st.lists(st.tuples(node, node), max_size=6)


def edits() -> st.SearchStrategy[Edits]:
    return st.fixed_dictionaries({name: edges() for name in EDITED})


class Kept:
    """An engine with the components of RULES, as a store holds them."""

    def __init__(self, name: str, facts: Edits) -> None:
        program = EvaluatedProgram().changed(name_rules(parse_program(RULES).rules), rewrites=False).after
        self.engine: MaintainingEngine = make_engine(name, Dictionary())  # type: ignore[assignment]
        materialise(self.engine, program.components, Limits().watch())
        self.maintenance = Maintenance(program)
        self.update({}, facts)
        self.engine.commit()

    def update(self, delete: Edits, insert: Edits, strategy: str = "choose", watch: Watch | None = None) -> None:
        """All of an update but its end."""
        for facts, explicit in ((delete, False), (insert, True)):
            for name, rows in facts.items():
                self.engine.edit(name, columns_of(rows, 2), len(rows), explicit=explicit)
        self.maintenance.run(self.engine, [*delete, *insert], strategy, watch or Limits().watch())

    def facts(self) -> dict[str, Facts]:
        return {name: facts_of(self.engine.collect(name)) for name in RELATIONS}

    def known(self) -> dict[str, dict[tuple[int, ...], tuple[bool, int, int]]]:
        """Of each fact whether it is explicit, its weight and its rank."""
        return {name: dict(_known(self.engine, name)) for name in self._relations()}

    def _relations(self) -> list[str]:
        auxiliary = {head.relation for head in heads_of(self.maintenance)}
        return sorted({*RELATIONS, *auxiliary})


def heads_of(maintenance: Maintenance) -> list[Atom]:
    return list(dict.fromkeys(head for component in maintenance.components for head in component.heads))


def _known(engine: MaintainingEngine, name: str) -> Iterator[tuple[tuple[int, ...], tuple[bool, int, int]]]:
    if isinstance(engine, ReferenceEngine):
        for fact, entry in engine.entries(name).items():
            yield fact, (bool(entry.mask & Bit.EXPLICIT), entry.weight, entry.rank)
        return
    if isinstance(engine, PagedEngine):
        (dump,) = (dump for dump in engine.capture().dump() if dump.shape.name == name)
        known = zip(dump.explicit.tolist(), dump.weights.tolist(), dump.ranks.tolist(), strict=True)
        yield from zip(map(tuple, dump.facts.tolist()), known, strict=True)
        return
    assert isinstance(engine, ColumnarEngine)
    relation = engine.relation(name)
    for row in range(engine.size(relation)):
        if not relation.masks[row] & at.ABSENT:
            weight = int(relation.weights[row]) if relation.weighted else 0
            rank = int(relation.ranks[row]) if relation.ranked else 0
            explicit = bool(relation.masks[row] & at.EXPLICIT)
            yield tuple(relation.facts[row].tolist()), (explicit, weight, rank)


def from_scratch(name: str, explicit: dict[str, set[tuple[int, int]]]) -> dict[str, Facts]:
    return Kept(name, {relation: sorted(rows) for relation, rows in explicit.items()}).facts()


def after(facts: Edits, delete: Edits, insert: Edits) -> dict[str, set[tuple[int, int]]]:
    """What is explicit after an update."""
    return {name: set(facts[name]) - set(delete[name]) | set(insert[name]) for name in EDITED}


def interrupting(call: int) -> Watch:
    """A watch under which the update is interrupted at its n-th sweep."""
    watch, calls = Limits().watch(), iter(range(call))

    def look() -> None:
        if next(calls, None) is None:
            raise KeyboardInterrupt

    watch.between_sweeps = look
    return watch


def test_explicit_facts_are_told_from_derived_ones(engine: str) -> None:
    chain = [(number(1), number(2)), (number(2), number(3))]
    kept = Kept(engine, {"edge": chain, "path": [], "far": []})
    asked = [*chain, (number(3), number(1))]
    ask = ("edge", columns_of(asked, 2), len(asked))
    assert list(kept.engine.contains(*ask, explicit=True)) == [True, True, False]
    ask = ("path", columns_of(asked, 2), len(asked))
    assert list(kept.engine.contains(*ask)) == [True, True, False]
    assert not any(kept.engine.contains(*ask, explicit=True))
    kept.engine.edit("edge", columns_of(chain[:1], 2), 1, explicit=False)
    assert list(kept.engine.contains("edge", columns_of(chain, 2), 2, explicit=True)) == [False, True]


@settings(max_examples=20)
@given(facts=edits(), delete=edits(), insert=edits(), by=st.integers(1, 5))
def test_ranks_that_were_lifted_come_down_again(
    engine: str, facts: Edits, delete: Edits, insert: Edits, by: int
) -> None:
    kept = Kept(engine, facts)
    before = kept.known()
    heads = tuple(head for head in heads_of(kept.maintenance) if head.relation == "path")
    highest = kept.engine.lift(heads, by)
    ranks = [rank for _, _, rank in kept.known()["path"].values()]
    assert highest == max(ranks, default=by - 1)
    kept.update(delete, insert)
    kept.engine.abort()
    assert kept.known() == before


def test_what_is_suspect_stays_until_a_sweep_takes_it_away(engine: str) -> None:
    kept = Kept(engine, {"edge": [(number(1), number(2))], "path": [(number(5), number(6))], "far": []})
    before, heads = kept.known(), tuple(head for head in heads_of(kept.maintenance) if head.relation == "path")
    assert kept.engine.suspect_derived(heads) == 1, "the other fact is explicit"
    assert kept.facts()["path"] == {(number(1), number(2)), (number(5), number(6))}
    kept.engine.abort()
    assert kept.known() == before


def test_a_relation_that_was_dropped_may_come_back_in_another_shape(engine: str) -> None:
    kept = Kept(engine, {"edge": [(number(1), number(2))], "path": [], "far": []})
    before = kept.known()
    kept.engine.declare(Shape("other", 2))
    kept.engine.load("other", columns_of([(number(1), number(2))], 2), 1)
    kept.engine.drop("other")
    kept.engine.drop("other")  # which is not there
    kept.engine.declare(Shape("other", 1, bag=True))
    assert kept.engine.count("other") == 0
    assert kept.known() == before


@settings(max_examples=20)
@given(facts=edits(), delete=edits(), insert=edits(), strategy=st.sampled_from(STRATEGIES))
def test_abort_restores_all_that_is_known_of_facts(
    engine: str, facts: Edits, delete: Edits, insert: Edits, strategy: str
) -> None:
    kept = Kept(engine, facts)
    before = kept.known()
    kept.update(delete, insert, strategy)
    kept.engine.abort()
    kept.maintenance.restore()
    assert kept.known() == before
    # And the update can be tried again.
    kept.update(delete, insert, strategy)
    kept.engine.commit()
    assert kept.facts() == from_scratch(engine, after(facts, delete, insert))


@settings(max_examples=20)
@given(facts=edits(), delete=edits(), insert=edits(), strategy=st.sampled_from(STRATEGIES), at_sweep=st.integers(0, 15))
def test_abort_restores_after_an_interrupt_anywhere(
    engine: str, facts: Edits, delete: Edits, insert: Edits, strategy: str, at_sweep: int
) -> None:
    kept = Kept(engine, facts)
    before = kept.known()
    try:
        kept.update(delete, insert, strategy, interrupting(at_sweep))
    except KeyboardInterrupt:
        pass  # or the update was over before
    kept.engine.abort()
    kept.maintenance.restore()
    assert kept.known() == before
    kept.update(delete, insert)
    kept.engine.commit()
    assert kept.facts() == from_scratch(engine, after(facts, delete, insert))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_abort_restores_after_a_limit_inside_a_sweep(
    engine: str, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "_BUDGET", 1)  # so that the kernel comes back for limits in every round
    ids = [number(place) for place in range(1, 20)]
    chain = list(zip(ids, ids[1:], strict=False))
    kept = Kept(engine, {"edge": chain[:9]})
    before = kept.known()
    with pytest.raises(RoundLimitError):
        kept.update({"edge": chain[:1]}, {"edge": chain[10:]}, strategy, Limits(rounds=2).watch())
    kept.engine.abort()
    kept.maintenance.restore()
    assert kept.known() == before


@pytest.mark.parametrize("work", ["lengthened", "refill_packed"])
@pytest.mark.parametrize("at_call", range(5))
def test_abort_restores_after_an_interrupt_while_relations_grow(work: str, at_call: int) -> None:
    """Some arrays are made and others not when Ctrl-C comes."""
    pairs = [(number(place), number(place + 9_000)) for place in range(4_000)]
    kept = Kept("columnar", {"edge": pairs[:10]})
    before = kept.known()
    calls, done = iter(range(at_call)), getattr(relations, work)

    def interrupted(*args: object) -> object:
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return done(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relations, work, interrupted)
        with pytest.raises(KeyboardInterrupt):
            kept.update({"edge": pairs[:5]}, {"edge": pairs}, "bf-counting")
    kept.engine.abort()
    kept.maintenance.restore()
    assert kept.known() == before
    for strategy in ("choose", "bf-counting"):
        kept.update({"edge": pairs[:5]}, {"edge": pairs[5:]}, strategy)
        kept.engine.commit()
        assert kept.facts() == from_scratch("columnar", {"edge": set(pairs[5:])})


def test_half_an_index_is_not_kept() -> None:
    pairs = [(number(place), number(place + 9_000)) for place in range(9_000)]
    engine = Kept("columnar", {"edge": pairs}).engine
    assert isinstance(engine, ColumnarEngine)
    relation, calls, index_rows = engine.relation("edge"), iter(range(1)), relations.index_rows

    def interrupted(*args: object) -> None:
        if next(calls, None) is None:
            raise KeyboardInterrupt
        index_rows(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relations, "index_rows", interrupted)
        with pytest.raises(KeyboardInterrupt):
            relation.index_on((1, 0), engine.tables)
    index = relation.index_on((1, 0), engine.tables)
    assert engine.tables.indexes[index.number, at.I_USED] == len(pairs)


@settings(max_examples=20)
@given(facts=edits(), delete=edits(), insert=edits(), strategy=st.sampled_from(STRATEGIES))
def test_changes_are_exactly_what_changed(
    engine: str, facts: Edits, delete: Edits, insert: Edits, strategy: str
) -> None:
    kept = Kept(engine, facts)
    before = kept.facts()
    kept.update(delete, insert, strategy)
    changes = kept.engine.changes()
    kept.engine.commit()
    now = kept.facts()
    assert now == from_scratch(engine, after(facts, delete, insert))
    for name in RELATIONS:
        change = changes.get(name)
        gained, lost = (facts_of(change.gained()), facts_of(change.lost())) if change is not None else (set(), set())
        assert (gained, lost) == (now[name] - before[name], before[name] - now[name])


@settings(max_examples=20)
@given(stream=st.lists(st.tuples(edits(), edits(), st.sampled_from(STRATEGIES)), min_size=2, max_size=4))
def test_compacting_changes_nothing(stream: list[tuple[Edits, Edits, str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(updates, "_COMPACT_FROM", 0)
        kept, explicit = Kept("columnar", {}), {name: set() for name in EDITED}
        for delete, insert, strategy in stream:
            handed_out = {name: kept.engine.collect(name) for name in RELATIONS}
            before = {name: facts_of(columns) for name, columns in handed_out.items()}
            # Deleting all of them leaves most rows without a fact.
            delete = {name: [*delete[name], *explicit[name]] for name in EDITED}
            explicit = {name: set(insert[name]) for name in EDITED}
            kept.update(delete, insert, strategy)
            kept.engine.commit()
            kept.engine.reclaim()
            assert {name: facts_of(columns) for name, columns in handed_out.items()} == before
            assert kept.facts() == from_scratch("columnar", explicit)


def test_compacting_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(updates, "_COMPACT_FROM", 0)
    one, two, three = (number(value) for value in (1, 2, 3))
    kept = Kept("columnar", {"edge": [(one, two), (two, three), (three, one)]})
    kept.update({"edge": [(one, two), (two, three)]}, {})
    kept.engine.commit()
    kept.engine.reclaim()
    assert isinstance(kept.engine, ColumnarEngine)
    assert kept.engine.size(kept.engine.relation("edge")) == 1


@settings(max_examples=20)
@given(there=edges(), gone=edges(), loaded=edges())
def test_facts_are_loaded_again_after_tidying(engine: str, there: list, gone: list, loaded: list) -> None:
    kept = Kept(engine, {"edge": there})
    kept.update({"edge": gone}, {})
    kept.engine.commit()
    kept.engine.tidy()
    kept.engine.load("edge", columns_of(loaded, 2), len(loaded))
    assert facts_of(kept.engine.collect("edge")) == set(there) - set(gone) | set(loaded)


def test_aggregates_follow_after_an_abort(engine: str) -> None:
    one, two, three = (number(value) for value in (1, 2, 3))
    kept = Kept(engine, {"edge": [(one, two), (two, three)]})
    for end in ("commit", "abort", "commit"):  # the second update finds groups that the first has made
        kept.update({"edge": [(two, three)]}, {"edge": [(three, one)]})
        getattr(kept.engine, end)()
        if end == "commit":
            assert kept.facts()["reach"] == {(one, one, two), (three, two, two)}
        kept.update({"edge": [(three, one)]}, {"edge": [(two, three)]})
        kept.engine.commit()
        assert kept.facts()["reach"] == {(one, two, three), (two, one, three)}


@pytest.mark.parametrize("at_call", range(6))
def test_aggregates_follow_after_an_interrupt_among_groups(at_call: int) -> None:
    ids = [number(value) for value in range(1, 6)]
    chain = list(zip(ids, ids[1:], strict=False))
    kept = Kept("columnar", {"edge": chain})
    kept.update({"edge": chain[1:2]}, {})
    kept.engine.commit()
    before = kept.known()
    calls, change = iter(range(at_call)), regroup.GroupBook._change

    def interrupted(*args: object) -> None:
        if next(calls, None) is None:
            raise KeyboardInterrupt
        change(*args)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regroup.GroupBook, "_change", interrupted)
        with pytest.raises(KeyboardInterrupt):
            kept.update({}, {"edge": chain[1:2]})
    kept.engine.abort()
    assert kept.known() == before
    kept.update({}, {"edge": chain[1:2]})
    kept.engine.commit()
    assert kept.facts() == from_scratch("columnar", {"edge": set(chain)})


def test_what_nobody_reads_is_not_written_down() -> None:
    """Undo records are for readers: without one they do not pile up, though rules that come and go lift ranks."""
    kb = everlog.open()
    kb.add_rules("p(?x, ?z) :- p(?x, ?y), e(?y, ?z).   q(?x, ?z) :- q(?x, ?y), e(?y, ?z).")
    kb.update(insert={name: [(number, number + 1) for number in range(50)] for name in ("e", "p", "q")})
    for _ in range(4):  # two components become one, and two again
        kb.add_rules("there: p(?x, ?y) :- q(?x, ?y).   back: q(?x, ?y) :- p(?x, ?y).")
        kb.update(remove_rules=["there", "back"])
    engine = kb.state().facts.engine
    assert isinstance(engine, ColumnarEngine)
    assert not any(relation.undo for relation in engine.relations_now().values())


@settings(max_examples=40)
@given(facts=edits(), delete=edits(), insert=edits(), by=st.integers(0, 3), strategy=st.sampled_from(STRATEGIES))
def test_what_is_touched_turns_the_old_state_into_the_new(
    engine: str, facts: Edits, delete: Edits, insert: Edits, by: int, strategy: str
) -> None:
    kept = Kept(engine, facts)
    known = kept.known()
    if by:
        kept.engine.lift(tuple(head for head in heads_of(kept.maintenance) if head.relation == "path"), by)
    kept.update(delete, insert, strategy)
    touched = kept.engine.touched()
    changes = kept.engine.changes()
    kept.engine.commit()
    for name, states in touched.items():
        bag = name not in RELATIONS and "rows" in name
        rows = zip(*(column.tolist() for column in states.columns), strict=True)
        for row, change, *state in zip(rows, *(part.tolist() for part in states[1:]), strict=True):
            if change < 0 and not (bag and state[1]):
                del known[name][row]
            else:
                assert change > 0 or row in known[name]
                known[name][row] = tuple(state)
        moved = {row: change for row, change in changes[name].facts()} if name in changes else {}
        assert {fact: n for fact, n in zip(_rows(states), states.change.tolist(), strict=True) if n} == moved
    assert known == kept.known()
    assert changes.keys() <= touched.keys()


def _rows(states: FactStates) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in states.columns), strict=True))

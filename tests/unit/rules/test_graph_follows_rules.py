"""Is a graph that followed its rules the graph that all of them would have made at once?"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everlog.plans.flat_rules import EvaluatedRule, flatten_rules, rule_reads
from everlog.rules.components import Component, maintenance_components
from everlog.rules.hypergraph import Hypergraph
from everlog.rules.parser import parse_program

# Any choice of these is stratified: d and e only ever read the others under NOT and AGGREGATE.
RULES = flatten_rules(
    parse_program("""
        r1: a(?x, ?y) :- b(?x, ?y).
        r2: b(?x, ?y) :- a(?y, ?x).
        r3: b(?x, ?z) :- b(?x, ?y), c(?y, ?z).
        r4: c(?x, ?y) :- a(?x, ?y), given(?x).
        r5: c(?x, ?y) :- given(?x), given(?y).
        r6: a(?x, 1) :- given(?x).
        r7: [?x, <p>, ?y] :- a(?x, ?y).
        r8: [?x, <q>, ?y] :- [?x, <p>, ?y].
        r9: b(?x, ?y) :- [?x, ?p, ?y].
        r10: d(?x) :- given(?x), NOT a(?x, ?y).
        r11: e(?x, ?n) :- AGGREGATE(c(?x, ?y) ON ?x BIND COUNT(?y) AS ?n), NOT d(?x).
        r12: d(?x) :- d(?y), given(?x), given(?y).
    """).rules
)


def parts(components: list[Component[EvaluatedRule]] | tuple[Component[EvaluatedRule], ...]) -> set[object]:
    return {(frozenset(component.rules), component.recursive, component.stratum) for component in components}


@settings(max_examples=max(30, settings().max_examples))
@given(st.lists(st.tuples(st.sets(st.sampled_from(range(len(RULES)))), st.booleans()), min_size=1, max_size=8))
def test_changes_come_to_the_same(changes: list[tuple[set[int], bool]]) -> None:
    graph: Hypergraph[EvaluatedRule] = Hypergraph(rule_reads)
    there: set[int] = set()
    for flipped, several in changes:
        flips = flipped if several else set(list(flipped)[:1])
        numbers = {rule: number for number, rule in graph.rules.items()}
        before = parts(graph.components)
        graph, impact = graph.changed(
            {numbers[RULES[flip]] for flip in flips & there}, [RULES[flip] for flip in sorted(flips - there)]
        )
        there ^= flips
        assert parts(graph.components) == parts(maintenance_components([RULES[n] for n in sorted(there)], rule_reads))
        affected = {component.rules for component in (*impact.direct, *impact.indirect)}
        untouched = [component for component in graph.components if component.rules not in affected]
        assert all((frozenset(c.rules), c.recursive) in {part[:2] for part in before} for c in untouched)  # type: ignore[index]
        assert [component.number for component in graph.components] == list(range(len(graph.components)))


def test_adding_merges_and_removing_splits() -> None:
    one, two = RULES[0], RULES[1]
    graph = Hypergraph.of([one], rule_reads)
    merged, impact = graph.changed((), [two])
    assert [component.recursive for component in merged.components] == [True]
    assert impact.direct == merged.components
    split, _ = merged.changed([number for number, rule in merged.rules.items() if rule == one], [])
    assert [component.rules for component in split.components] == [(two,)]
    assert not split.components[0].recursive


def test_negation_on_a_cycle_has_no_extended_graph() -> None:
    rules = flatten_rules(parse_program("x1: a(?x) :- g(?x), NOT b(?x).").rules)
    back = flatten_rules(parse_program("x2: b(?x) :- a(?x), g(?x).").rules)
    assert Hypergraph.of(rules, rule_reads).extended(back) is None


@pytest.mark.parametrize("name", ["r10", "r11"])
def test_what_is_downstream_is_affected(name: str) -> None:
    graph = Hypergraph.of(RULES, rule_reads)
    number = next(number for number, rule in graph.rules.items() if rule.name == "r6")
    _, impact = graph.changed([number], [])
    assert any(rule.name == name for component in impact.indirect for rule in component.rules)

"""Does the index find what comparing every atom with every other one finds, and the graph with it too?"""

from __future__ import annotations

import pickle
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from everlog.plans.flat_rules import EvaluatedRule, FlatRule, rule_reads
from everlog.rules.atom_index import AtomIndex, unify
from everlog.rules.dependencies import strongly_connected
from everlog.rules.hypergraph import Hypergraph
from everlog.rules.syntax import Atom, Constant, Variable

arguments = st.sampled_from([Variable("x"), Variable("y"), Constant("a"), Constant("b"), Constant(1)])
atoms = st.builds(
    lambda relation, args: Atom(relation, tuple(args)),
    st.sampled_from(["p", "triple"]),
    st.lists(arguments, min_size=1, max_size=3),
)
entries = st.lists(atoms, max_size=12)


@given(entries, entries, st.sets(st.integers(0, 11)), atoms)
def test_it_finds_what_comparing_all_finds(first: list[Atom], more: list[Atom], gone: set[int], asked: Atom) -> None:
    before = list(enumerate(first))
    index = AtomIndex(before)
    list(index.unifying(asked))  # which builds what it needs, and later changes must know of it
    removed = [before[number] for number in sorted(gone) if number < len(before)]
    added = list(enumerate(more, start=100))
    changed = index.changed(removed, added)
    for atoms_there, found in ((before, index), ([e for e in before if e not in removed] + added, changed)):
        expected = sorted(key for key, atom in atoms_there if unify(atom, asked))
        assert sorted(found.unifying(asked)) == expected
        chosen = set(found.representatives(asked))
        assert chosen <= set(expected)
        assert bool(chosen) == bool(expected)


@settings(max_examples=max(60, settings().max_examples))
@given(st.lists(st.tuples(atoms, st.lists(atoms, min_size=1, max_size=2)), max_size=10), st.sets(st.integers(0, 9)))
def test_the_graph_is_that_of_all_pairs(parts: list[tuple[Atom, list[Atom]]], gone: set[int]) -> None:
    rules = [FlatRule(f"r{number}", (head,), tuple(body)) for number, (head, body) in enumerate(parts)]
    graph: Hypergraph[EvaluatedRule] = Hypergraph.of(rules, rule_reads)
    assert _groups(graph) == _by_all_pairs(rules)
    left, _ = graph.changed({number for number in graph.rules if number in gone}, [])
    assert _groups(left) == _by_all_pairs([rule for number, rule in enumerate(rules) if number not in gone])
    for place, members in enumerate(graph.members):
        pairs = product(members, graph.rules.items())
        fed = {n for m, (n, reader) in pairs if _feeds(rules[m], reader)}
        assert graph.fed_by(place) == {graph.places[number] for number in fed}


def _groups(graph: Hypergraph[EvaluatedRule]) -> set[frozenset[str]]:
    return {frozenset(rule.name for rule in component.rules) for component in graph.components}


def _by_all_pairs(rules: list[FlatRule]) -> set[frozenset[str]]:
    numbered = list(enumerate(rules))
    edges = [(m, n) for (m, one), (n, other) in product(numbered, numbered) if _feeds(one, other)]
    ties = [(m, n) for (m, one), (n, other) in product(numbered, numbered) if unify(one.heads[0], other.heads[0])]
    return {frozenset(rules[n].name for n in group) for group in strongly_connected(len(rules), [*edges, *ties])}


def _feeds(one: EvaluatedRule, other: EvaluatedRule) -> bool:
    return any(unify(head, atom) for head in one.heads for atom, _ in rule_reads(other))


def test_a_remembered_hash_stays_in_its_process() -> None:
    atom = Atom("p", (Constant("a"),))
    assert hash(atom) == hash(Atom("p", (Constant("a"),)))
    assert pickle.loads(pickle.dumps(atom)).__dict__.keys() == {"relation", "args", "span"}

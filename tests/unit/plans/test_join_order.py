"""Are the atoms of a rule read in an order that an engine can bear?"""

from __future__ import annotations

import random

from everlog.plans.delta_variants import full_variant
from everlog.plans.explain import CountedStatistics
from everlog.plans.flat_rules import FlatRule, flatten_rules
from everlog.plans.join_order import atom_order
from everlog.rules.names import name_rules
from everlog.rules.parser import parse_program
from everlog.rules.syntax import Atom


def order(rule: str, counts: dict[str, int]) -> tuple[int, ...]:
    [flat] = flatten_rules(name_rules(parse_program(rule).rules))
    assert isinstance(flat, FlatRule)
    return atom_order(full_variant(flat), CountedStatistics(counts))


def test_no_large_product_where_atoms_share_a_variable() -> None:
    """Sizes alone promise little of `age`, so that pairing all ages would look cheaper than following friends."""
    rule = "r(?x, ?y) :- friend(?x, ?y), [?x, <x:age>, ?a], [?y, <x:age>, ?b], ?b > ?a."
    first, second, _ = order(rule, {"friend": 40_000, "triple": 300_000})
    assert 0 in (first, second)


def test_a_small_product_may_come_first() -> None:
    assert order("r(?x, ?y) :- huge(?x, ?y), few(?x), some(?y).", {"huge": 10**9, "few": 3, "some": 5})[2] == 0


def test_atoms_without_a_common_variable_have_an_order_too() -> None:
    assert order("r(?x, ?y) :- p(?x), q(?y).", {"p": 10**6, "q": 10**6}) == (0, 1)


class MadeUp:
    """Statistics that fit no data: what one order promises another may deny."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def matches(self, atom: Atom, bound: frozenset[int]) -> float:
        return random.Random(f"{self._seed} {atom.relation} {sorted(bound)}").choice([0.5, 1.2, 3.0, 8.0])


def test_any_statistics_give_an_order_of_all_atoms() -> None:
    for seed in range(1_000):  # among them some where every order that the search follows turns out to cost more
        atoms = 3 + seed % 4
        body = ", ".join(f"p{n}(?v{n}, ?v{n + 1})" for n in range(atoms))
        [flat] = flatten_rules(name_rules(parse_program(f"r(?v0) :- {body}.").rules))
        assert isinstance(flat, FlatRule)
        assert sorted(atom_order(full_variant(flat), MadeUp(seed))) == list(range(atoms))

"""Are the atoms of a rule read in an order that an engine can bear?"""

from __future__ import annotations

from everlog.plans.delta_variants import full_variant
from everlog.plans.explain import CountedStatistics
from everlog.plans.flat_rules import FlatRule, flatten_rules
from everlog.plans.join_order import atom_order
from everlog.rules.names import name_rules
from everlog.rules.parser import parse_program


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

"""In which orders must relations be sorted so that maintenance finds what it looks for?

A look-up by some columns needs an order that begins with them. Which look-ups there will be is read off the plans of
the rule variants that strategies evaluate: what a change reaches, from the change; what supports a fact, from the fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from everlog.engines.paged.page_files import Order
from everlog.plans.delta_variants import Variant, seeded_variant
from everlog.plans.flat_rules import EvaluatedRule, FlatRule
from everlog.plans.join_order import Statistics, plan_variant
from everlog.plans.labels import Label
from everlog.plans.operators import Read
from everlog.plans.sweep_variants import gained_instances, lost_instances, spreading_instances, supporting_instances
from everlog.plans.sweeps import Effect, SweepVariant
from everlog.rules.components import Component
from everlog.rules.syntax import Atom


def needed_orders(components: Sequence[Component[EvaluatedRule]], statistics: Statistics) -> dict[str, list[Order]]:
    """The orders of each relation that look-ups will ask for, beside the first."""
    wanted: dict[str, set[frozenset[int]]] = {}
    arities: dict[str, int] = {}
    for component in components:
        rules = [rule for rule in component.rules if isinstance(rule, FlatRule)]
        heads = tuple(head for rule in rules for head in rule.heads)
        for variant in (variant for rule in rules for variant in _variants(rule, heads)):
            for step in plan_variant(variant, statistics).steps:
                if isinstance(step, Read) and 0 < len(step.key) < len(step.atom.args):
                    arities[step.atom.relation] = len(step.atom.args)
                    wanted.setdefault(step.atom.relation, set()).add(frozenset(column for column, _ in step.key))
    return {name: covering_orders(arities[name], sets) for name, sets in wanted.items()}


def _variants(rule: FlatRule, heads: tuple[Atom, ...]) -> Iterator[Variant | SweepVariant]:
    effect = Effect()
    yield from lost_instances(rule, heads, effect)
    yield from gained_instances(rule, heads, effect)
    now, absent = Label.NOW, Label.NOT_NOW
    yield from spreading_instances(rule, heads, effect, before=now, after=now, others=now, absent=absent)
    yield from supporting_instances(rule, heads, effect, seed=Label.FRONTIER, own=now, others=now, absent=absent)
    for refuted in rule.refuted:
        yield seeded_variant(refuted.body)


def covering_orders(width: int, wanted: Iterable[frozenset[int]]) -> list[Order]:
    """A few orders such that each set of columns is the beginning of one; the first order is taken for granted.

    >>> covering_orders(3, [frozenset({0}), frozenset({1}), frozenset({1, 2}), frozenset({0, 1})])
    [(1, 2, 0)]
    """
    chains: list[list[frozenset[int]]] = []
    for columns in sorted(wanted, key=lambda each: (len(each), sorted(each))):
        if columns == frozenset(range(len(columns))):
            continue  # the first order begins with them
        chain = next((chain for chain in chains if chain[-1] < columns), None)
        if chain is None:
            chains.append([columns])
        else:
            chain.append(columns)
    return [_order(width, chain) for chain in chains]


def _order(width: int, chain: Sequence[frozenset[int]]) -> Order:
    order: list[int] = []
    for columns in (*chain, frozenset(range(width))):
        order += sorted(columns.difference(order))
    return tuple(order)

"""How would one evaluate rules with nothing but sets of tuples?

The honest yardstick: nested loops over Python sets, no indexes, no cleverness. It keeps the interface honest and most
tests instant. Facts are tuples of ids.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from everlog.dictionary.dictionary import UNBOUND, Dictionary, Ids
from everlog.engines.interface import FactColumns, Phase, PhaseReport, Shape
from everlog.expressions.aggregates import aggregate
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import Term
from everlog.limits import Watch
from everlog.plans.delta_variants import Variant, seeded_variant
from everlog.plans.expressions import compile_expression, holds
from everlog.plans.flat_rules import GroupRule
from everlog.plans.join_order import NoStatistics, Statistics, plan_variant
from everlog.plans.labels import Label
from everlog.plans.operators import Compute, Conclude, Plan, Read, Refute, Select, Step, Without
from everlog.rules.syntax import Argument, Atom, Constant, expression_variables

Fact = tuple[int, ...]
Binding = dict[str, int]


class ReferenceEngine:
    """Sets of tuples."""

    name = "reference"

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._shapes: dict[str, Shape] = {}
        self._facts: dict[str, dict[Fact, int]] = {}  # each with its weight
        self._explicit: dict[str, set[Fact]] = {}
        self._new: dict[str, set[Fact]] = defaultdict(set)
        self._waiting: dict[str, dict[Fact, int]] = defaultdict(lambda: defaultdict(int))

    def declare(self, shape: Shape) -> None:
        known = self._shapes.setdefault(shape.name, shape)
        assert known == shape, f"{shape} was declared as {known}"
        self._facts.setdefault(shape.name, {})
        self._explicit.setdefault(shape.name, set())

    def load(self, relation: str, columns: Sequence[Ids], rows: int) -> int:
        facts = _tuples(columns, rows)
        before = len(self._facts[relation])
        for fact in facts:
            self._facts[relation].setdefault(fact, 1)
        self._explicit[relation].update(facts)
        return len(self._facts[relation]) - before

    def begin(self, relations: Sequence[str]) -> None:
        self._new.clear()
        self._waiting.clear()

    def derive(self, variants: Sequence[Variant]) -> int:
        applications = 0
        for variant in variants:
            plan = plan_variant(variant, NoStatistics())
            for head, binding in self._instances(plan):
                fact = tuple(self._value(arg, binding) for arg in head.args)
                self._waiting[head.relation][fact] += 1
                applications += 1
        return applications

    def advance(self, relations: Sequence[str]) -> dict[str, int]:
        gained = {}
        for relation in relations:
            facts, waiting = self._facts[relation], self._waiting[relation]
            self._new[relation] = {fact for fact in waiting if fact not in facts}
            gained[relation] = len(self._new[relation])
            for fact, weight in waiting.items():
                facts[fact] = facts.get(fact, 0) + weight if self._shapes[relation].bag else 1
        self._waiting.clear()
        return gained

    def run(self, phase: Phase, watch: Watch) -> PhaseReport | None:
        return None

    def group(self, rule: GroupRule) -> int:
        groups: dict[Fact, list[tuple[Fact, int]]] = defaultdict(list)
        if rule.group == 0:
            groups[()] = []
        for fact, weight in self._facts[rule.source.relation].items():
            groups[fact[: rule.group]].append((fact, weight))
        target = self._facts[rule.head.relation]
        before = len(target)
        for key, members in groups.items():
            try:
                results = [
                    aggregate(function.function, function.distinct, self._column(members, function.column))
                    for function in rule.functions
                ]
            except ExpressionError:
                continue
            target[key + tuple(self.dictionary.encode(result) for result in results)] = 1
        return len(target) - before

    def _column(self, members: list[tuple[Fact, int]], column: int | None) -> list[tuple[Term | None, int]]:
        if column is None:
            return [(True, weight) for _, weight in members]
        return [(self._term(fact[column]), weight) for fact, weight in members]

    def count(self, relation: str, *, explicit: bool = False) -> int:
        return len(self._explicit[relation] if explicit else self._facts[relation])

    def collect(self, relation: str, *, explicit: bool = False) -> FactColumns:
        return self._columns(relation, self._explicit[relation] if explicit else self._facts[relation])

    def _columns(self, relation: str, facts: Collection[Fact]) -> FactColumns:
        arity = self._shapes[relation].arity
        columns = [np.fromiter((fact[column] for fact in facts), np.int32, len(facts)) for column in range(arity)]
        return FactColumns(columns, len(facts))

    def weights(self, relation: str) -> list[int]:
        return list(self._facts[relation].values())

    def contains(self, relation: str, columns: Sequence[Ids], rows: int) -> list[bool]:
        facts = self._facts.get(relation, {})
        return [fact in facts for fact in _tuples(columns, rows)]

    def statistics(self) -> Statistics:
        return NoStatistics()

    def savepoint(self) -> object:
        return (
            dict(self._shapes),
            {relation: dict(facts) for relation, facts in self._facts.items()},
            {relation: set(facts) for relation, facts in self._explicit.items()},
        )

    def rollback(self, savepoint: object) -> None:
        self._shapes, self._facts, self._explicit = savepoint  # type: ignore[misc]

    def since(self, savepoint: object, relation: str) -> FactColumns:
        before = savepoint[1].get(relation, {})  # type: ignore[index]
        return self._columns(relation, [fact for fact in self._facts[relation] if fact not in before])

    # --- one plan -----------------------------------------------------------------------------------------------------

    def _instances(self, plan: Plan) -> Iterator[tuple[Atom, Binding]]:
        conclusions = [step.head for step in plan.steps if isinstance(step, Conclude)]
        steps = [step for step in plan.steps if not isinstance(step, Conclude)]
        for binding in self._extend({}, steps):
            for head in conclusions:
                yield head, binding

    def _extend(self, binding: Binding, steps: Sequence[Step]) -> Iterator[Binding]:
        if not steps:
            yield binding
            return
        step, rest = steps[0], steps[1:]
        for longer in self._step(binding, step):
            yield from self._extend(longer, rest)

    def _step(self, binding: Binding, step: Step) -> Iterator[Binding]:
        match step:
            case Read():
                key = [(column, self._value(arg, binding)) for column, arg in step.key]
                for fact in self._labelled(step.atom.relation, step.label):
                    if all(fact[c] == v for c, v in key) and all(fact[a] == fact[b] for a, b in step.same):
                        yield {**binding, **{name: fact[column] for column, name in step.binds}}
            case Without():
                fact = tuple(self._value(arg, binding) for arg in step.atom.args)
                if fact not in self._facts[step.atom.relation]:
                    yield binding
            case Refute():
                outer = {variable.name: binding[variable.name] for variable in step.refuted.outer}
                plan = plan_variant(seeded_variant(step.refuted.body), NoStatistics())
                inner = [inner for inner in plan.steps[1:] if not isinstance(inner, Conclude)]  # the seed is at hand
                if not any(True for _ in self._extend(outer, inner)):
                    yield binding
            case Select():
                names = sorted({variable.name for variable in expression_variables(step.expression)})
                if holds(compile_expression(step.expression, names), [self._term(binding[n]) for n in names]):
                    yield binding
            case Compute():
                names = sorted({variable.name for variable in expression_variables(step.expression)})
                try:
                    value = compile_expression(step.expression, names)([self._term(binding[n]) for n in names])
                    yield {**binding, step.variable: self.dictionary.encode(value)}
                except ExpressionError:
                    if step.attempt:
                        yield {**binding, step.variable: UNBOUND}

    def _labelled(self, relation: str, label: Label) -> Sequence[Fact]:
        facts, new = self._facts[relation], self._new[relation]
        match label:
            case Label.ALL:
                return list(facts)
            case Label.NEW:
                return list(new)
            case Label.OLD:
                return [fact for fact in facts if fact not in new]

    def _value(self, arg: Argument, binding: Binding) -> int:
        return self.dictionary.encode(arg.term) if isinstance(arg, Constant) else binding[arg.name]

    def _term(self, id_: int) -> Term | None:
        return None if id_ == UNBOUND else self.dictionary.decode(id_)


def _tuples(columns: Sequence[Ids], rows: int) -> list[Fact]:
    return list(zip(*(column.tolist() for column in columns), strict=True)) if columns else [()] * rows

"""How would one evaluate rules with nothing but sets of tuples?

The yardstick for other engines: nested loops over Python dictionaries, without indexes or optimisations. Most tests run
on it instantly. Facts are tuples of ids; each has the bits, weight and rank that maintenance asks for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.engines.dumps import RelationDump
from everlog.engines.interface import Capabilities, Flow, Phase, PhaseReport, Shape
from everlog.engines.reference.entries import NOTHING, Binding, Entry, Fact, states_of, tuples
from everlog.engines.reference.updates import ReferenceUpdates
from everlog.engines.states import FactStates
from everlog.engines.sweep_rounds import run_sweep
from everlog.expressions.aggregates import aggregate
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import Term
from everlog.facts.weighted import WeightedFacts
from everlog.limits import Watch
from everlog.plans.delta_variants import Variant, seeded_variant
from everlog.plans.expressions import compile_expression, holds
from everlog.plans.flat_rules import GroupFunction, WholeRule, WindowRule
from everlog.plans.join_order import NoStatistics, Statistics, plan_variant
from everlog.plans.labels import Bit, Label
from everlog.plans.operators import Compute, Conclude, Plan, Read, Refute, Select, Step, Without
from everlog.plans.sweeps import NO_BOUND, Most, Sweep, SweepReport
from everlog.plans.windows import window_over
from everlog.rules.syntax import Argument, Atom, Constant, expression_variables

State = tuple[dict[str, Shape], dict[str, dict[Fact, Entry]]]


class ReferenceCapture:
    """A copy of everything; taken between updates."""

    def __init__(self, dictionary: Dictionary, shapes: dict[str, Shape], facts: dict[str, dict[Fact, Entry]]) -> None:
        self._dictionary, self._shapes, self._facts = dictionary, shapes, facts

    def reader(self) -> ReferenceEngine:
        engine = ReferenceEngine(self._dictionary)
        engine._shapes, engine._facts = dict(self._shapes), dict(self._facts)  # queries only add relations
        return engine

    def dump(self) -> Iterator[RelationDump]:
        for name, shape in self._shapes.items():
            entries = [(fact, entry) for fact, entry in self._facts[name].items() if entry.present]
            yield RelationDump(
                shape,
                np.array([fact or (0,) for fact, _ in entries], np.int32).reshape(-1, max(1, shape.arity)),
                np.array([bool(entry.mask & Bit.EXPLICIT) for _, entry in entries], bool),
                np.array([entry.weight for _, entry in entries], np.int64),
                np.array([entry.rank for _, entry in entries], np.int32),
            )


class ReferenceEngine:
    """Sets of tuples."""

    name = "reference"
    capabilities = Capabilities(maintains=True)

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._shapes: dict[str, Shape] = {}
        self._facts: dict[str, dict[Fact, Entry]] = {}
        self._round = 0
        self._updates = ReferenceUpdates(self)
        self._new: dict[str, set[Fact]] = defaultdict(set)
        self._waiting: dict[str, dict[Fact, int]] = defaultdict(lambda: defaultdict(int))
        self._before_scratch: State | None = None  # while everything is derived
        self.tick = 0  # how many updates are complete

    def declare(self, shape: Shape) -> None:
        known = self._shapes.setdefault(shape.name, shape)
        assert (known.arity, known.bag) == (shape.arity, shape.bag), f"{shape} was declared as {known}"
        self._facts.setdefault(shape.name, {})

    def load(self, relation: str, columns: Sequence[Ids], rows: int) -> int:
        facts, before = self._facts[relation], self.count(relation)
        for fact in tuples(columns, rows):
            facts.setdefault(fact, Entry()).mask |= Bit.EXPLICIT
        return self.count(relation) - before

    def load_dump(self, dump: RelationDump) -> None:
        self.declare(dump.shape)
        none = np.zeros(len(dump.facts), np.int64)
        masks = np.where(dump.explicit, int(Bit.EXPLICIT), 0).tolist()
        weights = (dump.weights if dump.weights is not None else none).tolist()
        ranks = (dump.ranks if dump.ranks is not None else none).tolist()
        facts = (tuple(fact[: dump.shape.arity]) for fact in dump.facts.tolist())
        rest = zip(masks, weights, ranks, strict=True)
        self._facts[dump.shape.name] = {fact: Entry(*each) for fact, each in zip(facts, rest, strict=True)}

    def restore(self, relation: str, facts: WeightedFacts | None, explicit: WeightedFacts | None) -> None:
        if facts is not None:
            self._facts[relation] = {fact: Entry(weight=weight) for fact, weight in facts.facts()}
        if explicit is not None:
            self.load(relation, explicit.columns, explicit.rows)

    def begin(self, relations: Sequence[str]) -> None:
        self._new.clear()
        self._waiting.clear()
        self._round = 0

    def derive(self, variants: Sequence[Variant]) -> int:
        applications = 0
        for variant in variants:
            plan = plan_variant(variant, NoStatistics())
            for head, binding in self._instances(plan):
                fact = tuple(self.value(arg, binding) for arg in head.args)
                self._waiting[head.relation][fact] += 1
                applications += 1
        return applications

    def advance(self, relations: Sequence[str]) -> dict[str, int]:
        gained = {}
        self._round += 1
        for relation in relations:
            facts, waiting = self._facts[relation], self._waiting[relation]
            self._new[relation] = {fact for fact in waiting if fact not in facts}
            gained[relation] = len(self._new[relation])
            for fact, weight in waiting.items():
                facts.setdefault(fact, Entry(rank=self._round)).weight += weight
        self._waiting.clear()
        return gained

    def run(self, phase: Phase, watch: Watch) -> PhaseReport | None:
        return None

    def group(self, rule: WholeRule) -> int:
        results = self.groups(rule)
        for fact in results:
            self._facts[rule.head.relation][fact] = Entry(weight=1)
        return len(results)

    def groups(self, rule: WholeRule) -> list[Fact]:
        """The facts of an aggregate, or of a window, over its bag as it is now."""
        if isinstance(rule, WindowRule):
            there = [(fact, entry) for fact, entry in self._facts[rule.source.relation].items() if entry.present]
            rows = [(fact, entry.weight if rule.bag else 1) for fact, entry in there]
            return window_over(rule.ordering, rows, self.dictionary).facts()
        groups: dict[Fact, list[tuple[Fact, int]]] = defaultdict(list)
        if rule.group == 0:
            groups[()] = []
        for fact, entry in self._facts[rule.source.relation].items():
            if entry.present:
                groups[fact[: rule.group]].append((fact, entry.weight))
        results = []
        for key, members in groups.items():
            values = [self._aggregated(function, members) for function in rule.functions]
            if rule.keep_failed or self.dictionary.unbound not in values:
                results.append((*key, *values))
        return results

    def _aggregated(self, function: GroupFunction, members: list[tuple[Fact, int]]) -> int:
        values = self._column(members, function.column)
        try:
            return self.dictionary.encode(aggregate(function.function, function.distinct, values, function.separator))
        except ExpressionError:
            return self.dictionary.unbound

    def _column(self, members: list[tuple[Fact, int]], column: int | None) -> list[tuple[Term | None, int]]:
        if column is None:
            return [(True, weight) for _, weight in members]
        return [(self._term(fact[column]), weight) for fact, weight in members]

    def count(self, relation: str, *, explicit: bool = False) -> int:
        return len(self._there(relation, explicit))

    def collect(self, relation: str, *, explicit: bool = False) -> WeightedFacts:
        facts, bag = self._there(relation, explicit), self._shapes[relation].bag
        entries = self._facts[relation]
        return self.weighted(relation, {fact: entries[fact].weight if bag else 1 for fact in facts})

    def _there(self, relation: str, explicit: bool = False) -> list[Fact]:
        entries = self._facts[relation].items()
        return [fact for fact, entry in entries if (entry.mask & Bit.EXPLICIT if explicit else entry.present)]

    def weighted(self, relation: str, counts: Mapping[Fact, int]) -> WeightedFacts:
        """Facts with weights, as columns."""
        return WeightedFacts.of(counts, self._shapes[relation].arity, self.dictionary.dtype)

    def contains(self, relation: str, columns: Sequence[Ids], rows: int, *, explicit: bool = False) -> list[bool]:
        facts = set(self._there(relation, explicit)) if relation in self._facts else set()
        return [fact in facts for fact in tuples(columns, rows)]

    def statistics(self) -> Statistics:
        return NoStatistics()

    # --- states -------------------------------------------------------------------------------------------------------

    def _copied(self) -> State:
        copies = {name: {fact: replace(entry) for fact, entry in facts.items()} for name, facts in self._facts.items()}
        return dict(self._shapes), copies

    def begin_from_scratch(self) -> None:
        self._before_scratch = self._copied()

    def changes(self) -> dict[str, WeightedFacts]:
        if self._before_scratch is None:
            return self._updates.changes()
        found = {}
        for relation in self._facts:
            before = self._before_scratch[1].get(relation, {})
            facts = self.collect(relation)
            gained = {fact: weight for fact, weight in facts.facts() if fact not in before}
            if gained:
                found[relation] = self.weighted(relation, gained)
        return found

    def touched(self) -> dict[str, FactStates]:
        before = self._updates.before() if self._before_scratch is None else self._before_scratch[1]
        found = {}
        for relation, shape in self._shapes.items():
            known, now = before.get(relation, {}), self._facts[relation]
            facts = known if self._before_scratch is None else now
            changed = {fact: entry for fact in facts if (entry := now[fact]).state != known.get(fact, NOTHING).state}
            if changed:
                found[relation] = states_of(shape, known, changed)
        return found

    def commit(self, *, publish: bool = True) -> None:
        if self._before_scratch is None:
            self._updates.commit()
        self._before_scratch = None
        self.tick += 1

    def publish(self, tick: int) -> None:
        """Captures are taken between updates."""

    def abort(self) -> None:
        if self._before_scratch is None:
            self._updates.abort()
        else:
            (self._shapes, self._facts), self._before_scratch = self._before_scratch, None

    def explicit_changes(self, relations: Iterable[str]) -> dict[str, WeightedFacts]:
        before = None if self._before_scratch is None else self._before_scratch[1]
        return self._updates.explicit_changes(relations, before)

    def capture(self, *, latest: bool = False) -> ReferenceCapture:
        return ReferenceCapture(self.dictionary, *self._copied())

    # --- updates ------------------------------------------------------------------------------------------------------

    def count_before(self, relation: str) -> int:
        return sum(not entry.mask & Bit.WAS_ABSENT for entry in self._facts[relation].values())

    def edit(self, relation: str, columns: Sequence[Ids], rows: int, *, explicit: bool) -> int:
        return self._updates.edit(relation, tuples(columns, rows), explicit)

    def settle(self, relation: str, heads: Sequence[Atom]) -> Flow:
        return self._updates.settle(relation, heads)

    def sweep(self, sweep: Sweep, watch: Watch, limit: int = 0, most: Most = NO_BOUND) -> SweepReport:
        return run_sweep(self._updates, sweep, watch, limit, most)

    def touched_values(self, relation: str, columns: tuple[int, ...], *, edited: bool) -> set[tuple[int, ...]]:
        return self._updates.touched_values(relation, columns, edited)

    def reaches(self, reads: tuple[Atom, ...], heads: tuple[Atom, ...]) -> bool:
        return self._updates.reaches(reads, heads)

    def overdelete(self, heads: tuple[Atom, ...]) -> int:
        return self._updates.overdelete(heads)

    def suspect_derived(self, heads: tuple[Atom, ...]) -> int:
        return self._updates.suspect_derived(heads)

    def uncount(self, heads: tuple[Atom, ...]) -> None:
        self._updates.uncount(heads)

    def finish(self, heads: tuple[Atom, ...], *, counted: bool) -> dict[str, Flow]:
        return self._updates.finish(heads, counted)

    def lift(self, heads: tuple[Atom, ...], by: int) -> int:
        return self._updates.lift(heads, by)

    def regroup(self, rule: WholeRule, *, new: bool = False) -> Flow:
        return self._updates.regroup(rule)

    def forget(self, sweeps: Sequence[Sweep]) -> None:
        """Nothing to do: this engine caches no sweeps."""

    def drop(self, relation: str) -> None:
        self._shapes.pop(relation, None)
        self._facts.pop(relation, None)

    def record_witnesses(self) -> None:
        self._updates.marks.record_witnesses()

    def mark(self, relation: str, columns: Sequence[Ids], rows: int) -> tuple[int, int]:
        return self._updates.marks.mark(relation, tuples(columns, rows))

    def suspect_marked(self) -> int:
        return self._updates.suspect_marked()

    def reclaim(self) -> None:
        """Facts that are gone take no room here."""

    def tidy(self) -> None:
        for facts in self._facts.values():
            for entry in facts.values():
                entry.rank = entry.weight = 0

    def is_bag(self, relation: str) -> bool:
        return self._shapes[relation].bag

    def entries(self, relation: str) -> dict[Fact, Entry]:
        """The facts of a relation, absent ones included."""
        return self._facts[relation]

    # --- one plan -----------------------------------------------------------------------------------------------------

    def _instances(self, plan: Plan) -> Iterator[tuple[Atom, Binding]]:
        conclusions = [step.head for step in plan.steps if isinstance(step, Conclude)]
        for binding in self.bindings(plan):
            for head in conclusions:
                yield head, binding

    def bindings(self, plan: Plan) -> Iterator[Binding]:
        """The bindings for which the body of a plan's rule holds."""
        yield from self._extend({}, [step for step in plan.steps if not isinstance(step, Conclude)])

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
                key = [(column, self.value(arg, binding)) for column, arg in step.key]
                for fact in self._labelled(step.atom.relation, step.label):
                    if all(fact[c] == v for c, v in key) and all(fact[a] == fact[b] for a, b in step.same):
                        yield {**binding, **{name: fact[column] for column, name in step.binds}}
            case Without():
                fact = tuple(self.value(arg, binding) for arg in step.atom.args)
                entry = self._facts[step.atom.relation].get(fact)
                if entry is None or step.label.condition.holds(entry.mask):
                    yield binding
            case Refute():
                outer = {variable.name: binding[variable.name] for variable in step.refuted.outer}
                plan = plan_variant(seeded_variant(step.refuted.body), NoStatistics())
                inner = [
                    inner for inner in plan.steps[1:] if not isinstance(inner, Conclude)
                ]  # the first step reads the seed
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
                        yield {**binding, step.variable: self.dictionary.unbound}

    def _labelled(self, relation: str, label: Label) -> Sequence[Fact]:
        if label is Label.NEW:
            return list(self._new[relation])
        if label is Label.OLD:
            return [fact for fact in self._there(relation) if fact not in self._new[relation]]
        if label is Label.FRONTIER:
            return self._updates.frontier[relation]
        return [fact for fact, entry in self._facts[relation].items() if label.condition.holds(entry.mask)]

    def value(self, arg: Argument, binding: Binding) -> int:
        """The id that an argument stands for."""
        return self.dictionary.encode(arg.term) if isinstance(arg, Constant) else binding[arg.name]

    def _term(self, id_: int) -> Term | None:
        return None if id_ == self.dictionary.unbound else self.dictionary.decode(id_)

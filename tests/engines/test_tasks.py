"""Do tasks, put together, derive what the rules mean? Without Spark: parts are lists here.

The law against the oracle, stage by stage: facts are divided as roles say, each part runs the columnar engine by
itself, and what comes out is put together. So what is tried is the plan (plans/pivots.py, stages.py, partitioned.py)
and what a task does; that frames bring the right rows to the right task is tried in tests/pipeline/test_bulk.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
from hypothesis import given, settings
from tests import oracle
from tests.closure_strategies import closure_stories
from tests.strategies import Story, graph_stories, program_stories

from everlog.engines.spark.ids import id_of_key
from everlog.engines.spark.tasks import TaskInput, TaskOutput, TaskProgram, run_task
from everlog.facts.terms import key_of
from everlog.maintenance.materialise import Evaluation, evaluation_components, shapes
from everlog.plans.flat_rules import EvaluatedRule, rule_reads
from everlog.plans.partitioned import partition_rules
from everlog.plans.pivots import Pivot
from everlog.plans.rewrites import rewrite_rules
from everlog.plans.stages import overlapping, plan_stages
from everlog.rules.components import Component
from everlog.rules.constraints import is_constraint_relation
from everlog.rules.names import name_rules
from everlog.rules.syntax import Atom, Constant, Program

PARTS, WIDTH = 3, 8
Fact = tuple[int, ...]
Components = Sequence[Component[EvaluatedRule]]


class Derivation:
    """A program that is derived in parts."""

    def __init__(self, program: Program, facts: Mapping[str, Iterable[Sequence[object]]], *, rewrites: bool) -> None:
        self.keys: dict[int, str] = {}
        self.facts: dict[str, dict[Fact, bool]] = {}  # and whether they were given
        self.weights: dict[str, dict[Fact, int]] = {}
        for relation, rows in facts.items():
            for row in rows:
                self.facts.setdefault(relation, {})[self._encoded(row)] = True
        rewriting = rewrite_rules(name_rules(program.rules), enabled=rewrites)
        for closure in rewriting.closures:
            there = self.facts.get(closure.part.relation, {})
            self.facts[closure.base] = {fact: True for fact in there if self._fits(closure.part, fact)}
        components = evaluation_components(rewriting.rules)
        self.bags = {shape.name for shape in shapes(components) if shape.bag}
        if overlapping(components):
            self.in_one(components)
            return
        for stage in plan_stages(components):
            if isinstance(stage.pivot, Pivot) and not any(map(self.facts.get, stage.pivot.unless)):
                self.divided(stage.components, stage.pivot)
            else:
                self.in_one(stage.components)

    def _encoded(self, row: Sequence[object]) -> Fact:
        keys = [key_of(term) for term in row]  # type: ignore[arg-type]
        self.keys |= {id_of_key(key): key for key in keys}
        return tuple(map(id_of_key, keys))

    def _fits(self, atom: Atom, fact: Fact) -> bool:
        return all(
            id_of_key(arg.key) == id_ if isinstance(arg, Constant) else fact[atom.args.index(arg)] == id_
            for arg, id_ in zip(atom.args, fact, strict=True)
        )

    def in_one(self, components: Components) -> None:
        heads = list(dict.fromkeys(head for c in components for rule in c.rules for head in rule.heads))
        reads = [atom for c in components for rule in c.rules for atom, _ in rule_reads(rule)]
        names = list(dict.fromkeys(atom.relation for atom in (*heads, *reads)))
        arities = {atom.relation: len(atom.args) for atom in (*heads, *reads)}
        outputs = {head.relation: [each for each in heads if each.relation == head.relation] for head in heads}
        rows = [
            (n, fact, self._weight(name, fact), given) for n, name in enumerate(names) for fact, given in self._of(name)
        ]
        inputs = [TaskInput(name, arities[name], name in self.bags) for name in names]
        self._run(components, inputs, list(outputs.items()), [rows])

    def divided(self, components: Components, pivot: Pivot) -> None:
        seeds: dict[str, set[Fact]] = {}
        if pivot.outside:
            outside = Derivation.__new__(Derivation)
            outside.keys, outside.weights, outside.bags = self.keys, self.weights, self.bags
            read = {atom.relation for rule in pivot.outside for atom, _ in rule_reads(rule)}
            outside.facts = {name: dict(there) for name, there in self.facts.items() if name in read}
            before = {name: set(there) for name, there in outside.facts.items()}
            outside.in_one([Component(0, pivot.outside, False, 0)])
            seeds = {name: set(there) - before.get(name, set()) for name, there in outside.facts.items()}
        plan = partition_rules(components, pivot)
        parts: list[list[tuple[int, Fact, int, bool]]] = [[] for _ in range(PARTS)]
        inputs = []
        for number, (role, atoms) in enumerate(plan.needs.items()):
            inputs.append(TaskInput(role.name, len(atoms[0].args), role.relation in self.bags))
            needed = [(f, g) for f, g in self._of(role.relation) if any(self._fits(atom, f) for atom in atoms)]
            if role in plan.gives:
                needed += [(fact, False) for fact in seeds.get(role.relation, ()) if fact not in dict(needed)]
            for fact, was_given in needed:
                chosen = range(PARTS) if role.position is None else [fact[role.position] // 8 % PARTS]
                for part in chosen:
                    parts[part].append((number, fact, self._weight(role.relation, fact), was_given))
        outputs = [(role.name, list(heads)) for role, heads in plan.gives.items()]
        self._run(plan.components, inputs, outputs, parts)

    def _of(self, relation: str) -> list[tuple[Fact, bool]]:
        return list(self.facts.get(relation, {}).items())

    def _weight(self, relation: str, fact: Fact) -> int:
        return self.weights.get(relation, {}).get(fact, 1)

    def _run(
        self,
        components: Components,
        inputs: Sequence[TaskInput],
        outputs: Sequence[tuple[str, list[Atom]]],
        parts: Sequence[Sequence[tuple[int, Fact, int, bool]]],
    ) -> None:
        evaluation = Evaluation.of(components)
        program = TaskProgram(
            evaluation.shapes,
            tuple(zip((c.number for c in components), evaluation.steps, strict=True)),
            tuple(inputs),
            tuple(
                TaskOutput(name, n, tuple(heads), tuple(heads), tuple(heads)) for n, (name, heads) in enumerate(outputs)
            ),
            WIDTH,
            keys=True,
        )
        seen: set[tuple[str, Fact]] = set()
        for rows in parts:
            for batch in run_task(program, [self._batch(rows)]):
                for row in batch.to_pylist():
                    if row["relation"] < 0:
                        self.keys[row["c1"]] = row["key"]
                        continue
                    name, heads = outputs[row["relation"]]
                    fact = tuple(row[f"c{n}"] for n in range(1, len(heads[0].args) + 1))
                    relation = name.partition("@")[0]
                    assert (relation, fact) not in seen, f"{relation}{fact} came out twice"
                    seen.add((relation, fact))
                    was_given = self.facts.get(relation, {}).get(fact, False)
                    assert row["explicit"] == was_given
                    self.facts.setdefault(relation, {})[fact] = was_given
                    self.weights.setdefault(relation, {})[fact] = row["weight"]

    def _batch(self, rows: Sequence[tuple[int, Fact, int, bool]]) -> pa.RecordBatch:
        terms = [(-1, (id_,), 1, False) for id_ in self.keys]
        everything = [*rows, *terms]
        columns = {"relation": pa.array([row[0] for row in everything], pa.int32())}
        for n in range(WIDTH):
            columns[f"c{n + 1}"] = pa.array([row[1][n] if n < len(row[1]) else None for row in everything], pa.int64())
        columns["weight"] = pa.array([row[2] for row in everything], pa.int64())
        columns["explicit"] = pa.array([row[3] for row in everything], pa.bool_())
        keys = [None] * len(rows) + [self.keys[id_] for id_ in self.keys]
        columns["key"] = pa.array(keys, pa.string())
        return pa.RecordBatch.from_pydict(columns)

    def listed(self, names: Iterable[str]) -> dict[str, set[tuple[str, ...]]]:
        def key(id_: int) -> str:
            return f"^integer {id_ >> 3}" if id_ & 7 == 4 else self.keys[id_]

        return {name: {tuple(map(key, fact)) for fact in self.facts.get(name, ())} for name in names}


def holds(story: Story, *, rewrites: bool) -> None:
    defined = {head.relation for rule in story.program.rules for head in rule.heads}
    defined = {name for name in defined if not is_constraint_relation(name)}
    found = Derivation(story.program, story.facts, rewrites=rewrites).listed(defined)
    meant = oracle.materialise(story.program, story.facts)
    assert found == {name: set(meant.get(name, ())) for name in defined}


@settings(max_examples=40)
@given(story=program_stories())
def test_programs(story: Story) -> None:
    holds(story, rewrites=True)


@settings(max_examples=20)
@given(story=closure_stories())
def test_closures(story: Story) -> None:
    holds(story, rewrites=True)


@settings(max_examples=20)
@given(story=graph_stories())
def test_graphs(story: Story) -> None:
    holds(story, rewrites=False)

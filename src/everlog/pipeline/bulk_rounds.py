"""How does recursion run round by round, where it neither has a pivot nor fits one task?

By the Spark engine (engines/spark/engine.py): each round is a job over DataFrames. A fact's rank is the round that
derived it. On a cluster rounds are written every so often, so that a lost executor does not end the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from everlog.dictionary.hash_dictionary import HashDictionary
from everlog.engines.interface import PhaseReport
from everlog.engines.spark.engine import OnLoss, OnRound, SparkEngine
from everlog.engines.spark.tagged import RANK, WEIGHT, id_columns
from everlog.engines.spark.written_rounds import WrittenRounds
from everlog.limits import Watch
from everlog.maintenance.fixpoint import run_phase
from everlog.maintenance.materialise import component_phase, shapes
from everlog.pipeline.bulk_facts import BulkFacts
from everlog.plans.flat_rules import EvaluatedRule, rule_reads
from everlog.rules.components import Component
from everlog.rules.syntax import Atom


class RoundStages:
    """Makes parts round by round."""

    def __init__(self, facts: BulkFacts, watch: Watch, folder: str | None, on_round: OnRound, on_loss: OnLoss) -> None:
        """`folder`: where rounds are written; None where they need not be."""
        self._facts, self._watch, self._folder = facts, watch, folder
        self._on_round, self._on_loss = on_round, on_loss
        self._phases = 0
        self.engine: SparkEngine | None = None  # the last one at work

    def part(self, component: Component[EvaluatedRule]) -> tuple[DataFrame, PhaseReport]:
        """Derive what a recursive component concludes: a tagged frame."""
        facts = self._facts
        engine = self.engine = SparkEngine(facts.spark, HashDictionary(), facts.terms(), self._written())
        engine.on_round, engine.on_loss = self._on_round, self._on_loss
        for shape in shapes([component]):
            engine.declare(shape)
        heads = list(dict.fromkeys(head for rule in component.rules for head in rule.heads))
        reads = [atom for rule in component.rules for atom, _ in rule_reads(rule)]
        for relation, atoms in _by_relation([*heads, *reads]).items():
            if facts.count(relation):
                weight = [WEIGHT] if relation in facts.bags else []
                engine.adopt(relation, facts.facts(relation, atoms).select(*_columns(facts, relation), *weight))
        report = run_phase(engine, component_phase(component), self._watch)
        engine.settle()
        facts.new_terms += engine.made_terms()
        return self._tagged(engine, heads), report

    def _written(self) -> WrittenRounds | None:
        if self._folder is None:
            return None
        self._phases += 1
        return WrittenRounds(self._facts.spark, f"{self._folder}/{self._phases}")

    def _tagged(self, engine: SparkEngine, heads: Sequence[Atom]) -> DataFrame:
        frames = []
        for relation, own in _by_relation(heads).items():
            given = self._facts.given_facts(relation, own)
            if given is not None:
                frames.append(self._facts.tag(given, relation, explicit=True))
            gained = engine.gained(relation)
            if gained is not None:
                frames.append(self._facts.tag(gained, relation, explicit=False, rank=f.col(RANK)))
            if given is None and gained is None:
                nothing = self._facts.facts(relation, [])
                frames.append(self._facts.tag(nothing, relation, explicit=True).where(f.lit(False)))
        return reduce(DataFrame.unionAll, frames)


def _by_relation(atoms: Sequence[Atom]) -> dict[str, list[Atom]]:
    found: dict[str, list[Atom]] = {}
    for atom in atoms:
        found.setdefault(atom.relation, []).append(atom)
    return found


def _columns(facts: BulkFacts, relation: str) -> list[Column | str]:
    """A relation's columns as the engine has them: one with a zero for a relation without arguments."""
    named = id_columns(facts.arities[relation])
    return [*named] if named else [f.lit(0).cast("long").alias("c1")]

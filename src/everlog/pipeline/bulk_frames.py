"""How is a component without recursion described as DataFrames?

Its rules become joins (engines/spark/bindings.py), and one grouping makes facts distinct, counts their derivations and
finds out which of them were given. Nothing runs before somebody reads the result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from everlog.engines.spark.bindings import Bindings
from everlog.engines.spark.expressions import Expressions
from everlog.engines.spark.groups import group_facts
from everlog.engines.spark.ids import id_of_key
from everlog.engines.spark.keeping import Keep, local_checkpoint
from everlog.engines.spark.tagged import id_columns
from everlog.pipeline.bulk_facts import UNKNOWN, BulkFacts
from everlog.plans.delta_variants import full_variant
from everlog.plans.explain import CountedStatistics
from everlog.plans.flat_rules import EvaluatedRule, FlatRule, GroupRule
from everlog.plans.join_order import plan_variant
from everlog.plans.labels import Label
from everlog.rules.components import Component
from everlog.rules.syntax import Atom, Constant

_EXPLICIT, _TIMES = "explicit", "times"
_THOUGHT = 1_000_000  # facts that a relation is planned with that nobody has counted


class FrameStages:
    """Describes parts as DataFrames."""

    def __init__(self, facts: BulkFacts, keep: Keep = local_checkpoint) -> None:
        self._facts, self._keep = facts, keep
        self._expressions = Expressions(facts.terms, _id_of, keep)

    def part(self, component: Component[EvaluatedRule]) -> DataFrame:
        """What a component without recursion concludes, and what was given of it: a tagged frame."""
        concluded = self.conclusions(component.rules)
        heads = list(dict.fromkeys(head for rule in component.rules for head in rule.heads))
        bag = any(isinstance(rule, FlatRule) and rule.bag for rule in component.rules)
        frames = []
        for relation in dict.fromkeys(head.relation for head in heads):
            own = [head for head in heads if head.relation == relation]
            frames.append(self._grouped(relation, concluded.get(relation, []), own, bag=bag))
        return reduce(DataFrame.unionAll, frames)

    def conclusions(self, rules: Iterable[EvaluatedRule]) -> dict[str, list[DataFrame]]:
        """What rules conclude by relation, a fact as often as it is derived."""
        kinds = self._facts.kinds
        assert kinds is not None
        statistics = CountedStatistics({name: self._planned_with(name) for name in self._facts.arities})
        bindings = Bindings(self._facts.spark, self._labelled, kinds.__getitem__, _id_of, self._expressions, statistics)
        found: dict[str, list[DataFrame]] = defaultdict(list)
        before = len(self._expressions.new_terms)
        for rule in rules:
            if isinstance(rule, GroupRule):
                source = self._facts.facts(rule.source.relation)
                facts, terms = group_facts(rule, source, self._facts.terms, self._keep)
                self._expressions.new_terms.append(terms)
                found[rule.head.relation].append(facts)
                continue
            assert isinstance(rule, FlatRule), "windows are refused when a query is read"
            for conclusions in bindings.conclusions(plan_variant(full_variant(rule), statistics)):
                found[conclusions.relation].append(conclusions.facts)
        self._facts.new_terms += self._expressions.new_terms[before:]
        return found

    def _labelled(self, relation: str, label: Label) -> tuple[DataFrame, int]:
        assert label is Label.ALL, "there is no recursion"
        return self._facts.facts(relation), self._facts.count(relation)

    def _planned_with(self, relation: str) -> int:
        count = self._facts.count(relation)
        return _THOUGHT if count == UNKNOWN else count

    def _grouped(self, relation: str, concluded: Sequence[DataFrame], heads: Sequence[Atom], *, bag: bool) -> DataFrame:
        """Distinct facts, with how often they were derived, and whether they were given."""
        columns = id_columns(max(1, self._facts.arities[relation]))
        rows = [frame.select(*columns, f.lit(False).alias(_EXPLICIT), f.lit(1).alias(_TIMES)) for frame in concluded]
        given = self._facts.given_facts(relation, heads)
        if given is not None:
            one = given if self._facts.arities[relation] else given.select(f.lit(0).cast("long").alias("c1"))
            rows.append(one.select(*columns, f.lit(True).alias(_EXPLICIT), f.lit(0).alias(_TIMES)))
        if not rows:
            nothing = self._facts.facts(relation, [])
            return self._facts.tag(nothing, relation, explicit=True).where(f.lit(False))
        grouped = (
            reduce(DataFrame.unionAll, rows)
            .groupBy(*columns)
            .agg(f.max(_EXPLICIT).alias(_EXPLICIT), f.sum(_TIMES).cast("long").alias(_TIMES))
        )
        times, explicit = f.col(_TIMES), f.col(_EXPLICIT)
        weight = times if bag else None
        return self._facts.tag(grouped, relation, explicit=explicit, weight=weight, derivations=times)


def _id_of(constant: Constant) -> int:
    return id_of_key(constant.key)

"""How does a pipeline derive facts, from frames to frames?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from everlog.engines.interface import PhaseReport, Shape
from everlog.engines.spark.dictionary import HashDictionary
from everlog.engines.spark.engine import SparkEngine
from everlog.errors import EngineError
from everlog.limits import Limits
from everlog.maintenance.materialise import evaluation_components, materialise, shapes
from everlog.pipeline.rejects import from_spark
from everlog.plans.flat_rules import is_auxiliary, rule_of_auxiliary
from everlog.rules.constraints import is_constraint
from everlog.rules.names import name_rules
from everlog.rules.syntax import Program, Rule
from everlog.store.constraints import MOST_MATCHES, Broken, refuse_broken


@dataclass(frozen=True)
class Materialised:
    """All facts, explicit and derived, and the terms that rules computed."""

    facts: dict[str, DataFrame]  # explicit and derived, columns c1, c2, … of ids, each fact once
    counts: dict[str, int]
    new_terms: DataFrame  # (id, key); some may be in the dictionary already
    report: list[PhaseReport]


def materialise_frames(
    spark: SparkSession,
    program: Program,
    facts: Mapping[str, DataFrame],
    dictionary: DataFrame,
    progress: Callable[[str], None] | None = None,
    limits: Limits | None = None,
) -> Materialised:
    """Derive what a program says from frames of distinct facts; `dictionary` holds the terms of their ids."""
    say = progress or (lambda line: None)
    driver = HashDictionary()
    engine = SparkEngine(spark, driver, terms=None)
    rules = name_rules(program.rules)
    components = evaluation_components(rules)
    for shape in shapes(components):
        engine.declare(shape)
    for relation, frame in facts.items():
        engine.declare(Shape(relation, len(frame.columns)))
        engine.adopt(relation, frame)
    # The program's constants may be terms that no fact has: expressions must find them too.
    constants = spark.createDataFrame(_constants(program, driver), "id long, key string")
    engine.use_terms(dictionary.select("id", "key").unionAll(constants).dropDuplicates(["id"]))
    engine.on_round = lambda relations, number, gained, seconds: say(
        f"{_users_names(relations, rules)}: round {number}, {gained:,} new facts, {seconds:.2f} s"
    )
    try:
        reports = materialise(engine, components, (limits or Limits()).watch())
    except Exception as error:
        if not from_spark(error):
            raise
        relations, number = engine.at_work()
        raise EngineError(
            f"Spark failed while deriving {_users_names(relations, rules) or 'a relation'} (round {number}): "
            f"{str(error).strip().splitlines()[0][:300]}",
            hint="nothing was committed: run again; if it fails again, give Spark more memory or more partitions",
        ) from error
    refuse_broken(_broken(engine, rules, driver, dictionary))
    names = [name for name in engine.relations() if not is_auxiliary(name)]
    return Materialised(
        {name: engine.frame(name) for name in names},
        {name: engine.count(name) for name in names},
        engine.new_terms().unionAll(constants).dropDuplicates(["id"]),
        reports,
    )


def _broken(
    engine: SparkEngine, rules: Sequence[Rule], driver: HashDictionary, dictionary: DataFrame
) -> Iterator[Broken]:
    """The constraints that have matches, with the first of them by their ids."""
    for rule in filter(is_constraint, rules):
        relation, arity = rule.heads[0].relation, len(rule.heads[0].args)
        count = engine.count(relation)
        if not count:
            continue
        frame = engine.frame(relation)
        found = frame.orderBy(*frame.columns).limit(MOST_MATCHES).collect()
        ids = {id_ for row in found for id_ in row[:arity]}
        for terms in (dictionary, engine.new_terms()):
            for id_, key in terms.select("id", "key").where(f.col("id").isin(list(ids))).collect():
                driver.learn(id_, key)
        yield Broken(rule, [tuple(map(driver.decode, row[:arity])) for row in found], count)


def _users_names(relations: Sequence[str], rules: Sequence[Rule]) -> str:
    """The relations of a component as the user knows them: an auxiliary one is replaced by what its rule defines."""
    heads = {
        rule.name: [f"constraint {rule.name}"] if is_constraint(rule) else [head.relation for head in rule.heads]
        for rule in rules
    }
    names = [heads[rule_of_auxiliary(name)] if is_auxiliary(name) else [name] for name in relations]
    return ", ".join(dict.fromkeys(name for some in names for name in some))


def _constants(program: Program, dictionary: HashDictionary) -> list[tuple[int, str]]:
    from everlog.facts.terms import key_of
    from everlog.rules.constants import program_constants

    return [(dictionary.encode(term), key_of(term)) for term in program_constants(program)]

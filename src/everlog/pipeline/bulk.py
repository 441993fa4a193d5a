"""How are tables kept true where everything is derived on Spark?

All that follows from what is explicit now is derived (materialise.py) and compared with the tables, relation by
relation but in one job; rows for the facts of which anything differs are appended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from everlog.engines.interface import Shape
from everlog.engines.spark.tagged import TaggedFacts, tag
from everlog.limits import Limits
from everlog.maintenance.materialise import shapes
from everlog.maintenance.program import EvaluatedProgram
from everlog.maintenance.update import Maintenance
from everlog.pipeline.bulk_facts import Batches
from everlog.pipeline.bulk_settings import BulkSettings
from everlog.pipeline.explicit_changes import ExplicitFacts
from everlog.pipeline.rounds_folder import rounds_folder
from everlog.pipeline.table_frames import (
    Target,
    append_plain,
    append_tagged,
    no_terms,
    read_so_far,
    tagged_changes,
    tagged_rows,
    union,
)
from everlog.pipeline.terms_writing import TermsWriting
from everlog.plans.stages import needs_terms
from everlog.rules.constraints import is_constraint, is_constraint_relation
from everlog.rules.names import name_rules
from everlog.rules.syntax import Program
from everlog.store.rule_steps import rule_arities
from everlog.store.snapshots import definitions_as_data, known_of
from everlog.store.state import Definitions
from everlog.store.table_folders import DICTIONARY, TERM_COLUMNS, relation_tables, shapes_as_data, table_of
from everlog.store.view_queries import ViewQuery, view_arities, view_rules
from everlog.tables.layout import BAG, SET
from everlog.tables.writing import TableTransaction

Says = Callable[[str], None]


def derive_in_bulk(
    spark: SparkSession,
    transaction: TableTransaction,
    program: Program,
    views: Mapping[str, ViewQuery],
    explicit: ExplicitFacts,
    change: DataFrame | None,
    terms: TermsWriting,
    materialise: Callable[..., Any],
    says: Says,
    limits: Limits,
    counts: Mapping[str, int] | None = None,
    wanted_folder: str | None = None,
) -> dict[str, Any]:
    """Append what a change comes to; gives what the commit is to say of program and maintenance.

    Args:
        terms: those that are new; they are in the dictionary before rules look at them, or at the end.
        counts: how many facts of each relation are explicit after the change, where that is known.
        wanted_folder: where rounds are written (rounds_folder.py), if not beside the tables.
    """
    names = list(explicit.arities)
    given = {
        name: explicit.after(name, change) if change is not None else explicit.before[name]
        for name in names
        if change is not None or name in explicit.before
    }
    together = explicit.only_in(change) if change is not None else None
    more = view_rules(views)
    evaluated = EvaluatedProgram().changed(name_rules(program.rules), rewrites=True, views=more).after
    rules = [rule for component in evaluated.components for rule in component.rules]
    if needs_terms(rules) or any(map(is_constraint, program.rules)):  # of a broken constraint, the terms are told
        terms.finish()
    dictionary = read_so_far(spark, transaction, DICTIONARY) if DICTIONARY in transaction.tables else no_terms(spark)
    with rounds_folder(spark, transaction.store.place, wanted_folder) as folder:
        settings = BulkSettings(auxiliaries=True, rounds_folder=folder)
        made = materialise(
            spark,
            program,
            given,
            dictionary.select("id", "key"),
            says,
            limits,
            settings,
            counts,
            views=more,
            together=together,
        )
        try:
            terms.start()
            with made.reading():
                if made.new_terms is not None:
                    append_plain(transaction, DICTIONARY, unknown_terms(made.new_terms, dictionary), TERM_COLUMNS)
                wanted = {shape.name: shape for shape in shapes(evaluated.components)}
                _append(spark, transaction, made, wanted, given, together)
            return _info(program, views, evaluated, made, explicit)
        finally:
            made.release()


def _append(
    spark: SparkSession,
    transaction: TableTransaction,
    made: Any,
    wanted: Mapping[str, Shape],
    given: Mapping[str, DataFrame],
    together: TaggedFacts | None,
) -> None:
    """Compare what was derived with the tables, and append the difference."""
    arities = dict(made.relations)
    tables = relation_tables(transaction.base)
    names = [name for name in dict.fromkeys((*made.defined, *given, *tables)) if name in arities or name in tables]
    for name, state in tables.items():
        if name not in arities or arities[name] != len(state.columns):
            transaction.drop(table_of(name))
    names = [name for name in names if name in arities]
    width = max([1, *arities.values()])
    numbers = {name: number for number, name in enumerate(arities)}
    kinds = {name: BAG if name in wanted and wanted[name].bag else SET for name in arities}
    stated = _stated([name for name in given if name not in made.defined], given, together, arities, numbers, width)
    old = [
        tagged_rows(read_so_far(spark, transaction, table_of(name)), numbers[name], arities[name], width)
        for name in names
        if table_of(name) in transaction.tables
    ]
    if not stated and not made.parts:
        return
    targets = [Target(table_of(name), arities[name], kinds[name]) for name in arities]
    if old:
        bags = [numbers[name] for name in arities if kinds[name] == BAG]
        changes = tagged_changes(union([*made.parts, *stated]), union(old), width, bags)
        append_tagged(transaction, changes.mapInArrow, targets)
        return

    def mapped(function: Batches, schema: StructType) -> DataFrame:
        derived = [made.mapped(function, schema)] if made.parts else []
        return union([*derived, *([union(stated).mapInArrow(function, schema)] if stated else [])])

    append_tagged(transaction, mapped, targets)


def _stated(
    names: Sequence[str],
    given: Mapping[str, DataFrame],
    together: TaggedFacts | None,
    arities: Mapping[str, int],
    numbers: Mapping[str, int],
    width: int,
) -> list[DataFrame]:
    """Tagged frames of relations that no rule defines."""
    frames = []
    in_one = {name: None for name in names if together is not None and name in together.numbers}
    if together is not None and in_one:
        frames.append(together.of(in_one, numbers, width))
    alone = (name for name in names if name not in in_one)
    return frames + [tag(given[name], numbers[name], arities[name], width, explicit=True) for name in alone]


def _info(
    program: Program,
    views: Mapping[str, ViewQuery],
    evaluated: EvaluatedProgram,
    made: Any,
    explicit: ExplicitFacts,
) -> dict[str, Any]:
    rules = tuple(name_rules(program.rules))
    arities = {**view_arities(views), **explicit.arities, **rule_arities(rules)}
    declared = {each.relation: each for each in program.declarations}
    definitions = Definitions(rules, dict(program.prefixes), views, arities, rule_arities(rules), evaluated, declared)
    info: dict[str, Any] = {"definitions": definitions_as_data(definitions), "relations": shapes_as_data(evaluated)}
    # Whoever opens the tables may go on from them only where everything is there that maintenance needs.
    heads = {head.relation for component in evaluated.components for rule in component.rules for head in rule.heads}
    if {name for name in heads if not is_constraint_relation(name)} <= {*made.defined}:
        info["known"] = list(known_of(Maintenance(evaluated)))
    return info


def unknown_terms(terms: DataFrame, dictionary: DataFrame) -> DataFrame:
    """The terms that the dictionary lacks. The few new ones are looked for in it, so that it is not shuffled."""
    distinct = terms.select("id", "key").dropDuplicates(["id"])
    known = dictionary.join(distinct, "id", "left_semi").select("id")
    return distinct.join(known, "id", "left_anti")

"""How is an update applied that reads too much to be followed fact by fact?

Like a run: what it inserts and deletes, and the program as it leaves it, are derived in bulk (maintain.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from everlog.pipeline.encode import constants_frame, encode
from everlog.pipeline.explicit_changes import ExplicitFacts
from everlog.pipeline.job import check_against, facts_in_text, frames_of_keys
from everlog.pipeline.maintain import Incoming, Upkeep
from everlog.pipeline.materialise import materialise_frames
from everlog.pipeline.settings import Settings, ViewSettings
from everlog.pipeline.table_frames import explicit_facts, read_dictionary, read_table
from everlog.pipeline.view_definitions import known_views, wanted_views
from everlog.plans.flat_rules import is_auxiliary
from everlog.rules.parser import parse_program
from everlog.rules.syntax import Program
from everlog.store.snapshots import definitions_from_data
from everlog.store.state import Definitions
from everlog.store.store import KnowledgeBase
from everlog.store.table_folders import relation_tables, table_of
from everlog.store.updates import Update, fact_keys
from everlog.tables.commits import Commit
from everlog.tables.table_store import TableStore

_Keys = dict[str, list[tuple[str, ...]]]


def apply_in_bulk(spark: SparkSession, settings: Settings, update: Update, info: Mapping[str, Any]) -> Commit:
    """Derive everything that follows after an update of tables, and append the difference as one version."""
    store = TableStore(settings.tables)
    base = store.commit()
    program, views = _program_after(definitions_from_data(base.info["definitions"], rewrites=True), update)
    check_against(dataclasses.replace(settings, program=program), base)
    inserted = _by_relation(fact_keys(update.insert), facts_in_text(program))
    deleted = _by_relation(fact_keys(update.delete), {})
    constants = constants_frame(spark, program, wanted_views(known_views(base), views, program.prefixes, 0))
    explicit, new_terms = _explicit(spark, store, base, inserted, deleted, constants)
    upkeep = Upkeep(spark, store, program, views, settings.limits, materialise_frames, lambda line: None)
    kept = {key: value for key, value in base.info.items() if key not in ("definitions", "relations", "known")}
    incoming = Incoming(new_terms, explicit, {**kept, **info})
    return upkeep.in_bulk(base, incoming, explicit.change())


def _program_after(before: Definitions, update: Update) -> tuple[Program, list[ViewSettings]]:
    """The program as an update leaves it, with the facts that stand in the text of its rules; and the views."""
    with KnowledgeBase(engine="reference") as kb:  # without facts: it checks and names rules
        kb.apply(Update(add_rules=Program(rules=before.rules, prefixes=before.prefixes)), views=before.views)
        added = update.add_rules
        if isinstance(added, str):
            added = parse_program(added, "<update>", before.prefixes)
        facts = added.facts if isinstance(added, Program) else ()
        if update.changes_rules:
            kb.apply(Update(add_rules=added, remove_rules=update.remove_rules))
        state = kb.state()
        views = [ViewSettings(view.name, view.text) for view in state.views.values()]
        return Program(rules=state.rules, facts=facts, prefixes=state.prefixes), views


def _explicit(
    spark: SparkSession,
    store: TableStore,
    base: Commit,
    inserted: _Keys,
    deleted: _Keys,
    constants: DataFrame | None,
) -> tuple[ExplicitFacts, Any]:
    tables = {name: state for name, state in relation_tables(base).items() if not is_auxiliary(name)}
    now, gone = frames_of_keys(spark, inserted), frames_of_keys(spark, deleted)
    encoded = encode(now, read_dictionary(spark, store, base), constants)
    arities = {name: len(state.columns) for name, state in tables.items()}
    arities |= {name: len(frame.columns) for name, frame in now.items()}
    before = {
        name: explicit_facts(read_table(spark, store, table_of(name), base.version), len(state.columns))
        for name, state in tables.items()
    }
    lost = {name: frame for name, frame in encode(gone).facts.items() if name in arities} if gone else {}
    return ExplicitFacts(arities, encoded.facts, lost, before, {}, {*now, *lost}), encoded.new_terms


def _by_relation(facts: Iterable[tuple[str, tuple[str, ...]]], more: Mapping[str, list[tuple[str, ...]]]) -> _Keys:
    found: _Keys = {name: list(rows) for name, rows in more.items()}
    for relation, keys in facts:
        found.setdefault(relation, []).append(keys)
    return found

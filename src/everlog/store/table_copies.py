"""How does a knowledge base become tables, for Spark to go on with?"""

from __future__ import annotations

import pyarrow as pa

from everlog.errors import UsageError
from everlog.maintenance.materialise import shapes
from everlog.store.snapshots import KnownByRules, definitions_as_data
from everlog.store.state import State
from everlog.store.table_folders import DICTIONARY, TERM_COLUMNS, shapes_as_data, table_of
from everlog.store.table_journal import all_states, state_rows
from everlog.tables.dense_ids import DenseIds, no_terms
from everlog.tables.layout import BAG, PLAIN, SET, VERSION, fact_columns
from everlog.tables.places import TablePlace
from everlog.tables.table_store import TableStore


def export_tables(state: State, known: KnownByRules, place: TablePlace) -> None:
    """Write a state as the first version of new tables; `known` is what maintenance knew of the components then."""
    if place.names("") or place.folders():
        raise UsageError(f"{place}: there is something there already", hint="name a folder that is not there yet")
    ids = DenseIds(no_terms(), state.dictionary)
    kinds = {shape.name: shape for shape in shapes(state.definitions.program.components)}
    with TableStore(place).begin() as transaction:
        transaction.version = max(1, state.version)
        for name, states in all_states(state.facts.capture):
            is_bag = name in kinds and kinds[name].bag
            rows = state_rows(states, ids, transaction.version)
            transaction.append(table_of(name), rows, fact_columns(len(states.columns)), BAG if is_bag else SET)
        new, _ = ids.terms_since(0)
        terms = {"id": [id_ for id_, _ in new], "key": [key for _, key in new]}
        rows = pa.table({**terms, VERSION: [transaction.version] * len(new)}, schema=_TERMS)
        transaction.append(DICTIONARY, rows, TERM_COLUMNS, PLAIN)
        transaction.commit(
            {
                "definitions": definitions_as_data(state.definitions),
                "relations": shapes_as_data(state.definitions.program),
                "known": list(known),
            }
        )


_TERMS = pa.schema([("id", pa.int64()), ("key", pa.string()), (VERSION, pa.int64())])

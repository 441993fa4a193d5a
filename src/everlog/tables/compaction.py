"""How does reading a table stay cheap after a thousand versions?

Its changes since the last base are put together with it to a new base, of the same version. Nothing that can be read
changes by that; the files of old bases stay for the versions that need them, until `vacuum`.
"""

from __future__ import annotations

from everlog.tables.commits import TableState
from everlog.tables.layout import PLAIN
from everlog.tables.netting import present_batches
from everlog.tables.table_store import TableStore

_MANY_FILES = 256  # of changes: each costs a reader about a millisecond
_MANY_ROWS = 0.25  # as a share of the base
_FEW_ROWS = 10_000  # which nobody notices


def is_due(state: TableState) -> bool:
    """Have the changes become many?"""
    if state.kind == PLAIN:
        return state.change_files > _MANY_FILES
    return state.change_files > _MANY_FILES or state.changes > max(_FEW_ROWS, _MANY_ROWS * state.rows)


def compact(store: TableStore, *, only_due: bool = False) -> list[str]:
    """Give tables new bases where that is due, or wherever there are changes; says which."""
    commit = store.commit()
    if not any(is_due(state) if only_due else state.change_files for state in commit.tables.values()):
        return []
    with store.begin() as transaction:
        done = []
        for table, state in transaction.base.tables.items():
            if is_due(state) if only_due else state.change_files:
                rows = present_batches(store.place, store.files_of(state), state)
                transaction.append(table, rows, state.column_types, state.kind, replaces=True)
                done.append(table)
        transaction.commit_again()
    return done

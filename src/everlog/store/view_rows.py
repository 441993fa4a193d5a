"""Which rows does a view show, given those of its answer relation?

A SELECT shows a row for each solution, an unbound variable without a value; CONSTRUCT the triples of its graph, each
once; ASK one truth value. Most of it can be read off the relation row by row; whatever orders, cuts or constructs needs
all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from everlog.dictionary.dictionary import Dictionary
from everlog.facts.terms import key_of, keys_of
from everlog.sparql.graphs import constructed
from everlog.sparql.solutions import Solutions
from everlog.store.view_queries import ViewQuery

Keys = tuple[str | None, ...]


def shown_names(view: ViewQuery) -> tuple[str, ...]:
    """The names of the columns that a view shows."""
    if view.query.form == "construct":
        return "subject", "predicate", "object"
    return ("answer",) if view.query.form == "ask" else view.query.shown


def is_row_by_row(view: ViewQuery) -> bool:
    """Is a row of the answer relation, as often as it is there and up to the columns shown, a row of the answer?"""
    query = view.query
    cut = query.limit is not None or bool(query.offset)
    return query.form == "select" and not cut and (not query.distinct or query.is_set)


def shown_rows(view: ViewQuery, rows: Iterable[tuple[Keys, int]]) -> list[Keys]:
    """The rows that a view shows, as term keys, given those of its answer relation with their multiplicities."""
    query, dictionary, listed = view.query, Dictionary(), list(rows)
    columns = [
        dictionary.encode_keys([row[place] or "" for row, _ in listed]) for place in range(len(query.answer.args))
    ]
    weights = np.array([weight for _, weight in listed], np.int64)
    solutions = Solutions.of(query, dictionary, columns, weights)
    if query.form == "ask":
        return [(key_of(bool(solutions)),)]
    if query.form == "construct":
        return [keys_of(triple) for triple in constructed(query, solutions)]
    return [_keys(row) for row in solutions]


def _keys(row: Sequence[object]) -> Keys:
    return tuple(None if term is None else key_of(term) for term in row)  # type: ignore[arg-type]

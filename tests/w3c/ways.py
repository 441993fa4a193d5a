"""In which ways does a query of the suite get its answer?

    once     all is loaded, then the query is asked
    view     a view of an empty knowledge base, into which all is loaded then
    pieces   a view, for which facts come in pieces, and some go and come back

All must give the same: the suite is one of maintenance too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.w3c.suite import Dataset, W3CTest

import everlog
from everlog.sparql.graphs import Graph
from everlog.sparql.solutions import Solutions, Truth

Answer = Solutions | Truth | Graph
Facts = dict[str, list[Any]]  # rows by relation

# What gives another value each time, and what follows blank nodes as far as they lead, is no view.
_NO_VIEW = re.compile(r"\b(?:RAND|NOW|UUID|STRUUID|BNODE)\s*\(|\bDESCRIBE\b", re.IGNORECASE)


def load(kb: everlog.KnowledgeBase, dataset: Dataset) -> None:
    for path, graph in dataset.files():
        kb.load(path, graph=graph)


def asked_once(test: W3CTest) -> Answer:
    kb = everlog.open()
    load(kb, test.before)
    answer: Answer = kb.query(test.text, base=test.base)
    return answer


def _as_a_view(test: W3CTest) -> Answer:
    kb = everlog.open()
    view = kb.view("asked", _based(test))
    load(kb, test.before)
    return view.rows()


def _in_pieces(test: W3CTest) -> Answer:
    whole = everlog.open()
    load(whole, test.before)
    facts = {relation.name: whole.facts(relation.name).sorted() for relation in whole.relations()}
    kb = everlog.open()
    view = kb.view("asked", _based(test))
    for inserted, deleted in _steps(facts):
        kb.update(insert=inserted, delete=deleted)
    return view.rows()


def _steps(facts: Facts) -> Iterator[tuple[Facts, Facts]]:
    """Updates whose end is all facts: one half, less a few, then the other half for a third, which comes back."""
    yield _some(facts, 2, 0), {}
    yield {}, _some(facts, 6, 0)
    yield _some(facts, 2, 1), _some(facts, 3, 2)
    yield _some(facts, 6, 0), _some(facts, 5, 1)
    yield facts, {}


def _some(facts: Facts, every: int, start: int) -> Facts:
    return {relation: rows[start::every] for relation, rows in facts.items()}


def _based(test: W3CTest) -> str:
    return f"BASE <{test.base}>\n{test.text}"


WAYS: dict[str, Callable[[W3CTest], Answer]] = {"once": asked_once, "view": _as_a_view, "pieces": _in_pieces}


def possible(test: W3CTest, way: str) -> bool:
    """Can a query get its answer in this way?"""
    return way == "once" or not _NO_VIEW.search(test.text)

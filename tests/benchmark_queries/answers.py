"""What do the queries of a benchmark give: asked once, kept as views, and asked of another system?"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random

import pyoxigraph as ox
import pytest

from everlog import KnowledgeBase
from everlog.answers.answer_table import Row
from everlog.errors import SparqlError
from everlog.facts.terms import Term, key_of, term_of
from everlog.formats.rdf_writing import rdf_document
from everlog.formats.reading import read_facts
from everlog.sparql.graphs import Graph
from everlog.sparql.solutions import Solutions, Truth
from everlog.store.views import View

# Which random triples go and come back; others by night.
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 6))]

Queries = Mapping[str, str]  # by name
Triple = tuple[Term, ...]


def queries_in(folder: Path) -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.rq"))}


def expected_counts(table: Path, column: str) -> dict[str, int]:
    """How many answers each query has, as a column of a table says."""
    with table.open(encoding="utf-8", newline="") as lines:
        return {row["query"]: int(row[column]) for row in csv.DictReader(lines, delimiter="\t")}


def without_limits(queries: Queries) -> dict[str, str]:
    return {name: re.sub(r"(?i)\b(LIMIT|OFFSET)\s+\d+", "", text) for name, text in queries.items()}


def triples_in(path: Path) -> list[Triple]:
    rows = (row for block in read_facts(path) for row in zip(*(c.to_pylist() for c in block.columns), strict=True))
    return [tuple(map(term_of, row)) for row in rows]


# --- our answers ----------------------------------------------------------------------------------------------------


def asked(kb: KnowledgeBase, queries: Queries) -> dict[str, list[Row]]:
    """Each query asked once."""
    return {name: _rows(kb.query(text)) for name, text in queries.items()}


def kept(views: Iterable[View]) -> dict[str, list[Row]]:
    """The answers that views have."""
    return {view.name: _rows(view.rows()) for view in views}


def view_of_each(kb: KnowledgeBase, queries: Queries) -> dict[str, str]:
    """Make views of all queries that can be views; returns those that can not, with the reason."""
    refused = {}
    for name, text in queries.items():
        try:
            kb.view(name, text)
        except SparqlError as error:
            refused[name] = str(error)
    return refused


def check_round_trip(kb: KnowledgeBase, queries: Queries, given: list[Triple], seed: int) -> None:
    """Random triples go and come back: views have what a fresh query gives in between, and what they had afterwards."""
    views = kb.views()
    own = {view.name: queries[view.name] for view in views}
    before, size = kept(views), len(kb.facts("triple"))
    some = Random(seed).sample(given, 1_000)
    kb.delete("triple", some)
    between = kept(views)
    assert between == asked(kb, own)
    assert between != before
    kb.insert("triple", some)
    assert kept(views) == before and len(kb.facts("triple")) == size


def _rows(answer: Solutions | Truth | Graph) -> list[Row]:
    """In the order of the query, else sorted."""
    assert not isinstance(answer, Truth)  # no benchmark has ASK
    return list(answer.listed()) if isinstance(answer, Solutions) else list(answer.sorted())


# --- another system's -----------------------------------------------------------------------------------------------


def differing(kb: KnowledgeBase, queries: Queries) -> list[str]:
    """Queries that pyoxigraph answers otherwise, given all the triples that we have."""
    store = ox.Store()
    triples = [tuple(map(key_of, fact)) for fact in kb.facts("triple")]
    store.bulk_load(input=rdf_document("nt", triples).encode(), format=ox.RdfFormat.N_TRIPLES)
    return [name for name, text in queries.items() if not _alike(_ours(kb.query(text)), store.query(text))]


def _ours(answer: Solutions | Graph) -> Iterable[Iterable[object]]:
    if isinstance(answer, Graph):
        return [quad.triple for quad in ox.parse(answer.serialize("nt").encode(), format=ox.RdfFormat.N_TRIPLES)]
    results = ox.parse_query_results(answer.serialize("json").encode(), format=ox.QueryResultsFormat.JSON)
    assert isinstance(results, ox.QuerySolutions)
    return results


def _alike(found: Iterable[Iterable[object]], others: Iterable[Iterable[object]]) -> bool:
    """The same rows, but for the last digits of floats, which depend on the order in which they are added up."""
    pairs = zip(sorted(map(_texts_and_floats, found)), sorted(map(_texts_and_floats, others)), strict=True)
    return all(
        texts == other_texts and all(map(lambda a, b: math.isclose(a, b, rel_tol=1e-5), floats, other_floats))
        for (texts, floats), (other_texts, other_floats) in pairs
    )


def _texts_and_floats(row: Iterable[object]) -> tuple[list[str], list[float]]:
    texts, floats = [], []
    for term in row:
        if isinstance(term, ox.Literal) and term.datatype.value.endswith("#float"):
            floats.append(float(term.value))
        else:
            texts.append(str(term))
    return texts, floats

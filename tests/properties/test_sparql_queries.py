"""Does a random SPARQL query have the answer that the oracle gives, multiplicities and order included?

The oracle itself is held against rdflib and pyoxigraph, wherever these are not known to differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import assume, event, given, note, settings
from tests.properties.test_update_streams import QUICK
from tests.sparql_opinions import KNOWN, SECOND_OPINIONS, comparable, everlog_rows, knowledge_base
from tests.sparql_oracle.paths import Triple
from tests.sparql_oracle.patterns import Data, Row, ask, select
from tests.sparql_oracle.terms import Beyond
from tests.sparql_strategies import Quad, graphs, named_graphs, queries, questions

from everlog.errors import SparqlError

# A query is big, and takes longest to plan; nightly is 5,000 of them on each engine.
QUICKLY = {"plain": 12, "graphs": 4, "ask": 6, "opinions": 60}
EXAMPLES = QUICKLY if QUICK else {"plain": 3500, "graphs": 1000, "ask": 500, "opinions": 2000}


def dataset(quads: Sequence[Quad]) -> dict:
    return {name: frozenset(quad[:3] for quad in quads if quad[3] == name) for *_, name in quads}


def expected(text: str, data: Data) -> list[Row]:
    """The oracle's answer."""
    note(text)
    try:
        return comparable(select(text, data))
    except Beyond:
        assume(False)
        raise


def check(engine: str, text: str, data: Data) -> None:
    wanted = expected(text, data)
    try:
        found = comparable(everlog_rows(knowledge_base(engine, data).query(text)))
    except SparqlError as error:
        assume("can be combined in more than" not in str(error))
        raise
    if "ORDER BY" in text.rpartition("}")[2]:
        assert found == wanted
    else:
        assert Counter(found) == Counter(wanted)


@settings(max_examples=EXAMPLES["plain"])
@given(graph=graphs, text=queries())
def test_oracle_queries(engine: str, graph: list[Triple], text: str) -> None:
    check(engine, text, Data(frozenset(graph)))


@pytest.mark.slow
@settings(max_examples=EXAMPLES["graphs"])
@given(graph=graphs, quads=named_graphs, text=queries(with_graphs=True))
def test_oracle_queries_over_named_graphs(engine: str, graph: list[Triple], quads: list[Quad], text: str) -> None:
    check(engine, text, Data(frozenset(graph), dataset(quads)))


@pytest.mark.slow
@settings(max_examples=EXAMPLES["ask"])
@given(graph=graphs, text=questions())
def test_oracle_questions(engine: str, graph: list[Triple], text: str) -> None:
    data = Data(frozenset(graph))
    assert bool(knowledge_base(engine, data).query(text)) == ask(text, data)


@pytest.mark.slow
@pytest.mark.parametrize("opinion", SECOND_OPINIONS)
@settings(max_examples=EXAMPLES["opinions"])
@given(graph=graphs, text=queries(cut=False))
def test_differential_second_opinions(opinion: str, graph: list[Triple], text: str) -> None:
    for reason, applies in KNOWN[opinion].items():
        if applies(text):
            event(f"not asked: {reason}")
            return
    data = Data(frozenset(graph))
    wanted = expected(text, data)
    assert Counter(comparable(SECOND_OPINIONS[opinion](text, data))) == Counter(wanted)

"""In which ways does a query of the suite get its answer?

Each way takes a test and gives our answer to its query. A way differs from another in the steps that fill the
knowledge base and in when the query comes to know of them; all must give the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from tests.w3c.suite import W3CTest

import everlog
from everlog.sparql.graphs import Graph
from everlog.sparql.solutions import Solutions, Truth

Answer = Solutions | Truth | Graph


def files(test: W3CTest) -> Iterator[tuple[Path, str | None]]:
    """What is to be loaded, and into which graph."""
    for path in test.data:
        yield path, None
    for path in test.named:
        yield path, path.as_uri()


def asked_once(test: W3CTest) -> Answer:
    """All is loaded, then the query is asked."""
    kb = everlog.open()
    for path, graph in files(test):
        kb.load(path, graph=graph)
    return kb.query(test.text, base=test.base)


WAYS: dict[str, Callable[[W3CTest], Answer]] = {"once": asked_once}

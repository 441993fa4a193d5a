"""Which tests does the W3C suite have, and which files does each of them name?

The suite is read where it lies, from `../shared/data/w3c` beside the repository or from `$EVERLOG_DATA`; its README
says how a test is to be read. A test is called by its folder and the end of its IRI: `sparql11/bind/bind01`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyoxigraph as ox
import pytest

from everlog.benches.shared_data import shared_data
from everlog.errors import NotFoundError

MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

# Entailment waits for ontologies; SERVICE asks other servers, which Everlog never does.
LEFT_OUT = ("sparql11/entailment", "sparql11/service")

_KNOWN_FAILURES = Path(__file__).parent / "known_failures.toml"
_DATASET_CLAUSE = re.compile(r"\bFROM\s+(?:NAMED\s+)?<([^>]*)>", re.IGNORECASE)


@dataclass(frozen=True)
class W3CTest:
    """One entry of a manifest."""

    name: str
    kind: str  # the local name of its class, such as QueryEvaluationTest
    query: Path
    data: tuple[Path, ...] = ()
    named: tuple[Path, ...] = ()  # each a graph named by its file's IRI
    result: Path | None = None
    lax: bool = False  # duplicates may be dropped

    @property
    def text(self) -> str:
        return self.query.read_text(encoding="utf-8")

    @property
    def base(self) -> str:
        return self.query.as_uri()


def suite_tests(*kinds: str, folders: Sequence[str] = ()) -> list[object]:
    """Tests of some kinds, in some folders, as parameters of pytest; one to be skipped where the suite is not there."""
    try:
        home = shared_data("w3c", "sparql")
    except NotFoundError as error:
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"the W3C suite is not here: {error}"))]
    return [
        _parameter(test)
        for test in _all(home)
        if test.kind in kinds and (not folders or test.name.split("/")[1] in folders)
    ]


def _parameter(test: W3CTest) -> object:
    reason = _known_failures().get(test.name)
    return pytest.param(test, id=test.name, marks=[pytest.mark.xfail(reason=reason)] if reason else [])


@cache
def _known_failures() -> dict[str, str]:
    """Why each test that is known to fail does; that it fails is checked, so the list never goes stale."""
    found = tomllib.loads(_KNOWN_FAILURES.read_text(encoding="utf-8"))
    return {f"{folder}/{name}": reason for folder, tests in found.items() for name, reason in tests.items()}


@cache
def _all(home: Path) -> Sequence[W3CTest]:
    manifests = sorted(home.glob("sparql1[01]/*/manifest.ttl"))
    return [
        test
        for path in manifests
        if path.parent.relative_to(home).as_posix() not in LEFT_OUT
        for test in _tests(path, path.parent.relative_to(home).as_posix())
    ]


def _tests(manifest: Path, folder: str) -> Iterator[W3CTest]:
    graph = _Graph(manifest)
    for entries in graph.objects(None, MF + "entries"):
        for entry in graph.members(entries):
            yield _test(graph, entry, folder)


def _test(graph: _Graph, entry: ox.NamedNode, folder: str) -> W3CTest:
    (kind,) = graph.objects(entry, RDF + "type")
    (action,) = graph.objects(entry, MF + "action")
    queries = [action] if isinstance(action, ox.NamedNode) else graph.objects(action, QT + "query")
    query = _path(queries[0]) if queries else Path()  # tests of updates have a request instead
    data = graph.objects(action, QT + "data")
    named = [file for file in graph.objects(action, QT + "graphData") if isinstance(file, ox.NamedNode)]
    if queries and not data and not named:
        named = [ox.NamedNode((query.parent / file).as_uri()) for file in _named_by_the_query(query)]
    results = [file for file in graph.objects(entry, MF + "result") if isinstance(file, ox.NamedNode)]
    return W3CTest(
        f"{folder}/{re.split('[#/]', entry.value)[-1]}",
        kind.value.removeprefix(MF),
        query,
        tuple(map(_path, data)),
        tuple(map(_path, named)),
        _path(results[0]) if results else None,
        bool(graph.objects(entry, MF + "resultCardinality")),
    )


def _named_by_the_query(query: Path) -> list[str]:
    """The files of FROM and FROM NAMED: some queries of SPARQL 1.0 say themselves what they are about."""
    return list(dict.fromkeys(_DATASET_CLAUSE.findall(query.read_text(encoding="utf-8"))))


def _path(file: ox.NamedNode) -> Path:
    return Path(file.value.removeprefix("file://"))


class _Graph:
    """A manifest, to be asked for objects."""

    def __init__(self, path: Path) -> None:
        self._triples = list(ox.parse(path=path, base_iri=path.as_uri()))

    def objects(self, subject: object, predicate: str) -> list[ox.NamedNode]:
        return [
            quad.object
            for quad in self._triples
            if (subject is None or quad.subject == subject) and quad.predicate.value == predicate
        ]

    def members(self, list_: ox.NamedNode) -> Iterator[ox.NamedNode]:
        while list_.value != RDF + "nil":
            yield from self.objects(list_, RDF + "first")
            (list_,) = self.objects(list_, RDF + "rest")

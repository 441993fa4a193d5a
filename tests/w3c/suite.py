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
from benchmarks.datasets.shared_data import shared_data

from everlog.errors import NotFoundError

MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
UT = "http://www.w3.org/2009/sparql/tests/test-update#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

# Entailment waits for ontologies; SERVICE asks other servers, which Everlog never does.
LEFT_OUT = (
    "sparql11/entailment",
    "sparql11/graph-store-protocol",  # this and the next two ask a server
    "sparql11/protocol",
    "sparql11/service-description",
    "sparql11/service",
)

_KNOWN_FAILURES = Path(__file__).parent / "known_failures.toml"
_DATASET_CLAUSE = re.compile(r"\bFROM\s+(?:NAMED\s+)?<([^>]*)>", re.IGNORECASE)


@dataclass(frozen=True)
class Dataset:
    """Files of the default graph, and of named ones with their names."""

    data: tuple[Path, ...] = ()
    named: tuple[tuple[Path, str], ...] = ()

    def files(self) -> Iterator[tuple[Path, str | None]]:
        """What is to be loaded, and into which graph."""
        yield from ((path, None) for path in self.data)
        yield from self.named


@dataclass(frozen=True)
class W3CTest:
    """One entry of a manifest."""

    iri: str
    name: str
    kind: str  # the local name of its class, such as QueryEvaluationTest
    query: Path  # or the request of an update
    before: Dataset = Dataset()
    result: Path | None = None
    after: Dataset = Dataset()  # what an update leaves behind
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
    results = graph.objects(entry, MF + "result")
    queries = [action, *graph.objects(action, QT + "query"), *graph.objects(action, UT + "request")]
    query = _path(queries[-1])
    before = _dataset(graph, action)
    if before == Dataset() and kind.value == MF + "QueryEvaluationTest":
        before = _dataset_of_the_query(query)
    return W3CTest(
        entry.value,
        f"{folder}/{re.split('[#/]', entry.value)[-1]}",
        kind.value.removeprefix(MF),
        query,
        before,
        _path(results[0]) if results and isinstance(results[0], ox.NamedNode) else None,
        _dataset(graph, results[0]) if results else Dataset(),
        bool(graph.objects(entry, MF + "resultCardinality")),
    )


def _dataset(graph: _Graph, node: ox.NamedNode) -> Dataset:
    """A graph is a file, which names it too, or has a file and a label."""
    data = [*graph.objects(node, QT + "data"), *graph.objects(node, UT + "data")]
    named = [(_path(file), file.value) for file in graph.objects(node, QT + "graphData")]
    for each in graph.objects(node, UT + "graphData"):
        (file,), (label,) = graph.objects(each, UT + "graph"), graph.objects(each, LABEL)
        named.append((_path(file), label.value))
    return Dataset(tuple(map(_path, data)), tuple(named))


def _dataset_of_the_query(query: Path) -> Dataset:
    """The files of FROM and FROM NAMED: some queries of SPARQL 1.0 say themselves what they are about."""
    names = dict.fromkeys(_DATASET_CLAUSE.findall(query.read_text(encoding="utf-8")))
    paths = [query.parent / name for name in names]
    return Dataset(named=tuple((path, path.as_uri()) for path in paths))


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

"""Do real ontologies conclude what is known of them? They are read from the shared data sets."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from benchmarks.datasets.shared_data import shared_data
from tests.shared_files import skipped_without_data

import everlog
from everlog import IRI, KnowledgeBase
from everlog.facts.terms import RDF_TYPE

SCHEMA_ORG = ("9.0", "29.3", "29.4", "30.0")
SOME = 5_000  # triples that go and come back


def data(folder: str, file: str) -> Path:
    with skipped_without_data():
        return shared_data(folder, file)


@pytest.fixture(scope="module")
def universities() -> KnowledgeBase:
    kb = everlog.open(progress=False)
    kb.load(data("lubm", "LUBM1.nt.gz"))
    kb.add_ontology(data("lubm", "univ-bench.owl"))
    return kb


def answers(kb: KnowledgeBase) -> dict[str, int]:
    queries = sorted(data("lubm", "queries").glob("*.rq"))
    return {query.stem: len(kb.query(query.read_text())) for query in queries}


def expected() -> dict[str, int]:
    lines = csv.DictReader(data("lubm", "expected_counts.tsv").read_text().splitlines(), delimiter="\t")
    return {line["query"]: int(line["LUBM1"]) for line in lines}


@pytest.mark.slow
def test_the_queries_of_lubm(universities: KnowledgeBase) -> None:
    assert answers(universities) == expected()


@pytest.mark.slow
def test_the_queries_of_lubm_after_triples_went_and_came_back(universities: KnowledgeBase) -> None:
    kb = universities
    explicit = everlog.open(progress=False)
    explicit.load(data("lubm", "LUBM1.nt.gz"))
    some = explicit.facts("triple").first(SOME)
    kb.delete("triple", some)
    assert answers(kb) != expected()
    kb.insert("triple", some)
    assert answers(kb) == expected()


@pytest.mark.slow
def test_releases_of_schema_org_one_after_the_other() -> None:
    """Each is what it is when loaded afresh."""
    files = [data("ontologies", f"schemaorg-{release}.nt.gz") for release in SCHEMA_ORG]
    kb = everlog.open(progress=False)
    typed = [(IRI(f"http://e/{n}"), IRI(RDF_TYPE), IRI(f"http://schema.org/{name}")) for n, name in enumerate(
        ("Hotel", "Restaurant", "MusicAlbum", "Dentist", "Movie", "City", "Recipe", "Drug")
    )]  # fmt: skip
    kb.insert("triple", typed)
    kb.add_ontology(files[0], name="schema")
    for file in files[1:]:
        kb.replace_ontology("schema", file)
        fresh = everlog.open(progress=False)
        fresh.insert("triple", typed)
        fresh.add_ontology(file, name="schema")
        assert kb.facts("triple").sorted() == fresh.facts("triple").sorted()
        assert len(kb.facts("triple")) > len(typed)
    assert kb.verify()

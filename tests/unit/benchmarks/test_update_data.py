"""Do the benchmarks of updates make the data that they say they make?"""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.datasets.knowledge import Knowledge, fact_counts
from benchmarks.datasets.shared_data import shared_data
from benchmarks.experiments.deletions import data as deletion_data
from benchmarks.experiments.growth import data as growth_data
from benchmarks.experiments.streams.data import paper_streams, shipped_streams, tracks
from benchmarks.experiments.updates import data as edit_data
from benchmarks.experiments.updates.data import Edits
from benchmarks.programs.ontology_rules import ontology_rules
from tests.shared_files import skipped_without_data

from everlog.errors import NotFoundError

SMALL_EDITS = [edit_data.tree(50, 3), edit_data.graph(20, 40, 3), edit_data.chain(10), edit_data.clique(12)]


def rows(knowledge: Knowledge, count: int) -> list[tuple[object, ...]]:
    blocks = knowledge.sample(count, seed=1)
    return [row for block in blocks for row in zip(*(column.to_pylist() for column in block.columns), strict=True)]


def test_a_larger_sample_holds_the_smaller_one() -> None:
    knowledge = deletion_data.small_forest()
    few, many = rows(knowledge, 10), rows(knowledge, 100)
    assert len(set(few)) == 10 and len(set(many)) == 100 and set(few) < set(many)
    assert len(rows(knowledge, 10**6)) == knowledge.size


def test_cliques_are_whole_and_lose_a_member_with_one_edge() -> None:
    knowledge = deletion_data.cliques(rewrites=False, count=2, members=20)
    kb = knowledge.open("rematerialise")
    assert fact_counts(kb) == {"related": 2 * 20 * 20}
    (edges,) = knowledge.facts
    ends = list(zip(*(column.to_pylist() for column in edges.columns), strict=True))
    degree = Counter(itertools.chain.from_iterable(ends))
    hanging = next(edge for edge in ends if degree[edge[0]] == 1)
    assert kb.update(delete={"related": [hanging]}).counts() == {"related": (0, 2 * 20 - 1)}


@pytest.mark.parametrize("edits", SMALL_EDITS, ids=lambda edits: edits.knowledge.name)
def test_edits_go_from_what_is_there_and_come_where_nothing_is(edits: Edits) -> None:
    present = set(edits.edges)
    assert len(present) == len(edits.edges)
    for gone, come in itertools.islice(edits.updates(), 20):
        assert present.issuperset(gone) and len(set(gone)) == len(gone)
        present.difference_update(gone)
        assert present.isdisjoint(come) and len(set(come)) == len(come)
        present.update(come)
        assert abs(len(present) - len(edits.edges)) <= 1


@pytest.mark.parametrize("growing", [growth_data.trees(), growth_data.farms()], ids=lambda growing: growing.name)
def test_what_goes_out_and_in_is_the_same_at_any_size(growing: growth_data.Growing) -> None:
    for parts in (1, 3):
        kb = growing.knowledge(parts).open("choose")
        before = fact_counts(kb)
        out = kb.update(delete=growing.rows)
        assert out.report.deleted == growth_data.CHANGED
        kb.update(insert=growing.rows)
        assert fact_counts(kb) == before


def test_the_window_keeps_its_size() -> None:
    present = set(zip(*(column.to_pylist() for column in growth_data.window().facts[0].columns), strict=True))
    for (gone,), (come,) in itertools.islice(growth_data.window_updates(), 5 * growth_data.WINDOW):
        present.remove(gone)
        assert come not in present
        present.add(come)
    assert len(present) == growth_data.WINDOW


def test_an_ontology_becomes_rules(tmp_path: Path) -> None:
    path = tmp_path / "small.ttl"
    path.write_text(
        """
        @prefix : <urn:> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :Cat rdfs:subClassOf :Animal . :has rdfs:domain :Owner ; rdfs:range :Thing ; owl:inverseOf :isOf .
        :partOf a owl:TransitiveProperty ; rdfs:subPropertyOf :near .
        :CatOwner owl:intersectionOf ( :Owner [ owl:onProperty :has ; owl:someValuesFrom :Cat ] ) .
        """
    )
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    assert set(ontology_rules(path).splitlines()) == {
        f"[?x, {kind}, <urn:Animal>] :- [?x, {kind}, <urn:Cat>].",
        "[?x, <urn:near>, ?y] :- [?x, <urn:partOf>, ?y].",
        f"[?x, {kind}, <urn:Owner>] :- [?x, <urn:has>, ?y].",
        f"[?y, {kind}, <urn:Thing>] :- [?x, <urn:has>, ?y].",
        "[?y, <urn:isOf>, ?x] :- [?x, <urn:has>, ?y].",
        "[?y, <urn:has>, ?x] :- [?x, <urn:isOf>, ?y].",
        "[?x, <urn:partOf>, ?z] :- [?x, <urn:partOf>, ?y], [?y, <urn:partOf>, ?z].",
        f"[?x, {kind}, <urn:Owner>] :- [?x, {kind}, <urn:CatOwner>].",
        f"[?x, {kind}, <urn:CatOwner>] :- [?x, {kind}, <urn:Owner>], [?x, <urn:has>, ?y1], [?y1, {kind}, <urn:Cat>].",
    }


def test_missing_data_says_where_to_look(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVERLOG_DATA", str(tmp_path))
    with pytest.raises(NotFoundError, match="EVERLOG_DATA"):
        shared_data("streams", "trans_size10_seed1.jsonl.gz")


def test_all_streams_are_there() -> None:
    with skipped_without_data():
        found = [*paper_streams(), *tracks(), *shipped_streams()]
    assert Counter(stream.family.partition(",")[0] for stream in found) == {
        "trans": 24, "seq": 24, "track": 3, "batch": 6, "overlap": 6, "random": 6, "random-large": 6,
        "scale-data": 18, "scale-update": 48,
    }  # fmt: skip
    lines = [line for line, _ in itertools.groupby(found, lambda stream: (stream.family, stream.size))]
    assert len(lines) == len(set(lines)), "what differs by seed alone stands together"
    assert len(found[0].updates()) == len(found[0].expected_sizes() or ()) == 50

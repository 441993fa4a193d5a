"""Is the benchmarks' data the same each time, as much as asked for, and what its rules expect?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from benchmarks.datasets.ntriples import write_lines
from benchmarks.experiments.pipeline import graph_data, university_data
from benchmarks.experiments.pipeline.graph_data import graph_lines
from benchmarks.experiments.pipeline.university_data import university_lines

import everlog

TRIPLES = 20_000


@pytest.mark.parametrize("lines", [graph_lines, university_lines])
def test_data_depends_on_the_seed_alone(tmp_path: Path, lines: Callable[[int, int], pa.Array]) -> None:
    def text(seed: int) -> bytes:
        size = write_lines(tmp_path / "data.nt", lines(TRIPLES, seed), TRIPLES)
        written = (tmp_path / "data.nt").read_bytes()
        assert len(written) == size
        return written

    assert text(1) == text(1) != text(2)
    assert text(1).count(b"\n") == len(set(text(1).splitlines())) == TRIPLES


def derived(tmp_path: Path, lines: Callable[[int, int], pa.Array], rules: str) -> everlog.KnowledgeBase:
    write_lines(tmp_path / "data.nt", lines(TRIPLES, 1), TRIPLES)
    kb = everlog.open()
    kb.add_rules(rules)
    kb.load(tmp_path / "data.nt")
    return kb


def test_rules_of_the_graph_derive_something(tmp_path: Path) -> None:
    kb = derived(tmp_path, graph_lines, graph_data.RULES)
    for relation in ("above", "friend", "friends", "seniorFriend"):
        assert len(kb.facts(relation)) > TRIPLES / 100, relation
    assert len(kb.facts("above")) < 3 * len(kb.facts("triple"))  # so that it grows with the data


def test_rules_of_the_universities_derive_something(tmp_path: Path) -> None:
    kb = derived(tmp_path, university_lines, university_data.RULES)
    assert 1.1 * TRIPLES < len(kb.facts("triple")) < 2 * TRIPLES
    for kind in ("Person", "Chair", "Organization"):
        query = f"<{university_data.UB}{kind}>[?x]"
        assert len(kb.query(query)) > 10, kind

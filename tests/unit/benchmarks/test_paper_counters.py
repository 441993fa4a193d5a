"""Are the counters those of the marking paper, where they do not depend on the order of work?

M. Illich, B. Glimm. Backward/Forward with Marking for Update Streams. DL 2025, Tables 1 to 3.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

import pytest
from benchmarks.experiments.streams.data import SIZES, Stream, paper_streams, tracks
from benchmarks.experiments.streams.published import PUBLISHED, Published
from benchmarks.experiments.streams.run import run_stream
from tests.shared_files import skipped_without_data

pytestmark = pytest.mark.slow


def streams_of(family: str, size: int) -> list[Stream]:
    with skipped_without_data():
        every: Iterable[Stream] = tracks() if family == "track" else paper_streams(sizes=(size,))
        return [stream for stream in every if (stream.family, stream.size) == (family, size)]


def means(family: str, size: int, way: str) -> dict[str, float]:
    """Counters, averaged over seeds; the run itself checks sizes after every update."""
    runs: list[Any] = [run_stream(stream, way)["counters"] for stream in streams_of(family, size)]
    return {name: statistics.fmean(run[name] for run in runs) for name in runs[0]}


@pytest.mark.parametrize("size", [10, 20, 30])
def test_seq_counters_without_marking_are_those_of_table_2(size: int) -> None:
    paper: Published = PUBLISHED["seq"][size]
    old = means("seq", size, "old")
    assert old["new deletion"] == paper.deletion[0]
    assert round(old["new insertion"]) == paper.insertion
    assert (old["new backward"], old["new forward"]) == (0, 0)


@pytest.mark.parametrize("size", [10, 20, 30])
def test_seq_counters_with_marking_are_those_of_table_2(size: int) -> None:
    paper: Published = PUBLISHED["seq"][size]
    new = means("seq", size, "new")
    assert new["new deletion"] == paper.deletion[1]
    assert (new["marked_explicit"], new["marked_implicit"]) == (paper.marked_explicit, paper.marked_implicit)
    assert round(new["new insertion"]) == paper.insertion
    assert (new["new backward"], new["new forward"]) == (0, 0)


@pytest.mark.parametrize("size, marked, deletions", [(10, 161, 1799), (20, 385, 3535), (30, 633, 5247)])
def test_seq_counters_of_the_algorithm_as_printed(size: int, marked: int, deletions: int) -> None:
    """Its lines 9, 12, 29 and 32 to the letter mark less than the paper's own programs do."""
    printed = means("seq", size, "printed")
    assert (round(printed["marked_implicit"]), round(printed["new deletion"])) == (marked, deletions)


@pytest.mark.parametrize("way", ["old", "new"])
@pytest.mark.parametrize("number", range(3))
def test_insertions_are_those_of_table_3(number: int, way: str) -> None:
    assert round(means("track", number, way)["new insertion"]) == PUBLISHED["track"][number].insertion


@pytest.mark.parametrize("size", SIZES)
def test_insertions_are_those_of_table_1(size: int) -> None:
    """The paper's count: facts that follow after an update but not from what its deletions alone leave."""
    assert round(means("trans", size, "old")["new insertion"]) == PUBLISHED["trans"][size].insertion


@pytest.mark.parametrize(
    "family, size", [("trans", 10), ("trans", 40), ("trans", 80), *(("track", n) for n in range(3))]
)
def test_marking_needs_no_more_deletions(family: str, size: int) -> None:
    old, new = means(family, size, "old"), means(family, size, "new")
    assert new["new deletion"] <= old["new deletion"]


@pytest.mark.parametrize("way", ["dred old", "dred new", "choose"])
def test_other_ways_keep_the_sizes_too(way: str) -> None:
    for stream in (*streams_of("trans", 20), *streams_of("seq", 20), *streams_of("track", 2)):
        run_stream(stream, way)

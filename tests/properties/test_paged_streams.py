"""Does the paged engine keep the law when facts stand in many small runs that are merged again and again?

With pages of one to four facts and next to nothing held in memory, every update writes runs, and every look-up goes
through several of them.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.following import ORDERS, QUICK, follow_in_all_ways
from tests.strategies import Story, graph_rule_stories, graph_stories, rule_stories, stream_stories

from everlog.engines.paged import page_files, page_writing, sweeps
from everlog.engines.paged import sizes as paged_sizes
from everlog.engines.paged.sizes import Sizes

EXAMPLES = 4 if QUICK else 1000

SIZES = st.builds(
    Sizes,
    page=st.integers(1, 4),
    run=st.sampled_from([4, 16, 1000]),
    held=st.integers(0, 6),
    runs=st.integers(1, 3),
)


def follow(strategies: list[str], story: Story, order: list[str], sizes: Sizes, **opening: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paged_sizes, "DEFAULT", sizes)
        patch.setattr(page_files, "_SMALL", 2)
        patch.setattr(page_writing, "AT_ONCE", 4)
        patch.setattr(sweeps, "_LOOKS", (1, 2, 0))
        follow_in_all_ways("paged", strategies, story, order, **opening)


@settings(max_examples=EXAMPLES)
@given(story=stream_stories(), order=ORDERS, sizes=SIZES)
def test_oracle_streams_over_runs(strategies: list[str], story: Story, order: list[str], sizes: Sizes) -> None:
    follow(strategies, story, order, sizes)


@settings(max_examples=EXAMPLES)
@given(story=rule_stories(), order=ORDERS, sizes=SIZES)
def test_oracle_rule_streams_over_runs(strategies: list[str], story: Story, order: list[str], sizes: Sizes) -> None:
    follow(strategies, story, order, sizes)


@pytest.mark.slow
@settings(max_examples=2 * EXAMPLES)
@given(story=graph_stories(), order=ORDERS, sizes=SIZES, rewrites=st.booleans())
def test_oracle_streams_over_graphs_in_runs(
    strategies: list[str], story: Story, order: list[str], sizes: Sizes, rewrites: bool
) -> None:
    follow(strategies, story, order, sizes, rewrites=rewrites)


@pytest.mark.slow
@settings(max_examples=2 * EXAMPLES)
@given(story=graph_rule_stories(), order=ORDERS, sizes=SIZES, rewrites=st.booleans())
def test_oracle_rule_streams_over_graphs_in_runs(
    strategies: list[str], story: Story, order: list[str], sizes: Sizes, rewrites: bool
) -> None:
    follow(strategies, story, order, sizes, rewrites=rewrites)

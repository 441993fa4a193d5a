"""Does every strategy keep the law while rules come and go, alone and together with facts?

After each update: state and change as the oracle has them. Rules that are added may merge components, rules that are
removed may split them, and what is known beside the facts (weights, ranks) must follow.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.following import ORDERS, QUICK, follow_in_all_ways
from tests.strategies import Story, graph_rule_stories, rule_stories

EXAMPLES = {"any": 6, "graph": 20} if QUICK else {"any": 1500, "graph": 3500}  # nightly: 5,000 on each engine


@settings(max_examples=EXAMPLES["any"])
@given(story=rule_stories(), order=ORDERS)
def test_oracle_rule_streams(engine: str, strategies: list[str], story: Story, order: list[str]) -> None:
    follow_in_all_ways(engine, strategies, story, order)


@pytest.mark.slow
@settings(max_examples=EXAMPLES["graph"])
@given(story=graph_rule_stories(), order=ORDERS, rewrites=st.booleans())
def test_oracle_rule_streams_over_graphs(
    engine: str, strategies: list[str], story: Story, order: list[str], rewrites: bool
) -> None:
    follow_in_all_ways(engine, strategies, story, order, rewrites=rewrites)

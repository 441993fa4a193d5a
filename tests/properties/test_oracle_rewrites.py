"""Are rewrites invisible in results? Closures of many kinds, with and without rewrites, against the oracle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.closure_strategies import closure_stories
from tests.properties.test_oracle_updates import follow
from tests.strategies import Story

from everlog.maintenance.strategies import NAMES

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("rewrites", [True, False], ids=["rewritten", "as-written"])
@given(story=closure_stories(), strategy=st.sampled_from(NAMES))
def test_oracle_rewrites(engine: str, rewrites: bool, story: Story, strategy: str) -> None:
    follow(engine, story, rewrites=rewrites, strategy=strategy)

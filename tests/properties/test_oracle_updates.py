"""After every update, is the state what starting over would give, and is the change exactly the difference?

This is the law (section 1 of the design) on random programs: `facts` updates explicit facts only, `rules` adds and
removes rules too.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, note, settings
from tests.strategies import Story, fact_stories, rule_stories
from tests.subjects import EngineSubject, OracleSubject, Update, listing

pytestmark = pytest.mark.slow


def follow(engine: str, story: Story, **options: Any) -> None:
    note(story.text)
    subject, oracle = EngineSubject(engine, **options), OracleSubject()
    for number, update in enumerate((Update(insert=story.facts, add_rules=story.text), *story.updates)):
        note(f"update {number}: {update}")
        gained, lost = subject.update(update)
        expected_gained, expected_lost = oracle.update(update)
        assert listing(subject.state()) == listing(oracle.state()), f"state after update {number}"
        assert listing(gained) == listing(expected_gained), f"gains of update {number}"
        assert listing(lost) == listing(expected_lost), f"losses of update {number}"


@settings(max_examples=settings().max_examples // 2)  # each example is several updates
@given(story=fact_stories())
def test_oracle_updates_of_facts(engine: str, story: Story) -> None:
    follow(engine, story)


@settings(max_examples=settings().max_examples // 2)
@given(story=rule_stories())
def test_oracle_updates_of_rules(engine: str, story: Story) -> None:
    follow(engine, story)

"""Does every engine derive exactly what a random program means, by the oracle?"""

from __future__ import annotations

from hypothesis import given, note, settings
from tests.oracle import materialise
from tests.strategies import Story, program_stories
from tests.subjects import EngineSubject, Update, listing


@given(story=program_stories())
def test_oracle_programs(engine: str, story: Story) -> None:
    note(story.text)
    subject = EngineSubject(engine)
    subject.update(Update(insert=story.facts, add_rules=story.text))
    assert listing(subject.state()) == listing(materialise(story.program, story.facts))


@settings(max_examples=settings().max_examples // 3)
@given(story=program_stories())
def test_oracle_rules_then_facts(engine: str, story: Story) -> None:
    """Facts that come after the rules, and rules that come after the facts, give the same."""
    note(story.text)
    expected = listing(materialise(story.program, story.facts))
    early, late = EngineSubject(engine), EngineSubject(engine)
    early.update(Update(add_rules=story.text))
    early.update(Update(insert=story.facts))
    late.update(Update(insert=story.facts))
    late.update(Update(add_rules=story.text))
    assert listing(early.state()) == expected
    assert listing(late.state()) == expected

"""Is an update refused exactly if a constraint has a match in what its facts and rules mean?"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from tests.strategies import Story, rule_stories
from tests.subjects import Broken, EngineSubject, OracleSubject, Update, listing

from everlog.errors import ConstraintError
from everlog.rules.constraints import constraint
from everlog.rules.printer import print_program
from everlog.rules.syntax import Program

pytestmark = pytest.mark.slow


@st.composite
def constrained_stories(draw: st.DrawFn) -> Story:
    """A random story in which the bodies of some rules must not have a match; they come with one of the updates."""
    story = draw(rule_stories())
    chosen = draw(st.lists(st.sampled_from(story.program.rules), min_size=1, max_size=2, unique_by=lambda r: r.name))
    text = print_program(Program(rules=tuple(constraint(f"never_{rule.name}", rule.body) for rule in chosen)))
    updates = [Update(insert=story.facts, add_rules=story.text), *story.updates]
    at = draw(st.integers(0, len(updates) - 1))
    updates[at] = replace(updates[at], add_rules=updates[at].add_rules + text)
    return replace(story, updates=tuple(updates))


@settings(max_examples=settings().max_examples // 2)
@given(story=constrained_stories())
def test_oracle_constraints(engine: str, story: Story) -> None:
    subject, oracle = EngineSubject(engine), OracleSubject()
    for number, update in enumerate(story.updates):
        note(f"update {number}: {update}")
        removed = tuple(name for name in update.remove_rules if name in {rule.name for rule in oracle.rules})
        update = replace(update, remove_rules=removed)
        if {rule.name for rule in oracle.rules} & names_in(update):
            return  # an update was refused that should have removed this rule
        try:
            expected = oracle.update(update)
        except Broken:
            version = subject.kb.version
            with pytest.raises(ConstraintError):
                subject.update(update)
            assert subject.kb.version == version
        else:
            gained, lost = subject.update(update)
            assert (listing(gained), listing(lost)) == (listing(expected[0]), listing(expected[1])), f"update {number}"
        assert listing(subject.state()) == listing(oracle.state()), f"state after update {number}"


def names_in(update: Update) -> set[str | None]:
    from everlog.rules.parser import parse_program

    return {rule.name for rule in parse_program(update.add_rules).rules} - set(update.remove_rules)

"""Does every strategy keep the law on streams of updates: state and change as the oracle has them, after each one?"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.following import ORDERS, QUICK, check, expected, follow_in_all_ways
from tests.reproductions import differences, script
from tests.strategies import Story, graph_stories, stream_stories
from tests.subjects import EngineSubject

import everlog

EXAMPLES = {"any": 12, "graph": 25} if QUICK else {"any": 2000, "graph": 3000}  # nightly: 5,000 on each engine


@settings(max_examples=EXAMPLES["any"])
@given(story=stream_stories(), order=ORDERS)
def test_oracle_streams(engine: str, strategies: list[str], story: Story, order: list[str]) -> None:
    follow_in_all_ways(engine, strategies, story, order)


@pytest.mark.slow
@settings(max_examples=EXAMPLES["graph"])
@given(story=graph_stories(), order=ORDERS, rewrites=st.booleans())
def test_oracle_streams_over_graphs(
    engine: str, strategies: list[str], story: Story, order: list[str], rewrites: bool
) -> None:
    """Rules as written too: rewritten ones are linear, which hides what is hard about the others."""
    follow_in_all_ways(engine, strategies, story, order, rewrites=rewrites)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:marking has no effect")
@pytest.mark.parametrize("strategy", ["bf", "dred", "choose"])
@pytest.mark.parametrize("marking", [False, True])
@settings(max_examples=EXAMPLES["graph"] // 2)
@given(story=graph_stories())
def test_oracle_stream_equals_one_by_one(engine: str, strategy: str, marking: bool, story: Story) -> None:
    """Also while the next update is looked at: a change and the state at its time are those of its own update."""
    first, *rest = expected(story)
    subject = EngineSubject(engine)
    subject.update(first[0])
    changes = subject.kb.stream(
        [everlog.Update(insert=update.insert, delete=update.delete) for update, *_ in rest],
        strategy=strategy,
        marking=marking,
    )
    updates = [first[0], *story.updates]
    for number, (change, step) in enumerate(zip(changes, rest, strict=True), 2):
        repeat = script(engine, updates[:number], options={"strategy": strategy})
        check(subject, subject.note(step[0], change), step, f"{repeat}\n# as a stream, marking={marking}")


@settings(max_examples=EXAMPLES["graph"] // 2)
@given(story=graph_stories())
def test_oracle_coalesced_stream(engine: str, story: Story) -> None:
    """Where several updates are applied at once, the last state is still the right one."""
    steps = expected(story)
    subject = EngineSubject(engine)
    subject.update(steps[0][0])
    for _ in subject.kb.stream(
        [everlog.Update(insert=update.insert, delete=update.delete) for update in story.updates], coalesce=True
    ):
        pass
    subject.relations.update(relation for update in story.updates for relation in update.insert)
    wrong = differences("facts", subject.state(), steps[-1][1])
    assert not wrong, "\n".join([script(engine, [step[0] for step in steps], options={}), *wrong])

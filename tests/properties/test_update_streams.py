"""Does every strategy keep the law on streams of updates: state and change as the oracle has them, after each one?

An example is followed with every strategy, and with another strategy for each update: what one leaves behind (weights,
ranks, indexes) the next one must be able to build on. A failure prints a script that repeats it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import State
from tests.reproductions import differences, script
from tests.strategies import Story, graph_stories, stream_stories
from tests.subjects import EngineSubject, OracleSubject, Update

import everlog
from everlog.maintenance.strategies import NAMES as STRATEGIES

# Each example is several updates by several strategies, so quick is few; nightly is 5,000 streams on each engine.
QUICK = settings().max_examples < 100
EXAMPLES = {"any": 12, "graph": 25} if QUICK else {"any": 2000, "graph": 3000}
ORDERS = st.permutations(STRATEGIES)

Step = tuple[Update, State, State, State]  # what comes in; then, by the oracle, state, gains and losses


def expected(story: Story) -> list[Step]:
    """The story as the oracle tells it."""
    oracle, steps = OracleSubject(), []
    for update in (Update(insert=story.facts, add_rules=story.text), *story.updates):
        gained, lost = oracle.update(update)
        steps.append((update, oracle.state(), gained, lost))
    return steps


def check(subject: EngineSubject, change: tuple[State, State], step: Step, repeat: str) -> None:
    """State and change are the oracle's; if not, fail with the script that repeats it."""
    _, state, gained, lost = step
    wrong = [
        *differences("facts", subject.state(), state),
        *differences("gained", change[0], gained),
        *differences("lost", change[1], lost),
    ]
    if wrong:
        raise AssertionError("\n".join(["the last update goes wrong:", repeat, *wrong]))


def follow(engine: str, steps: Sequence[Step], strategies: Sequence[str], **opening: bool) -> None:
    """Apply the updates one by one, with one strategy after the other."""
    subject = EngineSubject(engine, **opening)
    for number, (step, strategy) in enumerate(zip(steps, cycle(strategies), strict=False)):
        updates = [update for update, *_ in steps[: number + 1]]
        repeat = _script(engine, updates, strategies, opening)
        try:
            change = subject.update(step[0], strategy=strategy)
        except Exception as error:
            error.add_note(repeat)
            raise
        check(subject, change, step, repeat)


def _script(engine: str, updates: Sequence[Update], strategies: Sequence[str], opening: dict[str, bool]) -> str:
    if len(strategies) == 1:
        return script(engine, updates, options={"strategy": strategies[0]}, opening=opening)
    told = ", ".join(name for _, name in zip(updates, cycle(strategies), strict=False))
    return script(engine, updates, options={}, opening=opening) + f"\n# strategies, update by update: {told}"


def ways(strategies: Sequence[str], order: Sequence[str]) -> Iterator[Sequence[str]]:
    """Each strategy alone, then all of them in turn."""
    yield from ([strategy] for strategy in strategies)
    yield [strategy for strategy in order if strategy in strategies]


@settings(max_examples=EXAMPLES["any"])
@given(story=stream_stories(), order=ORDERS)
def test_oracle_streams(engine: str, strategies: list[str], story: Story, order: list[str]) -> None:
    steps = expected(story)
    for way in ways(strategies, order):
        follow(engine, steps, way)


@pytest.mark.slow
@settings(max_examples=EXAMPLES["graph"])
@given(story=graph_stories(), order=ORDERS, rewrites=st.booleans())
def test_oracle_streams_over_graphs(
    engine: str, strategies: list[str], story: Story, order: list[str], rewrites: bool
) -> None:
    """Rules as written too: rewritten ones are linear, which hides what is hard about the others."""
    steps = expected(story)
    for way in ways(strategies, order):
        follow(engine, steps, way, rewrites=rewrites)


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

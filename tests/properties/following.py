"""Is a stream of updates followed rightly, by each strategy and by all in turn? State and change are the oracle's.

What one strategy leaves behind (weights, ranks, indexes) the next one must be able to build on. A failure prints a
script that repeats it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle

from hypothesis import settings
from hypothesis import strategies as st
from tests.oracle import State
from tests.reproductions import differences, script
from tests.strategies import Story
from tests.subjects import EngineSubject, OracleSubject, Update

from everlog.maintenance.strategies import NAMES as STRATEGIES

# Each example is several updates by several strategies, so quick is few.
QUICK = settings().max_examples < 100
ORDERS = st.permutations(STRATEGIES)

Step = tuple[Update, State, State, State]  # what comes in; then, by the oracle, state, gains and losses


def follow_in_all_ways(
    engine: str, strategies: Sequence[str], story: Story, order: Sequence[str], **opening: bool
) -> None:
    """With each strategy alone, then with all of them in turn."""
    steps = expected(story)
    for way in _ways(strategies, order):
        _follow(engine, steps, way, opening)


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


def _ways(strategies: Sequence[str], order: Sequence[str]) -> Iterator[Sequence[str]]:
    yield from ([strategy] for strategy in strategies)
    yield [strategy for strategy in order if strategy in strategies]


def _follow(engine: str, steps: Sequence[Step], strategies: Sequence[str], opening: dict[str, bool]) -> None:
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

"""How good is `choose`? Its time on each line of a benchmark against that of the best single strategy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.reporting.markdown import seconds, table, verdict
from benchmarks.reporting.results import Record

CHOOSE = "choose"
# What is asked for: on the whole, and on no line more than the larger of the two.
MEAN, MOST, MOST_SECONDS = 1.3, 2.2, 0.001


class Choice(NamedTuple):
    """One line of a benchmark."""

    line: str
    choose: float
    best: float
    strategy: str  # the best one

    @property
    def ratio(self) -> float:
        return self.choose / self.best

    @property
    def good(self) -> bool:
        return self.choose <= max(MOST * self.best, MOST_SECONDS)


def choices(lines: Sequence[tuple[str, Record]]) -> list[Choice]:
    """Of each line its name and its runs by strategy; a run that was stopped has no `seconds`."""
    found = []
    for name, runs in lines:
        single = {strategy: run["seconds"] for strategy, run in runs.items() if strategy != CHOOSE}
        done = {strategy: time for strategy, time in single.items() if time is not None}
        if runs.get(CHOOSE, {}).get("seconds") is not None and done:
            best = min(done, key=lambda strategy: done[strategy])
            found.append(Choice(name, runs[CHOOSE]["seconds"], done[best], best))
    return found


def choice_section(found: Sequence[Choice]) -> str:
    """What `choose` cost on the whole, and where it cost most."""
    mean = math.exp(sum(math.log(choice.ratio) for choice in found) / len(found))
    worst = sorted(found, key=lambda choice: -choice.ratio)[:5]
    rows = [[c.line, c.strategy, seconds(c.best), seconds(c.choose), f"{c.ratio:.2f}", verdict(c.good)] for c in worst]
    return (
        f"Over {len(found)} lines, `choose` takes {mean:.2f} times the best single strategy in the geometric mean "
        f"(at most {MEAN} asked for: {verdict(mean <= MEAN)}). The lines where it does worst, of which none may be "
        f"above {MOST} times or {seconds(MOST_SECONDS)}, whichever is more:\n\n"
        + table(["line", "best", "its time", "choose", "ratio", "within"], rows, left=2)
    )

"""How are the figures of streams shown? Beside the paper's, line by line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.experiments.streams.published import PROGRAMS_HERE, PUBLISHED, Published
from benchmarks.measuring.counters import MARKS
from benchmarks.reporting.markdown import seconds, table, verdict
from benchmarks.reporting.results import Record, origin

TIMES_FASTER = 100  # what is asked for, against the papers' own programs

_TITLES = {
    "trans": "Table 1: `path(X, Y) :- edge(X, Y).  path(X, Z) :- edge(X, Y), path(Y, Z).`",
    "seq": "Table 2: `edge1` to `edge4`, each a copy of the one before",
    "track": "Table 3: connections of ways along GPS tracks",
}
_PAIRS = ("deletion", "backward", "forward")


def page(results: Record) -> str:
    """The whole page."""
    parts = [
        "# Streams of updates, with marking and without",
        origin("streams", results),
        "Rules as written. *Old* is Backward/Forward, *new* the same with marking; a cell is ours, and in brackets the "
        "paper's. Counts are rule applications whose head is new to the set that a phase makes, means over seeds. "
        "Backward and forward depend on the order of work, deletions and marks less so, insertions not at all. CPU is "
        f"for the whole stream, the best of {results['conditions']['repeats']} runs. Sizes are checked after each.",
        "![CPU time and deletions by size of update](streams.png)",
    ]
    for family, title in _TITLES.items():
        if lines := [line for line in results["lines"] if line["family"] == family]:
            parts += [f"## {title}", _counts(lines, PUBLISHED[family]), _times(lines)]
    if shipped := [line for line in results["lines"] if line["family"] not in PUBLISHED]:
        parts += ["## The streams that the authors ship", _plain_counts(shipped), _times(shipped)]
    parts += ["## Against the papers' own programs", _speed(results["lines"])]
    parts += ["## What marking costs and saves", _marking(results["lines"])]
    return "\n\n".join(parts) + "\n"


def _counts(lines: Sequence[Record], published: dict[int, Published]) -> str:
    head = ["size", *(f"{name} {which}" for name in _PAIRS for which in ("old", "new")), "insertions"]
    head += ["marked explicit", "marked implicit"]
    return table(head, (_count_cells(line, published[line["size"]]) for line in lines))


def _count_cells(line: Record, paper: Published) -> list[str]:
    old, new = (line["ways"][way]["counters"] for way in ("old", "new"))
    cells = [str(line["size"])]
    for name in _PAIRS:
        cells += [_beside(ours[f"new {name}"], n) for ours, n in zip((old, new), getattr(paper, name), strict=True)]
    cells.append(_beside(new["new insertion"], paper.insertion))
    return cells + [_beside(new[name], getattr(paper, name)) for name in MARKS]


def _beside(ours: float, theirs: int) -> str:
    return f"{ours:,.0f} ({theirs:,})"


def _plain_counts(lines: Sequence[Record]) -> str:
    names = (*_PAIRS, "insertion")
    head = [
        "stream",
        "size",
        *(f"{name} {which}" for name in names for which in ("old", "new")),
        "explicit",
        "implicit",
    ]
    rows = []
    for line in lines:
        old, new = (line["ways"][way]["counters"] for way in ("old", "new"))
        cells = [f"{ours[f'new {name}']:,.0f}" for name in names for ours in (old, new)]
        marks = [f"{new[name]:,.0f}" for name in MARKS]
        rows.append([line["family"], str(line["size"]), *cells, *marks])
    return table(head, rows, left=2)


def _times(lines: Sequence[Record]) -> str:
    ways = list(lines[0]["ways"])
    head = ["stream", "updates", *(f"CPU {way}" for way in ways), "an update, old", "new", "choose", "slowest, new"]
    rows = []
    for line in lines:
        found = line["ways"]
        cpu = [seconds(found[way]["cpu"]) for way in ways]
        update = [seconds(found[way]["median"]) for way in ("old", "new", "choose")]
        name = f"{line['family']} {line['size']}"
        rows.append([name, str(line["updates"]), *cpu, *update, seconds(found["new"]["slowest"])])
    return table(head, rows)


def _speed(lines: Sequence[Record]) -> str:
    head = ["stream", "their program, with marking", "ours, with marking", "times faster", f"at least {TIMES_FASTER}"]
    rows = []
    for line in lines:
        theirs = PROGRAMS_HERE.get((line["family"], line["size"]))
        if theirs is not None:
            ours = line["ways"]["new"]["cpu"]
            name = f"{line['family']} {line['size']}"
            rows.append(
                [name, seconds(theirs), seconds(ours), f"{theirs / ours:,.0f}", verdict(theirs / ours >= TIMES_FASTER)]
            )
    return table(head, rows)


def _marking(lines: Sequence[Record]) -> str:
    """New over old by family: the geometric mean and the worst line; below 1 marking saves."""
    head = ["streams", "CPU, new to old", "worst line", "deletions, new to old"]
    rows = []
    for family in dict.fromkeys(line["family"] for line in lines):
        group = [line["ways"] for line in lines if line["family"] == family]
        ratios = [ways["new"]["cpu"] / ways["old"]["cpu"] for ways in group]
        old, new = (sum(ways[way]["counters"]["new deletion"] for ways in group) for way in ("old", "new"))
        saved = f"{new / old:.2f}" if old else "–"
        rows.append([family, f"{math.prod(ratios) ** (1 / len(ratios)):.2f}", f"{max(ratios):.2f}", saved])
    return table(head, rows)


def draw(results: Record, path: Path) -> None:
    """For each synthetic family: CPU against the size of updates, and deletions beside the paper's."""
    from matplotlib.figure import Figure  # without pyplot there is no window and no state to clean up

    figure = Figure(figsize=(10, 7), layout="constrained")
    for row, family in enumerate(("trans", "seq")):
        lines = [line for line in results["lines"] if line["family"] == family]
        _draw_cpu(figure.add_subplot(2, 2, 2 * row + 1), family, lines)
        _draw_deletions(figure.add_subplot(2, 2, 2 * row + 2), family, lines)
    figure.savefig(path, dpi=130)


def _draw_cpu(axes: Any, family: str, lines: Sequence[Record]) -> None:
    sizes = [line["size"] for line in lines]
    for way, style in (("old", "o--"), ("new", "o-"), ("choose", "s:")):
        axes.plot(sizes, [line["ways"][way]["cpu"] for line in lines], style, label=f"everlog, {way}")
    theirs = {size: time for (kind, size), time in PROGRAMS_HERE.items() if kind == family}
    axes.plot(list(theirs), list(theirs.values()), "kx", label="the papers' program, new")
    axes.set_yscale("log")
    axes.set_ylabel("seconds of CPU, whole stream")
    _finish(axes, f"{family}: CPU")


def _draw_deletions(axes: Any, family: str, lines: Sequence[Record]) -> None:
    sizes = [line["size"] for line in lines]
    for number, (way, style) in enumerate((("old", "o--"), ("new", "o-"))):
        axes.plot(
            sizes, [line["ways"][way]["counters"]["new deletion"] for line in lines], style, label=f"everlog, {way}"
        )
        axes.plot(*_published(family, number), "kx" if number else "k+", label=f"the paper, {way}")
    axes.set_ylabel("rule applications for deletion")
    _finish(axes, f"{family}: deletions")


def _published(family: str, number: int) -> Iterator[list[int]]:
    yield list(PUBLISHED[family])
    yield [line.deletion[number] for line in PUBLISHED[family].values()]


def _finish(axes: Any, title: str) -> None:
    axes.set_xlabel("facts deleted and inserted by an update")
    axes.set_title(title, loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=8)
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)

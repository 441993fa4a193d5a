"""How are the figures of growth shown? Ratios between small and large, first and last, and both as curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.reporting.markdown import seconds, table, verdict
from benchmarks.reporting.results import Record, origin

# What is asked for: at the largest size against the smallest, and at the last update against the first thousand.
MORE_DATA, MANY_UPDATES = 1.5, 1.2


def page(results: Record) -> str:
    """The whole page."""
    parts = [
        "# Updates as data grows, and as they go on",
        origin("growth", results),
        f"Strategy `{results['conditions']['strategy']}`; times are medians.",
        "![Time of an update against the size of the data and the number of updates](growth.png)",
        "## More data\n\nTen facts go out and come back; the data that grows has nothing to do with them.",
        table(["data", "times", "facts", "out", "in", "an update", "ratio", "kept"], _more_data(results["more data"])),
        "## Many updates\n\nA window of 2,000 edges moves on by one with each update: all sizes stay as they are.",
        table(["updates", "an update", "ratio", "memory, MB", "ratio"], _many_updates(results["many updates"])),
        _kept(results["many updates"]),
    ]
    return "\n\n".join(parts) + "\n"


def _more_data(lines: Sequence[Record]) -> Iterator[list[str]]:
    first: dict[str, Record] = {}
    for line in lines:
        ratio = line["seconds"] / first.setdefault(line["name"], line)["seconds"]
        times = [seconds(line[name]) for name in ("delete", "insert", "seconds")]
        kept = verdict(ratio <= MORE_DATA)
        yield [line["name"], str(line["factor"]), f"{line['facts']:,}", *times, f"{ratio:.2f}", kept]


def _many_updates(points: Sequence[Record]) -> Iterator[list[str]]:
    first = points[0]
    for point in (first, *points[9::10]):
        time, memory = _ratios(first, point)
        held = "–" if point["memory"] is None else f"{point['memory'] / 1e6:,.0f}"
        yield [f"{point['updates']:,}", seconds(point["seconds"]), f"{time:.2f}", held, f"{memory:.2f}"]


def _ratios(first: Record, last: Record) -> tuple[float, float]:
    memory = last["memory"] / first["memory"] if first["memory"] else 1.0  # where the system does not tell
    return last["seconds"] / first["seconds"], memory


def _kept(points: Sequence[Record]) -> str:
    time, memory = _ratios(points[0], points[-1])
    return (
        f"After {points[-1]['updates']:,} updates an update takes {time:.2f} times what it took in the first thousand, "
        f"and memory is {memory:.2f} times what it was (at most {MANY_UPDATES} asked for: "
        f"{verdict(max(time, memory) <= MANY_UPDATES)})."
    )


def draw(results: Record, path: Path) -> None:
    """Two panels: against the size of the data, and against the number of updates."""
    from matplotlib.figure import Figure  # without pyplot there is no window and no state to clean up

    figure = Figure(figsize=(10, 3.6), layout="constrained")
    left, right = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
    for name in dict.fromkeys(line["name"] for line in results["more data"]):
        lines = [line for line in results["more data"] if line["name"] == name]
        left.plot([line["facts"] for line in lines], [line["seconds"] * 1e3 for line in lines], "o-", label=name)
    left.set_xscale("log")
    left.minorticks_off()
    left.set_xlabel("facts in the knowledge base")
    left.legend(frameon=False, fontsize=8)
    points = results["many updates"]
    right.plot([point["updates"] for point in points], [point["seconds"] * 1e3 for point in points], label="time")
    right.set_xlabel("updates so far")
    _draw_memory(right, points)
    for axes, title in ((left, "More data"), (right, "Many updates")):
        axes.set_ylim(bottom=0)
        axes.set_ylabel("milliseconds for an update")
        axes.set_title(title, loc="left", fontsize=11)
        axes.grid(axis="y", alpha=0.3)
        axes.spines["top"].set_visible(False)
    figure.savefig(path, dpi=130)


def _draw_memory(axes: Any, points: Sequence[Record]) -> None:
    if points[0]["memory"] is not None:
        memory = axes.twinx()
        memory.plot([point["updates"] for point in points], [point["memory"] / 1e6 for point in points], "k:")
        memory.set_ylim(bottom=0)
        memory.set_ylabel("memory, MB (dotted)")
        memory.spines["top"].set_visible(False)

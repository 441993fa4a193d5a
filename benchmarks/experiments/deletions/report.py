"""How are the figures of deletions shown? After the Backward/Forward paper's Table 2, and as curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.datasets.knowledge import STRATEGIES
from benchmarks.measuring.counters import PHASES
from benchmarks.reporting.choices import choice_section, choices
from benchmarks.reporting.markdown import seconds, table
from benchmarks.reporting.results import Record, origin


def page(results: Record) -> str:
    """The whole page."""
    conditions = results["conditions"]
    parts = [
        "# Deleting few facts, and many",
        origin("deletions", results),
        "Facts drawn at random are deleted in one update. *Equilibrium* is the number of deletions at which "
        "Backward/Forward takes as long as starting over; the lines with percent are shares of it. Times are those of "
        f"the update, the best of {conditions['repeats']} runs, stopped after {seconds(conditions['patience'])}. "
        "One fact goes and comes back before, so that indexes are there. All must leave the same facts.",
        "![Time against the number of deleted facts](deletions.png)",
        _data(results["data"]),
    ]
    for data in results["data"]:
        lines = [line for line in results["lines"] if line["data"] == data["name"]]
        parts += [f"## {data['title']}", _times(lines), _work(lines)]
    if found := choices(list(_named(results["lines"]))):
        parts += ["## What `choose` makes of it", choice_section(found)]
    return "\n\n".join(parts) + "\n"


def _named(lines: Sequence[Record]) -> Iterator[tuple[str, Record]]:
    for line in lines:
        yield f"{line['data']}, {line['deleted']:,} deleted", line["runs"]


def _data(data: Sequence[Record]) -> str:
    rows = [[d["title"], f"{d['explicit']:,}", f"{d['facts']:,}", seconds(d["seconds"])] for d in data]
    return table(["data", "explicit", "all facts", "load and materialise"], rows)


def _deleted(line: Record) -> str:
    return f"{line['deleted']:,}" + (f" ({line['share']:.0%})" if line["share"] is not None else "")


def _times(lines: Sequence[Record]) -> str:
    head = ["deleted", "facts lost", *STRATEGIES, "chosen"]
    rows = []
    for line in lines:
        times = [line["runs"][strategy]["seconds"] for strategy in STRATEGIES]
        fastest = min(time for time in times if time is not None)
        cells = ["stopped" if time is None else _bold(seconds(time), time == fastest) for time in times]
        chosen = ", ".join(line["runs"]["choose"].get("used", []))
        rows.append([_deleted(line), f"{line['lost']:,}", *cells, chosen])
    return table(head, rows)


def _bold(text: str, wanted: bool) -> str:
    return f"**{text}**" if wanted else text


def _work(lines: Sequence[Record]) -> str:
    """Facts checked, then rule applications for deletion, backward, forward and insertion."""
    rows = []
    for line in lines:
        cells = []
        for strategy in STRATEGIES:
            counters = line["runs"][strategy].get("counters")
            if counters is None:
                cells.append("–")
            else:
                by_phase = " + ".join(f"{counters[phase]:,}" for phase in PHASES if counters[phase]) or "0"
                cells.append(f"{counters['touched']:,}: {by_phase}")
        rows.append([_deleted(line), *cells])
    order = ", ".join(PHASES)
    return f"Facts checked, and rule applications ({order}; those that are none left out):\n\n" + table(
        ["deleted", *STRATEGIES], rows
    )


def draw(results: Record, path: Path) -> None:
    """A panel for each data set: time against the number of deleted facts."""
    from matplotlib.figure import Figure  # without pyplot there is no window and no state to clean up

    data = results["data"]
    rows = -(-len(data) // 2)
    figure = Figure(figsize=(10, 3.6 * rows), layout="constrained")
    for number, each in enumerate(data):
        lines = [line for line in results["lines"] if line["data"] == each["name"]]
        _draw_times(figure.add_subplot(rows, 2, number + 1), each["title"], lines)
    figure.savefig(path, dpi=130)


def _draw_times(axes: Any, title: str, lines: Sequence[Record]) -> None:
    ordered = sorted(lines, key=lambda line: int(line["deleted"]))
    for strategy in STRATEGIES:
        points = [(line["deleted"], line["runs"][strategy]["seconds"]) for line in ordered]
        done = [(deleted, time) for deleted, time in points if time is not None]
        style = {"rematerialise": "k--", "choose": "k:"}.get(strategy, "o-")
        axes.plot([deleted for deleted, _ in done], [time for _, time in done], style, ms=4, label=strategy)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("explicit facts deleted")
    axes.set_ylabel("seconds")
    axes.set_title(title, loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=7)
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)

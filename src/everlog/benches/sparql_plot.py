"""What do the figures of SPARQL views look like? The paper's figures 3, 5 and 11, and queries asked once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from everlog.benches.results import Record
from everlog.benches.sparql_report import COLUMNS, figures

_COLOURS = ("#4269d0", "#97bbf5", "#ff725c", "#efb118", "#6cc5b0")


def draw(results: Record, path: Path) -> None:
    """Four pictures on one page; those without figures yet stay empty."""
    from matplotlib.figure import Figure  # without pyplot there is no window and no state to clean up

    figure = Figure(figsize=(12, 9), layout="constrained")
    axes = figure.subplots(2, 2)
    by_section = {name: [line for line in results["views"] if line["section"] == name] for name in ("hops", "sums")}
    explored = [line for line in results["views"] if line["section"] == "explore"]
    _draw_curves(axes[0][0], by_section["hops"], "one_in", "1/p", "Three hops: 25 edges out, 25 in")
    axes[0][0].invert_xaxis()
    _draw_queries(axes[0][1], explored[-1:])
    fewest = min((line["numbers"] for line in by_section["sums"]), default=0)
    summed = [line for line in by_section["sums"] if line["numbers"] == fewest]
    _draw_curves(axes[1][0], summed, "products", "products", f"SUM over {fewest} numbers each: 50 out, 50 in")
    _draw_adhoc(axes[1][1], results["adhoc"])
    for each in axes.flat:
        each.grid(axis="y", alpha=0.3)
        each.set_axisbelow(True)
        each.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


def _draw_curves(axes: Any, lines: Sequence[Record], size: str, label: str, title: str) -> None:
    for column, colour in zip(COLUMNS, _COLOURS, strict=True):
        points = [(line[size], next(figures(line["tasks"][0]))[1][column] * 1e3) for line in lines]
        if points:
            axes.plot(*zip(*points, strict=True), "o-", color=colour, markersize=4, label=column)
    axes.set_xlabel(label)
    axes.set_ylabel("milliseconds")
    if lines:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks([line[size] for line in lines], [f"{line[size]:,}" for line in lines])
        axes.minorticks_off()
        axes.legend(frameon=False, fontsize=7)
    axes.set_title(title, loc="left", fontsize=11)


def _draw_queries(axes: Any, lines: Sequence[Record]) -> None:
    """The bars of the largest data: the slowest kind of update of each query."""
    width = 0.8 / len(COLUMNS)
    for line in lines:
        tasks = line["tasks"]
        for place, (column, colour) in enumerate(zip(COLUMNS, _COLOURS, strict=True)):
            slowest = [max(times[column] for _, times in figures(task)) * 1e3 for task in tasks]
            axes.bar([n + (place - 2) * width for n in range(len(tasks))], slowest, width, color=colour, label=column)
        axes.set_xticks(range(len(tasks)), [task["task"] for task in tasks])
        axes.set_yscale("log")
        axes.legend(frameon=False, fontsize=7)
        axes.set_title(f"{line['workload']}: the slowest of four updates", loc="left", fontsize=11)
    axes.set_ylabel("milliseconds")


def _draw_adhoc(axes: Any, lines: Sequence[Record]) -> None:
    for number, data in enumerate(dict.fromkeys(line["data"] for line in lines)):
        own = [line for line in lines if line["data"] == data]
        points = [line["oxigraph"] * 1e3 for line in own], [line["everlog"] * 1e3 for line in own]
        axes.scatter(*points, s=16, color=_COLOURS[number * 2], label=data)
    if lines:
        ends = [min(line["oxigraph"] for line in lines) * 1e3, max(line["oxigraph"] for line in lines) * 1e3]
        axes.plot(ends, ends, "k--", linewidth=0.8, label="as fast")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.legend(frameon=False, fontsize=7)
    axes.set_xlabel("pyoxigraph, milliseconds")
    axes.set_ylabel("ours, milliseconds")
    axes.set_title("Queries asked once", loc="left", fontsize=11)

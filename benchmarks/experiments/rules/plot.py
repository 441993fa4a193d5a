"""What do the figures of rule changes look like? The paper's figures 6 to 10."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.experiments.rules.chain_changes import SCRATCH
from benchmarks.reporting.results import Record

_COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#a463f2", "#97bbf5", "#9c6b4e", "#9498a0")
_OURS, _AFRESH = _COLOURS[0], "#c4c8ce"


def draw(results: Record, path: Path) -> None:
    """Six pictures on one page."""
    from matplotlib.figure import Figure  # without pyplot there is no window and no state to clean up

    figure = Figure(figsize=(12, 13), layout="constrained")
    axes = figure.subplots(3, 2)
    name = results["rule sets"][0]["name"]
    for place, (step, title) in zip(
        axes[0], (("add", "Figure 7: adding"), ("remove", "Figure 8: removing")), strict=True
    ):
        lines = [line for line in results["changes"] if line["rule set"] == name and line["step"] == step]
        _draw_rules(place, lines, f"{title} rules, {name}")
    for place, rewrites in zip(axes[1], (True, False), strict=True):
        lines = [line for line in results["chain"] if line["rewrites"] == rewrites]
        _draw_chain(place, lines, f"Figure 9: RS1, rules {'rewritten' if rewrites else 'as written'}")
    _draw_extra(axes[2][0], results["extra"])
    _draw_memory(axes[2][1], results["memory"])
    for each in axes.flat:
        each.grid(axis="y", alpha=0.3)
        each.set_axisbelow(True)
        each.spines[["top", "right"]].set_visible(False)
    for left, right in (axes[0], axes[1]):  # the same scale, to be compared
        low, high = min(left.get_ylim()[0], right.get_ylim()[0]), max(left.get_ylim()[1], right.get_ylim()[1])
        left.set_ylim(low, high)
        right.set_ylim(low, high)
    figure.savefig(path, dpi=110)


def _draw_rules(axes: Any, lines: Sequence[Record], title: str) -> None:
    places = range(len(lines))
    afresh, ours = ([line["scratch"]["seconds"] * 1e3 for line in lines], [line["seconds"] * 1e3 for line in lines])
    axes.bar([place - 0.2 for place in places], afresh, 0.4, label=SCRATCH, color=_AFRESH)
    axes.bar([place + 0.2 for place in places], ours, 0.4, label="the change", color=_OURS)
    axes.set_yscale("log")
    axes.set_ylim(top=3 * max(*afresh, *ours))  # room for what the colours mean
    axes.set_ylabel("milliseconds")
    axes.set_xticks(places, [line["what"].replace(", ", "\n") for line in lines], fontsize=7)
    _finish(axes, title)


def _draw_chain(axes: Any, lines: Sequence[Record], title: str) -> None:
    for number, (what, step) in enumerate(dict.fromkeys((line["what"], line["step"]) for line in lines)):
        own = [line for line in lines if (line["what"], line["step"]) == (what, step)]
        label = what if what == SCRATCH else f"{step} {what}"
        style = {"derive": "-", "add": "o-", "remove": "s--"}[step]
        colour = "black" if what == SCRATCH else _COLOURS[(number - 1) // 2]
        points = [line["turbines"] for line in own], [line["seconds"] * 1e3 for line in own]
        axes.plot(*points, style, color=colour, markersize=4, label=label)
    counts = sorted({line["turbines"] for line in lines})
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    axes.set_xlabel("turbines")
    axes.set_ylabel("milliseconds")
    _finish(axes, title)


def _draw_extra(axes: Any, lines: Sequence[Record]) -> None:
    for rewrites, colour in ((True, _COLOURS[0]), (False, _COLOURS[2])):
        for step, style in (("add", "o-"), ("remove", "s--")):
            own = [line for line in lines if line["rewrites"] == rewrites and line["step"] == step]
            label = f"{step}, {'rewritten' if rewrites else 'as written'}"
            points = [line["share"] for line in own], [line["seconds"] * 1e3 for line in own]
            axes.plot(*points, style, color=colour, markersize=4, label=label)
    axes.set_yscale("log")
    axes.set_xlabel(f"percent more than {lines[0]['turbines']} turbines")
    axes.set_ylabel("milliseconds")
    _finish(axes, "Figure 10: RS1, extra turbines")


def _draw_memory(axes: Any, points: Sequence[Record]) -> None:
    width, rules = max(point["width"] for point in points), max(point["rules"] for point in points)
    by_data = sorted((point for point in points if point["rules"] == rules), key=lambda point: point["facts"])
    by_rules = sorted((point for point in points if point["width"] == width), key=lambda point: point["facts"])
    for own, label, style in ((by_data, "more data, all rules", "o-"), (by_rules, "more rules, all data", "s:")):
        for number, (held, what) in enumerate((("bytes", "derived"), ("bytes after changes", "after changes"))):
            points_of = [point["facts"] for point in own], [point[held] / 1e6 for point in own]
            axes.plot(*points_of, style, color=_COLOURS[2 * number], markersize=4, label=f"{label}: {what}")
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("facts")
    axes.set_ylabel("memory, MB")
    _finish(axes, "Figure 6: memory, RS2")


def _finish(axes: Any, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=7)

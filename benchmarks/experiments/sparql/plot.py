"""What do the figures of SPARQL views look like? The paper's figures 3 to 6, 8 and 11, and queries asked once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.experiments.sparql.targets import COLUMNS, figures
from benchmarks.reporting.results import Record

_COLOURS = ("#4269d0", "#97bbf5", "#ff725c", "#efb118", "#6cc5b0")
_OURS, _PAPER, _ANSWERS = _COLOURS[0], _COLOURS[2], _COLOURS[4]


def draw(results: Record, path: Path) -> None:
    """Eight pictures on one page; those without figures yet stay empty."""
    from matplotlib.figure import Figure  # without pyplot there is no window and no state to clean up

    figure = Figure(figsize=(12, 18), layout="constrained")
    axes = figure.subplots(4, 2)
    hops, explored, shapes, summed = (
        [line for line in results["views"] if line["section"] == name] for name in ("hops", "explore", "shapes", "sums")
    )
    _draw_curves(axes[0][0], hops, "one_in", "1/p", "Three hops: 25 edges out, 25 in")
    _draw_hop_memory(axes[0][1], hops)
    _draw_updates(axes[1][0], explored[-1:])
    _draw_kept(axes[1][1], explored[:1])
    _draw_operators(axes[2][0], explored[:1])
    _draw_updates(axes[2][1], [line for line in shapes if "products" in line][-1:])
    _draw_sums(axes[3][0], summed)
    _draw_adhoc(axes[3][1], results["adhoc"])
    for each in axes.flat:
        each.grid(axis="x" if each is axes[2][0] else "y", alpha=0.3)
        each.set_axisbelow(True)
        each.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=100)


def _draw_curves(axes: Any, lines: Sequence[Record], size: str, label: str, title: str) -> None:
    for column, colour in zip(COLUMNS, _COLOURS, strict=True):
        times = [(line[size], next(figures(line["tasks"][0]))[1][column]) for line in lines]
        if points := [(place, time * 1e3) for place, time in times if time is not None]:
            axes.plot(*zip(*points, strict=True), "o-", color=colour, markersize=4, label=column)
    _finish_curves(axes, lines, size, label, "milliseconds", title)
    if size == "one_in":
        axes.invert_xaxis()


def _draw_hop_memory(axes: Any, lines: Sequence[Record]) -> None:
    """What a view adds to the data, which is there in any case."""
    for system, colour, label in (("everlog", _OURS, "our view"), ("counting", _PAPER, "the paper's tables")):
        taken = [(line["one_in"], line["tasks"][0]["systems"].get(system, {}).get("memory")) for line in lines]
        if points := [(place, memory / 1e6) for place, memory in taken if memory]:
            axes.plot(*zip(*points, strict=True), "o-", color=colour, markersize=4, label=label)
    _finish_curves(axes, lines, "one_in", "1/p", "megabytes", "Three hops: memory that a view adds")
    axes.invert_xaxis()


def _draw_sums(axes: Any, lines: Sequence[Record]) -> None:
    """Both numbers of numbers: the smaller one as lines, the larger one dashed."""
    counts = sorted({line["numbers"] for line in lines})
    fewest = [line for line in lines if line["numbers"] == counts[0]]
    _draw_curves(axes, fewest, "products", "products", "SUM for each product: 50 numbers out, 50 in")
    for numbers in counts[1:]:
        own = [line for line in lines if line["numbers"] == numbers]
        for column, colour in zip(COLUMNS, _COLOURS, strict=True):
            times = [(line["products"], next(figures(line["tasks"][0]))[1][column]) for line in own]
            label = f"the same, {numbers} numbers each in place of {counts[0]}" if column == COLUMNS[0] else None
            if points := [(place, time * 1e3) for place, time in times if time is not None]:
                axes.plot(*zip(*points, strict=True), "s--", color=colour, markersize=3, linewidth=0.8, label=label)
        axes.legend(frameon=False, fontsize=7)


def _finish_curves(axes: Any, lines: Sequence[Record], size: str, label: str, unit: str, title: str) -> None:
    axes.set_xlabel(label)
    axes.set_ylabel(unit)
    if lines:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks([line[size] for line in lines], [f"{line[size]:,}" for line in lines])
        axes.minorticks_off()
        axes.legend(frameon=False, fontsize=7)
    axes.set_title(title, loc="left", fontsize=11)


def _draw_updates(axes: Any, lines: Sequence[Record]) -> None:
    """The bars of one data set: the slowest kind of update of each query."""
    width = 0.8 / len(COLUMNS)
    for line in lines:
        tasks = line["tasks"]
        for place, (column, colour) in enumerate(zip(COLUMNS, _COLOURS, strict=True)):
            slowest = [max(times[column] or 0.0 for _, times in figures(task)) * 1e3 for task in tasks]
            axes.bar([n + (place - 2) * width for n in range(len(tasks))], slowest, width, color=colour, label=column)
        axes.set_xticks(range(len(tasks)), [task["task"] for task in tasks])
        axes.set_yscale("log")
        axes.legend(frameon=False, fontsize=7)
        axes.set_title(f"{line['workload']}: the slowest kind of update", loc="left", fontsize=11)
    axes.set_ylabel("milliseconds")


def _draw_kept(axes: Any, lines: Sequence[Record]) -> None:
    """The paper's Figure 4: rows that a view keeps, beside those of the answer."""
    for line in lines:
        tasks = line["tasks"]
        bars = {
            "the answer": (_ANSWERS, [_most_answers(task) for task in tasks]),
            "our view": (_OURS, [_rows_kept(task, "everlog") for task in tasks]),
            "the paper's tables": (_PAPER, [_rows_kept(task, "counting") for task in tasks]),
        }
        for place, (label, (colour, heights)) in enumerate(bars.items()):
            drawn = axes.bar([n + (place - 1) * 0.27 for n in range(len(tasks))], heights, 0.27, color=colour)
            drawn.set_label(label)
            axes.bar_label(drawn, fontsize=7)
        axes.set_xticks(range(len(tasks)), [task["task"] for task in tasks])
        axes.legend(frameon=False, fontsize=7)
        axes.set_title(f"{line['workload']}: rows that are kept", loc="left", fontsize=11)
    axes.set_ylabel("rows")


def _most_answers(task: Record) -> int:
    return max(int(edit["answers"]) for edit in task["systems"]["everlog"]["edits"].values())


def _rows_kept(task: Record, system: str) -> int:
    return sum(task["systems"].get(system, {"kept": {}})["kept"].values())


def _draw_operators(axes: Any, lines: Sequence[Record]) -> None:
    """The paper's Figure 6: of one kind of update, what each operator takes; ours above the paper's method."""
    bars: list[tuple[str, float, str]] = []
    for line in lines:
        for task in line["tasks"]:
            edit = next(iter(task["systems"]["everlog"]["edits"]))
            for system, colour in (("everlog", _OURS), ("counting", _PAPER)):
                run = task["systems"].get(system)
                for operator, time in run["edits"][edit]["operators"].items() if run else ():
                    called = run["called"][operator] if "called" in run else operator.rpartition("_")[0]
                    bars.append((f"{task['task'][-1]}: {called}", time * 1e3, colour))
        axes.set_title(f"{line['workload']}: operators, {edit}", loc="left", fontsize=11)
    if bars:
        places = range(len(bars), 0, -1)
        axes.barh(list(places), [time for _, time, _ in bars], color=[colour for *_, colour in bars])
        axes.set_yticks(list(places), [label for label, *_ in bars], fontsize=6)
        axes.set_xscale("log")
    axes.set_xlabel("milliseconds: ours blue, the paper's method red")


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

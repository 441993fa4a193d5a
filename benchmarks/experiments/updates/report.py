"""How are the figures of small updates shown? A table of times, what was asked for, and bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.datasets.knowledge import STRATEGIES
from benchmarks.measuring.counters import PHASES
from benchmarks.reporting.choices import choice_section, choices
from benchmarks.reporting.markdown import seconds, table, verdict
from benchmarks.reporting.results import Record, origin

COLUMNS = (*STRATEGIES, "duckdb")


def page(results: Record) -> str:
    """The whole page."""
    lines = results["lines"]
    parts = [
        "# Small updates",
        origin("updates", results),
        "The median time of an update. In the tree and the graph ten edges go and ten come; the chain loses or regains "
        "its last edge, the clique loses an edge that it can spare. *rematerialise* and *duckdb* start over each time.",
        "![Time of an update by strategy](updates.png)",
        _times(lines),
        "## What was asked for",
        _targets(lines),
        "## Work of an update",
        _work(lines),
        "## What `choose` makes of it",
        choice_section(choices([(line["name"], _ours(line["runs"])) for line in lines])),
    ]
    return "\n\n".join(parts) + "\n"


def _ours(runs: Record) -> Record:
    return {strategy: runs[strategy] for strategy in STRATEGIES}


def _times(lines: Sequence[Record]) -> str:
    rows = []
    for line in lines:
        facts = f"{line['runs']['rematerialise']['sizes'][0]:,}"
        rows.append([line["title"], facts, *(seconds(line["runs"][name]["seconds"]) for name in COLUMNS)])
    return table(["data", "derived facts", *COLUMNS], rows)


def _targets(lines: Sequence[Record]) -> str:
    return table(["data", "asked", "measured", "kept"], _checks(lines), left=4)


def _checks(lines: Sequence[Record]) -> Iterator[list[str]]:
    for line in lines:
        ours, afresh = line["runs"]["choose"]["seconds"], line["runs"]["rematerialise"]["seconds"]
        if line["target"] is not None:
            kept = verdict(ours <= line["target"])
            yield [line["title"], f"at most {seconds(line['target'])}", seconds(ours), kept]
        if line["share"] is not None:
            kept = verdict(ours <= line["share"] * afresh)
            yield [line["title"], f"at most {line['share']:.0%} of starting over", f"{ours / afresh:.2%}", kept]
        if line["times_duckdb"] is not None:
            times = afresh / line["runs"]["duckdb"]["seconds"]
            asked = f"from scratch at most {line['times_duckdb']:g} times DuckDB"
            yield [line["title"], asked, f"{times:.2f} times", verdict(times <= line["times_duckdb"])]


def _work(lines: Sequence[Record]) -> str:
    """Means of an update: facts checked, then rule applications of each phase."""
    rows = []
    for line in lines:
        for strategy in STRATEGIES:
            run = line["runs"][strategy]
            counters = run["counters"]
            cells = [f"{counters[name]:,.0f}" for name in ("touched", *PHASES, "rounds")]
            rows.append([line["name"], strategy, ", ".join(run["used"]), *cells])
    return table(["data", "strategy", "used", "facts checked", *PHASES, "rounds"], rows, left=3)


def draw(results: Record, path: Path) -> None:
    """Bars of the time of an update, a group for each graph."""
    from matplotlib.figure import Figure  # without pyplot there is no window and no state to clean up

    lines = results["lines"]
    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.add_subplot()
    width = 0.8 / len(COLUMNS)
    for number, name in enumerate(COLUMNS):
        places = [place + (number - len(COLUMNS) / 2) * width for place in range(len(lines))]
        axes.bar(places, [line["runs"][name]["seconds"] for line in lines], width, label=name)
    axes.set_yscale("log")
    axes.set_xticks(range(len(lines)), [line["name"] for line in lines])
    axes.set_ylabel("seconds for an update")
    axes.set_title("Small updates", loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=8, ncols=4)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)

"""How are the pipeline's figures shown? As a page of tables, a picture, and JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measuring.machine import described

Record = dict[str, Any]

STAGES = ("ingest", "maintain", "publish")
COLOURS = ("#4c78a8", "#f58518", "#54a24b")
_MILLION = 1_000_000
_HEADING = 2  # lines of a table before its rows


def write_report(results: Record, folder: Path) -> None:
    """Write pipeline.json, pipeline.md and pipeline.png."""
    (folder / "pipeline.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (folder / "pipeline.md").write_text(page(results), encoding="utf-8")
    draw(results, folder / "pipeline.png")


def page(results: Record) -> str:
    """The whole page."""
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    conditions = results["conditions"]
    parts = [
        "# The pipeline, stage by stage",
        "Made by `everlog bench pipeline`; every figure is in [pipeline.json](pipeline.json).",
        f"{described(results['machine'])}; {versions}. Spark on `{conditions['master']}`, {conditions['memory']} for "
        f"Java, seed {conditions['seed']}. Each size in a process of its own, {_first(results['runs'])}.",
        "![Share of the time and rows a second of each stage](pipeline.png)",
        "## Rows a second",
        "\n".join(_rates(results["runs"])),
        "Rows are triples read (ingest), facts that the tables gained (maintain), and facts written (publish).",
        "## Seconds, and the share of each stage",
        "\n".join(_seconds(results["runs"])),
        "*Memory* is the most that Python, Java and Python's workers held together, looked at twice a second. *Others* "
        "is the share of the machine's processors that other processes took meanwhile: seconds are longer for it.",
    ]
    if all(run["others"] is not None for run in results["runs"]):
        parts += [
            "## Processor time",
            "Seconds of all processors together, and rows for each of them. Other processes make these only a little "
            "longer, so they can be compared where seconds on the clock cannot.",
            "\n".join(_processor(results["runs"])),
        ]
    growth = list(_growth(results["runs"]))
    if len(growth) > _HEADING:
        parts += [
            "## What more data costs",
            "Processor seconds (seconds, where those are not known) for a million triples, from the smaller size to "
            "the larger, and their ratio: 1.00 is linear.",
            "\n".join(growth),
        ]
    return "\n\n".join(parts) + "\n"


def _first(runs: list[Record]) -> str:
    """What stands before each measurement."""
    seconds = [run["first"]["seconds"] for run in runs]
    triples = runs[0]["first"]["triples"]
    taken = f"which took {min(seconds):.0f} to {max(seconds):.0f} s and is in no figure below"
    return f"after the start of the session and a run over {triples:,} triples that warms Java up, {taken}"


def _rates(runs: list[Record]) -> Iterator[str]:
    yield "| data | triples | " + " | ".join(STAGES) + " |"
    yield "|---|--:|" + "--:|" * len(STAGES)
    for run in runs:
        rates = (f"{_rate(run, stage):,.0f}" for stage in STAGES)
        yield f"| {run['data']} | {run['triples']:,} | " + " | ".join(rates) + " |"


def _seconds(runs: list[Record]) -> Iterator[str]:
    yield "| data | triples | facts in the end | " + " | ".join(STAGES) + " | all, s | memory, GiB | others |"
    yield "|---|--:|--:|" + "--:|" * (len(STAGES) + 3)
    for run in runs:
        total = _total(run)
        cells = [f"{_time(run, stage):.1f} ({_time(run, stage) / total:.0%})" for stage in STAGES]
        memory = "–" if run["peak"] is None else f"{run['peak'] / (1 << 30):.1f}"
        facts = f"{sum(run['facts'].values()):,}"
        others = "–" if run["others"] is None else f"{run['others']:.0%}"
        yield (
            f"| {run['data']} | {run['triples']:,} | {facts} | "
            + " | ".join([*cells, f"{total:.1f}", memory, others])
            + " |"
        )


def _processor(runs: list[Record]) -> Iterator[str]:
    yield "| data | triples | " + " | ".join(STAGES) + " |"
    yield "|---|--:|" + "--:|" * len(STAGES)
    for run in runs:
        cells = []
        for stage in STAGES:
            rows, seconds = run["stages"][stage]["rows"], run["stages"][stage]["processor"]
            cells.append(f"{seconds:.1f} s: {rows / seconds:,.0f}" if seconds else "–")
        yield f"| {run['data']} | {run['triples']:,} | " + " | ".join(cells) + " |"


def _growth(runs: list[Record]) -> Iterator[str]:
    yield "| data | from | to | " + " | ".join(STAGES) + " |"
    yield "|---|--:|--:|" + "--:|" * len(STAGES)
    for small, large in zip(runs, runs[1:], strict=False):
        if small["data"] != large["data"] or small["triples"] < _MILLION:  # below that, a cold Java is most of it
            continue
        cells = []
        for stage in STAGES:
            before, after = (_work(run, stage) / run["triples"] * _MILLION for run in (small, large))
            cells.append(f"{before:.2f} to {after:.2f}: {after / before:.2f}")
        yield f"| {small['data']} | {small['triples']:,} | {large['triples']:,} | " + " | ".join(cells) + " |"


def draw(results: Record, path: Path) -> None:
    """Two panels for each kind of data: where the time goes, and how fast each stage is."""
    from matplotlib.figure import Figure  # without pyplot there is no window and no state to clean up

    kinds = list(dict.fromkeys(run["data"] for run in results["runs"]))
    figure = Figure(figsize=(10, 3.6 * len(kinds)), layout="constrained")
    for row, kind in enumerate(kinds):
        runs = [run for run in results["runs"] if run["data"] == kind]
        _draw_time(figure.add_subplot(len(kinds), 2, 2 * row + 1), kind, runs)
        _draw_rates(figure.add_subplot(len(kinds), 2, 2 * row + 2), kind, runs)
    figure.savefig(path, dpi=130)


def _draw_time(axes: Any, kind: str, runs: list[Record]) -> None:
    """Bars of the stages' shares, with all seconds and the memory above."""
    places = range(len(runs))
    bottom = [0.0] * len(runs)
    for stage, colour in zip(STAGES, COLOURS, strict=True):
        heights = [100 * _time(run, stage) / _total(run) for run in runs]
        axes.bar(places, heights, 0.62, bottom, color=colour, label=stage)
        bottom = [below + height for below, height in zip(bottom, heights, strict=True)]
    for place, run, top in zip(places, runs, bottom, strict=True):
        memory = "" if run["peak"] is None else f"\n{run['peak'] / (1 << 30):.1f} GiB"
        axes.annotate(
            f"{_total(run):,.0f} s{memory}", (place, top), (0, 3), textcoords="offset points", ha="center", fontsize=8
        )
    axes.set_xticks(places, [_size(run) for run in runs])
    axes.set_ylim(0, 118)  # room for what stands above the bars
    axes.set_yticks(range(0, 101, 20))
    axes.set_xlim(-0.5, len(runs) + 0.4)  # and for the legend beside them
    axes.set_xlabel("triples")
    axes.set_ylabel("share of the time, %")
    axes.set_title(f"{kind}: where the time goes", loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=8, reverse=True, loc="center right")
    _tidy(axes)


def _draw_rates(axes: Any, kind: str, runs: list[Record]) -> None:
    for stage, colour in zip(STAGES, COLOURS, strict=True):
        rates = [_rate(run, stage) for run in runs]
        axes.plot([run["triples"] for run in runs], rates, "o-", color=colour, label=stage)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([run["triples"] for run in runs], [_size(run) for run in runs])
    axes.minorticks_off()
    axes.set_xlabel("triples")
    axes.set_ylabel("rows a second")
    axes.set_title(f"{kind}: how fast each stage is", loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=8)
    _tidy(axes)


def _tidy(axes: Any) -> None:
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _size(run: Record) -> str:
    return f"{run['triples'] / _MILLION:g} M"


def _time(run: Record, stage: str) -> float:
    return float(run["stages"].get(stage, {"seconds": 0.0})["seconds"])


def _work(run: Record, stage: str) -> float:
    return run["stages"][stage]["processor"] or _time(run, stage)


def _total(run: Record) -> float:
    return sum(_time(run, stage) for stage in STAGES)


def _rate(run: Record, stage: str) -> float:
    seconds = _time(run, stage)
    return run["stages"][stage]["rows"] / seconds if seconds else 0.0

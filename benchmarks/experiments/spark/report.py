"""How are the figures of Spark shown? Each beside what was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.reporting.markdown import seconds, table, verdict
from benchmarks.reporting.results import Record, origin

ASKED = {"resident": 0.8, "paged": 1.2}  # seconds for an update of a hundred facts
MORE_DATA = 1.3  # what an update may cost at ten times the facts


def page(results: Record) -> str:
    """The whole page."""
    conditions = results["conditions"]
    parts = [
        "# Derivations and updates on Spark",
        origin("spark", results),
        f"Spark on `{conditions['master']}`, {conditions['memory']} for Java, the start of the session aside.",
        "![Seconds of each derivation](spark.png)",
        "## From sources to tables",
        table(
            ["program", "facts", "way", "jobs", "cold", "warm", "asked", "kept", "processor", "whole run"],
            _derivations(results["derivations"]),
            left=1,
        ),
        "*Cold* and *warm* are the stage `maintain`: what the sources say becomes facts, everything is derived, and "
        "all tables are written; for LUBM the whole run, from the file on. Cold is the first time in the session. "
        "*Processor* is the time of all processors in the warm run, sources included.",
    ]
    if results["streamed"]:
        parts += [
            "## Updates that land as files",
            "A hundred explicit triples of a class hierarchy go and come back, a file each, medians of five: from the "
            "moment the file is there to the end of the batch. *Applied* is the part of it that is not Spark's.",
            table(
                ["facts", "way", "versions before", "out", "in", "asked", "kept", "applied", "opened in"],
                _streamed(results["streamed"]),
                left=2,
            ),
        ]
    return "\n\n".join(parts) + "\n"


def _derivations(lines: Sequence[Record]) -> Iterator[list[str]]:
    for line in lines:
        cold, warm = line["cold"], line["warm"]
        what = "seconds" if line["whole"] else "maintain"
        yield [
            line["title"], f"{warm['facts']:,}", warm["way"].partition(":")[0], f"{warm['jobs']}",
            seconds(cold[what]), seconds(warm[what]), seconds(line["asked"]), verdict(warm[what] <= line["asked"]),
            "–" if warm["processor"] is None else seconds(warm["processor"]), seconds(warm["seconds"]),
        ]  # fmt: skip


def _streamed(lines: Sequence[Record]) -> Iterator[list[str]]:
    for line in lines:
        slowest, asked = max(line["out"], line["in"]), ASKED[line["way"]]
        first = next(each for each in lines if each["way"] == line["way"])
        limit = asked if line is first else MORE_DATA * max(first["out"], first["in"])
        yield [
            f"{line['facts']:,}", line["way"], f"{line['after'] or '–'}", seconds(line["out"]), seconds(line["in"]),
            seconds(limit), verdict(slowest <= limit), seconds(line["applied"]), seconds(line["opened"]),
        ]  # fmt: skip


def draw(results: Record, path: Path) -> None:
    """Seconds of each derivation, cold and warm, with a mark for what was asked."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.6), layout="constrained")
    axes = figure.add_subplot()
    lines = results["derivations"]
    for offset, kind, colour in ((-0.2, "cold", "#9ecae9"), (0.2, "warm", "#4c78a8")):
        heights = [line[kind]["seconds" if line["whole"] else "maintain"] for line in lines]
        axes.bar([place + offset for place in range(len(lines))], heights, 0.38, color=colour, label=kind)
    for place, line in enumerate(lines):
        axes.plot([place - 0.45, place + 0.45], [line["asked"]] * 2, color="#e45756", label="" if place else "asked")
    axes.set_xticks(range(len(lines)), [line["name"] for line in lines])
    axes.set_ylabel("seconds")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)

"""How are the figures of fleets shown? Beside what was asked for, and as bars."""

from __future__ import annotations

from pathlib import Path

from benchmarks.reporting.markdown import seconds, table, verdict
from benchmarks.reporting.results import Record, origin

SPARK = 2_000.0  # updates a second that are asked for


def page(results: Record) -> str:
    """The whole page."""
    parts = [
        "# Many small knowledge bases",
        origin("fleet", results),
        "![Updates a second](fleet.png)",
        "## In process",
        _process(results),
        "## On Spark",
        _spark(results["spark"]),
    ]
    return "\n\n".join(parts) + "\n"


def _process(results: Record) -> str:
    keys, process, alone = results["conditions"]["keys"], results["process"], results["alone"]
    rows = [[f"{line['keys']:,} keys at a time", f"{line['rate']:,.0f}"] for line in process["rates"]]
    rows.append(["a knowledge base for each key", f"{alone['rate']:,.0f}"])
    return (
        f"{table(['updates', 'a second'], rows)}\n\nEach adds an edge to a chain of four, or takes it away; six facts"
        f" change. {keys:,} keys are filled in {seconds(process['fill'])} and take"
        f" {process['bytes'] / keys / 1e3:,.1f} kB each; as knowledge bases of their own"
        f" {alone['bytes'] / alone['keys'] / 1e3:,.0f} kB each."
    )


def _spark(line: Record | None) -> str:
    if line is None:
        return "Not measured by a quick run."
    rows = [
        [f"{number}", f"{batch['updates']:,}", seconds(batch["seconds"]), f"{batch['updates'] / batch['seconds']:,.0f}"]
        for number, batch in enumerate(line["batches"])
    ]
    return (
        f"{table(['batch', 'updates', 'time', 'updates a second'], rows)}\n\nThe first batch fills the knowledge bases"
        f" and starts the Python workers. After it {line['rate']:,.0f} updates a second; at least {SPARK:,.0f}:"
        f" {verdict(line['rate'] >= SPARK)}. From start to end {line['whole']:,.0f}."
    )


def draw(results: Record, path: Path) -> None:
    """Updates a second."""
    from matplotlib.figure import Figure

    bars = {f"{line['keys']:,}\nat a time": line["rate"] for line in results["process"]["rates"]}
    bars["one store\na key"] = results["alone"]["rate"]
    if results["spark"] is not None:
        bars["on Spark"] = results["spark"]["rate"]
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.add_subplot()
    axes.bar(list(bars), list(bars.values()), color="tab:blue")
    axes.set_yscale("log")
    axes.set_title("Updates a second", loc="left", fontsize=11)
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)

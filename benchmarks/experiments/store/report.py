"""How are the figures of readers, folders and threads shown? Beside what was asked for, and as bars."""

from __future__ import annotations

from pathlib import Path

from benchmarks.reporting.markdown import seconds, table, verdict
from benchmarks.reporting.results import Record, origin

# What is asked for: opening against deriving, 64 threads against one, and a query beside a writer against alone.
OPENING, SHARED, BESIDE = 20.0, 10.0, 2.0


def page(results: Record) -> str:
    """The whole page."""
    return (
        "\n\n".join(
            [
                "# Readers, folders and threads",
                origin("store", results),
                "![Durable updates a second, and queries beside a writer](store.png)",
                "## Opening",
                _opening(results["opening"]),
                "## Durable updates\n\nEach of one fact, on disk before it counts.",
                _durable(results["durable"]),
                "## Queries beside a writer\n\nMedians, alone and while another thread makes updates.",
                _beside(results["beside"]),
            ]
        )
        + "\n"
    )


def _opening(line: Record) -> str:
    ratio = line["derive"] / line["open"]
    head = ["facts", "snapshot, MB", "open", "derive from the log", "ratio", f"at least {OPENING:.0f}"]
    row = [
        f"{line['facts']:,}", f"{line['bytes'] / 1e6:,.0f}", seconds(line["open"]), seconds(line["derive"]),
        f"{ratio:.0f}", verdict(ratio >= OPENING),
    ]  # fmt: skip
    return (
        f"{table(head, [row], left=0)}\n\nHalf of the facts are derived. The first update after opening copies what"
        f" it is about to change and takes {seconds(line['first'])}, the second {seconds(line['second'])}."
    )


def _durable(lines: list[Record]) -> str:
    one = lines[0]["rate"]
    rows = [
        [
            f"{line['threads']}" + (", applied at once (`coalesce=True`)" if line["coalesce"] else ""),
            f"{line['rate']:,.0f}",
            f"{line['rate'] / one:.1f}",
            verdict(line["rate"] >= SHARED * one) if line["threads"] > 1 else "",
        ]
        for line in lines
    ]
    return table(["threads", "updates a second", "ratio", f"at least {SHARED:.0f}"], rows)


def _beside(lines: list[Record]) -> str:
    rows = [
        [
            line["query"],
            seconds(line["alone"]),
            seconds(line["beside"]),
            f"{line['rate']:,.0f}",
            f"{line['beside'] / line['alone']:.2f}",
            verdict(line["beside"] <= BESIDE * line["alone"]),
        ]  # fmt: skip
        for line in lines
    ]
    return table(["query", "alone", "beside", "updates a second", "ratio", f"at most {BESIDE:.0f}"], rows)


def draw(results: Record, path: Path) -> None:
    """Two panels: updates a second, and queries alone and beside a writer."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.2), layout="constrained")
    left, right = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
    lines = results["durable"]
    names = [f"{line['threads']} at a time" + "\napplied at once" * line["coalesce"] for line in lines]
    left.bar(names, [line["rate"] for line in lines], color="tab:blue")
    left.set_title("Durable updates a second", loc="left", fontsize=11)
    queries = [line["query"] for line in results["beside"]]
    for shift, part in ((-0.2, "alone"), (0.2, "beside")):
        places = [place + shift for place in range(len(queries))]
        right.bar(places, [line[part] * 1e3 for line in results["beside"]], 0.38, label=part)
    right.set_xticks(range(len(queries)), queries)
    right.set_title("Queries, milliseconds", loc="left", fontsize=11)
    right.legend(frameon=False, fontsize=8)
    for axes in (left, right):
        axes.grid(axis="y", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)

"""How are the figures of the paged engine shown? Times and rows at each size, and their ratio."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.reporting.markdown import seconds, table, verdict
from benchmarks.reporting.results import Record, origin

MORE_DATA = 1.3  # what an update may cost at the largest size, as a multiple of the smallest
KINDS = ("cold out", "cold in", "next out", "next in", "warm out", "warm in")


def page(results: Record) -> str:
    """The whole page."""
    conditions = results["conditions"]
    parts = [
        "# Updates of facts in files",
        origin("paged", results),
        f"{conditions['triples']} explicit triples of LUBM go out and come back; medians. Cold: files out of the "
        "system's cache and just opened, no plan made yet. Next: other triples after that. Warm: the same once more.",
        "![Time of an update against the number of facts](paged.png)",
        table(
            ["facts", "update", "time", "ratio", "kept", "look-ups", "keys", "rows", "new pages", "MB"],
            _updates(results["sizes"]),
            left=2,
        ),
        "## Files",
        table(["facts", "bytes a fact", "written in", "opened in"], _files(results["sizes"])),
    ]
    return "\n\n".join(parts) + "\n"


def _updates(lines: Sequence[Record]) -> Iterator[list[str]]:
    for kind in KINDS:
        first = lines[0][kind]["seconds"]
        for line in lines:
            found = line[kind]
            ratio = found["seconds"] / first
            counts = [f"{found[name]:,.0f}" for name in ("lookups", "keys", "rows", "pages")]
            yield [
                f"{line['facts']:,}", kind, seconds(found["seconds"]), f"{ratio:.2f}", verdict(ratio <= MORE_DATA),
                *counts, f"{found['bytes'] / 1e6:.2f}",
            ]  # fmt: skip


def _files(lines: Sequence[Record]) -> Iterator[list[str]]:
    for line in lines:
        yield [
            f"{line['facts']:,}",
            f"{line['bytes'] / line['facts']:.0f}",
            seconds(line["written"]),
            seconds(line["open"]["seconds"]),
        ]


def draw(results: Record, path: Path) -> None:
    """The time of an update against the number of facts."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    lines = results["sizes"]
    for kind in KINDS:
        facts, times = [line["facts"] for line in lines], [1e3 * line[kind]["seconds"] for line in lines]
        axes.plot(facts, times, marker="o", label=kind)
    axes.set(xscale="log", xlabel="facts", ylabel="ms an update", ylim=(0, None))
    axes.legend()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)

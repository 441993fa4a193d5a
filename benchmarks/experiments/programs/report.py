"""How are the figures of programs of very many rules shown? Beside what was asked for, and as lines."""

from __future__ import annotations

from pathlib import Path

from benchmarks.reporting.markdown import seconds, table, verdict
from benchmarks.reporting.results import Record, origin

ADD = 30.0  # seconds that adding a hundred thousand rules may take
MORE = 1e-3  # seconds that an update may take longer than on a program of three rules
CLAROS = 0.5  # seconds for the rules of Claros
STEPS = ("insert", "delete", "rule in", "rule out")


def page(results: Record) -> str:
    """The whole page."""
    parts = [
        "# Programs of very many rules",
        origin("programs", results),
        "![Time by the number of rules](programs.png)",
        "Chains of three rules with one body atom; an update reaches three of them, a rule comes and goes alone.",
        *(_kind(kind, lines) for kind, lines in _by_kind(results).items()),
        _claros(results["claros"]),
    ]
    return "\n\n".join(parts) + "\n"


def _by_kind(results: Record) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for line in results["lines"]:
        found.setdefault(line["kind"], []).append(line)
    return found


def _kind(kind: str, lines: list[Record]) -> str:
    rows = [[f"{line['rules']:,}", seconds(line["add"]), *(seconds(line[step]) for step in STEPS)] for line in lines]
    least, most = lines[0], lines[-1]
    longer = max(most[step] - least[step] for step in ("insert", "delete"))
    return (
        f"## Over {kind}\n\n{table(['rules', 'all added', *STEPS], rows)}\n\n"
        f"All added in at most {ADD:.0f} s: {verdict(most['add'] <= ADD)}. An update takes {1e3 * longer:.2f} ms longer"
        f" than on a program of {least['rules']}; at most {1e3 * MORE:.0f} ms: {verdict(longer <= MORE)}."
    )


def _claros(line: Record | None) -> str:
    if line is None:
        return "The rules of Claros were not at hand."
    return (
        f"## Claros\n\nIts {line['rules']:,} rules over no data take {seconds(line['seconds'])};"
        f" at most {CLAROS} s: {verdict(line['seconds'] <= CLAROS)}."
    )


def draw(results: Record, path: Path) -> None:
    """Time by the number of rules."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, step, title in zip(panels, ("add", "insert"), ("All rules added", "An update"), strict=True):
        for kind, lines in _by_kind(results).items():
            axes.plot([line["rules"] for line in lines], [line[step] for line in lines], "o-", label=kind)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("rules")
        axes.set_title(f"{title}, seconds", loc="left", fontsize=11)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False)
    figure.savefig(path, dpi=130)

"""How are the figures of SPARQL views shown? A table for each experiment of the paper, and what was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.experiments.sparql.adhoc import SLOW
from benchmarks.experiments.sparql.targets import COLUMNS, figures, targets
from benchmarks.reporting.markdown import seconds, table
from benchmarks.reporting.results import Record, origin

NOT_MEASURED = "–"
_SYSTEMS = {"everlog": "ours", "counting": "DuckDB", "oxigraph": "pyoxigraph"}
_TITLES = {
    "hops": "## Three hops over random graphs",
    "explore": "## BSBM's queries 1 to 4",
    "shapes": "## Stars and paths",
    "sums": "## Sums",
}

_OF_FEW_ANSWERS = (
    "BSBM's queries have a dozen answers. Asked again, with its plan known, our engine finds them in about a "
    "millisecond; most of an update of several hundred triples is reading these, with a view or without (*triples "
    "alone* below). So the update is not ten times faster than *query again*; both are far from starting over."
)


def page(results: Record) -> str:
    """The whole page."""
    parts = [
        "# Views of SPARQL queries",
        origin("sparql", results),
        "*view* is an update of the data with the view kept true, *first* the first one after the view was made, which "
        "makes plans, indexes and the state of groups; *query again* asks our engine afresh. *Paper's method* is the "
        "delta rules of Staquet, Buelens and Van den Bussche as SQL on DuckDB. *Again* in DuckDB and pyoxigraph is the "
        "query alone, without the update. Medians; after every update the view equals a fresh query, and all systems "
        "have the same answers. Each runs in a process of its own; sections may be measured at different times "
        "(`--only`).",
        "![Time of an update](sparql.png)",
    ]
    if not results["conditions"]["quick"]:
        parts += ["## What was asked for", targets(results), _OF_FEW_ANSWERS]
    for section, title in _TITLES.items():
        if lines := [line for line in results["views"] if line["section"] == section]:
            parts += [title, _times(lines), *_stopped(lines), _memory(lines)]
    parts += _operators(results["views"])
    if results["adhoc"]:
        parts += ["## Queries asked once", _adhoc(results)]
    return "\n\n".join(parts) + "\n"


def named(line: Record, task: Record) -> str:
    """A task with its workload, unless that has only the one."""
    return str(line["workload"]) + (f": {task['task']}" if task["task"] != line["workload"] else "")


def _times(lines: Sequence[Record]) -> str:
    rows = []
    for line in lines:
        for task in line["tasks"]:
            first = seconds(task["systems"]["everlog"]["first"])  # of the first kind of update
            for edit, times in figures(task):
                ours = task["systems"]["everlog"]["edits"][edit]
                counts = [f"{ours['triples']:,}", f"{ours['answers']:,}"]
                rows.append([named(line, task), edit, *counts, first, *(_seconds(times[name]) for name in COLUMNS)])
                first = ""
    return table(["data", "update", "triples", "answers", "first", *COLUMNS], rows, left=2)


def _stopped(lines: Sequence[Record]) -> Iterator[str]:
    """Why some figures are missing."""
    reasons = [
        f"{line['workload']}, {_SYSTEMS[system]}: {reason}"
        for line in lines
        for system, reason in line["stopped"].items()
    ]
    if reasons:
        yield f"{NOT_MEASURED} is not measured: {'; '.join(reasons)}."


def _memory(lines: Sequence[Record]) -> str:
    """The paper's Figure 4: what the data takes, what a view adds to it, and the rows that its relations keep."""
    rows = []
    for line in lines:
        data = [_megabytes(line["data"][system]) for system in _SYSTEMS]
        for task in line["tasks"]:
            ours = task["systems"]["everlog"]
            theirs = task["systems"].get("counting", {"memory": None, "kept": None})
            answers = max(edit["answers"] for edit in ours["edits"].values())
            counts = [f"{answers:,}", _rows(ours["kept"]), _rows(theirs["kept"])]
            rows.append([named(line, task), *data, _megabytes(ours["memory"]), _megabytes(theirs["memory"]), *counts])
    data_heads = ["data", *(f"{system}, MB" for system in _SYSTEMS.values())]
    views = ["+ our view, MB", "+ the paper's tables, MB", "answers", "rows we keep", "rows the paper's tables keep"]
    return "Memory: the data, then what a view adds.\n\n" + table([*data_heads, *views], rows)


def _operators(lines: Sequence[Record]) -> list[str]:
    """The paper's Figure 6 (and 8): what each operator takes of an update, for us and in its own method."""
    chosen: dict[object, Record] = {}
    for line in lines:  # the smallest graph of each kind, as in the paper
        if line["section"] in ("explore", "sums") or line["workload"].startswith("producers"):
            chosen.setdefault((line["section"], line.get("numbers")), line)
    if not chosen:
        return []
    parts = [
        "## Operators",
        "What each operator takes of an update. In our engine a BGP and all that filters, joins, unites and projects "
        "it is one rule body, with one figure; *made first* is what filling it took when the view was made, planning "
        "included. No figure: the change did not reach it. *Triples alone* is the same update without a view. What is "
        "left of an update is ORDER BY and LIMIT, and telling what has changed.",
    ]
    for line in chosen.values():
        parts += [f"### {line['workload']}", "Ours:", _our_operators(line)]
        if all("counting" in task["systems"] for task in line["tasks"]):
            parts += ["The paper's method:", _paper_operators(line)]
    return parts


def _our_operators(line: Record) -> str:
    rows = []
    for task in line["tasks"]:
        ours = task["systems"]["everlog"]
        edits = ours["edits"].values()
        rows.append([task["task"], "triples alone", "", "", *(seconds(each["alone"]) for each in edits)])
        for relation, operator in ours["called"].items():
            times = [seconds(each["operators"][relation]) if each["operators"][relation] else "" for each in edits]
            filled = ours["made"].get(relation)
            rows.append([task["task"], operator, f"{ours['kept'][relation]:,}", _seconds(filled), *times])
        rows.append([task["task"], "all of the update", "", "", *(seconds(each["seconds"]) for each in edits)])
    head = ["query", "operators", "rows kept", "made first", *line["tasks"][0]["systems"]["everlog"]["edits"]]
    return table(head, rows, left=2)


def _paper_operators(line: Record) -> str:
    rows = []
    for task in line["tasks"]:
        counting = task["systems"]["counting"]
        for operator, kept in counting["kept"].items():
            times = [seconds(each["operators"][operator]) for each in counting["edits"].values()]
            rows.append([task["task"], operator.rpartition("_")[0], f"{kept:,}", *times])
    head = ["query", "operator", "rows kept", *line["tasks"][0]["systems"]["counting"]["edits"]]
    return table(head, rows, left=2)


def _adhoc(results: Record) -> str:
    parts = [
        "Texts are read before: *reading* is that, *first* the first answer after it. The ratio is given where "
        "pyoxigraph needs over 1 ms."
    ]
    for data in dict.fromkeys(line["data"] for line in results["adhoc"]):
        rows = []
        for line in results["adhoc"]:
            if line["data"] == data:
                ratio = f"{line['everlog'] / line['oxigraph']:.2f}" if line["oxigraph"] > SLOW else ""
                times = [seconds(line[name]) for name in ("everlog", "oxigraph", "first", "read")]
                rows.append([line["query"], f"{line['answers']:,}", *times, ratio])
        head = ["query", "answers", "ours", "pyoxigraph", "first", "reading", "ratio"]
        parts += [f"### {data}", table(head, rows)]
        if data in results["ended_early"]:
            parts.append(f"Other queries were not measured: {results['ended_early'][data]}.")
    return "\n\n".join(parts)


def _seconds(value: float | None) -> str:
    return NOT_MEASURED if value is None else seconds(value)


def _rows(kept: dict[str, int] | None) -> str:
    return NOT_MEASURED if kept is None else f"{sum(kept.values()):,}"


def _megabytes(count: int | None) -> str:
    return NOT_MEASURED if count is None else f"{count / 1e6:,.1f}"

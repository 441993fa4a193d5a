"""How are the figures of SPARQL views shown? A table for each experiment of the paper, and what was asked for."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from everlog.benches.markdown import seconds, table, verdict
from everlog.benches.results import Record, origin
from everlog.benches.sparql_adhoc import SLOW

COLUMNS = ("view", "query again", "paper's method", "DuckDB again", "pyoxigraph again")
_TITLES = {
    "hops": "## Three hops over random graphs",
    "explore": "## BSBM's queries 1 to 4",
    "shapes": "## Stars and paths",
    "sums": "## Sums",
}


def page(results: Record) -> str:
    """The whole page."""
    parts = [
        "# Views of SPARQL queries",
        origin("sparql", results),
        "*view* is an update of the data with the view kept true; *query again* asks our engine afresh. *Paper's "
        "method* is the delta rules of Staquet, Buelens and Van den Bussche as SQL on DuckDB. *Again* in DuckDB and "
        "pyoxigraph is the query alone, without the update. Medians; after every update the view equals a fresh query, "
        "and all systems have the same answers. Each runs in a process of its own; sections may be measured at "
        "different times (`--only`).",
        "![Time of an update](sparql.png)",
    ]
    for section, title in _TITLES.items():
        if lines := [line for line in results["views"] if line["section"] == section]:
            parts += [title, _times(lines)]
            parts += [_memory(lines)] if section in ("hops", "explore") else []
    if explored := [line for line in results["views"] if line["section"] == "explore"]:
        parts += ["## Operators of the paper's method", _operators(explored[0])]
    if results["adhoc"]:
        parts += ["## Queries asked once", _adhoc(results["adhoc"])]
    if not results["conditions"]["quick"]:
        parts += ["## What was asked for", _targets(results)]
    return "\n\n".join(parts) + "\n"


def figures(task: Record) -> Iterator[tuple[str, Record]]:
    """For each kind of update the time in every column."""
    everlog, counting, oxigraph = (task["systems"][name]["edits"] for name in ("everlog", "counting", "oxigraph"))
    for edit, ours in everlog.items():
        times = (ours["seconds"], ours["again"], counting[edit]["seconds"], counting[edit]["again"])
        yield edit, dict(zip(COLUMNS, (*times, oxigraph[edit]["again"]), strict=True))


def _times(lines: Sequence[Record]) -> str:
    rows = []
    for line in lines:
        for task in line["tasks"]:
            for edit, times in figures(task):
                ours = task["systems"]["everlog"]["edits"][edit]
                named = line["workload"] + (f": {task['task']}" if task["task"] != line["workload"] else "")
                counts = [f"{ours['triples']:,}", f"{ours['answers']:,}"]
                rows.append([named, edit, *counts, *(seconds(times[column]) for column in COLUMNS)])
    return table(["data", "update", "triples", "answers", *COLUMNS], rows, left=2)


def _memory(lines: Sequence[Record]) -> str:
    """What the data takes, and what the view adds to it; of the paper's method, the rows that its tables keep."""
    rows = []
    for line in lines:
        data = [_megabytes(line["data"][system]) for system in ("everlog", "counting", "oxigraph")]
        for task in line["tasks"]:
            ours, theirs = task["systems"]["everlog"], task["systems"]["counting"]
            kept = sum(theirs["kept"].values())
            added = [_megabytes(ours["memory"]), _megabytes(theirs["memory"]), f"{kept:,}"]
            named = line["workload"] + (f": {task['task']}" if task["task"] != line["workload"] else "")
            rows.append([named, *data, *added])
    head = ["data", "ours", "DuckDB", "pyoxigraph", "+ our view", "+ the paper's tables", "rows in them"]
    return "Memory in MB: the data, then what a view adds.\n\n" + table(head, rows)


def _operators(line: Record) -> str:
    """The paper's Figure 6, its own method: what each operator's delta takes."""
    rows = []
    for task in line["tasks"]:
        counting = task["systems"]["counting"]
        for operator, kept in counting["kept"].items():
            times = [each["operators"][operator] for each in counting["edits"].values()]
            rows.append([task["task"], operator.rpartition("_")[0], f"{kept:,}", *map(seconds, times)])
    head = ["query", "operator", "rows kept", *line["tasks"][0]["systems"]["counting"]["edits"]]
    return f"{line['workload']}.\n\n" + table(head, rows, left=2)


def _adhoc(lines: Sequence[Record]) -> str:
    parts = ["Texts are read before; *first* is with that. The ratio is given where pyoxigraph needs over 1 ms."]
    for data in dict.fromkeys(line["data"] for line in lines):
        rows = []
        for line in lines:
            if line["data"] == data:
                ratio = f"{line['everlog'] / line['oxigraph']:.2f}" if line["oxigraph"] > SLOW else ""
                times = [seconds(line[name]) for name in ("everlog", "oxigraph", "first")]
                rows.append([line["query"], f"{line['answers']:,}", *times, ratio])
        head = ["query", "answers", "ours", "pyoxigraph", "first", "ratio"]
        parts += [f"### {data}", table(head, rows)]
    return "\n\n".join(parts)


def _targets(results: Record) -> str:
    """What the project asks of itself, and whether it was measured."""
    rows = []
    by_name = {line["workload"]: line for line in results["views"]}
    for one_in, most in ((100, 4e-3), (50, 20e-3)):
        line = by_name.get(f"three hops, p = 1/{one_in}")
        if line:
            time = line["tasks"][0]["systems"]["everlog"]["edits"]["25 out, 25 in"]["seconds"]
            rows.append([line["workload"], f"at most {seconds(most)}", seconds(time), verdict(time <= most)])
    rows += _times_asked(results)
    for data, slow in _slow(results["adhoc"]).items():
        middle = statistics.median(slow)
        found = f"{middle:.2f} of {len(slow)}"
        rows.append([f"queries asked once, {data}", "ratio at most 2 in the median", found, verdict(middle <= 2)])
    return table(["what", "asked for", "measured", "kept"], rows, left=2)


def _times_asked(results: Record) -> Iterator[list[str]]:
    for line in results["views"]:
        if line["section"] == "explore":
            for column, least in (("query again", 10), ("paper's method", 20)):
                every = [
                    (times[column] / times["view"], task["task"], edit)
                    for task in line["tasks"]
                    for edit, times in figures(task)
                ]
                fewest, task, edit = min(every)
                found = f"at least {fewest:.1f} ({task}, {edit}), median {statistics.median(x for x, *_ in every):.1f}"
                yield [f"{line['workload']}: {column}", f"{least} times a view's time", found, verdict(fewest >= least)]
    summed = [line for line in results["views"] if line["section"] == "sums"]
    for numbers in sorted({line["numbers"] for line in summed}):
        own = sorted((line for line in summed if line["numbers"] == numbers), key=lambda line: int(line["products"]))
        if len(own) < 2:
            continue  # one size says nothing about growth
        first, last = (
            line["tasks"][0]["systems"]["everlog"]["edits"]["50 out, 50 in"]["seconds"] for line in (own[0], own[-1])
        )
        found = f"{seconds(first)} to {seconds(last)}"
        sizes = f"SUM, n = {numbers}, m from {own[0]['products']:,} to {own[-1]['products']:,}"
        yield [sizes, "independent of m", found, verdict(last <= 2 * first)]


def _slow(lines: Sequence[Record]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for line in lines:
        if line["oxigraph"] > SLOW:
            found.setdefault(line["data"], []).append(line["everlog"] / line["oxigraph"])
    return found


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.1f}"

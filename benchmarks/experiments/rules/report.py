"""How are the figures of rule changes shown? What was asked for first, then the paper's figures and tables in turn."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

from benchmarks.experiments.rules.chain_changes import MIDDLE, SCRATCH
from benchmarks.experiments.rules.published import HERE, MIDDLE_EDGE_HERE, TABLES
from benchmarks.reporting.markdown import seconds, table, verdict
from benchmarks.reporting.results import Record, origin

# What is asked for.
TIMES_SCRATCH = 10  # the median single-rule change against a run from scratch
TIMES_ZODIAC, WORTH_WHILE = 50, 0.5  # against operations that take ZodiacEdge more seconds than that
MIDDLE_EDGE = {True: 0.050, False: 0.300}  # seconds of each step in a chain of 200, rewritten and as written
MIDDLE_OF = 200
GROWTH = 2.0  # the exponent: facts are quadratic in turbines


def page(results: Record) -> str:
    """The whole page."""
    parts = [
        "# Rules that change",
        origin("rules", results),
        "The rule sets and data of ZodiacEdge (Xu, Curé), whose figures and tables these are. Each rule is removed "
        "from the whole program and added to the rest. *From scratch* derives the state that a change arrives at, over "
        "facts that are loaded already. Rules are given as text. After every change all relations have the size that a "
        "run from scratch gives them, and the first time every fact is compared. Times are the fastest of up to "
        f"{results['conditions']['repeats']} runs; the first run, processor time and the time of each component are in "
        "the JSON file.",
        "![Changes of rules against runs from scratch; changes in a chain; memory](rules.png)",
        "## What was asked for",
        table(["asked", "measured", "kept"], _checks(results), left=3),
    ]
    if beside := list(_zodiac_rows(results)):
        parts += [
            "## Beside ZodiacEdge",
            "Its seconds are of its program on the same kind of machine; of processor time for the edge in the middle.",
            table(["rules", "change", "ZodiacEdge", "ours", "ours, processor", "times faster"], beside, left=2),
        ]
    for rule_set in results["rule sets"]:
        parts += [
            f"## {rule_set['name']}: every rule, and combinations (figures 7 and 8)",
            f"{rule_set['derived']:,} derived facts, from scratch in {seconds(rule_set['seconds'])}; as many again "
            "once a rule is back. *Mostly* is the component that takes most of the time, with its strategy and share; "
            "*around* stands for all that is in none: reading and checking rules, the graph, plans, the commit.",
            table(_RULE_HEAD, _rule_rows(results["changes"], rule_set["name"])),
        ]
    parts += [
        "## RS3 as in tables 2 and 3",
        table(
            ["change", "paper, from scratch", "paper", "ours, from scratch", "ours"], _paper_rows(results["changes"])
        ),
        "## RS1: a symmetric and transitive chain (figure 9)",
        table(*_chain_table(results["chain"]), left=2),
        f"## RS1: extra turbines at the end of {results['extra'][0]['turbines']} (figure 10)",
        table(
            ["more", "rules", "add", "from scratch", "remove", "from scratch"], _extra_rows(results["extra"]), left=2
        ),
        "## Memory (figure 6)",
        "RS2, each in a process of its own: what it holds more once all is derived, and once each rule was removed and "
        "added again, when there are indexes for that.",
        table(["rules", "facts", "memory", "bytes a fact", "after changes", "bytes a fact"], _memory_rows(results)),
    ]
    return "\n\n".join(parts) + "\n"


# --- what was asked for ---------------------------------------------------------------------------------------------


def times_faster(line: Record) -> float:
    """Against the run from scratch that gives the same state."""
    return float(line["scratch"]["seconds"] / line["seconds"])


def singles(changes: Sequence[Record], rule_set: str) -> list[Record]:
    """The changes of one rule each."""
    return [line for line in changes if line["rule set"] == rule_set and "," not in line["what"]]


def growth(chain: Sequence[Record], *, rewrites: bool) -> dict[tuple[str, str], float]:
    """By operation the exponent with which its time grows from the second longest chain to the longest."""
    lines = [line for line in chain if line["rewrites"] == rewrites]
    small, large = sorted({line["turbines"] for line in lines})[-2:]
    times = {(line["turbines"], line["what"], line["step"]): line["seconds"] for line in lines}
    return {
        (what, step): math.log(times[large, what, step] / taken) / math.log(large / small)
        for (count, what, step), taken in times.items()
        if count == small
    }


def _checks(results: Record) -> Iterator[list[str]]:
    for rule_set in results["rule sets"]:
        lines = singles(results["changes"], rule_set["name"])
        times = [times_faster(line) for line in lines]
        median, middle = statistics.median(times), statistics.median(line["seconds"] for line in lines)
        asked = f"{rule_set['name']}: the median change of a rule {TIMES_SCRATCH} times faster than"
        yield [f"{asked} deriving what is then there", f"{median:.1f} times", verdict(median >= TIMES_SCRATCH)]
        whole = rule_set["seconds"] / middle
        measured = f"{whole:.1f} times ({seconds(middle)})"
        yield [f"{asked} deriving the whole program", measured, verdict(whole >= TIMES_SCRATCH)]
        slower = sum(each < 1 for each in times)
        yield [f"{rule_set['name']}: changes of a rule slower than from scratch", f"{slower} of {len(times)}", "–"]
    compared = [(theirs, theirs / ours["seconds"]) for theirs, ours in _beside_zodiac(results)]
    if compared:
        least = min(times for theirs, times in compared if theirs > WORTH_WHILE)
        asked = f"what takes ZodiacEdge more than {WORTH_WHILE} s, {TIMES_ZODIAC} times faster"
        yield [asked, f"at least {least:,.0f} times", verdict(least >= TIMES_ZODIAC)]
        slowest = min(times for _, times in compared)
        yield [
            "nothing slower than ZodiacEdge, where its time is known",
            f"{slowest:,.0f} times",
            verdict(slowest >= 1),
        ]
    for line in results["chain"]:
        if line["what"] == MIDDLE and line["turbines"] == MIDDLE_OF:
            most = MIDDLE_EDGE[line["rewrites"]]
            asked = f"RS1, {MIDDLE_OF} turbines, {_how(line)}: {line['step']} the {MIDDLE} in {seconds(most)}"
            yield [asked, seconds(line["seconds"]), verdict(line["seconds"] <= most)]
    found = growth(results["chain"], rewrites=True)
    (what, step), exponent = max(found.items(), key=lambda item: item[1])
    asked = f"RS1, rewritten: time grows with turbines to the power of {GROWTH:g} at most"
    yield [asked, f"at most {exponent:.2f} ({step}, {what})", verdict(exponent <= GROWTH)]


def _beside_zodiac(results: Record) -> Iterator[tuple[float, Record]]:
    """Its seconds, and our line; at the paper's size alone."""
    if results["conditions"]["width"] == MIDDLE_OF:
        for line in results["changes"]:
            theirs = HERE.get((line["rule set"], line["step"], line["what"]))
            if theirs is not None:
                yield theirs, line
    for line in results["chain"]:
        if line["what"] == MIDDLE and line["turbines"] == MIDDLE_OF:
            yield MIDDLE_EDGE_HERE[line["step"]], line


def _zodiac_rows(results: Record) -> Iterator[list[str]]:
    for theirs, line in _beside_zodiac(results):
        where = line.get("rule set") or f"RS1, {_how(line)}"
        ours = [seconds(line["seconds"]), seconds(line["cpu"]), f"{theirs / line['seconds']:,.0f}"]
        yield [where, f"{line['step']} {line['what']}", seconds(theirs), *ours]


# --- tables ---------------------------------------------------------------------------------------------------------

_RULE_HEAD = [
    "rules",
    *("left", "remove", "from scratch", "times faster", "mostly"),
    *("add", "from scratch", "times faster", "mostly"),
]


def _rule_rows(changes: Sequence[Record], rule_set: str) -> Iterator[list[str]]:
    lines = [line for line in changes if line["rule set"] == rule_set]
    for removed, added in zip(lines[::2], lines[1::2], strict=True):
        cells = [
            [seconds(line["seconds"]), seconds(line["scratch"]["seconds"]), f"{times_faster(line):.1f}", _mostly(line)]
            for line in (removed, added)
        ]
        yield [removed["what"], f"{removed['derived']:,}", *cells[0], *cells[1]]


def _mostly(line: Record) -> str:
    """What takes most of the time: a component, or all that is not in one (reading, checks, graph, plans, commit)."""
    parts = [*((f"{name} ({used})", taken) for name, used, taken in line["components"]), ("around", line["elsewhere"])]
    name, taken = max(parts, key=lambda part: part[1])
    return f"{name} {taken / line['seconds']:.0%}"


def _paper_rows(changes: Sequence[Record]) -> Iterator[list[str]]:
    ours = {(line["rule set"], line["step"], line["what"]): line for line in changes}
    for operation, theirs in TABLES.items():
        line = ours[operation]
        mine = (line["scratch"]["seconds"], line["seconds"])
        yield [f"{operation[1]} {operation[2]}", *map(seconds, (*theirs, *mine))]


def _chain_table(chain: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """A row for each length, a column for each operation."""
    names = list(dict.fromkeys((line["what"], line["step"]) for line in chain))
    titles = [what if what == SCRATCH else f"{step} {what}" for what, step in names]
    cells = {(line["rewrites"], line["turbines"], line["what"], line["step"]): line["seconds"] for line in chain}
    rows = []
    for rewrites, count in dict.fromkeys((line["rewrites"], line["turbines"]) for line in chain):
        how = _how({"rewrites": rewrites})
        rows.append([how, str(count), *(seconds(cells[rewrites, count, *name]) for name in names)])
    return ["rules", "turbines", *titles], rows


def _extra_rows(extra: Sequence[Record]) -> Iterator[list[str]]:
    for added, removed in zip(extra[::2], extra[1::2], strict=True):
        times = [seconds(taken) for line in (added, removed) for taken in (line["seconds"], line["scratch"]["seconds"])]
        yield [f"{added['share']} %", _how(added), *times]


def _memory_rows(results: Record) -> Iterator[list[str]]:
    for point in results["memory"]:
        sizes = [
            cell
            for held in (point["bytes"], point["bytes after changes"])
            for cell in (f"{held / 1e6:.1f} MB", f"{held / point['facts']:.0f}")
        ]
        yield [f"{point['rules']}, chains of {point['width']}", f"{point['facts']:,}", *sizes]


def _how(line: Record) -> str:
    return "rewritten" if line["rewrites"] else "as written"

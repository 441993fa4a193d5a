"""What do changes of rules cost, beside starting over and beside ZodiacEdge? Its figures 6 to 10, tables 2 and 3.

Every rule of RS2 and RS3, and the paper's combinations, is removed from the whole program and added to the rest
(here); facts and rules of RS1's symmetric and transitive chain go and come (chain_changes.py); memory is measured
for more data and more rules (memory.py). Nothing is measured that is not right: see there_and_back.py.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks.experiments.rules.chain_changes import chain_lines, extra_lines
from benchmarks.experiments.rules.data import COMBINATIONS, RuleSet, rs2, rs3
from benchmarks.experiments.rules.memory import memory_points
from benchmarks.experiments.rules.there_and_back import Scratch, Trip, from_scratch, measure
from benchmarks.reporting.results import Record, Says, new_results, write_results
from everlog.store.changes import Change
from everlog.store.store import KnowledgeBase

REPEATS = 15  # at most; see PATIENCE in there_and_back.py
WIDTH = 200  # edges of each chain of DS2, the paper's
TURBINES = (50, 100, 200, 400)
SMALL = 10  # turbines, or edges, of a quick look
EXTRA_TO, EXTRA_SHARES = 200, (10, 20, 30, 40, 50)  # turbines, and percent of them


def bench_rules(folder: Path, says: Says, *, quick: bool) -> Record:
    """Measure all and write the results; returns what rules.json then holds."""
    from benchmarks.experiments.rules.plot import draw
    from benchmarks.experiments.rules.report import page

    repeats, width = (2, SMALL) if quick else (REPEATS, WIDTH)
    turbines, extra_to = ((SMALL, 2 * SMALL), 2 * SMALL) if quick else (TURBINES, EXTRA_TO)
    results = new_results(quick=quick, repeats=repeats, width=width)
    results["rule sets"], results["changes"], results["chain"], results["extra"] = [], [], [], []
    _warm_up()
    for rule_set in (rs2(width), rs3(width)):
        home, lines = rule_lines(rule_set, repeats, says)
        results["rule sets"].append({"name": rule_set.name, "derived": home.derived, **home.taken.as_data()})
        results["changes"] += lines
    for rewrites in (True, False):
        for line in chain_lines(turbines, rewrites, repeats):
            results["chain"].append(line)
            says(f"RS1, {line['turbines']} turbines, {line['what']}, {line['step']}: {line['seconds'] * 1e3:,.2f} ms")
        for line in extra_lines(extra_to, EXTRA_SHARES, rewrites, repeats):
            results["extra"].append(line)
            says(f"RS1, {line['what']}, {line['step']}: {line['seconds'] * 1e3:,.2f} ms")
    results["memory"] = memory_points(width, quick=quick)
    write_results(folder, "rules", results, page, draw)
    return results


def _warm_up() -> None:
    """Load every kernel, with little data."""
    rule_lines(rs2(SMALL), 1)
    for rewrites in (True, False):
        for _ in chain_lines([SMALL], rewrites, 1):
            pass


def rule_lines(rule_set: RuleSet, repeats: int, says: Says | None = None) -> tuple[Scratch, list[Record]]:
    """The whole from scratch; then each rule, and each combination that the paper names, out and in.

    The whole is derived from scratch again beside each trip, and all additions are held against the fastest of these:
    a busy minute at the beginning must not make it slow.
    """
    kb, home = rule_set.open(), from_scratch(rule_set, repeats)
    lines: list[Record] = []
    for names in (*((name,) for name in rule_set.rules), *COMBINATIONS):
        out, back = partial(_remove, names), partial(_add, rule_set.text(names))
        trip = Trip(", ".join(names), rule_set.without(names), (("remove", out), ("add", back)))
        for line in measure(kb, home, trip, repeats):
            lines.append({"rule set": rule_set.name, **line})
            if says is not None:
                says(f"{rule_set.name}, {line['step']} {line['what']}: {line['seconds'] * 1e3:,.2f} ms")
        home = min(home, from_scratch(rule_set, 1), key=lambda scratch: scratch.taken)
    for line in lines:
        if line["step"] == "add":
            line["scratch"] = home.taken.as_data()
    return home, lines


def _remove(names: tuple[str, ...], kb: KnowledgeBase) -> Change:
    return kb.remove_rules(names)


def _add(text: str, kb: KnowledgeBase) -> Change:
    return kb.add_rules(text)

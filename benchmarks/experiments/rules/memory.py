"""How much memory does a fact take, with more data and with more rules? The paper's Figure 6, for RS2.

Each point is measured in a process of its own, which first does the same with little data, so that kernels and
libraries are there: what it holds after deriving all, beyond what it held before.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from benchmarks.experiments.rules.data import RuleSet, rs2
from benchmarks.measuring.memory import held
from benchmarks.reporting.results import Record
from everlog.store.store import KnowledgeBase

FRACTIONS = (0.25, 0.5, 0.75, 1.0)  # of the paper's size
RULES = (3, 5, 8, 14, 16, 17, 18)  # the first so many; in the end all


def memory_points(width: int, *, quick: bool) -> list[Record]:
    """With all rules as data grows, then with all data as rules are added."""
    every = RULES[-1]
    by_data = [(round(fraction * width), every) for fraction in FRACTIONS]
    by_rules = [(width, count) for count in RULES]
    points = [by_data[-1]] if quick else [*by_data, *by_rules]
    return [_measured_apart(*point) for point in dict.fromkeys(points)]


def _measured_apart(width: int, rules: int) -> Record:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as apart:
        return apart.submit(measure_memory, width, rules).result()


def measure_memory(width: int, rules: int) -> Record:
    """A point: with the first so many; in the end all rules of RS2, before and after each of them went and came."""
    small = _first(5, rules)
    _each_out_and_in(small.open(), small)
    rule_set = _first(width, rules)
    before = held()
    kb = rule_set.open()
    facts = sum(relation.facts for relation in kb.relations())
    grown = held() - before
    _each_out_and_in(kb, rule_set)
    return {"width": width, "rules": rules, "facts": facts, "bytes": grown, "bytes after changes": held() - before}


def _each_out_and_in(kb: KnowledgeBase, rule_set: RuleSet) -> None:
    for name in rule_set.rules:
        kb.remove_rules(name)
        kb.add_rules(rule_set.text([name]))


def _first(width: int, rules: int) -> RuleSet:
    whole = rs2(width)
    return whole.without(list(whole.rules)[rules:])

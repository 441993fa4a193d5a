"""What do changes cost in a symmetric and transitive chain? RS1 on DS1, the paper's figures 9 and 10.

An edge that lengthens the chain comes and goes; the edge in its middle, on which half of all facts depend, goes and
comes; so do the symmetric and the transitive rule, and a share of extra turbines. With rewrites on, and as written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from benchmarks.experiments.rules.data import NEIGHBOUR, Facts, Row, RuleSet, rs1, turbine, turbines
from benchmarks.experiments.rules.there_and_back import Trip, from_scratch, measure
from benchmarks.reporting.results import Record
from everlog.store.changes import Change
from everlog.store.store import KnowledgeBase

SCRATCH = "from scratch"
END, MIDDLE, SYMMETRIC, TRANSITIVE = "edge at the end", "edge in the middle", "symmetric rule", "transitive rule"


def chain_lines(counts: Sequence[int], rewrites: bool, repeats: int) -> Iterator[Record]:
    """Figure 9: a line for the run from scratch, then one for each step, for chains of each length."""
    for count in counts:
        about = {"turbines": count, "rewrites": rewrites}
        home = rs1(count, rewrites=rewrites)
        scratch = from_scratch(home, repeats)
        yield about | {"what": SCRATCH, "step": "derive", "derived": scratch.derived, **scratch.taken.as_data()}
        kb = home.open()
        for trip in _trips(home, count):
            for line in measure(kb, scratch, trip, repeats):
                yield about | line


def _trips(home: RuleSet, count: int) -> Iterator[Trip]:
    edges = home.facts[NEIGHBOUR]
    end: Row = (turbine(count), turbine(count + 1))
    come, go = _edits({NEIGHBOUR: [end]})
    yield Trip(END, _with_edges(home, [*edges, end]), (("add", come), ("remove", go)))
    middle = edges[len(edges) // 2]
    come, go = _edits({NEIGHBOUR: [middle]})
    yield Trip(MIDDLE, _with_edges(home, [e for e in edges if e != middle]), (("remove", go), ("add", come)))
    for what, name in ((SYMMETRIC, "r1"), (TRANSITIVE, "r2")):
        out, back = partial(_without_rule, name), partial(_with_rule, home.text([name]))
        yield Trip(what, home.without([name]), (("remove", out), ("add", back)))


def extra_lines(count: int, shares: Sequence[int], rewrites: bool, repeats: int) -> Iterator[Record]:
    """Figure 10: some percent of extra turbines at the end of the chain, with their temperatures, come and go."""
    home = rs1(count, rewrites=rewrites)
    scratch, kb = from_scratch(home, repeats), home.open()
    for share in shares:
        extra = turbines(count + 1, count * share // 100, after=count)
        come, go = _edits(extra)
        more = replace(home, facts={relation: rows + extra[relation] for relation, rows in home.facts.items()})
        for line in measure(kb, scratch, Trip(f"{share} % more", more, (("add", come), ("remove", go))), repeats):
            yield {"turbines": count, "share": share, "rewrites": rewrites} | line


def _with_edges(rule_set: RuleSet, edges: list[Row]) -> RuleSet:
    return replace(rule_set, facts=rule_set.facts | {NEIGHBOUR: edges})


def _edits(facts: Facts) -> tuple[partial[Change], partial[Change]]:
    """Steps that insert and delete."""
    return partial(_insert, facts), partial(_delete, facts)


def _insert(facts: Facts, kb: KnowledgeBase) -> Change:
    return kb.update(insert=facts)


def _delete(facts: Facts, kb: KnowledgeBase) -> Change:
    return kb.update(delete=facts)


def _without_rule(name: str, kb: KnowledgeBase) -> Change:
    return kb.remove_rules(name)


def _with_rule(text: str, kb: KnowledgeBase) -> Change:
    return kb.add_rules(text)

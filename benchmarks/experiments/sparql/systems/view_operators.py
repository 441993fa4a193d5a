"""Which operators of a query's algebra does each relation of a view stand for?

An update says how long each component of the rules took. Our rules put a BGP and all that filters, joins, unites and
projects it into one body, so these operators have one figure together; what has relations of its own (the right sides
of OPTIONAL and MINUS, groups, paths, subqueries) has a figure of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from everlog.plans.flat_rules import AUXILIARY, EvaluatedRule, rule_reads
from everlog.sparql.parsing import Algebra, parse_query
from everlog.sparql.query import compile_query
from everlog.sparql.sharing import shared_names

_OF_ITS_OWN = {
    "optional": "LeftJoin: its right side",
    "minus": "Minus: its right side",
    "outer": "Exists: its bindings",
    "exists": "Exists",
    "rows": "BGP, below Group",
    "group": "Group",
    "some": "Group: is there a row?",
    "path": "Path",
    "distinct": "Distinct",
    "values": "Values",
    "inner": "Subquery",
    "cut": "Slice",
}
"""What the names of auxiliary relations begin with (sparql/patterns.py and its neighbours), and what they are for."""

_AFTERWARDS = ("OrderBy", "Slice")  # a view orders and cuts after its rules are done
_GROUPED = ("AggregateJoin", "Group")


def operators(text: str, name: str) -> dict[str, str]:
    """For each relation of the view of a query, what it stands for."""
    query = compile_query(text, name)
    answer = query.answer.relation
    found = {}
    for relation in dict.fromkeys(head.relation for rule in query.rules for head in rule.heads):
        if relation != answer:
            kind = relation.partition(AUXILIARY)[2].rstrip("0123456789")
            found[_shared_name(query.rules, relation, answer)] = _OF_ITS_OWN[kind]
    return found | {answer: ", ".join(_in_one_body(parse_query(text).algebra, grouped="Group" in found.values()))}


def _in_one_body(algebra: Algebra, *, grouped: bool) -> list[str]:
    """The operators whose work is the answer's rules, innermost first."""
    names = dict.fromkeys(_names(algebra))
    if grouped:  # what lies below the group has its own relations
        return [name for name in names if name in ("Extend", "Filter", "Project", "Distinct")]
    left_out = (*_AFTERWARDS, *_GROUPED)
    return [name for name in names if name not in left_out]


def _names(algebra: Algebra) -> Iterator[str]:
    for key in ("p", "p1", "p2"):
        if (below := getattr(algebra, key, None)) is not None:
            yield from _names(below)
    if not algebra.name.endswith("Query"):
        yield algebra.name


def _shared_name(rules: Sequence[EvaluatedRule], relation: str, answer: str) -> str:
    """What a relation is called in the program of a view: its own rules come last of those that it needs."""
    return shared_names(_needed(rules, relation), answer)[-1].heads[0].relation


def _needed(rules: Sequence[EvaluatedRule], relation: str) -> list[EvaluatedRule]:
    wanted, before = {relation}, 0
    while len(wanted) > before:
        before = len(wanted)
        for rule in rules:
            if rule.heads[0].relation in wanted:
                wanted.update(atom.relation for atom, _ in rule_reads(rule))
    return [rule for rule in rules if rule.heads[0].relation in wanted]

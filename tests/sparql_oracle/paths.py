"""Which pairs of terms does a property path connect, and how often (SPARQL 1.1, sections 9 and 18.4)?

An end is a term or, for a variable, None. A sequence is a join over a variable that nobody sees, an alternative a
union: both count. `?`, `*` and `+` are sets. A path of length zero connects every node of the graph with itself, and a
given end with itself even if it is no node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from typing import Any

from rdflib.paths import AlternativePath, InvPath, MulPath, NegatedPath, SequencePath
from tests.sparql_oracle.terms import Term, term_from

Triple = tuple[Term, Term, Term]
Graph = Set[Triple]
Pairs = Counter[tuple[Term, Term]]


def pairs(start: Term | None, path: Any, end: Term | None, graph: Graph) -> Pairs:
    """Every way from start to end."""
    match path:
        case InvPath():
            return Counter({(s, o): n for (o, s), n in pairs(end, path.arg, start, graph).items()})
        case SequencePath():
            return _sequence(start, list(path.args), end, graph)
        case AlternativePath():
            return sum((pairs(start, each, end, graph) for each in path.args), Counter())
        case NegatedPath():
            return _negated(start, path.args, end, graph)
        case MulPath():
            return Counter(_repeated(start, path, end, graph))
    predicate = term_from(path)
    return _fitting(start, ((s, o) for s, p, o in graph if p == predicate), end)


def _fitting(start: Term | None, found: Iterable[tuple[Term, Term]], end: Term | None) -> Pairs:
    return Counter((s, o) for s, o in found if start in (None, s) and end in (None, o))


def _sequence(start: Term | None, steps: list[Any], end: Term | None, graph: Graph) -> Pairs:
    first, *rest = steps
    if not rest:
        return pairs(start, first, end, graph)
    found: Pairs = Counter()
    onwards = _sequence(None, rest, end, graph)
    for (s, middle), many in pairs(start, first, None, graph).items():
        for (other, o), more in onwards.items():
            if middle == other:
                found[s, o] += many * more
    return found


def _negated(start: Term | None, members: Iterable[Any], end: Term | None, graph: Graph) -> Pairs:
    """Any predicate but those named; with members `^:p` also backwards, by any but those."""
    backwards = [term_from(inverted(member)) for member in members if inverted(member) is not None]
    forwards = [term_from(member) for member in members if inverted(member) is None]
    found: Pairs = Counter()
    if forwards or not backwards:
        found += _fitting(start, ((s, o) for s, p, o in graph if p not in forwards), end)
    if backwards:
        found += _fitting(start, ((o, s) for s, p, o in graph if p not in backwards), end)
    return found


def inverted(member: Any) -> Any:
    """What `^` stands before, in a member of a negated set; else None."""
    if isinstance(member, InvPath):
        return member.arg
    return member.part if getattr(member, "name", None) == "InversePath" else None


def _repeated(start: Term | None, path: MulPath, end: Term | None, graph: Graph) -> set[tuple[Term, Term]]:
    """`?`, `*` or `+`: from each term where a way may begin, everything that can be reached."""
    if start is None and end is not None:
        return {(s, o) for o, s in _repeated(end, MulPath(InvPath(path.path), path.mod), None, graph)}
    starts = {start} if start is not None else nodes(graph)
    found = set()
    for each in starts:
        step = {o for _, o in pairs(each, path.path, None, graph)}
        reached = step if path.mod == "?" else _closure(step, path.path, graph)
        found |= {(each, o) for o in (reached if path.mod == "+" else reached | {each})}
    return {(s, o) for s, o in found if end in (None, o)}


def _closure(found: set[Term], path: Any, graph: Graph) -> set[Term]:
    frontier = found
    while frontier:
        frontier = {o for each in frontier for _, o in pairs(each, path, None, graph)} - found
        found = found | frontier
    return found


def nodes(graph: Graph) -> set[Term]:
    return {term for s, _, o in graph for term in (s, o)}

"""Which branches does a property path have?

Sequences, alternatives, inverses and negated sets are bags, and become atoms and branches like any pattern. `*`, `+`
and `?` are sets: each becomes a relation of its own, defined by recursive rules like a user's. Where one end is given,
only what can be reached from it is computed: `:a :p* ?y` never computes all pairs.

A path of length zero leads from every node of the graph to itself, and from a given end even if it is not a node.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from everlog.plans.flat_rules import FlatRule
from everlog.rules.syntax import Argument, Atom, Call, Constant, Variable
from everlog.sparql import auxiliary_relations as auxiliary
from everlog.sparql.branches import UNIT, Branch, joined
from everlog.sparql.terms import argument_from, term_from

if TYPE_CHECKING:
    from everlog.sparql.patterns import Patterns

Branches = list[Branch]


def branches(patterns: Patterns, start: Argument, path: Any, end: Argument) -> Branches:
    """The branches of a path between two terms; the path may be just a predicate."""
    from rdflib.paths import AlternativePath, InvPath, MulPath, NegatedPath, SequencePath

    if isinstance(path, SequencePath):
        return _sequence(patterns, start, list(path.args), end)
    if isinstance(path, AlternativePath):
        return [found for each in path.args for found in branches(patterns, start, each, end)]
    if isinstance(path, InvPath):
        return branches(patterns, end, path.arg, start)
    if isinstance(path, NegatedPath):
        return _negated(patterns, start, list(path.args), end)
    if isinstance(path, MulPath):
        # One or more of a path that may be empty is the same as zero or more, also from a given end that is not a node.
        how = "*" if path.mod == "+" and _may_be_nothing(path.path) else path.mod
        return [_repeated(patterns, start, path.path, how, end)]
    return [UNIT.having(patterns.triple(start, argument_from(path), end))]


def _sequence(patterns: Patterns, start: Argument, steps: list[Any], end: Argument) -> Branches:
    found = [UNIT]
    at = start
    for number, step in enumerate(steps, start=1):
        following = end if number == len(steps) else Variable(patterns.compilation.variable())
        ways = branches(patterns, at, step, following)
        found = [joined(one, other, patterns.compilation.variable()) for one, other in product(found, ways)]
        at = following
    return found


def _negated(patterns: Patterns, start: Argument, members: list[Any], end: Argument) -> Branches:
    """A step forwards by any predicate but the plain ones, or backwards by any but those named with `^`."""
    backwards = [member for member in members if _inverse(member) is not None]
    forwards = [member for member in members if _inverse(member) is None]
    found = []
    if forwards or not backwards:
        found.append(_not_by(patterns, start, [term_from(member) for member in forwards], end))
    if backwards:
        found.append(_not_by(patterns, end, [term_from(_inverse(member)) for member in backwards], start))
    return found


def _not_by(patterns: Patterns, start: Argument, predicates: list[Any], end: Argument) -> Branch:
    predicate = Variable(patterns.compilation.variable())
    branch = UNIT.having(patterns.triple(start, predicate, end))
    for each in predicates:
        branch = branch.where(Call("!", (Call("sameterm", (predicate, Constant(each))),)))
    return branch


def _inverse(member: Any) -> Any:
    from rdflib.paths import InvPath
    from rdflib.plugins.sparql.parserutils import CompValue

    if isinstance(member, InvPath):
        return member.arg
    if isinstance(member, CompValue) and member.name == "InversePath":
        return member.part
    return None


def _may_be_nothing(path: Any) -> bool:
    """May a path have length zero?"""
    from rdflib.paths import AlternativePath, InvPath, MulPath, SequencePath

    match path:
        case SequencePath():
            return all(map(_may_be_nothing, path.args))
        case AlternativePath():
            return any(map(_may_be_nothing, path.args))
        case InvPath():
            return _may_be_nothing(path.arg)
        case MulPath():
            return path.mod in ("?", "*") or _may_be_nothing(path.path)
    return False


def _repeated(patterns: Patterns, start: Argument, path: Any, how: str, end: Argument) -> Branch:
    """`?`, `*` and `+`: a set of pairs, or of the ends that a given one leads to."""
    compilation, graph = patterns.compilation, patterns.graph
    # The graph is a column where it is a variable, since a path stays within one graph.
    graphs = (graph,) if isinstance(graph, Variable) else ()
    if isinstance(end, Constant) and not isinstance(start, Constant):
        return _repeated(patterns, end, _inverted(path), how, start)
    relation = compilation.relation("path")
    x, y, z = (Variable(compilation.variable()) for _ in range(3))
    seeded = isinstance(start, Constant)
    here = start if seeded else x

    def place(to: Argument) -> Atom:
        return Atom(relation, (*(() if seeded else (x,)), to, *graphs))

    if how in "*?":
        _from_itself(patterns, relation, here, seeded, graphs)
        for each in () if seeded else dict.fromkeys((start, end)):
            if isinstance(each, Variable) and each.name in patterns.seed.bound:  # inside EXISTS it is given too
                _conclude(patterns, Atom(relation, (each, each, *graphs)), patterns.in_some_graph([patterns.seed]))
    _conclude(patterns, place(y), branches(patterns, here, path, y))
    if how in "*+":
        steps = [joined(UNIT.having(place(y)), step, compilation.variable()) for step in branches(patterns, y, path, z)]
        _conclude(patterns, place(z), steps)
    ends = (end,) if seeded else (start, end)
    return UNIT.having(Atom(relation, (*ends, *graphs)))


def _from_itself(patterns: Patterns, relation: str, here: Argument, seeded: bool, graphs: tuple[Argument, ...]) -> None:
    """Paths of length zero."""
    if seeded:
        branch = UNIT if not graphs else UNIT.having(Atom(auxiliary.graph_names(patterns.compilation), graphs))
        _conclude(patterns, Atom(relation, (here, *graphs)), [branch])
    else:
        node = auxiliary.nodes(patterns, here)
        _conclude(patterns, Atom(relation, (here, here, *graphs)), [UNIT.having(node)])


def _conclude(patterns: Patterns, head: Atom, found: Branches) -> None:
    for branch in found:
        rule = FlatRule(patterns.compilation.name, (head,), branch.atoms, branch.absent, branch.computations)
        patterns.compilation.rules.append(rule)


def _inverted(path: Any) -> Any:
    from rdflib.paths import InvPath

    return InvPath(path)

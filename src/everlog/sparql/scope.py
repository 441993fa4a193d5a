"""Which variables of a pattern are in scope outside it (SPARQL 1.1, 18.2.1)?

Patterns are rdflib's parse tree, before it becomes algebra: there MINUS, FILTER and EXISTS are still told apart, and
variables stand in the order in which they were written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Tree = Any  # rdflib's CompValue, a list of such, or a term


def nodes(tree: Tree) -> Iterator[Tree]:
    """Every node of a tree, from the root on, those inside expressions too."""
    from pyparsing import ParseResults
    from rdflib.plugins.sparql.parserutils import CompValue

    if isinstance(tree, CompValue):
        yield tree
        for value in tree.values():
            yield from nodes(value)
    elif isinstance(tree, list | tuple | ParseResults):
        for each in tree:
            yield from nodes(each)


def in_scope(pattern: Tree) -> list[Any]:
    """The variables of a pattern that are in scope, in order of first occurrence."""
    return list(dict.fromkeys(_variables(pattern)))


def projected(query: Tree) -> list[Any]:
    """The variables that a SELECT shows."""
    if query.projection:
        return [each.var if each.var is not None else each.evar for each in query.projection]
    return in_scope([query.where, query.valuesClause])


def _variables(pattern: Tree) -> Iterator[Any]:
    from pyparsing import ParseResults
    from rdflib import Variable

    if isinstance(pattern, Variable):
        yield pattern
    elif isinstance(pattern, list | ParseResults):
        for each in pattern:
            yield from _variables(each)
    elif (name := getattr(pattern, "name", None)) == "SubSelect":
        yield from projected(pattern)
    elif name in _SEEN:
        for key in _SEEN[name]:
            yield from _variables(getattr(pattern, key))


# The parts of each kind of pattern with variables in scope; others, such as FILTER and MINUS, have none.
_SEEN = {
    "GroupGraphPatternSub": ("part",),
    "FakeGroupGraphPatten": ("part",),  # CONSTRUCT WHERE, as rdflib spells it
    "TriplesBlock": ("triples",),
    "OptionalGraphPattern": ("graph",),
    "GroupOrUnionGraphPattern": ("graph",),
    "GraphGraphPattern": ("term", "graph"),
    "ServiceGraphPattern": ("term", "graph"),
    "Bind": ("var",),
    "InlineData": ("var",),
    "ValuesClause": ("var",),
}

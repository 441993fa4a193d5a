"""What does SPARQL forbid although its grammar allows it?

Each check takes a parse tree, with all names written out, and yields what is wrong (SPARQL 1.1 Query, 19.6 to 19.8;
Update, 3.1.3).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from everlog.errors import SparqlError
from everlog.sparql.scope import Tree, in_scope, nodes

_SELECTS = ("SelectQuery", "SubSelect")
_GROUPS = ("GroupGraphPatternSub", "FakeGroupGraphPatten")


def check(tree: Tree) -> None:
    """Raise an error for the first problem found."""
    for checked in CHECKS:
        for problem, hint in checked(tree):
            raise SparqlError(problem, hint=hint)


Problems = Iterator[tuple[str, str | None]]


def _bound_twice(tree: Tree) -> Problems:
    """BIND and AS bind a variable, which must not be bound yet."""
    for node in nodes(tree):
        if node.name in _GROUPS:
            for position, part in enumerate(node.part or []):
                if part.name == "Bind" and part.var in in_scope(node.part[:position]):
                    yield f"BIND gives ?{part.var} a value, which it has already", "use another name after AS"
        elif node.name in _SELECTS:
            taken = {*in_scope(node.where)}
            for each in node.projection or []:
                if each.evar is not None and each.evar in taken:
                    yield f"SELECT gives ?{each.evar} a value, which it has already", "use another name after AS"
                taken.add(each.evar)


def _not_grouped(tree: Tree) -> Problems:
    """With GROUP BY or an aggregate, SELECT shows groups: their keys and aggregates."""
    for query in nodes(tree):
        if query.name not in _SELECTS or not _has_groups(query):
            continue
        if not query.projection:
            yield "SELECT * cannot stand with GROUP BY", "list what is to be shown"
            return
        known = {_key(condition) for condition in (query.groupby.condition if query.groupby else [])}
        for each in query.projection:
            for variable in [each.var] if each.var is not None else _outside_aggregates(each.expr):
                if variable not in known:
                    yield f"?{variable} is neither grouped by nor inside an aggregate", f"GROUP BY ?{variable}"
            known.add(each.evar)


def _has_groups(query: Tree) -> bool:
    clauses = [query.having, query.orderby, *(each.expr for each in query.projection or [])]
    return bool(query.groupby) or any(map(_is_aggregate, _of_this_query(clauses)))


def _is_aggregate(node: Tree) -> bool:
    return str(node.name).startswith("Aggregate_")


def _of_this_query(tree: Tree) -> Iterator[Tree]:
    """The nodes of expressions, without those of patterns inside EXISTS."""
    inside = {id(each) for node in nodes(tree) if node.name in _GROUPS for each in nodes(node)}
    return (node for node in nodes(tree) if id(node) not in inside)


def _key(condition: Tree) -> Any:
    from rdflib import Variable

    return condition if isinstance(condition, Variable) else condition.var


def _outside_aggregates(expression: Tree) -> Iterator[Any]:
    from rdflib import Variable
    from rdflib.plugins.sparql.parserutils import CompValue

    if isinstance(expression, Variable):
        yield expression
    elif isinstance(expression, CompValue):
        if not _is_aggregate(expression) and expression.name not in _GROUPS:
            for value in expression.values():
                yield from _outside_aggregates(value)
    elif not isinstance(expression, str):
        for each in expression or []:
            yield from _outside_aggregates(each)


def _labels_in_two_patterns(tree: Tree) -> Problems:
    """A blank node's label belongs to one basic graph pattern, or to the data of one operation."""
    seen: dict[Any, int] = {}
    number = 0
    for node in nodes(tree):
        if node.name not in (*_GROUPS, "InsertData"):
            continue
        number += 1
        for part in [node] if node.name == "InsertData" else node.part or []:
            if part.name in ("TriplesBlock", "InsertData"):
                for label in _blank_nodes(part):
                    if seen.setdefault(label, number) != number:
                        yield f"the blank node _:{label} stands in two patterns", "use a variable instead"
            elif part.name != "Filter":  # a filter may occur within a pattern; anything else ends it
                number += 1


def _blank_nodes(tree: Tree) -> Iterator[Any]:
    from rdflib import BNode

    for node in nodes(tree):
        for triples in node.triples or []:
            yield from (term for term in triples if isinstance(term, BNode))


def _ragged_values(tree: Tree) -> Problems:
    """Each row of VALUES has a value, or UNDEF, for each variable."""
    from rdflib.term import Identifier

    for node in nodes(tree):
        if node.name in ("InlineData", "ValuesClause"):
            width = len(node.var or [])
            for row in node.value or []:
                given = 1 if isinstance(row, Identifier | str) else len(row)
                if given != width and width:
                    yield f"a row of VALUES has {given} values for {width} variables", "UNDEF stands for no value"


def _blank_nodes_deleted(tree: Tree) -> Problems:
    """What is deleted must not contain blank nodes: one would match nothing, or everything."""
    for node in nodes(tree):
        if node.name in ("DeleteClause", "DeleteData", "DeleteWhere") and next(_blank_nodes(node), None) is not None:
            yield "DELETE names a blank node", "use a variable, and find it with WHERE"


def _variables_in_data(tree: Tree) -> Problems:
    """INSERT DATA and DELETE DATA contain triples, not patterns."""
    from rdflib import Variable

    for operation in nodes(tree):
        if operation.name in ("InsertData", "DeleteData"):
            for node in nodes(operation):
                for term in (node.term, *(term for triples in node.triples or [] for term in triples)):
                    if isinstance(term, Variable):
                        yield f"?{term} stands in data, where there is nothing to match", "use INSERT or DELETE WHERE"


CHECKS = (
    _bound_twice,
    _not_grouped,
    _labels_in_two_patterns,
    _ragged_values,
    _blank_nodes_deleted,
    _variables_in_data,
)

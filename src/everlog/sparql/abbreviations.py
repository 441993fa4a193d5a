"""What do the abbreviations in a query stand for?

    SELECT *, DESCRIBE *       the variables in scope, in order of first occurrence
    CONSTRUCT WHERE { … }      a template that is the pattern
    GROUP BY (…)               a key with a hidden name
    <urn:everlog:median>(?x)   an aggregate, beside those that SPARQL has; also with DISTINCT

Two things are rewritten because rdflib's algebra would lose them: EXISTS outside of WHERE, whose pattern it does not
translate, and conditions like FILTER(false), which it takes for no condition.
"""

from __future__ import annotations

from collections.abc import Mapping

from everlog.sparql.scope import Tree, in_scope, nodes
from everlog.sparql.terms import HIDDEN

AGGREGATES: Mapping[str, str] = {"urn:everlog:median": "Median"}


def name_aggregates(tree: Tree) -> None:
    """Turn calls of Everlog's own aggregates into aggregates; in place."""
    for node in nodes(tree):
        aggregate = AGGREGATES.get(str(node.iri)) if node.name == "Function" else None
        if aggregate is not None and node.expr and len(node.expr) == 1:
            node.name, node.vars = f"Aggregate_{aggregate}", node.expr[0]
            del node["iri"], node["expr"]


def write_out(tree: Tree) -> None:
    """Expand abbreviations; in place."""
    from rdflib import Variable
    from rdflib.plugins.sparql.parserutils import CompValue

    for number, node in enumerate(list(nodes(tree))):
        if node.name in ("SelectQuery", "SubSelect") and not node.projection:
            shown = in_scope([node.where, node.valuesClause])
            if shown:
                node.projection = [CompValue("vars", var=variable) for variable in shown]
        elif node.name == "DescribeQuery" and not node.var:
            node.var = in_scope(node.where)
        elif node.name == "ConstructQuery" and node.where.name == "FakeGroupGraphPatten":
            node.template = [list(triples) for part in node.where.part or [] for triples in part.triples]
        elif node.name == "GroupAs" and node.var is None:
            node.var = Variable(f"{HIDDEN}key{number}")
        elif node.name == "Filter" and _is_literal(node.expr):
            node.expr = CompValue("UnaryNot", expr=CompValue("UnaryNot", expr=node.expr))
    for node in list(nodes(tree)):
        if node.name in ("vars", "HavingClause", "OrderCondition"):
            _translate_exists(node)


def _is_literal(expression: Tree) -> bool:
    """Is this expression nothing but a literal?"""
    from rdflib import Literal
    from rdflib.plugins.sparql.parserutils import CompValue

    while isinstance(expression, CompValue) and expression.other is None and expression.name.endswith("Expression"):
        expression = expression.expr
    return isinstance(expression, Literal)


def _translate_exists(clause: Tree) -> None:
    from rdflib.plugins.sparql.algebra import translateExists, translatePath, traverse

    for key in ("expr", "condition"):
        if key in clause:
            clause[key] = translateExists(traverse(clause[key], visitPost=translatePath))

"""How is a SPARQL query compiled: to which rules, and what is done with their answers?

The pattern becomes rules that fill one relation, the *answer* (patterns.py). What surrounds the pattern is handled
here: the variables shown, DISTINCT, ORDER BY, LIMIT and OFFSET, the template of a CONSTRUCT.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from everlog.errors import NotFoundError
from everlog.facts.terms import Term
from everlog.plans.expressions import is_deterministic
from everlog.plans.flat_rules import AUXILIARY, Attempt, EvaluatedRule, FlatRule
from everlog.plans.windows import Ordering
from everlog.rules.syntax import Argument, Atom, Constant, Expression, Variable
from everlog.sparql import auxiliary_relations as auxiliary
from everlog.sparql.branches import UNIT, Branch
from everlog.sparql.expressions import EXISTS, FAILS, Translator
from everlog.sparql.parsing import Algebra, parse_query
from everlog.sparql.patterns import Compilation, Patterns, mentioned
from everlog.sparql.scope import nodes
from everlog.sparql.terms import HIDDEN, argument_from

Triple = tuple[Argument, Argument, Argument]


@dataclass(frozen=True)
class Order:
    """A condition of ORDER BY: a column of the answer, and its direction."""

    column: str
    descending: bool


@dataclass(frozen=True)
class Query:
    """A query, ready to be evaluated."""

    form: str  # select, ask, construct or describe
    rules: tuple[EvaluatedRule, ...]
    answer: Atom  # its arguments: the variables shown, then those that only the order needs
    shown: tuple[str, ...]
    distinct: bool = False
    order: tuple[Order, ...] = ()
    offset: int = 0
    limit: int | None = None
    template: tuple[Triple, ...] = ()  # of CONSTRUCT
    described: tuple[Argument, ...] = ()  # terms and variables of DESCRIBE

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(argument.name for argument in self.answer.args if isinstance(argument, Variable))

    @property
    def is_set(self) -> bool:
        """Does each answer occur once?"""
        return self.distinct and len(self.columns) == len(self.shown)

    @cached_property
    def same_each_time(self) -> bool:
        """Are its rules the same each time it is compiled? Values of NOW() and BNODE() are part of them."""
        computed = (c.expression for rule in self.rules if isinstance(rule, FlatRule) for c in rule.computations)
        return all(map(is_deterministic, computed))

    @property
    def ordering(self) -> Ordering:
        """The order and the shown rows of the answer relation, by column positions."""
        place = {name: number for number, name in enumerate(self.columns)}
        columns = tuple((place[each.column], each.descending) for each in self.order)
        return Ordering(columns, len(self.shown), self.distinct, self.offset, self.limit)


@dataclass
class _Modifiers:
    """The solution modifiers of a query."""

    pattern: Algebra
    shown: tuple[str, ...] | None = None
    distinct: bool = False
    order: list[Any] | None = None
    offset: int = 0
    limit: int | None = None


def compile_query(
    text: str,
    name: str,
    *,
    base: str | None = None,
    prefixes: Mapping[str, str] | None = None,
    bindings: Mapping[str, Term] | None = None,
) -> Query:
    """Translate a query; `name` is the prefix of its relations, `bindings` are values for some of its variables."""
    algebra, base = parse_query(text, base, prefixes)
    form = algebra.name.removesuffix("Query").lower()
    compilation = Compilation(name, base, **dataset(algebra.datasetClause))
    asked = _modifiers(algebra.p)
    seed = auxiliary.given(compilation, _known(bindings, algebra)) if bindings else UNIT
    branches = Patterns(compilation, seed=seed).branches(asked.pattern) if asked.pattern is not None else [seed]
    in_scope = sorted({each for branch in branches for each in branch.bound if not each.startswith("~")})
    shown = _shown(form, algebra, asked, in_scope)
    query = _query(form, compilation, asked, branches, shown, f"{name}{AUXILIARY}answer")
    return replace(
        query,
        template=tuple(_template(algebra.template or [])),
        described=tuple(argument_from(each) for each in (algebra.PV or [])) if form == "describe" else (),
    )


def _known(bindings: Mapping[str, Term], algebra: Algebra) -> Mapping[str, Term]:
    """The bindings; an error where the query lacks one of these variables."""
    variables = {str(variable) for variable in mentioned(algebra)}
    for name in bindings:
        if name not in variables:
            raise NotFoundError.among("variable", name, variables)
    return bindings


def _query(
    form: str,
    compilation: Compilation,
    asked: _Modifiers,
    branches: list[Branch],
    shown: tuple[str, ...],
    relation: str,
) -> Query:
    order, extra = _order(compilation, asked.order or [], shown)
    columns = (*shown, *extra)
    # If ORDER BY needs no other columns, DISTINCT makes the answer a set.
    distinct = asked.distinct and not extra
    answer = Atom(relation, tuple(Variable(column) for column in columns))
    padded = [_padded(branch, columns, extra) for branch in branches]
    compilation.conclude(answer.relation, columns, padded, bag=not distinct)
    return Query(form, tuple(compilation.rules), answer, shown, asked.distinct, order, asked.offset, asked.limit)


def cut_query(algebra: Algebra, patterns: Patterns) -> tuple[Atom, Ordering, bool, frozenset[str]]:
    """A subquery with LIMIT or OFFSET, whose rules join those of the query that it stands in.

    Returns its answer, its ordering, whether it is a bag, and the variables that are always bound.
    """
    asked = _modifiers(algebra)
    branches = patterns.branches(asked.pattern)
    shown = asked.shown or ()
    query = _query("select", patterns.compilation, asked, branches, shown, patterns.compilation.relation("inner"))
    always = frozenset(shown).intersection(*(branch.bound for branch in branches))
    return query.answer, query.ordering, not query.is_set, always


def pattern_query(pattern: Algebra, names: tuple[str, ...], compilation: Compilation, *, once: bool) -> Query:
    """A query for certain variables of a pattern; with `once`, each combination of their values counts once."""
    asked = _Modifiers(pattern, names, distinct=once)
    return _query(
        "select",
        compilation,
        asked,
        Patterns(compilation).branches(pattern),
        names,
        f"{compilation.name}{AUXILIARY}answer",
    )


def dataset(clauses: Any) -> dict[str, Any]:
    """FROM and FROM NAMED, or USING and USING NAMED."""
    if not clauses:
        return {}
    default = tuple(argument_from(clause.default) for clause in clauses if clause.default)
    named = tuple(argument_from(clause.named) for clause in clauses if clause.named)
    nowhere = Constant("")  # no graph is named by a string: FROM NAMED alone leaves the default graph empty
    return {"default_graphs": default or (nowhere,), "named_graphs": named}


def _modifiers(algebra: Algebra) -> _Modifiers:
    found = _Modifiers(algebra)
    while (node := found.pattern) is not None:
        if node.name == "Slice":
            found.offset, found.limit = int(node.start or 0), None if node.length is None else int(node.length)
        elif node.name in ("Distinct", "Reduced"):
            found.distinct = found.distinct or node.name == "Distinct"
        elif node.name == "Project" and found.shown is None:
            found.shown = tuple(str(variable) for variable in node.PV)
        elif node.name == "OrderBy":
            found.order = list(node.expr)
        else:
            break
        found.pattern = node.p
    return _with_named_orders(found)


def _with_named_orders(asked: _Modifiers) -> _Modifiers:
    """The same, with a variable for each condition of ORDER BY that contains EXISTS, which only patterns may."""
    from rdflib import Variable as Name
    from rdflib.plugins.sparql.parserutils import CompValue

    for number, condition in enumerate(asked.order or []):
        if any(node.name in EXISTS for node in nodes(condition.expr)):
            name = Name(f"{HIDDEN}order{number}")
            asked.pattern = CompValue("Extend", p=asked.pattern, expr=condition.expr, var=name)
            assert asked.order is not None
            asked.order[number] = CompValue("OrderCondition", expr=name, order=condition.order)
    return asked


def _shown(form: str, algebra: Algebra, asked: _Modifiers, in_scope: list[str]) -> tuple[str, ...]:
    if form == "ask":
        return ()
    if form == "select":
        return asked.shown or ()
    if form == "construct":
        used = {
            argument.name
            for triple in _template(algebra.template or [])
            for argument in triple
            if isinstance(argument, Variable)
        }
        return tuple(name for name in in_scope if name in used)
    return tuple(str(each) for each in algebra.PV if str(each) in in_scope)


def _order(
    compilation: Compilation, conditions: list[Any], shown: tuple[str, ...]
) -> tuple[tuple[Order, ...], dict[str, Expression]]:
    """The conditions of ORDER BY, and by column the expressions among them that are not shown."""
    order, extra = [], {}
    for condition in conditions:
        expression = Translator(_no_exists, compilation).translate(condition.expr)  # see _with_named_orders
        if isinstance(expression, Variable) and expression.name in shown:
            column = expression.name
        else:
            column = compilation.variable()
            extra[column] = expression
        order.append(Order(column, condition.order == "DESC"))
    return tuple(order), extra


def _no_exists(pattern: Algebra, wanted: bool) -> Expression:
    raise AssertionError("EXISTS in ORDER BY has a name by now")


def _padded(branch: Branch, columns: tuple[str, ...], extra: Mapping[str, Expression]) -> Branch:
    """A branch with a value for every column: UNBOUND for variables that it does not bind."""
    missing = []
    for column in columns:
        if column in extra:
            missing.append(Attempt(branch.value(extra[column]), Variable(column)))
        elif column not in branch.bound:
            missing.append(Attempt(FAILS, Variable(column)))
    hidden = {name: f"~hidden~{name}" for name in branch.variables() if name in columns and name not in branch.bound}
    branch = branch.renamed(hidden)
    return replace(branch, computations=(*branch.computations, *missing))


def _template(triples: list[Any]) -> list[Triple]:
    return [(argument_from(triple[0]), argument_from(triple[1]), argument_from(triple[2])) for triple in triples]

"""What is kept of a view: its query, as rules?

A view is a query whose rules stay: they become part of the program, and every update keeps their relations true like
those of any rule. Its answer is a relation, a bag unless the query says DISTINCT. Relations that two views share are
there once (sparql/sharing.py), and go with the last of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from everlog.errors import SparqlError
from everlog.expressions.functions import FUNCTIONS
from everlog.plans.flat_rules import AUXILIARY, EvaluatedRule, FlatRule, is_auxiliary, rule_reads
from everlog.rules.syntax import called_functions
from everlog.sparql.query import Query, compile_query
from everlog.sparql.sharing import shared_names


@dataclass(frozen=True, eq=False)
class ViewQuery:
    """A view by its name, the text of its query, and the rules that this comes to."""

    name: str
    text: str
    query: Query
    since: int  # the version at which it was made
    prefixes: Mapping[str, str]  # those of the knowledge base then, which its text may use

    @property
    def relation(self) -> str:
        """The relation of its answer."""
        return self.query.answer.relation

    @property
    def arity(self) -> int:
        return len(self.query.answer.args)

    @property
    def is_cut(self) -> bool:
        """Is some of the answer relation not shown, so that what comes and goes depends on the rest?"""
        return bool(self.query.order or self.query.limit is not None or self.query.offset) and (
            not self.query.ordering.shows_all
        )


def view_query(name: str, text: str, prefixes: Mapping[str, str], since: int) -> ViewQuery:
    """A view of a query, if one can be kept of it."""
    if AUXILIARY in name or not name:
        raise SparqlError(f"{name!r} is no name for a view", hint=f"use letters and digits, and no {AUXILIARY}")
    query = compile_query(text, name, prefixes=prefixes)
    for reason in _reasons_against(query):
        raise SparqlError(f"the view {name} cannot be kept true: {reason}", hint="ask it as a query instead")
    query = replace(query, rules=tuple(shared_names(query.rules, query.answer.relation)))
    return ViewQuery(name, text, query, since, prefixes)


def _reasons_against(query: Query) -> Iterator[str]:
    if query.form == "describe":
        yield "DESCRIBE follows blank nodes as far as they lead"
    for rule in query.rules:
        for computation in rule.computations if isinstance(rule, FlatRule) else ():
            for function in called_functions(computation.expression):
                if function in FUNCTIONS and not FUNCTIONS[function].deterministic:
                    yield f"{function.upper()}() gives another value each time"


def view_rules(views: Mapping[str, ViewQuery]) -> list[EvaluatedRule]:
    """The rules of all views, each once."""
    return list(dict.fromkeys(rule for view in views.values() for rule in view.query.rules))


def view_arities(views: Mapping[str, ViewQuery]) -> dict[str, int]:
    """The user's relations that views read."""
    return {
        atom.relation: len(atom.args)
        for view in views.values()
        for rule in view.query.rules
        for atom, _ in rule_reads(rule)
        if not is_auxiliary(atom.relation)
    }

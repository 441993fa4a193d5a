"""Which kinds of terms can be in a column?

The kind of a term is in its id (ids.py), so a set of kinds is a few bits. Facts that come in are looked at once. What
rules conclude follows from what they read, without another look at the data: a variable can only have kinds that every
column it is read from has. So it is known before a round whether a comparison may meet terms that ids cannot compare.

>>> may_need_terms("!=", only(STRING), only(STRING)), may_need_terms("<", only(STRING), only(STRING))
(False, True)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from pyspark.sql import Column
from pyspark.sql import functions as f

from everlog.dictionary.dictionary import Ids
from everlog.engines.spark.ids import INTEGER, OTHER, STRING, id_of_key
from everlog.facts.terms import key_of
from everlog.plans.flat_rules import EvaluatedRule, FlatRule, GroupRule, WindowRule, rule_reads
from everlog.rules.syntax import Argument, Call, Constant, Expression, Variable, expression_variables

Kinds = int  # a bit for each kind
NONE, ANY = 0, 0xFF
ORDERS = ("<", "<=", ">", ">=")


def only(kind: int) -> Kinds:
    return 1 << kind


def kinds_of_ids(ids: Ids) -> Kinds:
    return int(np.bitwise_or.reduce(1 << (ids & 7), initial=NONE))


def kinds_column(name: str) -> Column:
    """The aggregate that finds the kinds of a column; null where there are no rows."""
    kind = f.col(name).bitwiseAND(f.lit(7)).cast("int")
    return f.bit_or(f.call_function("shiftleft", f.lit(1), kind))  # f.shiftleft takes a number only


def kinds_of_argument(argument: Argument, known: Mapping[str, Kinds]) -> Kinds:
    if isinstance(argument, Constant):
        return only(id_of_key(key_of(argument.term)) & 7)
    return known.get(argument.name, ANY)


def may_need_terms(comparison: str, left: Kinds, right: Kinds) -> bool:
    """Can a comparison meet two terms whose ids do not say how they compare?"""
    if (left | right) & only(OTHER):
        return True
    return comparison in ORDERS and bool(left & right & only(STRING))


def flowing_kinds(
    rules: Sequence[EvaluatedRule], given: Mapping[str, tuple[Kinds, ...]]
) -> dict[str, tuple[Kinds, ...]]:
    """The kinds that each relation's columns can have, followed from the given facts through the rules."""
    found = dict(given)
    for rule in rules:
        for atom in (*rule.heads, *(atom for atom, _ in rule_reads(rule))):
            found.setdefault(atom.relation, (NONE,) * len(atom.args))
    changed = True
    while changed:
        changed = False
        for rule in rules:
            known = variable_kinds(rule, found)
            for head in rule.heads:
                before = found[head.relation]
                now = tuple(kinds | kinds_of_argument(arg, known) for kinds, arg in zip(before, head.args, strict=True))
                if now != before:
                    found[head.relation], changed = now, True
    return found


def variable_kinds(rule: EvaluatedRule, kinds: Mapping[str, tuple[Kinds, ...]]) -> dict[str, Kinds]:
    """The kinds that a rule's variables can have; those that are computed can have any."""
    atoms = rule.atoms if isinstance(rule, FlatRule) else (rule.source,)
    known: dict[str, Kinds] = {}
    for atom in atoms:
        for arg, possible in zip(atom.args, kinds[atom.relation], strict=True):
            if isinstance(arg, Variable):
                known[arg.name] = known.get(arg.name, ANY) & possible
    return known


def needed_terms(rules: Sequence[EvaluatedRule], kinds: Mapping[str, tuple[Kinds, ...]]) -> Kinds:
    """The kinds of terms that evaluating these rules may have to look at, beyond what their ids say."""
    needed = NONE
    for rule in rules:
        known = variable_kinds(rule, kinds)
        if isinstance(rule, GroupRule):
            for function in rule.functions:
                plain = function.column is None or (function.function == "COUNT" and not function.distinct)
                needed |= NONE if plain else kinds[rule.source.relation][function.column or 0]
        elif isinstance(rule, WindowRule):
            return ANY & ~only(INTEGER)
        else:
            for computation in rule.computations:
                needed |= _terms_of(computation.expression, known)
            needed |= needed_terms([refuted.body for refuted in rule.refuted], _AnyKinds())
    return needed & ~only(INTEGER)


class _AnyKinds(dict[str, tuple[Kinds, ...]]):
    def __missing__(self, relation: str) -> tuple[Kinds, ...]:
        return (ANY,) * 64


def _terms_of(expression: Expression, known: Mapping[str, Kinds]) -> Kinds:
    kinds = NONE
    for variable in expression_variables(expression):
        kinds |= known.get(variable.name, ANY)
    if isinstance(expression, Variable):
        return NONE  # BIND of a variable copies an id
    if isinstance(expression, Call) and all(isinstance(arg, Argument) for arg in expression.args):
        if expression.function in ("=", "!="):
            return kinds & only(OTHER)
        if expression.function in ORDERS:
            return kinds & (only(OTHER) | only(STRING))
    return kinds

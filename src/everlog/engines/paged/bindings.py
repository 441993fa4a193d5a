"""How is a step of a plan taken for all bindings at once?

Bindings are columns: an array of ids for each variable. A step turns them into more, fewer or longer ones, and what it
reads it reads with one look-up for the distinct keys of all bindings. Beside the variables some things are carried
along: the largest rank in the instance, the rank and the row of its seed, the binding it came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.engines.paged.relation import Found, PagedRelation
from everlog.engines.paged.relation_runs import Glimpse
from everlog.engines.paged.stored_facts import distinct
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import Term
from everlog.plans.delta_variants import Variant, seeded_variant
from everlog.plans.expressions import compile_expression, holds, is_deterministic
from everlog.plans.flat_rules import Refuted
from everlog.plans.labels import Condition, Label
from everlog.plans.operators import Compute, Conclude, Plan, Read, Refute, Select, Shorter, Step, Without
from everlog.plans.sweeps import Ranks, SweepVariant
from everlog.rules.syntax import Argument, Atom, Constant, Expression, expression_variables

Array = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]


class Carried(Enum):
    """What goes along with a binding."""

    LARGEST = "the largest rank of the facts read so far"
    SEED_RANK = "the rank of the fact that the instance began with"
    SEED = "the row of that fact"
    ORIGIN = "the number of the binding that this one came from"


@dataclass
class Bindings:
    """Columns of equal length."""

    count: int
    columns: dict[str | Carried, Array] = field(default_factory=dict)

    def chosen(self, which: Array) -> Bindings:
        """Some of the bindings, by their numbers or by a mask; one may be there several times."""
        columns = {name: column[which] for name, column in self.columns.items()}
        return Bindings(int(which.sum()) if which.dtype == bool else len(which), columns)


class Instances(NamedTuple):
    """Which instances of a variant are wanted, and what is to be known of them."""

    ranks: Ranks
    own: Mapping[int, bool]  # by the number of the step: may it read facts of the component, which have ranks?
    heads: Sequence[Atom]
    enough: int  # a seed with this bit needs no more
    glimpse: Glimpse | None  # whether a few will do


class Facts(Protocol):
    """What evaluation asks an engine for."""

    dictionary: Dictionary

    def relation(self, name: str) -> PagedRelation: ...

    def rows_in_round(self, name: str, label: Label) -> Rows | None:
        """The rows of a label that belongs to the round (FRONTIER, NEW, OLD's complement), None for any other."""

    def plan_of(self, variant: Variant | SweepVariant) -> Plan: ...


class Evaluation:
    """Plans over the facts of an engine."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._ids: dict[str, int] = {}
        self._seeded: dict[int, tuple[Refuted, Variant]] = {}
        self.made = 0  # bindings, by all steps

    def run(self, steps: Sequence[Step], bindings: Bindings, wanted: Instances | None = None) -> Bindings:
        """The bindings for which all steps hold."""
        for number, step in enumerate(steps):
            if not bindings.count:
                return bindings
            match step:
                case Read():
                    bindings = self._read(step, bindings, wanted, number)
                case Without():
                    bindings = self._without(step, bindings)
                case Refute():
                    bindings = self._refute(step.refuted, bindings)
                case Select():
                    bindings = bindings.chosen(self._passing(step.expression, bindings))
                case Compute():
                    bindings = self._compute(step, bindings)
                case Shorter() | Conclude():
                    pass
            self.made += bindings.count
        return bindings

    def constant(self, arg: Constant) -> int:
        """The id of a constant."""
        id_ = self._ids.get(arg.key)
        if id_ is None:
            id_ = self._ids[arg.key] = self._facts.dictionary.encode(arg.term)
        return id_

    def column(self, arg: Argument, bindings: Bindings) -> Ids:
        """The ids that an argument stands for."""
        if isinstance(arg, Constant):
            return np.full(bindings.count, self.constant(arg), self._facts.dictionary.dtype)
        return bindings.columns[arg.name]

    def fact_columns(self, atom: Atom, bindings: Bindings) -> list[Ids]:
        """The fact that an atom stands for, for each binding."""
        if not atom.args:
            return [np.zeros(bindings.count, self._facts.dictionary.dtype)]
        return [self.column(arg, bindings) for arg in atom.args]

    # --- reading ------------------------------------------------------------------------------------------------------

    def _read(self, step: Read, bindings: Bindings, wanted: Instances | None, number: int) -> Bindings:
        relation = self._facts.relation(step.atom.relation)
        which, found = self._found(relation, step, bindings, None if wanted is None else wanted.glimpse)
        for one, other in step.same:
            same = found.columns[one] == found.columns[other]
            which, found = which[same], found.chosen(same)
        if not len(which):
            return Bindings(0)
        longer = bindings.chosen(which)
        for column, name in step.binds:
            longer.columns[name] = found.columns[column]
        return longer if wanted is None else self._ranked(longer, found, relation, wanted, number)

    def _found(
        self, relation: PagedRelation, step: Read, bindings: Bindings, glimpse: Glimpse | None
    ) -> tuple[Rows, Found]:
        """The facts that match, each with the number of its binding."""
        condition = step.label.condition
        rows = self._facts.rows_in_round(step.atom.relation, step.label)
        among = relation.journal if rows is None and _only_touched(condition) else rows
        if among is not None and step.label is not Label.OLD and (bindings.count == 1 or _is_fixed(step)):
            return self._among(relation, among, step, bindings, condition)
        which, found = self._by_key(relation, step, bindings, condition, glimpse)
        if rows is not None:
            right = np.isin(found.rows, rows, invert=step.label is Label.OLD)
            which, found = which[right], found.chosen(right)
        return which, found

    def _among(
        self, relation: PagedRelation, rows: Rows, step: Read, bindings: Bindings, condition: Condition
    ) -> tuple[Rows, Found]:
        """The same where only these rows come into question."""
        found = relation.of_rows(rows)
        holds_ = (found.masks & condition.care) == condition.want
        variables = [(column, arg) for column, arg in step.key if not isinstance(arg, Constant)]
        for column, arg in step.key:
            if isinstance(arg, Constant):
                holds_ &= found.columns[column] == self.constant(arg)
        found = found.chosen(holds_)
        which = np.repeat(np.arange(bindings.count), found.size)
        found = found.chosen(np.tile(np.arange(found.size), bindings.count)) if bindings.count > 1 else found
        for column, arg in variables:
            same = found.columns[column] == self.column(arg, bindings)[which]
            which, found = which[same], found.chosen(same)
        return which, found

    def _by_key(
        self, relation: PagedRelation, step: Read, bindings: Bindings, condition: Condition, glimpse: Glimpse | None
    ) -> tuple[Rows, Found]:
        if not step.key and step.atom.args:
            found = relation.scan(condition)
            which = np.repeat(np.arange(bindings.count), found.size)
            return which, found.chosen(np.tile(np.arange(found.size), bindings.count))
        columns = tuple(column for column, _ in step.key) or (0,)
        if _is_fixed(step):
            one = Bindings(1)
            keys = self.fact_columns(Atom("", tuple(arg for _, arg in step.key)), one)
            _, found = relation.read(columns, keys, condition)
            which = np.repeat(np.arange(bindings.count), found.size)
            return which, found.chosen(np.tile(np.arange(found.size), bindings.count)) if bindings.count > 1 else found
        keys = [self.column(arg, bindings) for _, arg in step.key]
        first, inverse = distinct(keys)
        of_key, found = relation.read(columns, [key[first] for key in keys], condition, glimpse)
        order = np.argsort(of_key, kind="stable")
        counts = np.bincount(of_key, minlength=len(first))
        starts = np.cumsum(counts) - counts
        each = counts[inverse]
        which = np.repeat(np.arange(bindings.count), each)
        places = np.arange(len(which)) + np.repeat(starts[inverse] - (np.cumsum(each) - each), each)
        return which, found.chosen(order[places])

    def _ranked(
        self, bindings: Bindings, found: Found, relation: PagedRelation, wanted: Instances, number: int
    ) -> Bindings:
        """Bring the ranks up to date after a step that has read; the first one reads the seed, if there is one."""
        carried = bindings.columns
        if Carried.SEED not in carried:
            carried[Carried.SEED] = found.rows
            if wanted.enough:
                open_ = (found.masks & wanted.enough) == 0
                if not open_.all():
                    bindings, found = bindings.chosen(open_), found.chosen(open_)
                    carried = bindings.columns
        if wanted.ranks is Ranks.IGNORED:
            return bindings
        ranks = np.full(bindings.count, -1, np.int64)
        if wanted.own[number]:
            mine = relation.matches(wanted.heads, found.columns, self.constant)
            ranks[mine] = found.ranks[mine]
        if wanted.ranks is Ranks.BELOW_SEED:
            if Carried.SEED_RANK not in carried:
                carried[Carried.SEED_RANK] = ranks
                carried[Carried.LARGEST] = np.full(bindings.count, -1, np.int64)
                return bindings.chosen(ranks >= 0)
            below = ranks < carried[Carried.SEED_RANK]
            carried[Carried.LARGEST] = np.maximum(carried[Carried.LARGEST], ranks)
            return bindings if below.all() else bindings.chosen(below)
        largest = carried.get(Carried.LARGEST)
        carried[Carried.LARGEST] = ranks if largest is None else np.maximum(largest, ranks)
        return bindings

    # --- keeping and computing ----------------------------------------------------------------------------------------

    def _without(self, step: Without, bindings: Bindings) -> Bindings:
        columns = self.fact_columns(step.atom, bindings)
        first, inverse = distinct(columns)
        found = self._facts.relation(step.atom.relation).look_up([column[first] for column in columns])
        condition = step.label.condition
        passes = (found.masks & condition.care) == condition.want
        return bindings.chosen(passes[inverse])

    def _refute(self, refuted: Refuted, bindings: Bindings) -> Bindings:
        """Evaluate the body once for the distinct bindings of what it knows from outside."""
        names = [variable.name for variable in refuted.outer]
        columns = [bindings.columns[name] for name in names]
        if columns:
            first, inverse = distinct(columns)
        else:
            first, inverse = np.zeros(1, np.int64), np.zeros(bindings.count, np.int64)
        inner = Bindings(len(first), {name: column[first] for name, column in zip(names, columns, strict=True)})
        inner.columns[Carried.ORIGIN] = np.arange(len(first))
        known = self._seeded.get(id(refuted))
        if known is None:
            known = self._seeded[id(refuted)] = refuted, seeded_variant(refuted.body)
        plan = self._facts.plan_of(known[1])
        first_read = next(number for number, step in enumerate(plan.steps) if isinstance(step, Read))
        steps = [*plan.steps[:first_read], *plan.steps[first_read + 1 :]]  # the first reads the seed
        hit = self.run(steps, inner)
        passes = np.ones(len(first), bool)
        if hit.count:
            passes[hit.columns[Carried.ORIGIN]] = False
        return bindings.chosen(passes[inverse])

    def _inputs(self, expression: Expression, bindings: Bindings) -> tuple[list[str], list[list[Term | None]], Array]:
        """The variables of an expression, their distinct terms, and for each binding which of those it has."""
        names = sorted({variable.name for variable in expression_variables(expression)})
        if not is_deterministic(expression):
            every = [[self.term(id_) for id_ in bindings.columns[name].tolist()] for name in names]
            rows = [list(row) for row in zip(*every, strict=True)] if names else [[]] * bindings.count
            return names, rows, np.arange(bindings.count)
        if not names:
            return names, [[]], np.zeros(bindings.count, np.int64)
        columns = [bindings.columns[name] for name in names]
        first, inverse = distinct(columns)
        terms = [[self.term(id_) for id_ in column[first].tolist()] for column in columns]
        return names, [list(row) for row in zip(*terms, strict=True)], inverse

    def _passing(self, expression: Expression, bindings: Bindings) -> Array:
        names, rows, inverse = self._inputs(expression, bindings)
        compiled = compile_expression(expression, names)
        return np.array([holds(compiled, row) for row in rows], bool)[inverse]

    def _compute(self, step: Compute, bindings: Bindings) -> Bindings:
        names, rows, inverse = self._inputs(step.expression, bindings)
        compiled, dictionary = compile_expression(step.expression, names), self._facts.dictionary
        values, fails = np.full(len(rows), dictionary.unbound, dictionary.dtype), np.zeros(len(rows), bool)
        for place, row in enumerate(rows):
            try:
                values[place] = dictionary.encode(compiled(row))
            except ExpressionError:
                fails[place] = not step.attempt
        longer = Bindings(bindings.count, {**bindings.columns, step.variable: values[inverse]})
        return longer.chosen(~fails[inverse]) if fails.any() else longer

    def term(self, id_: int) -> Term | None:
        """The term of an id, None where an expression failed."""
        dictionary = self._facts.dictionary
        return None if id_ == dictionary.unbound else dictionary.decode(id_)


def _only_touched(condition: Condition) -> bool:
    """Does a condition hold of facts alone that the update has touched?"""
    return bool(condition.want)


def _is_fixed(step: Read) -> bool:
    """Does a step read the same for every binding?"""
    return all(isinstance(arg, Constant) for _, arg in step.key)

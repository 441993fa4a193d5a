"""What is a program? The tree that the parser builds and everything else reads.

Nodes are frozen and compare by content: where they stood in the text (`span`) does not count. Triple notation is gone
here: `[?x, :p, ?y]` and `:p[?x, ?y]` are atoms of the relation ``triple`` with three arguments, `:C[?x]` is a `triple`
whose predicate is `rdf:type`. So are expressions as arguments: `fib(?n - 1, ?y)` is the two literals
`BIND(?n - 1 AS ?_v1), fib(?_v1, ?y)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from everlog.facts.terms import Term, key_of
from everlog.rules.diagnostics import Span
from everlog.rules.hashing import hashed_once

TRIPLE = "triple"  # subject, predicate, object
QUAD = "quad"  # subject, predicate, object, graph
COMPUTED_PREFIX = "_v"  # of variables that take the place of expressions as arguments: `_v1`, `_v2`, … in each rule


def _span() -> Span | None:
    return field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Variable:
    """`?x`, or a capital `X`. `_` is read as a variable of its own: `_1`, `_2`, … in each rule."""

    name: str
    span: Span | None = _span()

    @property
    def anonymous(self) -> bool:
        return self.name.startswith("_")

    @property
    def computed(self) -> bool:
        """Does it take the place of an expression as an argument?"""
        return self.name.startswith(COMPUTED_PREFIX) and self.name.removeprefix(COMPUTED_PREFIX).isdigit()


@dataclass(frozen=True, eq=False)
class Constant:
    """A term in a rule. Equal when the terms are the same term: 1 and 1.0 are two."""

    term: Term
    span: Span | None = _span()
    key: str = field(init=False, repr=False)  # made once: constants are compared and hashed more than anything else

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", key_of(self.term))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


Argument = Variable | Constant


@hashed_once
@dataclass(frozen=True)
class Atom:
    """`edge(?x, b)`: a relation applied to arguments."""

    relation: str
    args: tuple[Argument, ...]
    span: Span | None = _span()

    def variables(self) -> Iterator[Variable]:
        return (arg for arg in self.args if isinstance(arg, Variable))


@dataclass(frozen=True)
class Call:
    """A function or operator applied to expressions: `abs`, `+`, `<`, `&&`, `!`, `in`, …"""

    function: str
    args: tuple[Expression, ...]
    span: Span | None = _span()


Expression = Variable | Constant | Call


@dataclass(frozen=True)
class Filter:
    """`FILTER(?d > 5)`, or the bare comparison `?d > 5`."""

    expression: Expression
    span: Span | None = _span()


@dataclass(frozen=True)
class Bind:
    """`BIND(abs(?p - ?q) AS ?d)`: an equation. Where something else binds the variable, both must be the same term."""

    expression: Expression
    variable: Variable
    span: Span | None = _span()


@dataclass(frozen=True)
class Negation:
    """`NOT a`, or `NOT EXISTS ?y IN (a, b)`; variables that stand nowhere else in the rule are read as "no such"."""

    body: tuple[Literal, ...]
    exists: tuple[Variable, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True)
class AggregateBinding:
    """`COUNT(DISTINCT ?y) AS ?n`; the argument is None in `COUNT(*)`. The function is one of AGGREGATES."""

    function: str
    argument: Expression | None
    variable: Variable
    distinct: bool = False
    span: Span | None = _span()


AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX", "MEDIAN", "SAMPLE")


@dataclass(frozen=True)
class Aggregate:
    """`AGGREGATE(body ON ?x BIND COUNT(?y) AS ?n)`; no ON means one group of everything."""

    body: tuple[Literal, ...]
    group: tuple[Variable, ...]
    bindings: tuple[AggregateBinding, ...]
    span: Span | None = _span()


Literal = Atom | Negation | Filter | Bind | Aggregate


@hashed_once
@dataclass(frozen=True)
class Rule:
    """`name: heads :- body.` The name may be made up later (names.py). Constraints are rules too (constraints.py)."""

    heads: tuple[Atom, ...]
    body: tuple[Literal, ...]
    name: str | None = None
    span: Span | None = _span()


@dataclass(frozen=True)
class Import:
    """`@import depends "deps.tsv.gz" nulls skip (string, integer) .`; RDF files need neither relation nor types."""

    path: str
    relation: str | None = None
    types: tuple[str, ...] | None = None
    header: bool = False
    nulls: str | None = None  # what becomes of rows without a value: refuse, skip, empty
    span: Span | None = _span()


@dataclass(frozen=True)
class Export:
    """`@export path "out.csv" .`, or `@export path .` for the default name and format."""

    relation: str
    path: str | None = None
    span: Span | None = _span()


@dataclass(frozen=True)
class Declaration:
    """`@relation employee(name, boss, salary integer) .`: what the columns of a relation are called, and their types.

    A type says how text becomes a value of the column; None leaves that to the text.
    """

    relation: str
    columns: tuple[str, ...]
    types: tuple[str | None, ...]
    span: Span | None = _span()


@dataclass(frozen=True)
class Program:
    """What a rule file says."""

    rules: tuple[Rule, ...] = ()
    facts: tuple[Atom, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict)
    imports: tuple[Import, ...] = ()
    exports: tuple[Export, ...] = ()
    declarations: tuple[Declaration, ...] = ()


def expression_variables(expression: Expression | None) -> Iterator[Variable]:
    """Every variable of an expression, left to right, repeated ones too."""
    waiting = [expression]  # not recursive: what the parser asks about may be deeper than checks allow later
    while waiting:
        node = waiting.pop()
        if isinstance(node, Variable):
            yield node
        elif isinstance(node, Call):
            waiting.extend(reversed(node.args))


def called_functions(expression: Expression) -> Iterator[str]:
    """The name of every function that an expression calls."""
    if isinstance(expression, Call):
        yield expression.function
        for arg in expression.args:
            yield from called_functions(arg)


def literal_variables(literal: Literal) -> Iterator[Variable]:
    """Every variable that a body literal shows to the rule around it.

    The variables inside NOT and AGGREGATE that stand nowhere else are local to them; what counts as local is decided
    by who asks (see checks.py and plans/flat_rules.py), so NOT yields all of its variables and AGGREGATE its group
    and results.
    """
    match literal:
        case Atom():
            yield from literal.variables()
        case Filter():
            yield from expression_variables(literal.expression)
        case Bind():
            yield from expression_variables(literal.expression)
            yield literal.variable
        case Negation():
            local = {variable.name for variable in literal.exists}
            for inner in literal.body:
                yield from (variable for variable in literal_variables(inner) if variable.name not in local)
        case Aggregate():
            yield from literal.group
            yield from (binding.variable for binding in literal.bindings)

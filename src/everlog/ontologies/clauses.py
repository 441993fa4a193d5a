"""What follows from an axiom, as Horn clauses over triples?

`left` reads a class expression as a condition: each of its bodies is one way to be in the class. `right` reads one as
a conclusion. An axiom `C ⊑ D` is the clauses of D for each body of C. What cannot be said by a clause (that something
exists without a name, that one of several things is so) is left out and told: all the rest holds without it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from everlog.facts.terms import IRI, RDF_TYPE, term_of
from everlog.ontologies.expressions import (
    AllOf,
    AnyOf,
    AtLeast,
    AtMost,
    Datatype,
    Empty,
    Everything,
    Expression,
    Itself,
    Named,
    Not,
    OneOf,
    Only,
    Property,
    Some,
    Value,
)
from everlog.ontologies.graph import Key
from everlog.ontologies.vocabulary import LITERAL, SAME_AS
from everlog.rules.syntax import TRIPLE, Argument, Atom, Call, Constant, Filter, Literal, Variable

_TYPE, _SAME_AS = Constant(IRI(RDF_TYPE)), Constant(term_of(SAME_AS))
X = Variable("x")


class Unusable(Exception):
    """A part of an axiom that no clause can say; the text says why."""


@dataclass(frozen=True)
class Clause:
    """If the body holds, so does the head; without a head, the body is a contradiction."""

    head: Atom | None
    body: tuple[Literal, ...]


@dataclass(frozen=True)
class Body:
    """What has to hold, and which variables are things by name."""

    literals: tuple[Literal, ...] = ()
    fixed: tuple[tuple[Variable, Constant], ...] = ()

    def __add__(self, other: Body) -> Body:
        return Body(self.literals + other.literals, self.fixed + other.fixed)


class Variables:
    """New variables: y1, y2, …"""

    def __init__(self) -> None:
        self._made = 0

    def new(self) -> Variable:
        self._made += 1
        return Variable(f"y{self._made}")


def constant(key: Key) -> Constant:
    return Constant(term_of(key))


def typed(thing: Argument, class_: Key) -> Atom:
    """`thing a class`."""
    return Atom(TRIPLE, (thing, _TYPE, constant(class_)))


def linked(property_: Property, start: Argument, end: Argument) -> Atom:
    """`start property end`, or the other way round."""
    if property_.inverse:
        start, end = end, start
    return Atom(TRIPLE, (start, constant(property_.key), end))


def same(one: Argument, other: Argument) -> Atom:
    return Atom(TRIPLE, (one, _SAME_AS, other))


def is_literal(variable: Variable) -> Call:
    return Call("isliteral", (variable,))


def no_literal(variable: Variable) -> Filter:
    return Filter(Call("!", (is_literal(variable),)))


def two_terms(one: Variable, other: Variable) -> Filter:
    return Filter(Call("!", (Call("sameterm", (one, other)),)))


# --- conditions -------------------------------------------------------------------------------------------------------


def left(expression: Expression, thing: Variable, new: Variables) -> list[Body]:
    """The ways to be in a class.

    Raises:
        Unusable: whether something is in it cannot be told from triples that are there.
    """
    match expression:
        case Named(key):
            return [Body((typed(thing, key),))]
        case Everything():
            return [Body()]
        case Empty():
            return []
        case AllOf(of):
            found = [Body()]
            for each in of:
                found = [before + after for before in found for after in left(each, thing, new)]
            return found
        case AnyOf(of):
            return [body for each in of for body in left(each, thing, new)]
        case OneOf(members):
            return [Body((), ((thing, constant(member)),)) for member in members]
        case Some(on, of) | AtLeast(1, on, of):
            end = new.new()
            step = Body((linked(on, thing, end),))
            return [step + body for body in left(of, end, new)]
        case Value(on, value):
            return [Body((linked(on, thing, constant(value)),))]
        case Itself(on):
            return [Body((linked(on, thing, thing),))]
        case AtLeast(0, _, _):
            return [Body()]
        case Datatype(key):
            return [Body((_of_datatype(key, thing),))]
        case Only():
            raise Unusable("all values of a property are never known")
        case Not():
            raise Unusable("what something is not is never known")
        case _:
            raise Unusable("how many there are is never known")


def _of_datatype(key: Key, value: Variable) -> Filter:
    if key == LITERAL:
        return Filter(is_literal(value))
    if not key.startswith("<"):
        raise Unusable("a range of values that is no datatype by name")
    return Filter(Call("&&", (is_literal(value), Call("=", (Call("datatype", (value,)), constant(key))))))


# --- conclusions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Conclusions:
    """Clauses, and what could not be said by any."""

    clauses: tuple[Clause, ...] = ()
    unused: tuple[str, ...] = ()

    def __add__(self, other: Conclusions) -> Conclusions:
        return Conclusions(self.clauses + other.clauses, self.unused + other.unused)


def right(expression: Expression, thing: Variable, body: Body, new: Variables) -> Conclusions:
    """What follows from something being in a class; the body says when it is."""
    match expression:
        case Named(key):
            return concluding(typed(thing, key), body)
        case Everything() | Datatype() | AtLeast(0, _, _):
            return Conclusions()
        case Empty():
            return contradiction(body)
        case AllOf(of):
            found = Conclusions()
            for each in of:
                found += right(each, thing, body, new)
            return found
        case AnyOf(of):
            return _one_of_several(of, thing, body, new)
        case Not(of):
            return _impossible(of, thing, body, new)
        case OneOf((only,)):
            return concluding(same(thing, constant(only)), body)
        case Value(on, value) | Some(on, OneOf((value,))):
            return concluding(linked(on, thing, constant(value)), body)
        case Itself(on):
            return concluding(linked(on, thing, thing), body)
        case Only(on, of):
            end = new.new()
            return right(of, end, body + Body((linked(on, thing, end),)), new)
        case AtMost(0, on, of):
            return _impossible(Some(on, of), thing, body, new)
        case AtMost(1, on, of):
            return _at_most_one(on, of, thing, body, new)
        case OneOf():
            return Conclusions(unused=("one of several things, and none says which",))
        case AtMost():
            return Conclusions(unused=("at most so many things, where more than one is left open",))
        case Some() | AtLeast():
            return Conclusions(unused=("something exists that has no name",))


def _one_of_several(of: tuple[Expression, ...], thing: Variable, body: Body, new: Variables) -> Conclusions:
    """`C ⊔ ¬D` follows from a body as C does from the body and D."""
    negated = [each.of for each in of if isinstance(each, Not)]
    others = [each for each in of if not isinstance(each, Not | Empty)]
    if len(others) > 1:
        return Conclusions(unused=("one of several classes, and none says which",))
    try:
        bodies = left(AllOf(tuple(negated)), thing, new)
    except Unusable as error:
        return Conclusions(unused=(str(error),))
    found = Conclusions()
    for each in bodies:
        found += right(others[0] if others else Empty(), thing, body + each, new)
    return found


def _impossible(expression: Expression, thing: Variable, body: Body, new: Variables) -> Conclusions:
    try:
        bodies = left(expression, thing, new)
    except Unusable as error:
        return Conclusions(unused=(str(error),))
    found = Conclusions()
    for each in bodies:
        found += contradiction(body + each)
    return found


def _at_most_one(on: Property, of: Expression, thing: Variable, body: Body, new: Variables) -> Conclusions:
    one, other = new.new(), new.new()
    try:
        ends = [
            Body((linked(on, thing, one),)) + first + Body((linked(on, thing, other),)) + second
            for first in left(of, one, new)
            for second in left(of, other, new)
        ]
    except Unusable as error:
        return Conclusions(unused=(str(error),))
    found = Conclusions()
    for each in ends:
        found += identified(one, other, body + each)
    return found


def identified(one: Variable, other: Variable, body: Body, *, things: bool = False) -> Conclusions:
    """Two are one; if they are values that differ, that is a contradiction. `things`: they can be no values."""
    apart = Body((two_terms(one, other),))
    if things:
        return concluding(same(one, other), body + apart)
    both, differ = Call("&&", (is_literal(one), is_literal(other))), Call("!=", (one, other))
    values = body + Body((Filter(Call("&&", (both, differ))),))
    return concluding(same(one, other), body + apart + Body((no_literal(other),))) + contradiction(values)


def concluding(head: Atom, body: Body) -> Conclusions:
    """The head follows from the body."""
    return _conclusions(head, body)


def contradiction(body: Body) -> Conclusions:
    """The body cannot be."""
    return _conclusions(None, body)


def _conclusions(head: Atom | None, body: Body) -> Conclusions:
    """The clause with names in the place of variables that are things by name; no literal becomes a subject."""
    names: dict[Variable, Constant] = {}
    for variable, value in body.fixed:
        if names.setdefault(variable, value) != value:
            return Conclusions()  # two names at once, which sameAs may make one: nothing follows from this body alone
    literals = tuple(dict.fromkeys(_replaced(literal, names) for literal in body.literals))
    head = None if head is None else _in_place(head, names)
    bound = {variable for literal in literals if isinstance(literal, Atom) for variable in literal.variables()}
    used = set(head.variables()) if head is not None else set()
    if not literals or not used <= bound:
        if not literals and head is not None and not used:
            return Conclusions((Clause(head, ()),))
        return Conclusions(unused=("it speaks of everything there is",))
    if head in literals:
        return Conclusions()
    if head is not None and isinstance(head.args[0], Variable):
        subjects = {literal.args[0] for literal in literals if isinstance(literal, Atom)}
        if head.args[0] not in subjects:
            literals = (*literals, no_literal(head.args[0]))
    return Conclusions((Clause(head, literals),))


def _replaced(literal: Literal, names: dict[Variable, Constant]) -> Literal:
    if not names:
        return literal
    if isinstance(literal, Atom):
        return _in_place(literal, names)
    assert isinstance(literal, Filter)
    return replace(literal, expression=_in_expression(literal.expression, names))


def _in_expression(
    expression: Variable | Constant | Call, names: dict[Variable, Constant]
) -> Variable | Constant | Call:
    if isinstance(expression, Call):
        return replace(expression, args=tuple(_in_expression(each, names) for each in expression.args))
    return names.get(expression, expression) if isinstance(expression, Variable) else expression


def _in_place(atom: Atom, names: dict[Variable, Constant]) -> Atom:
    return replace(atom, args=tuple(names.get(arg, arg) if isinstance(arg, Variable) else arg for arg in atom.args))


def subsumption(sub: Expression, super_: Expression) -> Conclusions:
    """What follows from one class being within another."""
    new = Variables()
    try:
        bodies = left(sub, X, new)
    except Unusable as error:
        return Conclusions(unused=(str(error),))
    found = Conclusions()
    for body in bodies:
        found += right(super_, X, body, new)
    return found

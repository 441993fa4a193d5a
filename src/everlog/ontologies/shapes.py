"""Which clauses say the same of other classes and properties?

A clause with numbers in the place of its classes, properties and things is a *shape*: `?x a $1 :- ?x a $2` is that of
all subclass axioms. As rules go, a shape is one rule over a table of axioms,

    [?x, rdf:type, ?c1] :- axiom_sub_class(_, ?c1, ?c2), [?x, rdf:type, ?c2].

and one row per axiom, after the name of the ontology it is from: an axiom that comes or goes is a fact that does. Or
each axiom is a rule of its own (`compiled`), as the clause says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from everlog.facts.terms import IRI, RDF_TYPE, Term, key_of
from everlog.ontologies.clauses import Clause
from everlog.ontologies.vocabulary import DIFFERENT_FROM, SAME_AS
from everlog.rules.syntax import TRIPLE, Argument, Atom, Call, Constant, Expression, Filter, Literal, Rule, Variable

INCONSISTENCY = "inconsistency"  # what contradicts itself: reason, and subject, predicate and object of a triple of it
TABLE_PREFIX = "axiom_"
SEPARATOR = "--"  # between the name of an ontology or a table and what tells its rules apart

_FIXED = frozenset((key_of(IRI(RDF_TYPE)), SAME_AS, DIFFERENT_FROM))

# Shapes that people know by a name; the others are called by a hash of their text.
_NAMES = {
    "?x a $1 :- ?x a $2": "sub_class",
    "?x a $1 :- ?x a $2, ?x a $3": "intersection",
    "?x a $1 :- ?x $2 ?y1": "domain",
    "?y1 a $1 :- ?x $2 ?y1, !isliteral(?y1)": "range",
    "?x a $1 :- ?x $2 ?y1, ?y1 a $3": "some_values",
    "?y1 a $1 :- ?x a $2, ?x $3 ?y1, !isliteral(?y1)": "all_values",
    "?x a $1 :- ?x $2 $3": "has_value",
    "?x $1 $2 :- ?x a $3": "value",
    "?x $1 ?y :- ?x $2 ?y": "sub_property",
    "?y $1 ?x :- ?x $2 ?y, !isliteral(?y)": "inverse",
    "?y $1 ?x :- ?x $1 ?y, !isliteral(?y)": "symmetric",
    "?x $1 ?z :- ?x $1 ?y, ?y $1 ?z": "transitive",
    "?x $1 ?y2 :- ?x $2 ?y1, ?y1 $3 ?y2": "chain",
    "$1 $2 $3 :- ": "assertion",
    "$1 owl:differentFrom $2 :- ": "different",
    "false :- ?x a $1, ?x a $2": "disjoint_classes",
    "false :- ?x $1 ?y, ?x $2 ?y": "disjoint_properties",
}


@dataclass(frozen=True)
class Shape:
    """A kind of clause: the rule of its table, and the number of places."""

    text: str
    table: str
    places: int
    rule: Rule
    is_recursive: bool  # the head is of the same property as an atom of the body: transitive, symmetric, …

    @property
    def has_body(self) -> bool:
        return len(self.rule.body) > 1


@dataclass(frozen=True)
class ShapedClause:
    """A clause as its shape and what stands in the places."""

    shape: Shape
    values: tuple[Term, ...]
    clause: Clause

    def rule(self, ontology: str) -> Rule:
        """The clause as a rule of its own, named after its ontology and what it says."""
        text = "\n".join((self.shape.text, *map(key_of, self.values)))
        name = f"{ontology}{SEPARATOR}{blake2b(text.encode(), digest_size=6).hexdigest()}"
        return Rule(_heads(self.clause.head, self.clause.body), self.clause.body, name)


def shaped(clause: Clause) -> ShapedClause:
    """The shape of a clause."""
    places: dict[str, int] = {}
    values: list[Term] = []

    def placed(arg: Argument) -> Argument | int:
        if isinstance(arg, Variable) or arg.key in _FIXED:
            return arg
        number = places.get(arg.key)
        if number is None:
            number = places[arg.key] = len(places) + 1
            values.append(arg.term)
        return number

    def pattern(literal: Literal) -> _Pattern:
        if isinstance(literal, Atom):
            return tuple(map(placed, literal.args))
        assert isinstance(literal, Filter)
        return literal

    head = None if clause.head is None else pattern(clause.head)
    body = tuple(map(pattern, clause.body))
    return ShapedClause(_shape(head, body, len(values)), tuple(values), clause)


_Pattern = tuple[Argument | int, ...] | Filter


@lru_cache(maxsize=10_000)
def _shape(head: _Pattern | None, body: tuple[_Pattern, ...], places: int) -> Shape:
    text = ("false" if head is None else _text(head)) + " :- " + ", ".join(map(_text, body))
    name = _NAMES.get(text) or blake2b(text.encode(), digest_size=6).hexdigest()
    table = TABLE_PREFIX + name
    parameters = tuple(Variable(f"c{number}") for number in range(1, places + 1))
    literals = tuple(_literal(each, parameters) for each in body)
    axiom = Atom(table, (Variable("_1"), *parameters))
    concluded = None if head is None else _literal(head, parameters)
    assert not isinstance(concluded, Filter)
    rule = Rule(_heads(concluded, literals), (axiom, *literals), table)  # type: ignore[arg-type]
    return Shape(text, table, places, rule, _is_recursive(head, body))


def _is_recursive(head: _Pattern | None, body: tuple[_Pattern, ...]) -> bool:
    if not isinstance(head, tuple):
        return False
    return any(isinstance(atom, tuple) and isinstance(atom[1], int) and atom[1] == head[1] for atom in body)


def _literal(pattern: _Pattern, parameters: tuple[Variable, ...]) -> Literal:
    if isinstance(pattern, Filter):
        return pattern
    return Atom(TRIPLE, tuple(parameters[arg - 1] if isinstance(arg, int) else arg for arg in pattern))


def _heads(head: Atom | None, body: tuple[Literal, ...]) -> tuple[Atom, ...]:
    """The head, or each triple of a contradiction with the reason why it is one."""
    if head is not None:
        return (head,)
    atoms = [literal for literal in body if isinstance(literal, Atom) and literal.relation == TRIPLE]
    reason = Constant(_reason(atoms))
    return tuple(dict.fromkeys(Atom(INCONSISTENCY, (reason, *atom.args)) for atom in atoms))


def _reason(atoms: list[Atom]) -> str:
    """Why triples contradict each other, in a few words."""
    types = sum(atom.args[1] == Constant(IRI(RDF_TYPE)) for atom in atoms)
    if types == len(atoms):
        return "of classes that are disjoint" if types > 1 else "of a class that nothing is in"
    return "values that contradict each other" if types == 0 else "a value that its class does not allow"


def _text(pattern: _Pattern) -> str:
    if isinstance(pattern, Filter):
        return _expression_text(pattern.expression)
    return " ".join(f"${arg}" if isinstance(arg, int) else _argument_text(arg) for arg in pattern)


def _argument_text(arg: Argument) -> str:
    if isinstance(arg, Variable):
        return f"?{arg.name}"
    return {SAME_AS: "owl:sameAs", DIFFERENT_FROM: "owl:differentFrom"}.get(arg.key, "a")


def _expression_text(expression: Expression) -> str:
    if isinstance(expression, Call):
        if expression.function == "!":
            return "!" + _expression_text(expression.args[0])
        return f"{expression.function}({', '.join(map(_expression_text, expression.args))})"
    return f"?{expression.name}" if isinstance(expression, Variable) else expression.key

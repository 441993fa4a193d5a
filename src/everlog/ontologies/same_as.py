"""What follows from two names being names of one thing?

The rules eq-sym, eq-trans and eq-rep-* of OWL 2 RL, and the contradiction of owl:differentFrom. They are there only
while an ontology concludes owl:sameAs, or says that it is used.
"""

from __future__ import annotations

from everlog.facts.terms import term_of
from everlog.ontologies.shapes import INCONSISTENCY, SEPARATOR, TABLE_PREFIX
from everlog.ontologies.vocabulary import DIFFERENT_FROM, SAME_AS
from everlog.rules.syntax import TRIPLE, Argument, Atom, Call, Constant, Filter, Literal, Rule, Variable

TABLE = TABLE_PREFIX + "same_as"  # one row per ontology that needs these rules

_SAME, _DIFFERENT = Constant(term_of(SAME_AS)), Constant(term_of(DIFFERENT_FROM))
_X, _Y, _Z, _P = (Variable(name) for name in "xyzp")


def _triple(subject: Argument, predicate: Argument, object_: Argument) -> Atom:
    return Atom(TRIPLE, (subject, predicate, object_))


_NO_SAME_AS = Filter(Call("!", (Call("sameterm", (_P, _SAME)),)))
_APART = Filter(Call("!", (Call("sameterm", (_X, _Z)),)))
_ONE = _triple(_X, _SAME, _Y)


def _rule(name: str, head: Atom, *body: Literal) -> Rule:
    return Rule((head,), body, f"{TABLE}{SEPARATOR}{name}")


RULES = (
    _rule("symmetric", _triple(_Y, _SAME, _X), _ONE),
    _rule("transitive", _triple(_X, _SAME, _Z), _ONE, _triple(_Y, _SAME, _Z), _APART),
    _rule(
        "subject", _triple(_Y, _P, _Z), _ONE, _triple(_X, _P, _Z), Filter(Call("!", (Call("sameterm", (_P, _SAME)),)))
    ),
    _rule("predicate", _triple(_Z, _Y, _P), _ONE, _triple(_Z, _X, _P)),
    _rule(
        "object", _triple(_Z, _P, _Y), _ONE, _triple(_Z, _P, _X), Filter(Call("!", (Call("sameterm", (_P, _SAME)),)))
    ),
    Rule(
        tuple(
            Atom(INCONSISTENCY, (Constant("the same, and different"), _X, predicate, _Y))
            for predicate in (_SAME, _DIFFERENT)
        ),
        (_ONE, _triple(_X, _DIFFERENT, _Y)),
        f"{TABLE}{SEPARATOR}different",
    ),
)

"""To which set of facts does an atom refer, and what is that set called?

For a plain relation it is the whole relation. All triples are in one relation, but people think of a class or a
property as one: the extent of `[?x, a, :Person]` is all persons, that of `[?x, :knows, :ann]` all of `:knows`.
"""

from __future__ import annotations

from collections.abc import Mapping

from everlog.facts.terms import IRI, RDF_TYPE
from everlog.rules.constraints import constraint_name, is_constraint_relation
from everlog.rules.printer import print_term
from everlog.rules.syntax import TRIPLE, Argument, Atom, Constant, Variable

_TYPE = Constant(IRI(RDF_TYPE))


def extent(atom: Atom) -> Atom:
    """An atom that matches exactly those facts; equal for atoms with the same extent.

    >>> extent(Atom("edge", (Constant("a"), Variable("y"))))
    Atom(relation='edge', args=(Variable(name='1'), Variable(name='2')))
    """
    args: list[Argument] = [Variable(str(place)) for place in range(1, len(atom.args) + 1)]
    if _has_predicate(atom):
        args[1] = atom.args[1]
        if atom.args[1] == _TYPE and isinstance(atom.args[2], Constant):
            args[2] = atom.args[2]
    return Atom(atom.relation, tuple(args))


def print_extent(atom: Atom, prefixes: Mapping[str, str] | None = None) -> str:
    """The name of an extent: the relation; for triples the predicate, or the class in the case of rdf:type."""
    if is_constraint_relation(atom.relation):
        return f"constraint {constraint_name(atom.relation)}"
    if not _has_predicate(atom):
        return atom.relation
    predicate, thing = atom.args[1:]
    named = thing if predicate == _TYPE and isinstance(thing, Constant) else predicate
    assert isinstance(named, Constant)
    return print_term(named.term, prefixes)


def _has_predicate(atom: Atom) -> bool:
    return atom.relation == TRIPLE and len(atom.args) == 3 and isinstance(atom.args[1], Constant)

"""Which relations do rules read that nothing puts facts into? Often they are misspelled.

To be known takes a fact, a rule that concludes it, or a declaration (`@import`). Rules may come before the first facts
do, and then most of what they read is unknown: until there are facts, only names that are nearly another's count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches

from everlog.rules.dependencies import body_atoms
from everlog.rules.diagnostics import Diagnostic
from everlog.rules.syntax import Atom, Rule

CODE = "W301"
_NEAR = 0.7  # the similarity of `egde` and `edge` is 0.75


def unknown_relations(rules: Iterable[Rule], known: Collection[str], *, only_near: bool = False) -> list[Diagnostic]:
    """A warning for each relation that these rules read and that is not known.

    >>> from everlog.rules.parser import parse_program
    >>> [problem.help for problem in unknown_relations(parse_program("p(X) :- egde(X, _).").rules, {"edge", "p"})]
    ['did you mean edge?']
    """
    found: dict[str, Diagnostic] = {}
    for rule in rules:
        for atom, _ in body_atoms(rule):
            if atom.relation in known or atom.relation in found:
                continue
            near = nearest(atom.relation, known)
            if near or not only_near:
                found[atom.relation] = unknown_relation(atom, near)
    return list(found.values())


def unknown_relation(atom: Atom, near: str | None) -> Diagnostic:
    return Diagnostic(
        CODE,
        f"no fact, rule or declaration knows the relation {atom.relation}",
        atom.span,
        help=f"did you mean {near}?" if near else "insert its facts, or conclude it by a rule",
        level="warning",
    )


def nearest(name: str, known: Collection[str]) -> str | None:
    """The known name that this one may be a misspelling of; `p1` is none of `p2`."""
    candidates = sorted(other for other in _told_apart(name, known) if "~" not in other)
    close = get_close_matches(name, candidates, n=1, cutoff=_NEAR)
    return close[0] if close else None


def _told_apart(name: str, known: Collection[str]) -> Iterator[str]:
    letters = name.rstrip("0123456789_")
    return (other for other in known if other.rstrip("0123456789_") != letters)

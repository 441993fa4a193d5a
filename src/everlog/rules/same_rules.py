"""Which rules of a text are there already, and which have to come and go for a program to be what a text says?

A rule without a name is one that is there in the same words, whatever that one is called; words are the same up to the
names of variables (renaming.py). A rule with a name is one that is there in the same words and under that name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from everlog.rules.renaming import renamed
from everlog.rules.syntax import Atom, Constant, Rule


@dataclass(frozen=True)
class RuleDifference:
    """The rules to add, and the names of those to remove."""

    added: tuple[Rule, ...]
    removed: tuple[str, ...]


def new_rules(adding: Iterable[Rule], known: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules that are not there already, each once.

    >>> from everlog.rules.parser import parse_program
    >>> there = parse_program("r1: p(X) :- q(X).").rules
    >>> [rule.name for rule in new_rules(parse_program("p(?x) :- q(?x).  r2: p(X) :- q(X).").rules, there)]
    ['r2']
    """
    index = _Index(known)
    found = []
    for rule in adding:
        if not index.same_as(rule):
            found.append(rule)
            index.add(rule)
    return tuple(found)


def rule_difference(wanted: Sequence[Rule], there: Sequence[Rule]) -> RuleDifference:
    """What has to change for the rules that are there, all named, to be those wanted."""
    index = _Index(there)
    staying: set[str | None] = set()
    added = []
    for rule in new_rules(wanted, ()):
        same = index.same_as(rule)
        free = [other for other in same if other.name not in staying]
        if free:
            staying.add(free[0].name)
        elif not same:
            added.append(rule)
    return RuleDifference(tuple(added), tuple(rule.name or "" for rule in there if rule.name not in staying))


class _Index:
    """Rules by a rough description: few have the same, so that few have to be brought into the form to compare."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules: defaultdict[object, list[Rule]] = defaultdict(list)
        for rule in rules:
            self.add(rule)

    def add(self, rule: Rule) -> None:
        self._rules[_described(rule)].append(rule)

    def same_as(self, rule: Rule) -> list[Rule]:
        """The rules that this one is the same as."""
        near = self._rules.get(_described(rule), [])
        if not near:
            return []
        form = renamed(rule)
        return [other for other in near if rule.name in (None, other.name) and renamed(other) == form]


def _described(rule: Rule) -> object:
    atoms = [*rule.heads, *(literal for literal in rule.body if isinstance(literal, Atom))]
    return len(rule.body), tuple(
        (atom.relation, *(arg.key for arg in atom.args if isinstance(arg, Constant))) for atom in atoms
    )

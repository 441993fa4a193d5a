"""How many facts will an atom match by the end of a round that concludes such facts?

What a round reads is there when it begins, but what it concludes lies beside that in the same indexes and is passed
over fact by fact. A relation that is empty at first and that other rules of the component fill in the same round must
not be taken for empty: pairing every fact with "nothing" would look at each pair of facts. So what rules conclude is
expected of the atoms that read it: of each rule as many facts as its body is expected to match, and no more than its
head's variables can tell apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from everlog.plans.flat_rules import FlatRule
from everlog.plans.join_order import Statistics, expected_matches
from everlog.rules.atom_index import AtomIndex
from everlog.rules.syntax import Atom, Constant, Variable


class ExpectedStatistics:
    """Statistics of a moment, with what some rules are about to conclude."""

    def __init__(self, statistics: Statistics, rules: Iterable[FlatRule]) -> None:
        self._now = statistics
        self._heads = AtomIndex(((rule, head), head) for rule in dict.fromkeys(rules) for head in rule.heads)
        self._coming: dict[Atom, float] = {}  # facts that rules conclude, by the atom that reads them
        self._concluded: dict[tuple[FlatRule, Atom], float] = {}

    def matches(self, atom: Atom, bound: frozenset[int]) -> float:
        """As of now where a variable is bound: what comes is spread over many keys, and it is the most that may."""
        now = self._now.matches(atom, bound)
        return now if bound - _constants(atom) else now + self._facts_coming(atom)

    def _facts_coming(self, atom: Atom) -> float:
        if atom not in self._coming:
            found = dict.fromkeys(self._heads.unifying(atom))
            self._coming[atom] = sum(self._facts_of(rule, head) for rule, head in found)
        return self._coming[atom]

    def _facts_of(self, rule: FlatRule, head: Atom) -> float:
        """How many facts a rule is expected to conclude from what there is now."""
        known = self._concluded.get((rule, head))
        if known is None:
            apart = prod(self._values_of(variable, rule) for variable in dict.fromkeys(head.variables()))
            known = self._concluded[rule, head] = min(expected_matches(rule, self._now), apart)
        return known

    def _values_of(self, variable: Variable, rule: FlatRule) -> float:
        """The most values that a variable of a rule's head can have; what is computed may have any number."""
        return min(
            (
                self._now.matches(atom, _constants(atom)) / self._now.matches(atom, _constants(atom) | {column})
                for atom in rule.atoms
                for column, arg in enumerate(atom.args)
                if arg == variable
            ),
            default=float("inf"),
        )


def _constants(atom: Atom) -> frozenset[int]:
    return frozenset(column for column, arg in enumerate(atom.args) if isinstance(arg, Constant))

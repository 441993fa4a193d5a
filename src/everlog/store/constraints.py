"""Which constraints would an update break?

A constraint is a rule whose matches are not to be: `@constraint name : body.` They are relations like others, kept by
updates, and are empty in every state. So an update breaks one exactly if it adds to its relation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from everlog.dictionary.dictionary import Dictionary
from everlog.errors import ConstraintError
from everlog.facts.terms import Term
from everlog.facts.weighted import WeightedFacts
from everlog.rules.constraints import is_constraint, is_constraint_relation
from everlog.rules.printer import print_term
from everlog.rules.syntax import Rule
from everlog.store.rows import Rows, column_names

MOST_MATCHES = 10  # that an error shows of a constraint


@dataclass(frozen=True)
class Broken:
    """A constraint, the first of its matches, and how many there are."""

    rule: Rule
    matches: Sequence[tuple[Term, ...]]
    count: int

    def __str__(self) -> str:
        names = [variable.name for variable in self.rule.heads[0].variables()]
        lines = [f"the constraint {self.rule.name} would be broken by:"]
        for match in self.matches:
            values = (f"?{name} = {print_term(term)}" for name, term in zip(names, match, strict=True))
            lines.append("    " + (", ".join(values) or "its body holds"))
        if self.count > len(self.matches):
            lines.append(f"    … {self.count - len(self.matches):,} more")
        return "\n".join(lines)


def check_constraints(rules: Sequence[Rule], changes: Mapping[str, WeightedFacts], dictionary: Dictionary) -> None:
    """Raise an error that names the constraints which a change breaks, with the first matches of each."""
    if not any(map(is_constraint_relation, changes)):
        return  # as after nearly every update, however many rules there are
    broken = []
    for rule in filter(is_constraint, rules):
        facts = changes.get(rule.heads[0].relation)
        gained = facts.gained() if facts is not None else None
        if gained is not None and gained.rows:
            matches = Rows(dictionary, column_names(gained.arity), gained.columns, gained.rows).sorted()
            broken.append(Broken(rule, matches[:MOST_MATCHES], len(matches)))
    refuse_broken(broken)


def refuse_broken(broken: Iterable[Broken]) -> None:
    """Raise an error that lists these constraints, if there are any."""
    listed = list(broken)
    if listed:
        raise ConstraintError(
            "\n".join(map(str, listed)),
            violations={str(each.rule.name): list(each.matches) for each in listed},
            hint="nothing was changed; change the facts, or remove the constraint",
        )

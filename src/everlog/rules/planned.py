"""What would a program be if some rules were added and others removed?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from everlog.errors import ProgramError
from everlog.rules.checks import check_program
from everlog.rules.finding import without_rules
from everlog.rules.names import name_rules
from everlog.rules.same_rules import new_rules
from everlog.rules.syntax import Program, Rule


@dataclass(frozen=True)
class PlannedChange:
    """The rules of a program, all named, and which are to be added and removed."""

    rules: tuple[Rule, ...] = ()
    added: tuple[Rule, ...] = ()
    removed: tuple[Rule, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


def planned_change(
    program: Program, adding: Program, removing: Sequence[str], arities: Mapping[str, int]
) -> PlannedChange:
    """A change that a knowledge base would accept, whose given facts have these arities.

    Raises:
        ProgramError: the program would be unsafe, or not stratified, or would use a relation in two ways.
        NotFoundError: a rule to remove is not there.
    """
    rules = name_rules(program.rules)
    remaining = without_rules(rules, removing, program.prefixes)
    added = name_rules(new_rules(adding.rules, remaining), taken={rule.name or "" for rule in remaining})
    facts = (*program.facts, *adding.facts)
    after = Program(rules=(*remaining, *added), facts=facts, prefixes={**program.prefixes, **adding.prefixes})
    problems = check_program(after, arities)
    if problems:
        raise ProgramError(problems)
    return PlannedChange(rules, added, tuple(rule for rule in rules if rule not in remaining))

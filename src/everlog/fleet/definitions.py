"""What does a knowledge base of a fleet say besides its own facts? Rules, views, and facts that it begins with.

Knowledge bases with equal definitions share an engine. So a definition is a value that is compared; adding a rule gives
another one. What is wrong with a change is found here, and told in the words of the user's own rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from everlog.errors import NotFoundError, ProgramError, UsageError
from everlog.fleet.views import FleetView
from everlog.rules.checks import check_program
from everlog.rules.finding import without_rules
from everlog.rules.keyed import keyed_rules
from everlog.rules.names import name_rules
from everlog.rules.parser import parse_program
from everlog.rules.same_rules import new_rules
from everlog.rules.syntax import QUAD, TRIPLE, Atom, Program, Rule
from everlog.store.rule_steps import rule_arities
from everlog.store.updates import Update


@dataclass(frozen=True, eq=False)
class Definition:
    """Rules with their names, and views."""

    rules: tuple[Rule, ...] = ()
    views: Mapping[str, FleetView] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def identity(self) -> object:
        """Equal for definitions whose knowledge bases may share an engine; the order of rules does not count."""
        texts = frozenset((name, view.text) for name, view in self.views.items())
        return frozenset(self.rules), texts, frozenset(self.prefixes.items())

    @cached_property
    def arities(self) -> dict[str, int]:
        """The relations that rules and views mention."""
        found = {TRIPLE: 3, QUAD: 4, **rule_arities(self.rules)}
        for view in self.views.values():
            found.update(view.reads)
        return found

    def changed(self, update: Update) -> tuple[Definition, tuple[Atom, ...]]:
        """What an update of rules leads to, and the facts that stand among the rules it adds."""
        program = _program(update, self.prefixes)
        staying = without_rules(self.rules, update.remove_rules, self.prefixes)
        adding = new_rules(program.rules, staying)
        rules = (*staying, *name_rules(adding, taken={rule.name or "" for rule in staying}))
        prefixes = {**self.prefixes, **program.prefixes}
        views = {name: arity for view in self.views.values() for name, arity in view.reads.items()}
        together = Program(rules=rules, facts=program.facts, prefixes=prefixes)
        if problems := check_program(together, views, passed=self.rules):
            raise ProgramError(problems)
        return replace(self, rules=rules, prefixes=prefixes), program.facts

    def with_view(self, name: str, text: str) -> Definition:
        if name in self.views:
            raise UsageError(f"there is a view {name} already", hint="drop it first, or choose another name")
        return replace(self, views={**self.views, name: FleetView.of(name, text, self.prefixes)})

    def without_view(self, name: str) -> Definition:
        if name not in self.views:
            raise NotFoundError.among("view", name, self.views)
        return replace(self, views={other: view for other, view in self.views.items() if other != name})

    def differs_by(self, other: Definition) -> tuple[list[Rule], list[str]]:
        """The keyed rules that this definition has and another lacks, and the names of those that only that one has."""
        here, there = frozenset(self.rules), frozenset(other.rules)
        more = [keyed for rule in self.rules if rule not in there for keyed in keyed_rules(rule)]
        gone = [str(keyed.name) for rule in other.rules if rule not in here for keyed in keyed_rules(rule)]
        return more, gone


def _program(update: Update, prefixes: Mapping[str, str]) -> Program:
    rules = update.add_rules
    if rules is None:
        return Program()
    if isinstance(rules, str):
        rules = parse_program(rules, prefixes=prefixes)
    if not isinstance(rules, Program):
        return Program(rules=tuple(rules))
    if rules.imports or rules.exports:
        raise UsageError(
            "the rules of a fleet read and write no files", hint="take @import and @export out; facts come as updates"
        )
    if rules.declarations:
        raise UsageError(
            "the relations of a fleet have no declared columns", hint="take @relation out; give rows in their order"
        )
    return rules

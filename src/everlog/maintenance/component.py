"""What does maintenance know of a component?

Its rules and heads, and the sweeps made of them, each made when a strategy first asks for it and then cached: an
update that touches a handful of facts must not spend its time on preparing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from everlog.plans.flat_rules import EvaluatedRule, FlatRule, WholeRule, rule_reads
from everlog.plans.sweep_variants import (
    covers,
    full_instances,
    gained_instances,
    is_recursive,
    lost_instances,
    own_atoms,
)
from everlog.plans.sweeps import Effect, Marks, Ranks, Sweep, SweepVariant, with_marks
from everlog.rules.atom_index import unify
from everlog.rules.components import Component
from everlog.rules.syntax import Atom, Constant

T = TypeVar("T")


@dataclass
class Known:
    """What is known of a component beside its facts; a flag says whether that holds now."""

    ranks: bool = True  # every derived fact has an instance of smaller ranks
    counts: bool = False  # in a recursive component: weights count the derivations by rules that do not recurse
    weights: bool = True  # in any other: weights count all derivations
    derivations: int = 0  # rule instances found when it was last derived from scratch; 0: not known


@dataclass
class MaintainedComponent:
    """A component, with what strategies remember of it from update to update."""

    component: Component[EvaluatedRule]
    known: Known = field(default_factory=Known)
    added: tuple[EvaluatedRule, ...] = ()  # rules that the current update adds
    removed: tuple[FlatRule, ...] = ()  # rules it removes, whose facts are this component's
    marks: Marks = Marks.NONE  # what passes marks on in the current update
    _cached: dict[str, object] = field(default_factory=dict)

    # Worked out when first asked for: of many components most are never reached.

    @cached_property
    def rules(self) -> list[FlatRule]:
        return [rule for rule in self.component.rules if isinstance(rule, FlatRule)]

    @cached_property
    def group(self) -> WholeRule | None:
        return next((rule for rule in self.component.rules if not isinstance(rule, FlatRule)), None)

    @cached_property
    def heads(self) -> tuple[Atom, ...]:
        rules = (*self.component.rules, *self.removed)
        return tuple(dict.fromkeys(head for rule in rules for head in rule.heads))

    @cached_property
    def recursive_rules(self) -> list[FlatRule]:
        return [rule for rule in self.rules if is_recursive(rule, self.heads)]

    @cached_property
    def other_rules(self) -> list[FlatRule]:
        return [rule for rule in self.rules if not is_recursive(rule, self.heads)]

    @cached_property
    def old_rules(self) -> list[FlatRule]:
        new = set(self.added)
        return [rule for rule in self.rules if rule not in new]

    @cached_property
    def read_atoms(self) -> tuple[Atom, ...]:
        return tuple(dict.fromkeys(self.reads()))

    @cached_property
    def read_relations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(atom.relation for atom in self.read_atoms))

    @cached_property
    def defined_relations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(head.relation for head in self.heads))

    @cached_property
    def selective(self) -> bool:
        """Do constants say which facts matter?"""
        return any(isinstance(arg, Constant) for atom in self.read_atoms for arg in atom.args)

    @property
    def name(self) -> str:
        return ", ".join(dict.fromkeys(rule.name for rule in self.component.rules))

    @property
    def rules_change(self) -> bool:
        return bool(self.added or self.removed)

    @property
    def bag(self) -> bool:
        return any(rule.bag for rule in self.rules)

    @property
    def recursive(self) -> bool:
        return self.component.recursive

    def reads(self) -> Iterator[Atom]:
        """Every atom of its rules, those under NOT and in aggregates too."""
        for rule in self.component.rules:
            for atom, _ in rule_reads(rule):
                yield atom

    def lost(
        self,
        rules: Sequence[FlatRule],
        effect: Effect,
        ranks: Ranks = Ranks.IGNORED,
        *,
        removed: Sequence[FlatRule] | None = None,
    ) -> list[SweepVariant]:
        """Instances of these rules that the update takes away, and all of removed rules (all of them, or `removed`)."""
        going = self.removed if removed is None else removed
        return [
            *(v for rule in rules if rule in self.old_rules for v in lost_instances(rule, self.heads, effect, ranks)),
            *(full_instances(rule, self.heads, effect, ranks, before=True) for rule in going),
        ]

    def gained(self, rules: Sequence[FlatRule], effect: Effect, ranks: Ranks = Ranks.IGNORED) -> list[SweepVariant]:
        """Instances of these rules that the update adds; of an added rule, all."""
        return [
            variant
            for rule in rules
            for variant in (
                gained_instances(rule, self.heads, effect, ranks)
                if rule in self.old_rules
                else [full_instances(rule, self.heads, effect, ranks)]
            )
        ]

    @property
    def orphans(self) -> tuple[Atom, ...]:
        """Heads that no remaining rule has: of their facts only the explicit ones stay, without any search."""
        return tuple(head for head in self.heads if not any(unify(head, own) for r in self.rules for own in r.heads))

    def relations_that_go(self) -> set[str]:
        """Relations that lose their last rules, and those derived from such relations alone."""
        gone: set[str] = set()
        while True:
            standing = [rule for rule in self.rules if not any(atom.relation in gone for atom in rule.atoms)]
            concluded = {head.relation for rule in standing for head in rule.heads}
            if gone == (gone := {*self.defined_relations} - concluded):
                return gone

    def refuted_relations(self) -> set[str]:
        """Relations read by refuted bodies (plans/flat_rules.Refuted), for which there are no delta rules."""
        return {
            atom.relation for rule in self.rules for refuted in rule.refuted for atom, _ in rule_reads(refuted.body)
        }

    @property
    def mixed(self) -> bool:
        """Can an atom match both facts of this component and facts of others?"""
        return any(
            not any(covers(head, atom) for head in self.heads)
            for rule in self.recursive_rules
            for atom, own in zip(rule.atoms, own_atoms(rule.atoms, self.heads), strict=True)
            if own
        )

    def cached(self, name: str, make: Callable[[MaintainedComponent], T]) -> T:
        """What `make` returns for this component; it is called once per name."""
        if name not in self._cached:
            self._cached[name] = make(self)
        return self._cached[name]  # type: ignore[return-value]

    def sweeps(self) -> list[Sweep]:
        """The sweeps that strategies have asked for so far."""
        return [value for value in self._cached.values() if isinstance(value, Sweep)]

    def marking(self, name: str, make: Callable[[MaintainedComponent], Sweep]) -> Sweep:
        """A sweep that passes marks on if the current update asks for that."""
        sweep = self.cached(name, make)
        if self.marks is Marks.NONE:
            return sweep
        return self.cached(f"{name}, {self.marks.name}", lambda _: with_marks(sweep, self.marks))

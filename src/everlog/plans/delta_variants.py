"""Which versions of a rule derive what follows from new facts, each instance once?

Semi-naive evaluation, as data. For a rule with recursive atoms at positions i1 < i2 < …, variant i lets atom i read
NEW, the recursive atoms before it ALL, and those after it OLD. An instance whose last new fact stands at atom i is
found by variant i alone, so no instance is found twice. Atoms that the running component does not define read ALL
always.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from everlog.plans.flat_rules import FlatRule
from everlog.plans.labels import Label
from everlog.rules.atom_index import unify
from everlog.rules.syntax import Atom


@dataclass(frozen=True)
class Variant:
    """A rule with a label for each of its atoms; evaluation starts at the atom `seed`, if there is one."""

    rule: FlatRule
    labels: tuple[Label, ...]
    seed: int | None = None
    own: tuple[bool, ...] = ()  # atoms that facts of the running component may match; none of them if empty

    @property
    def absent(self) -> tuple[Label, ...]:
        return (Label.NOT_NOW,) * len(self.rule.absent)


def full_variant(rule: FlatRule) -> Variant:
    """Every instance over all present facts."""
    return Variant(rule, (Label.ALL,) * len(rule.atoms))


def seeded_variant(rule: FlatRule) -> Variant:
    """Every instance over all present facts, starting from the first atom."""
    return Variant(rule, (Label.ALL,) * len(rule.atoms), seed=0)


def delta_variants(rule: FlatRule, defined: Collection[Atom]) -> list[Variant]:
    """Every instance with at least one new fact; `defined` are the heads of the running component."""
    recursive = [any(unify(atom, head) for head in defined) for atom in rule.atoms]
    variants = []
    for seed, is_recursive in enumerate(recursive):
        if is_recursive:
            labels = tuple(
                Label.NEW if position == seed else Label.OLD if position > seed and recursive[position] else Label.ALL
                for position in range(len(rule.atoms))
            )
            variants.append(Variant(rule, labels, seed, tuple(recursive)))
    return variants

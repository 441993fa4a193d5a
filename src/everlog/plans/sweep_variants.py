"""Which instances of a rule does a change touch, each found once?

An instance holds *before* or *now*, with its atoms present and its atoms under NOT absent then. All atoms of a rule,
those under NOT last, are taken in order; an instance that was lost is found at the first of its atoms that is
to blame: the atoms before it read RETAINED, those after it BEFORE. Gained instances likewise, with NOW.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from everlog.plans.flat_rules import FlatRule
from everlog.plans.labels import NO_BITS, Bit, Label
from everlog.plans.sweeps import Effect, Ranks, SweepVariant
from everlog.rules.atom_index import unify
from everlog.rules.syntax import Atom, Variable


def lost_instances(
    rule: FlatRule, heads: Sequence[Atom], effect: Effect, ranks: Ranks = Ranks.IGNORED
) -> list[SweepVariant]:
    """Instances that held before the update and do not now, for what the current component reads from others."""
    return _changed(rule, heads, effect, ranks, Label.LOST, Label.GAINED, Label.BEFORE, Label.NOT_BEFORE)


def gained_instances(
    rule: FlatRule, heads: Sequence[Atom], effect: Effect, ranks: Ranks = Ranks.IGNORED
) -> list[SweepVariant]:
    """Instances that hold now and did not before, for what the current component reads from others."""
    return _changed(rule, heads, effect, ranks, Label.GAINED, Label.LOST, Label.NOW, Label.NOT_NOW)


def _changed(
    rule: FlatRule,
    heads: Sequence[Atom],
    effect: Effect,
    ranks: Ranks,
    blamed: Label,
    blamed_under_not: Label,
    after: Label,
    absent_after: Label,
) -> list[SweepVariant]:
    variants = []
    own = own_atoms(rule.atoms, heads)
    atoms, absent = len(rule.atoms), len(rule.absent)
    for seed in range(atoms):
        if any(covers(head, rule.atoms[seed]) for head in heads):
            continue  # only facts of this component match, and they have not changed yet
        labels = (*(Label.RETAINED,) * seed, blamed, *(after,) * (atoms - seed - 1))
        variants.append(SweepVariant(rule, labels, seed, (absent_after,) * absent, effect, own, ranks))
    for blame in range(absent):
        turned = replace(
            rule,
            atoms=(*rule.atoms, rule.absent[blame]),
            absent=rule.absent[:blame] + rule.absent[blame + 1 :],
        )
        labels = (*(Label.RETAINED,) * atoms, blamed_under_not)
        without = (*(Label.NEVER,) * blame, *(absent_after,) * (absent - blame - 1))
        variants.append(SweepVariant(turned, labels, atoms, without, effect, (*own, False), ranks))
    return variants


def spreading_instances(
    rule: FlatRule,
    heads: Sequence[Atom],
    effect: Effect,
    *,
    before: Label,
    after: Label,
    others: Label,
    absent: Label,
    ranks: Ranks = Ranks.IGNORED,
) -> list[SweepVariant]:
    """Instances with a fact of the frontier: own atoms before it read `before`, own atoms after it `after`."""
    own = own_atoms(rule.atoms, heads)
    variants = []
    for seed in (position for position, is_own in enumerate(own) if is_own):
        labels = tuple(
            Label.FRONTIER if position == seed else others if not is_own else before if position < seed else after
            for position, is_own in enumerate(own)
        )
        variants.append(SweepVariant(rule, labels, seed, (absent,) * len(rule.absent), effect, own, ranks))
    return variants


def supporting_instances(
    rule: FlatRule,
    heads: Sequence[Atom],
    effect: Effect,
    *,
    seed: Label,
    own: Label,
    others: Label,
    absent: Label,
    ranks: Ranks = Ranks.IGNORED,
    enough: Bit = NO_BITS,
    ask: bool = False,
) -> list[SweepVariant]:
    """Instances whose head is a fact of `seed`; the effect is on the head, or on the own facts in the body if `ask`.

    The head's own rank counts only as the bound of the others, never as part of the instance.
    """
    variants = []
    for head in rule.heads:
        turned = replace(rule, atoms=(head, *rule.atoms))
        is_own = own_atoms(rule.atoms, heads)
        concluded = tuple(atom for atom, mine in zip(rule.atoms, is_own, strict=True) if mine) if ask else (head,)
        if not concluded:
            continue
        labels = (seed, *(own if mine else others for mine in is_own))
        variants.append(
            SweepVariant(
                replace(turned, heads=concluded),
                labels,
                0,
                (absent,) * len(rule.absent),
                effect,
                (ranks is Ranks.BELOW_SEED, *is_own),
                ranks,
                enough,
                limited=ask,
            )
        )
    return variants


def full_instances(
    rule: FlatRule, heads: Sequence[Atom], effect: Effect, ranks: Ranks = Ranks.IGNORED, *, before: bool = False
) -> SweepVariant:
    """Every instance that holds now, or that held before."""
    label, absent = (Label.BEFORE, Label.NOT_BEFORE) if before else (Label.NOW, Label.NOT_NOW)
    labels, without = (label,) * len(rule.atoms), (absent,) * len(rule.absent)
    return SweepVariant(rule, labels, None, without, effect, own_atoms(rule.atoms, heads), ranks)


def is_recursive(rule: FlatRule, heads: Sequence[Atom]) -> bool:
    """Does a rule read what its component defines?"""
    return any(own_atoms(rule.atoms, heads))


def own_atoms(atoms: Sequence[Atom], heads: Sequence[Atom]) -> tuple[bool, ...]:
    """Which of these atoms may match facts that the heads conclude?"""
    return tuple(any(unify(atom, head) for head in heads) for atom in atoms)


def covers(head: Atom, atom: Atom) -> bool:
    """Does every fact that matches the atom match the head too?"""
    if head.relation != atom.relation or len({v.name for v in head.variables()}) != len(list(head.variables())):
        return False
    return all(
        isinstance(general, Variable) or general == special
        for general, special in zip(head.args, atom.args, strict=True)
    )

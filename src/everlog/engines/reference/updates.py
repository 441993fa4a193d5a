"""How would one carry an update through with nothing but loops?

Sweeps, exactly as plans/sweeps.py describes them. What an update touches is recorded first, so that it can be undone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from everlog.engines.interface import Flow
from everlog.engines.reference.entries import Binding, Entry, Fact
from everlog.engines.reference.marks import ReferenceMarks
from everlog.facts.weighted import WeightedFacts
from everlog.plans.flat_rules import WholeRule
from everlog.plans.join_order import NoStatistics, plan_variant
from everlog.plans.labels import PRIVATE, Bit, Condition
from everlog.plans.sweeps import Effect, Ranks, Relabel, Sweep, SweepReport, SweepVariant
from everlog.rules.syntax import Atom, Constant

if TYPE_CHECKING:
    from everlog.engines.reference.engine import ReferenceEngine

_DEAD = Bit.ABSENT | Bit.WAS_ABSENT


class ReferenceUpdates:
    """The part of the reference engine that keeps facts true."""

    def __init__(self, engine: ReferenceEngine) -> None:
        self._engine = engine
        self._journal: dict[str, dict[Fact, Entry]] = defaultdict(dict)  # each touched fact as it was before
        self._queue: dict[str, list[Fact]] = defaultdict(list)
        self.frontier: dict[str, list[Fact]] = defaultdict(list)
        self.marks = ReferenceMarks(engine)
        self._lifted: list[tuple[str, Fact, int]] = []  # the rank of each before it was lifted

    # --- what is explicit ---------------------------------------------------------------------------------------------

    def edit(self, relation: str, facts: Iterable[Fact], explicit: bool) -> int:
        changed = 0
        for fact in facts:
            entry = self._entry(relation, fact, create=explicit)
            if entry is None or bool(entry.mask & Bit.EXPLICIT) == explicit:
                continue
            self._touch(relation, fact)
            entry.mask = (
                (entry.mask | Bit.EDITED | Bit.EXPLICIT) if explicit else (entry.mask | Bit.EDITED) & ~Bit.EXPLICIT
            )
            changed += 1
        return changed

    def settle(self, relation: str, heads: Sequence[Atom]) -> Flow:
        flow = Flow(0, 0)
        for fact in self._journal[relation]:
            entry = self._engine.entries(relation)[fact]
            if entry.mask & Bit.EDITED and not self._is_own(relation, fact, heads):
                flow = _decide(entry, bool(entry.mask & Bit.EXPLICIT), flow)
                entry.mask &= ~Bit.EDITED
        return flow

    # --- sweeps -------------------------------------------------------------------------------------------------------

    def begin(self, sweep: Sweep) -> None:
        self._queue.clear()
        self.frontier.clear()
        for relation in sweep.relations:
            for fact in self._journal[relation]:
                entry = self._engine.entries(relation)[fact]
                for begin in sweep.begin:
                    if begin.where.holds(entry.mask) and begin.counted in (None, entry.weight > 0):
                        if self._is_own(relation, fact, sweep.heads):
                            _relabel(entry, begin.relabel)
                            self._queue[relation].append(fact)
                        break

    def bindings(self) -> int:
        return 0  # nobody counts

    def take(self, sweep: Sweep) -> int | None:
        entries = {relation: self._engine.entries(relation) for relation in sweep.relations}
        waiting = [(relation, fact) for relation in sweep.relations for fact in self._queue[relation]]
        lowest = min((entries[relation][fact].rank for relation, fact in waiting), default=0)
        self._queue.clear()
        for relation, fact in waiting:
            if sweep.by_rank and entries[relation][fact].rank != lowest:
                self._queue[relation].append(fact)
            else:
                _relabel(entries[relation][fact], sweep.enter)
                self.frontier[relation].append(fact)
        return sum(map(len, self.frontier.values())) if waiting else None

    def end_round(self, sweep: Sweep) -> None:
        for relation, facts in self.frontier.items():
            for fact in facts:
                _relabel(self._engine.entries(relation)[fact], sweep.done)
        self.frontier.clear()

    def sift(self, sweep: Sweep, survives: Condition) -> None:
        for relation, facts in self.frontier.items():
            entries = self._engine.entries(relation)
            left = [fact for fact in facts if not survives.holds(entries[fact].mask)]
            for fact in set(facts).difference(left):
                _relabel(entries[fact], sweep.survivors)
            for fact in left:
                _relabel(entries[fact], sweep.others)
            self.frontier[relation] = left

    def evaluate(self, sweep: Sweep, variants: Sequence[SweepVariant], report: SweepReport, limit: int) -> None:
        for variant in variants:
            instances: dict[Fact, int] = defaultdict(int)
            # All instances are found before any has an effect, as if they were one set.
            for binding in list(self._engine.bindings(plan_variant(variant, NoStatistics()))):
                ranks = self._ranks(variant, sweep.heads, binding)
                if variant.ranks is Ranks.BELOW_SEED and max(ranks[1:], default=-1) >= ranks[0]:
                    continue
                if variant.limited and limit:
                    seed = self._fact(variant.rule.atoms[0], binding)
                    instances[seed] += 1
                    if instances[seed] > limit:
                        self._engine.entries(variant.rule.atoms[0].relation)[seed].mask |= Bit.SATED
                        continue
                report.applications += 1
                body = [(atom.relation, self._fact(atom, binding)) for atom in variant.rule.atoms]
                witness = self.marks.witness(variant, body)
                for head in variant.rule.heads:
                    fact = self._fact(head, binding)
                    if self._effect(head.relation, fact, variant.effect, max(ranks, default=-1)):
                        report.effects += 1
                        report.marked += self.marks.remember((head.relation, fact), witness)

    def _ranks(self, variant: SweepVariant, heads: Sequence[Atom], binding: Binding) -> list[int]:
        """The ranks of the facts of an instance; those of other components count as -1."""
        if variant.ranks is Ranks.IGNORED:
            return []
        ranks = []
        for atom, own in zip(variant.rule.atoms, variant.own, strict=True):
            fact = self._fact(atom, binding)
            mine = own and self._is_own(atom.relation, fact, heads)
            ranks.append(self._engine.entries(atom.relation)[fact].rank if mine else -1)
        return ranks

    def _effect(self, relation: str, fact: Fact, effect: Effect, largest: int) -> bool:
        entry = self._entry(relation, fact, create=effect.create)
        if entry is None or not effect.require.holds(entry.mask) or (effect.above and entry.rank <= largest):
            return False
        self._touch(relation, fact)
        _relabel(entry, effect.relabel)
        entry.weight += effect.weigh
        if effect.rank:
            entry.rank = largest + 1
        if effect.queue is not None and effect.queue.holds(entry.mask):
            self._queue[relation].append(fact)
        return True

    def suspect_marked(self) -> int:
        suspects = 0
        for relation, fact in self.marks.take():
            entry = self._engine.entries(relation).get(fact)
            if entry is not None and entry.present and not entry.mask & Bit.EXPLICIT:
                self._touch(relation, fact)
                entry.mask |= Bit.SUSPECT
                suspects += 1
        return suspects

    def reaches(self, reads: tuple[Atom, ...], heads: tuple[Atom, ...]) -> bool:
        for relation, touched in self._journal.items():
            for fact in touched:
                mask = self._engine.entries(relation)[fact].mask
                changed = bool(mask & Bit.ABSENT) != bool(mask & Bit.WAS_ABSENT)
                if (changed and self._is_own(relation, fact, reads)) or (
                    mask & Bit.EDITED and self._is_own(relation, fact, heads)
                ):
                    return True
        return False

    def touched_values(self, relation: str, columns: tuple[int, ...], edited: bool) -> set[tuple[int, ...]]:
        found = set()
        for fact in self._journal.get(relation, ()):
            mask = self._engine.entries(relation)[fact].mask
            changed = bool(mask & Bit.ABSENT) != bool(mask & Bit.WAS_ABSENT)
            if mask & Bit.EDITED if edited else changed:
                found.add(tuple(fact[column] for column in columns))
        return found

    def overdelete(self, heads: tuple[Atom, ...]) -> int:
        deleted = 0
        for relation, fact, entry in self._own(heads):
            if entry.present:
                self._touch(relation, fact)
                entry.mask = entry.mask & ~PRIVATE | Bit.ABSENT | Bit.SUSPECT
                deleted += 1
            if entry.weight:
                self._touch(relation, fact)
                entry.weight = 0
        return deleted

    def suspect_derived(self, heads: tuple[Atom, ...]) -> int:
        suspects = 0
        for relation, fact, entry in self._own(heads):
            if entry.present and not entry.mask & Bit.EXPLICIT:
                self._touch(relation, fact)
                entry.mask |= Bit.SUSPECT
                suspects += 1
        return suspects

    def uncount(self, heads: tuple[Atom, ...]) -> None:
        for relation, fact, entry in self._own(heads):
            if entry.weight:
                self._touch(relation, fact)
                entry.weight = 0

    def lift(self, heads: tuple[Atom, ...], by: int) -> int:
        highest = by - 1
        for relation, fact, entry in self._own(heads):
            self._lifted.append((relation, fact, entry.rank))
            entry.rank += by
            highest = max(highest, entry.rank)
        return highest

    def _own(self, heads: tuple[Atom, ...]) -> list[tuple[str, Fact, Entry]]:
        return [
            (relation, fact, entry)
            for relation in dict.fromkeys(head.relation for head in heads)
            for fact, entry in self._engine.entries(relation).items()
            if self._is_own(relation, fact, heads)
        ]

    # --- the end of a component, and of the update --------------------------------------------------------------------

    def finish(self, heads: tuple[Atom, ...], counted: bool) -> dict[str, Flow]:
        flows = {}
        for relation in dict.fromkeys(head.relation for head in heads):
            flow = Flow(0, 0)
            for fact in self._journal[relation]:
                if self._is_own(relation, fact, heads):
                    entry = self._engine.entries(relation)[fact]
                    present = entry.present
                    if counted:
                        present = bool(entry.mask & Bit.EXPLICIT) or entry.weight > 0
                    flow = _decide(entry, present, flow)
                    entry.mask &= ~PRIVATE
            flows[relation] = flow
        return flows

    def regroup(self, rule: WholeRule) -> Flow:
        flow = Flow(0, 0)
        relation = rule.head.relation
        after = set(self._engine.groups(rule))
        for fact in {*self._engine.entries(relation), *after}:
            entry = self._entry(relation, fact, create=True)
            assert entry is not None
            if entry.present != (fact in after):
                self._touch(relation, fact)
                flow = _decide(entry, fact in after, flow)
        return flow

    def before(self) -> dict[str, dict[Fact, Entry]]:
        """What the facts were that have been touched, or lifted."""
        found = {relation: dict(touched) for relation, touched in self._journal.items()}
        for relation, fact, rank in reversed(self._lifted):
            known = found.setdefault(relation, {})
            known[fact] = replace(known.get(fact, self._engine.entries(relation)[fact]), rank=rank)
        return found

    def changes(self) -> dict[str, WeightedFacts]:
        found = {}
        for relation, touched in self._journal.items():
            entries, bag = self._engine.entries(relation), self._engine.is_bag(relation)
            counts = {}
            for fact, before in touched.items():
                entry = entries[fact]
                was = not entry.mask & Bit.WAS_ABSENT
                counts[fact] = entry.weight - before.weight if bag else entry.present - was
            if any(counts.values()):
                found[relation] = self._engine.weighted(relation, counts)
        return found

    def explicit_changes(
        self, relations: Iterable[str], before: dict[str, dict[Fact, Entry]] | None
    ) -> dict[str, WeightedFacts]:
        """Which facts of some relations have become explicit, or no longer are; `before`: all that there was."""
        found = {}
        for relation in relations:
            entries = self._engine.entries(relation)
            touched = self._journal[relation] if before is None else before.get(relation, {})
            facts = touched if before is None else {**touched, **entries}
            counts = {}
            for fact in facts:
                was, now = touched.get(fact), entries.get(fact)
                counts[fact] = _is_explicit(now) - _is_explicit(was)
            if any(counts.values()):
                found[relation] = self._engine.weighted(relation, counts)
        return found

    def commit(self) -> None:
        for relation, touched in self._journal.items():
            entries = self._engine.entries(relation)
            for fact in touched:
                entry = entries[fact]
                kept = entry.mask & (Bit.EXPLICIT | Bit.MARKED)
                entry.mask = kept if entry.present else kept | _DEAD
            for fact in [fact for fact, entry in entries.items() if not entry.present]:
                del entries[fact]
        self._journal.clear()
        self._lifted.clear()

    def abort(self) -> None:
        for relation, touched in self._journal.items():
            entries = self._engine.entries(relation)
            entries.update(touched)
            for fact in [fact for fact, entry in entries.items() if not entry.present]:
                del entries[fact]
        self._journal.clear()
        for relation, fact, rank in reversed(self._lifted):
            self._engine.entries(relation)[fact].rank = rank
        self._lifted.clear()

    # --- facts --------------------------------------------------------------------------------------------------------

    def _entry(self, relation: str, fact: Fact, *, create: bool) -> Entry | None:
        entries = self._engine.entries(relation)
        return entries.setdefault(fact, Entry(mask=_DEAD)) if create else entries.get(fact)

    def _touch(self, relation: str, fact: Fact) -> None:
        entry = self._engine.entries(relation)[fact]
        if not entry.mask & Bit.TOUCHED:
            self._journal[relation][fact] = replace(entry)
            entry.mask |= Bit.TOUCHED

    def _fact(self, atom: Atom, binding: Binding) -> Fact:
        return tuple(self._engine.value(arg, binding) for arg in atom.args)

    def _is_own(self, relation: str, fact: Fact, heads: Sequence[Atom]) -> bool:
        """Does a fact match one of these heads?"""
        return any(head.relation == relation and self._matches(head, fact) for head in heads)

    def _matches(self, head: Atom, fact: Fact) -> bool:
        known: Binding = {}
        for arg, id_ in zip(head.args, fact, strict=True):
            wanted = self._engine.value(arg, {}) if isinstance(arg, Constant) else known.setdefault(arg.name, id_)
            if wanted != id_:
                return False
        return True


def _is_explicit(entry: Entry | None) -> bool:
    return entry is not None and bool(entry.mask & Bit.EXPLICIT)


def _relabel(entry: Entry, relabel: Relabel) -> None:
    entry.mask = (int(entry.mask) | int(relabel.set)) & ~int(relabel.clear)


def _decide(entry: Entry, present: bool, flow: Flow) -> Flow:
    """Set whether a fact is present now, and count it if that is a change."""
    entry.mask = entry.mask & ~Bit.ABSENT if present else entry.mask | Bit.ABSENT
    was = not entry.mask & Bit.WAS_ABSENT
    return Flow(flow.gained + (present and not was), flow.lost + (was and not present))

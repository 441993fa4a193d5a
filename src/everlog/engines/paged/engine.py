"""How are facts kept true that are far too many for memory?

`maintenance/` speaks to this engine as to any other. Facts stand in sorted files (folder.py); a step of a plan looks up
what it needs for all bindings at once, and only what an update changes is held in memory. So an update costs what it
looks at, however many facts there are. What would read a large part of a relation (a new rule over all of it, deriving
a component again) raises `NeedsBulk`: whoever runs this engine then derives in bulk.

Marks (DESIGN 6) are taken and ignored: they change the order of work, never the result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.engines.dumps import RelationDump
from everlog.engines.interface import Capabilities, Flow, Phase, PhaseReport, Shape
from everlog.engines.paged.bindings import Bindings, Evaluation
from everlog.engines.paged.captures import PagedCapture
from everlog.engines.paged.counters import Counters
from everlog.engines.paged.folder import RunFolder
from everlog.engines.paged.groups import as_columns, facts_of_groups, touched_keys, whole_facts
from everlog.engines.paged.held import Held
from everlog.engines.paged.orders import needed_orders
from everlog.engines.paged.planning import Planning
from everlog.engines.paged.relation import DEAD, Found, PagedRelation
from everlog.engines.paged.relation_runs import RelationRuns
from everlog.engines.paged.stored_facts import EXPLICIT, StoredFacts, distinct
from everlog.engines.paged.sweeps import Sweeping
from everlog.engines.paged.terms import GivesNewTerms
from everlog.engines.states import FactStates
from everlog.engines.sweep_rounds import run_sweep
from everlog.errors import NeedsBulk
from everlog.facts.weighted import WeightedFacts
from everlog.limits import Watch
from everlog.plans.delta_variants import Variant
from everlog.plans.flat_rules import EvaluatedRule, GroupRule, WholeRule
from everlog.plans.join_order import Statistics
from everlog.plans.labels import PRIVATE, Bit, Label
from everlog.plans.operators import Conclude, Plan
from everlog.plans.sweeps import NO_BOUND, Most, Sweep, SweepReport, SweepVariant
from everlog.rules.components import Component
from everlog.rules.syntax import Atom

Array = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]

_ABSENT, _WAS_ABSENT, _EXPLICIT, _EDITED = int(Bit.ABSENT), int(Bit.WAS_ABSENT), int(Bit.EXPLICIT), int(Bit.EDITED)
_SUSPECT, _PRIVATE = int(Bit.SUSPECT), int(PRIVATE)


class PagedEngine:
    """Facts in runs, and what updates have changed of them in memory."""

    name = "paged"
    capabilities = Capabilities(maintains=True, durable=False)

    def __init__(self, dictionary: Dictionary, runs: RunFolder | None = None) -> None:
        """`runs`: the folder that facts are in; without one there are none yet, and files go where they vanish."""
        self.dictionary = dictionary
        self.runs = RunFolder.scratch(dictionary.dtype) if runs is None else runs
        self._relations: dict[str, PagedRelation] = {}
        for name, stored in self.runs.relations.items():
            relation = self._relations[name] = self._made(stored.shape, stored.runs, stored.facts, stored.explicit)
            for facts in stored.take_changes():
                relation.take_over(facts)
        self._evaluation = Evaluation(self)
        self._planning = Planning(self._relations, dictionary)
        self._sweeping = Sweeping(self.relation, self._evaluation, self.plan_of)
        self._fetched = 0  # by the update at work
        self._new: dict[str, Rows] = {}
        self._waiting: dict[str, list[list[Ids]]] = defaultdict(list)
        self._round = 0
        self._scratch: dict[str, Shape] | None = None  # while everything is derived: what was declared before
        self._adopted: RunFolder | None = None
        self.tick = 0

    def _made(self, shape: Shape, runs: RelationRuns | None = None, facts: int = 0, explicit: int = 0) -> PagedRelation:
        width, dtype = max(1, shape.arity), self.dictionary.dtype
        runs = runs or RelationRuns(width, dtype, self.runs.sizes, self.runs.counters)
        return PagedRelation(shape, runs, Held(width, dtype), self._spend, facts=facts, explicit=explicit)

    def adopt(self, relations: Mapping[str, PagedRelation], folder: RunFolder) -> None:
        """Read relations of another engine, without changing them; their folder stays while this reads."""
        self._adopted = folder
        self._relations.update({name: relation.shared(self._spend) for name, relation in relations.items()})

    def prepare(self, components: Sequence[Component[EvaluatedRule]]) -> None:
        """Sort relations in the orders that maintaining these components asks for, where they are not yet."""
        self.runs.sort_by(needed_orders(components, self.statistics()))

    @property
    def counters(self) -> Counters:
        """What has been read so far."""
        return self.runs.counters

    def _spend(self, rows: int, reason: str) -> None:
        """Note that rows are about to be read; too many for one update are left to others."""
        self._fetched += rows
        if self._fetched > self.runs.sizes.fetched:
            raise NeedsBulk(f"{reason}; the bound for one update is {self.runs.sizes.fetched:,}")

    def relation(self, name: str) -> PagedRelation:
        return self._relations[name]

    def relations(self) -> Mapping[str, PagedRelation]:
        """All relations by name."""
        return self._relations

    def declare(self, shape: Shape) -> None:
        known = self._relations.get(shape.name)
        if known is None:
            self._relations[shape.name] = self._made(shape)
        else:
            old = known.shape
            assert (old.arity, old.bag) == (shape.arity, shape.bag), f"{shape} was declared as {old}"

    def _columns(self, relation: PagedRelation, columns: Sequence[Ids], rows: int) -> list[Ids]:
        dtype = self.dictionary.dtype
        if not relation.shape.arity:
            return [np.zeros(rows, dtype)]
        return [np.ascontiguousarray(column, dtype) for column in columns]

    # --- loading and deriving -----------------------------------------------------------------------------------------

    def load(self, relation: str, columns: Sequence[Ids], rows: int) -> int:
        into = self.relation(relation)
        before = into.count_now()
        if rows:
            held_rows = self._held(into, self._columns(into, columns, rows))
            into.held.masks[held_rows] = (into.held.masks[held_rows] | _EXPLICIT) & ~_ABSENT
        gained = into.count_now() - before
        self._established(into)
        return gained

    def _held(self, relation: PagedRelation, columns: Sequence[Ids]) -> Rows:
        """Rows for facts, touched: they are about to be changed."""
        first, _ = distinct(columns)
        rows = relation.hold(relation.look_up([column[first] for column in columns]))
        relation.touch(rows)
        return rows

    def _established(self, relation: PagedRelation) -> None:
        """What was loaded or derived is the state at once, unless somebody may want it undone."""
        if self._scratch is None:
            relation.commit()
            self._fetched = 0

    def load_dump(self, dump: RelationDump) -> None:
        self.declare(dump.shape)
        rows = len(dump.facts)
        none = np.zeros(rows, np.int64)
        facts = StoredFacts(
            tuple(np.ascontiguousarray(column, self.dictionary.dtype) for column in dump.facts.T),
            np.where(dump.explicit, EXPLICIT, 0).astype(np.uint8),
            none if dump.weights is None else dump.weights.astype(np.int64),
            (none if dump.ranks is None else dump.ranks).astype(np.int32),
        )
        relation = self._relations[dump.shape.name] = self._made(
            dump.shape, facts=rows, explicit=int(dump.explicit.sum())
        )
        relation.take_over(facts)
        relation.changed.append(np.arange(rows))

    def restore(self, relation: str, facts: WeightedFacts | None, explicit: WeightedFacts | None) -> None:
        if facts is not None:
            into = self.relation(relation)
            rows = self._held(into, self._columns(into, facts.columns, facts.rows))
            into.held.masks[rows] &= ~_ABSENT
            first, _ = distinct(self._columns(into, facts.columns, facts.rows))
            into.held.weights[rows] = facts.weights[first]
            self._established(into)
        if explicit is not None:
            self.load(relation, explicit.columns, explicit.rows)

    def put(self, relation: str, states: FactStates) -> None:
        """Facts, each once, as updates elsewhere have left them; `commit` makes it the state."""
        into = self.relation(relation)
        rows = into.hold(into.look_up(self._columns(into, states.columns, states.rows)))
        into.touch(rows)
        held = into.held
        there = states.derivations > 0 if into.shape.bag else states.change >= 0
        masks = held.masks[rows] & ~(_ABSENT | _EXPLICIT)
        held.masks[rows] = masks | np.where(there, 0, _ABSENT) | np.where(states.explicit, _EXPLICIT, 0)
        held.weights[rows], held.ranks[rows] = states.derivations, states.ranks

    def begin(self, relations: Sequence[str]) -> None:
        self._new.clear()
        self._waiting.clear()
        self._round = 0

    def derive(self, variants: Sequence[Variant]) -> int:
        applications = 0
        for variant in variants:
            plan = self.plan_of(variant)
            found = self._evaluation.run(plan.steps, Bindings(1))
            for step in plan.steps:
                if isinstance(step, Conclude) and found.count:
                    self._waiting[step.head.relation].append(self._evaluation.fact_columns(step.head, found))
                    applications += found.count
        return applications

    def advance(self, relations: Sequence[str]) -> dict[str, int]:
        gained = {}
        self._round += 1
        for name in relations:
            relation, parts = self.relation(name), self._waiting.pop(name, [])
            self._new[name] = np.empty(0, np.int64)
            if parts:
                columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
                first, inverse = distinct(columns)
                found = relation.look_up([column[first] for column in columns])
                new = (found.masks & _ABSENT) != 0
                rows = relation.hold(found)
                relation.touch(rows)
                held = relation.held
                held.masks[rows] &= ~_ABSENT
                held.weights[rows] += np.bincount(inverse, minlength=len(first))
                held.ranks[rows[new]] = self._round
                self._new[name] = rows[new]
                self._established(relation)
            gained[name] = len(self._new[name])
        return gained

    def run(self, phase: Phase, watch: Watch) -> PhaseReport | None:
        return None

    def group(self, rule: WholeRule) -> int:
        facts = whole_facts(rule, self.relation(rule.source.relation), self._evaluation, self.dictionary)
        relation = self.relation(rule.head.relation)
        if facts:
            rows = self._held(relation, as_columns(facts, relation.width, self.dictionary.dtype))
            relation.held.masks[rows] &= ~_ABSENT
            relation.held.weights[rows] = 1
            self._established(relation)
        return len(facts)

    # --- reading ------------------------------------------------------------------------------------------------------

    def count(self, relation: str, *, explicit: bool = False) -> int:
        return self.relation(relation).count_now(explicit=explicit)

    def count_before(self, relation: str) -> int:
        return self.relation(relation).facts

    def collect(self, relation: str, *, explicit: bool = False) -> WeightedFacts:
        of = self.relation(relation)
        if self._adopted is None and of.runs.rows > self.runs.sizes.fetched:  # who reads a capture knows what he does
            raise NeedsBulk(f"all {of.runs.rows:,} facts of {relation} would be read")
        return self._weighted(of, of.all_present(explicit=explicit))

    def _weighted(self, relation: PagedRelation, found: Found) -> WeightedFacts:
        columns = found.columns[: relation.shape.arity]
        if relation.shape.bag:
            return WeightedFacts(columns, found.weights)
        return WeightedFacts.present(columns, found.size)

    def contains(self, relation: str, columns: Sequence[Ids], rows: int, *, explicit: bool = False) -> Sequence[bool]:
        if relation not in self._relations or not rows:
            return [False] * rows
        of = self.relation(relation)
        asked = self._columns(of, columns, rows)
        first, inverse = distinct(asked)
        masks = of.look_up([column[first] for column in asked]).masks[inverse]
        found: list[bool] = ((masks & _EXPLICIT) != 0 if explicit else (masks & _ABSENT) == 0).tolist()
        return found

    def statistics(self) -> Statistics:
        return self._planning.statistics()

    def plan_of(self, variant: Variant | SweepVariant) -> Plan:
        """The plan of a variant of a rule."""
        return self._planning.plan_of(variant)

    def rows_in_round(self, name: str, label: Label) -> Rows | None:
        """The rows that a label of the round means; for OLD, those that it does not."""
        if label is Label.FRONTIER:
            return self._sweeping.frontier.get(name, np.empty(0, np.int64))
        if label in (Label.NEW, Label.OLD):
            return self._new.get(name, np.empty(0, np.int64))
        return None

    # --- states -------------------------------------------------------------------------------------------------------

    def begin_from_scratch(self) -> None:
        self._scratch = {name: relation.shape for name, relation in self._relations.items()}

    def changes(self) -> dict[str, WeightedFacts]:
        touched = {name: relation for name, relation in self._relations.items() if relation.is_touched}
        return {name: facts for name, each in touched.items() if (facts := each.changes(*each.differences())).rows}

    def explicit_changes(self, relations: Iterable[str]) -> dict[str, WeightedFacts]:
        edited = {name: self.relation(name) for name in relations}
        return {
            name: facts for name, each in edited.items() if (facts := each.changes(*each.explicit_differences())).rows
        }

    def touched(self) -> dict[str, FactStates]:
        found = {name: relation.touched() for name, relation in self._relations.items() if relation.is_touched}
        return {name: states for name, states in found.items() if states.rows}

    def commit(self, *, publish: bool = True) -> None:
        for relation in self._relations.values():
            relation.commit()
        self._end()
        self._planning.outdate()
        self.tick += 1

    def abort(self) -> None:
        for relation in self._relations.values():
            relation.abort()
        if self._scratch is not None:
            for name in self._relations.keys() - self._scratch.keys():
                del self._relations[name]
        self._end()

    def _end(self) -> None:
        self._scratch = None
        self._fetched = 0
        self._new.clear()
        self._waiting.clear()

    def publish(self, tick: int) -> None:
        """Captures are taken between updates."""

    def capture(self, *, latest: bool = False) -> PagedCapture:
        return PagedCapture(self)

    def save(self, version: int, identity: str = "") -> None:
        """Write what commits have changed since the last time into the folder, which then is of this version."""
        terms = self.dictionary.take_new_terms() if isinstance(self.dictionary, GivesNewTerms) else []
        self.runs.save(version, self._relations, terms, identity)

    def reclaim(self) -> None:
        """Changed facts that have become many go into runs; in a folder that is saved, `save` sees to that."""
        if self.runs.is_scratch and self.runs.is_due(self._relations):
            self.runs.flush(self._relations)

    # --- updates ------------------------------------------------------------------------------------------------------

    def edit(self, relation: str, columns: Sequence[Ids], rows: int, *, explicit: bool) -> int:
        if not rows:
            return 0
        into = self.relation(relation)
        asked = self._columns(into, columns, rows)
        first, _ = distinct(asked)
        found = into.look_up([column[first] for column in asked])
        changing = ((found.masks & _EXPLICIT) != 0) != explicit
        held_rows = into.hold(found.chosen(changing))
        into.touch(held_rows)
        masks = into.held.masks[held_rows] | _EDITED
        into.held.masks[held_rows] = masks | _EXPLICIT if explicit else masks & ~_EXPLICIT
        return len(held_rows)

    def settle(self, relation: str, heads: Sequence[Atom]) -> Flow:
        of = self.relation(relation)
        rows = of.journal
        rows = rows[(of.held.masks[rows] & _EDITED) != 0]
        rows = rows[~self._own(of, rows, heads)]
        flow = _decide(of, rows, (of.held.masks[rows] & _EXPLICIT) != 0)
        of.held.masks[rows] &= ~_EDITED
        return flow

    def _own(self, relation: PagedRelation, rows: Rows, heads: Sequence[Atom]) -> Array:
        return relation.matches(heads, relation.held.columns(rows), self._evaluation.constant)

    def sweep(self, sweep: Sweep, watch: Watch, limit: int = 0, most: Most = NO_BOUND) -> SweepReport:
        return run_sweep(self._sweeping, sweep, watch, limit, most)

    def reaches(self, reads: tuple[Atom, ...], heads: tuple[Atom, ...]) -> bool:
        for name in dict.fromkeys(atom.relation for atom in (*reads, *heads)):
            relation = self.relation(name)
            rows = relation.journal
            if not len(rows):
                continue
            masks = relation.held.masks[rows]
            changed = ((masks & _ABSENT) != 0) != ((masks & _WAS_ABSENT) != 0)
            if changed.any() and (changed & self._own(relation, rows, reads)).any():
                return True
            edited = (masks & _EDITED) != 0
            if edited.any() and (edited & self._own(relation, rows, heads)).any():
                return True
        return False

    def touched_values(self, relation: str, columns: tuple[int, ...], *, edited: bool) -> set[tuple[int, ...]]:
        touched = self.relation(relation)
        rows = touched.journal
        masks = touched.held.masks[rows]
        changed = ((masks & _ABSENT) != 0) != ((masks & _WAS_ABSENT) != 0)
        held = touched.held.columns(rows[(masks & _EDITED) != 0 if edited else changed])
        return set(zip(*(held[column].tolist() for column in columns), strict=True))

    def _held_of(self, heads: tuple[Atom, ...]) -> Iterable[tuple[PagedRelation, Rows]]:
        """All facts that some heads may conclude, in memory."""
        for name in dict.fromkeys(head.relation for head in heads):
            relation = self.relation(name)
            rows = relation.hold_matching(heads, self._evaluation.constant)
            if len(rows):
                yield relation, rows

    def overdelete(self, heads: tuple[Atom, ...]) -> int:
        deleted = 0
        for relation, rows in self._held_of(heads):
            held = relation.held
            present = (held.masks[rows] & _ABSENT) == 0
            relation.touch(rows[present | (held.weights[rows] != 0)])
            there = rows[present]
            held.masks[there] = held.masks[there] & ~_PRIVATE | _ABSENT | _SUSPECT
            held.weights[rows] = 0
            deleted += len(there)
        return deleted

    def suspect_derived(self, heads: tuple[Atom, ...]) -> int:
        suspects = 0
        for relation, rows in self._held_of(heads):
            rows = rows[(relation.held.masks[rows] & (_ABSENT | _EXPLICIT)) == 0]
            relation.touch(rows)
            relation.held.masks[rows] |= _SUSPECT
            suspects += len(rows)
        return suspects

    def uncount(self, heads: tuple[Atom, ...]) -> None:
        for relation, rows in self._held_of(heads):
            rows = rows[relation.held.weights[rows] != 0]
            relation.touch(rows)
            relation.held.weights[rows] = 0

    def lift(self, heads: tuple[Atom, ...], by: int) -> int:
        highest = by - 1
        for relation, rows in self._held_of(heads):
            rows = rows[(relation.held.masks[rows] & DEAD) != DEAD]
            if len(rows):
                relation.lift(rows, by)
                highest = max(highest, int(relation.held.ranks[rows].max()))
        return highest

    def finish(self, heads: tuple[Atom, ...], *, counted: bool) -> dict[str, Flow]:
        flows = {}
        for name in dict.fromkeys(head.relation for head in heads):
            relation = self.relation(name)
            rows = relation.journal
            rows = rows[self._own(relation, rows, heads)]
            masks = relation.held.masks[rows]
            present = (masks & _ABSENT) == 0
            if counted:
                present = ((masks & _EXPLICIT) != 0) | (relation.held.weights[rows] > 0)
            flows[name] = _decide(relation, rows, present)
            relation.held.masks[rows] &= ~_PRIVATE
        return flows

    def regroup(self, rule: WholeRule, *, new: bool = False) -> Flow:
        source, relation = self.relation(rule.source.relation), self.relation(rule.head.relation)
        whole = new or not isinstance(rule, GroupRule) or rule.group == 0
        now = Label.NOW.condition
        if whole:
            facts = whole_facts(rule, source, self._evaluation, self.dictionary)
            before = relation.scan(now)
        else:
            assert isinstance(rule, GroupRule)
            keys = touched_keys(rule, source)
            facts = facts_of_groups(rule, keys, source, self._evaluation, self.dictionary)
            _, before = relation.read(tuple(range(rule.group)), keys, now)
        after = relation.look_up(as_columns(facts, relation.width, self.dictionary.dtype))
        wanted = {*zip(*(column.tolist() for column in after.columns), strict=True)}
        stays = np.array([fact in wanted for fact in zip(*(c.tolist() for c in before.columns), strict=True)], bool)
        flow = Flow(0, 0)
        for found, present in ((before.chosen(~stays), False), (after.chosen((after.masks & _ABSENT) != 0), True)):
            rows = relation.hold(found)
            relation.touch(rows)
            part = _decide(relation, rows, np.full(len(rows), present))
            flow = Flow(flow.gained + part.gained, flow.lost + part.lost)
        return flow

    def forget(self, sweeps: Sequence[Sweep]) -> None:
        self._planning.forget(sweeps)
        self._sweeping.forget()

    def drop(self, relation: str) -> None:
        self._relations.pop(relation, None)
        self._planning.drop(relation)

    def record_witnesses(self) -> None:
        """Nothing is marked here."""

    def mark(self, relation: str, columns: Sequence[Ids], rows: int) -> tuple[int, int]:
        return 0, 0

    def suspect_marked(self) -> int:
        return 0

    def tidy(self) -> None:
        for relation in self._relations.values():
            if not relation.runs.plain():
                relation.hold(relation.scan(Label.NOW.condition))
            held = relation.held
            kept = np.flatnonzero((held.weights[: held.size] != 0) | (held.ranks[: held.size] != 0))
            held.weights[kept] = held.ranks[kept] = 0
            relation.changed.append(kept)
        self._fetched = 0


def _decide(relation: PagedRelation, rows: Rows, present: Array) -> Flow:
    """Set which facts are present now, and count those for which that is a change."""
    held = relation.held
    masks = held.masks[rows]
    held.masks[rows] = np.where(present, masks & ~_ABSENT, masks | _ABSENT)
    was = (masks & _WAS_ABSENT) == 0
    return Flow(int((present & ~was).sum()), int((was & ~present).sum()))

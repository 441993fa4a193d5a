"""What does an update that is worked out come to, by itself and with others?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy

from everlog.dictionary.dictionary import Dictionary
from everlog.engines.states import FactStates, latest
from everlog.facts.weighted import WeightedFacts, consolidated
from everlog.plans.flat_rules import is_auxiliary
from everlog.store.applying import Target, Work
from everlog.store.changes import Change, Report
from everlog.store.encoding import Batch
from everlog.store.state import Definitions


class Step:
    """An update that is worked out, and what it comes to."""

    def __init__(
        self,
        work: Work,
        target: Target,
        report: Report,
        before: Definitions,
        dictionary: Dictionary,
        version_before: int,
    ) -> None:
        self.work, self.target, self.report, self.before = work, target, report, before
        self._dictionary, self.version_before = dictionary, version_before
        self.changes, self.explicit, self.reshaped = work.changes, work.explicit, work.reshaped
        self.reshaped_explicit: Mapping[str, WeightedFacts] = {}  # of several updates: what was explicit of those
        self.views: Mapping[str, WeightedFacts] = {}  # what came and went of what views show
        # Facts of which anything has changed, where somebody wants them; None: all that the engine has now.
        self.touched: Mapping[str, FactStates] | None = {}
        self.replaces = work.replaces  # what is touched is all there is, and other facts are gone

    def change(self, version: int, updates: int = 1) -> Change:
        """What it changes in the relations that users know."""
        facts = {name: change for name, change in self.changes.items() if not is_auxiliary(name)}
        return Change(
            version, facts, self._dictionary, self.report, updates=updates,
            reshaped={name: facts for name, facts in self.reshaped.items() if not is_auxiliary(name)},
            columns=self._columns,
        )  # fmt: skip

    def _columns(self, relation: str, arity: int) -> Sequence[str]:
        return Definitions(self.target.rules, declared=self.target.declared).columns(relation, arity)


def together(steps: Sequence[Step]) -> Step:
    """What several updates come to, one after the other."""
    if len(steps) == 1:
        return steps[0]
    last = steps[-1]
    total = copy(last)
    total.before = steps[0].before
    arities = last.target.arities
    total.changes, total.reshaped = _net([part for step in steps for part in (step.reshaped, step.changes)], arities)
    total.explicit, total.reshaped_explicit = _net([step.explicit for step in steps], arities)
    total.views, _ = _net([step.views for step in steps], {})
    total.report = Report.together([step.report for step in steps])
    total.replaces = any(step.replaces for step in steps)
    if total.replaces:
        total.touched = None
        return total
    states = [step.touched or {} for step in steps]
    names = dict.fromkeys(name for part in states for name in part)
    total.touched = {name: latest([part[name] for part in states if name in part]) for name in names}
    return total


def _net(
    parts: Sequence[Mapping[str, WeightedFacts]], arities: Mapping[str, int]
) -> tuple[dict[str, WeightedFacts], dict[str, WeightedFacts]]:
    """What changes come to, by relation; and what was lost of relations that have another arity now."""
    found: dict[str, WeightedFacts] = {}
    lost: dict[str, WeightedFacts] = {}
    for name in dict.fromkeys(name for part in parts for name in part):
        listed = [part[name] for part in parts if name in part]
        now = arities.get(name, listed[-1].arity)
        for arity in {each.arity for each in listed}:
            total = consolidated([each for each in listed if each.arity == arity])
            if total is not None and total.rows:
                (found if arity == now else lost)[name] = total
    return found, lost


def edits_back(explicit: Mapping[str, WeightedFacts]) -> tuple[dict[str, Batch], dict[str, Batch]]:
    """What to insert and to delete, to take back a change of what is explicit."""
    inserted: dict[str, Batch] = {}
    deleted: dict[str, Batch] = {}
    for name, change in explicit.items():
        for batches, facts in ((inserted, change.lost()), (deleted, change.gained())):
            if facts.rows:
                batches[name] = Batch.of(name, facts)
    return inserted, deleted

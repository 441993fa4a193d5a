"""What is known of a strategy, besides how it goes?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from everlog.engines.interface import MaintainingEngine
from everlog.limits import Watch
from everlog.maintenance.component import MaintainedComponent
from everlog.maintenance.reports import ComponentReport
from everlog.plans.sweeps import Marks

Maintain = Callable[[MaintainingEngine, MaintainedComponent, Watch, ComponentReport], None]


@dataclass(frozen=True)
class Strategy:
    """A way to bring a component up to date: where it fits, what it needs, and what holds after it."""

    name: str
    maintain: Maintain
    recursive: bool = True  # it can follow a component with recursion
    flat: bool = False  # one without recursion is left to it where somebody asks for it
    mixed: bool = True  # it can tell the component's facts from those of others in the same relation
    marks: Marks = Marks.NONE  # the facts marked by the update before that it can begin with
    needs_ranks: bool = False
    counts_all: bool = False  # after it weights count all derivations, of a component without recursion
    counts_exits: bool = False  # after it weights count derivations by rules that do not recurse
    ranks_after: bool | None = None  # do ranks hold after it? None: if they did before

    def leaves(self, component: MaintainedComponent) -> None:
        """Note what holds of a component once this strategy has run."""
        known = component.known
        known.counts = self.counts_exits
        known.weights = self.counts_all or (component.recursive and known.weights)
        if self.ranks_after is not None:
            known.ranks = self.ranks_after

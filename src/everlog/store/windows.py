"""What is shown of views with LIMIT or OFFSET, and of ordered ones with DISTINCT?

What comes and goes of their answers depends on rows that are not shown, so all rows are kept in order
(plans/windows.py). Other views show what is in their relation, and a change of that is the change of the answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from everlog.dictionary.dictionary import Dictionary
from everlog.engines.interface import Engine
from everlog.facts.weighted import WeightedFacts
from everlog.plans.windows import Fact, Window, window_over
from everlog.store.view_queries import ViewQuery


class Windows:
    """The windows of all views that need one."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._windows: dict[str, Window] = {}
        self._shown: dict[str, tuple[Fact, ...]] = {}
        self._moved = False

    def follow(
        self,
        changes: Mapping[str, WeightedFacts],
        before: Mapping[str, ViewQuery],
        after: Mapping[str, ViewQuery],
        engine: Engine,
    ) -> dict[str, WeightedFacts]:
        """An update is in place; says what came and went of what views show."""
        found = {}
        if before is not after:
            self._begin(before, after, engine)
        for name, view in after.items():
            if before.get(name) is view and view.relation in changes:
                change = changes[view.relation]
                found[name] = self._cut(view, change) if view.is_cut else change
        return {name: change for name, change in found.items() if change.rows}

    def shown(self, before: Mapping[str, tuple[Fact, ...]]) -> Mapping[str, tuple[Fact, ...]]:
        """The rows that are shown of each, as they are now; what there was `before` where nothing has moved."""
        if not self._moved:
            return before
        self._moved = False
        return dict(self._shown)

    def fill(self, views: Mapping[str, ViewQuery], engine: Engine) -> None:
        """Begin with answers that are there already."""
        self._begin({}, views, engine)

    def _begin(self, before: Mapping[str, ViewQuery], after: Mapping[str, ViewQuery], engine: Engine) -> None:
        for name, view in before.items():
            if after.get(name) is not view and self._windows.pop(name, None) is not None:
                del self._shown[name]
                self._moved = True
        for name, view in after.items():
            if before.get(name) is not view and view.is_cut:
                rows = engine.collect(view.relation).facts()
                self._windows[name] = window_over(view.query.ordering, rows, self._dictionary)
                self._shown[name] = tuple(self._windows[name].shown())
                self._moved = True

    def _cut(self, view: ViewQuery, change: WeightedFacts) -> WeightedFacts:
        window, counts = self._windows[view.name], Counter[Fact]()
        window.change(change.facts())
        shown = tuple(window.shown())
        counts.update(shown)
        counts.subtract(self._shown[view.name])
        self._shown[view.name] = shown
        self._moved = True
        return WeightedFacts.of(counts, len(view.query.shown), self._dictionary.dtype)

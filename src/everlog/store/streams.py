"""How are updates applied as they arrive?

One after the other, each as soon as it is there; the next one is never waited for. A change is yielded for each update,
when it is complete and, in a durable store, on disk. Where one fails, or the source does, the updates before it are
applied and have been yielded, the error names its place, and the knowledge base stays at the last good version.

With `marking`, maintenance may look at the next update while it works on this one, if it has come. Derived facts then
remember a fact that they came from and share its mark; with `marking="printed"` they do not, and marks are passed on by
rule applications alone, as the printed algorithm has it. With `coalesce`, updates that wait are applied at once, as
their net effect; an update that changes rules stays alone. A batch that fails is applied again one by one, so that the
good updates in it are kept and the error is that of the bad one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from everlog.errors import EverlogError, EverlogWarning
from everlog.limits import Limits
from everlog.maintenance.strategies import STRATEGIES, check_strategy, marks_of
from everlog.plans.sweeps import Marks
from everlog.store.changes import Change
from everlog.store.lookout import Lookout
from everlog.store.sources import Updates, UpdateSource, open_source
from everlog.store.updates import Update, net_effect, placing_errors

if TYPE_CHECKING:
    from everlog.store.store import KnowledgeBase

PRINTED = "printed"
MOST_AT_ONCE = 1000  # updates in one net effect: enough to catch up with, few enough to hear of progress


def stream(
    kb: KnowledgeBase,
    updates: Updates,
    *,
    strategy: str | None = None,
    marking: bool | str = False,
    coalesce: bool = False,
    limits: Limits | None = None,
) -> Iterator[Change]:
    """Apply updates as they arrive; a change for each, or with `coalesce` for each batch."""
    check_strategy(strategy or kb.strategy)
    source = open_source(updates, ahead=read_ahead(coalesce))
    return apply_source(kb, source, strategy=strategy, marking=marking, coalesce=coalesce, limits=limits)


def read_ahead(coalesce: bool) -> int:
    """How many updates a source reads ahead: one to look at, or all that can be applied at once."""
    return MOST_AT_ONCE if coalesce else 1


def apply_source(
    kb: KnowledgeBase,
    source: UpdateSource,
    *,
    strategy: str | None,
    marking: bool | str,
    coalesce: bool,
    limits: Limits | None = None,
) -> Iterator[Change]:
    """The same for a source that the caller has opened; it is closed at the end."""
    if marking:
        _warn_of_marking(strategy or kb.strategy)
    return _apply_all(kb, source, strategy, marking, coalesce, limits)


def _warn_of_marking(strategy: str) -> None:
    if marks_of(strategy) is Marks.NONE:
        able = [name for name in STRATEGIES if marks_of(name) is not Marks.NONE]
        warnings.warn(
            f"marking has no effect with the strategy {strategy!r}; it has with {' and '.join(able)}",
            EverlogWarning,
            stacklevel=5,  # whoever calls kb.stream
        )


def _apply_all(
    kb: KnowledgeBase,
    source: UpdateSource,
    strategy: str | None,
    marking: bool | str,
    coalesce: bool,
    limits: Limits | None,
) -> Iterator[Change]:
    lookout = Lookout(source.peek, witnesses=marking != PRINTED) if marking else None
    with closing(source):
        while (update := source.take()) is not None:
            batch = [update]
            if coalesce:
                batch += _waiting(source, update)
            yield from _apply(kb, batch, strategy, lookout, limits)


def _waiting(source: UpdateSource, first: Update) -> Iterator[Update]:
    """The updates that have come after the first and can be applied together with it."""
    if first.changes_rules:
        return
    for _ in range(MOST_AT_ONCE - 1):
        following = source.peek()
        if following is None or following.changes_rules:
            return
        source.take()
        yield following


def _apply(
    kb: KnowledgeBase, batch: list[Update], strategy: str | None, lookout: Lookout | None, limits: Limits | None
) -> Iterator[Change]:
    if len(batch) > 1:
        try:
            effect = net_effect(batch, kb.state().definitions.declared_names)
            change = _update(kb, effect, strategy, lookout, limits, covers=len(batch))
        except (EverlogError, TypeError, ValueError):
            pass  # one of them is wrong: the loop below finds it
        else:
            yield change
            return
    for update in batch:
        with placing_errors(update.place):
            change = _update(kb, update, strategy, lookout, limits)
        yield change


def _update(
    kb: KnowledgeBase,
    update: Update,
    strategy: str | None,
    lookout: Lookout | None,
    limits: Limits | None,
    covers: int = 1,
) -> Change:
    name = str(update.place) if update.place is not None else "<rules>"
    return kb.apply(update, name=name, strategy=strategy, covers=covers, lookout=lookout, limits=limits)

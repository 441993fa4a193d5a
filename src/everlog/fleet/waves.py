"""Which updates of a stream can be made at once?

Those of different keys. So between two updates of all keys, the first update of each key is made with the first ones of
the others, then the second ones together, and so on: the order of each key's own updates stays.

>>> [sorted(wave) for wave in waves([("a", {}), ("b", {}), ("a", {})])]
[['a', 'b'], ['a']]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from everlog.errors import EverlogError
from everlog.store.updates import Update, net_effect, update_of

Said = Update | Mapping[str, Any]
Wave = dict[str, tuple[Said, int]]  # the update of each key, and how many updates it stands for


def waves(updates: Iterable[tuple[str | None, Said]], *, coalesce: bool = False) -> Iterator[Wave | Said]:
    """Updates of many keys that are made together; those of all keys stay alone."""
    waiting: dict[str, list[Said]] = {}
    for key, said in updates:
        if key is not None:
            waiting.setdefault(key, []).append(said)
        else:
            yield from _together(waiting, coalesce)
            waiting = {}
            yield said
    yield from _together(waiting, coalesce)


def _together(waiting: Mapping[str, list[Said]], coalesce: bool) -> Iterator[Wave]:
    queues = {
        key: list(_coalesced(listed)) if coalesce and len(listed) > 1 else [(said, 1) for said in listed]
        for key, listed in waiting.items()
    }
    for number in range(max(map(len, queues.values()), default=0)):
        yield {key: queue[number] for key, queue in queues.items() if number < len(queue)}


def _coalesced(listed: Iterable[Said]) -> Iterator[tuple[Said, int]]:
    """Updates of one key by their net effect; those that change rules, or cannot be read, stay alone."""
    together: list[Update] = []
    for said in listed:
        try:
            update = update_of(said)
            alone = update.changes_rules
            if not alone:
                net_effect([update])  # what is no term stays alone
        except (EverlogError, TypeError, ValueError):
            alone = True
        if not alone:
            together.append(update)
            continue
        if together:
            yield net_effect(together), len(together)
            together = []
        yield said, 1
    if together:
        yield net_effect(together), len(together)

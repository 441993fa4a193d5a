"""Which updates of a stream can be made at once?

Those of different keys. So between two updates of all keys, the first update of each key is made with the first ones of
the others, then the second ones together, and so on: the order of each key's own updates stays.

>>> [sorted(wave) for wave in waves([("a", {}), ("b", {}), ("a", {})])]
[['a', 'b'], ['a']]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from everlog.errors import EverlogError, UsageError
from everlog.store.updates import Update, net_effect, update_of

Said = Update | Mapping[str, Any]
Wave = dict[str, tuple[Said | None, int]]  # the update of each key, and how many updates it stands for


class ForAll(NamedTuple):
    """An update of every knowledge base."""

    said: Said


def waves(updates: Iterable[tuple[str | None, Said | None]], *, coalesce: bool = False) -> Iterator[Wave | ForAll]:
    """Updates of many keys that are made together; those of all keys stay alone. None lets a key go."""
    waiting: dict[str, list[Said | None]] = {}
    for key, said in updates:
        if key is not None:
            waiting.setdefault(key, []).append(said)
        else:
            yield from _together(waiting, coalesce)
            waiting = {}
            if said is None:
                raise UsageError("knowledge bases go one by one", hint="name the key of one that is to go")
            yield ForAll(said)
    yield from _together(waiting, coalesce)


def _together(waiting: Mapping[str, list[Said | None]], coalesce: bool) -> Iterator[Wave]:
    queues = {
        key: list(_coalesced(listed)) if coalesce and len(listed) > 1 else [(said, 1) for said in listed]
        for key, listed in waiting.items()
    }
    for number in range(max(map(len, queues.values()), default=0)):
        yield {key: queue[number] for key, queue in queues.items() if number < len(queue)}


def _coalesced(listed: Iterable[Said | None]) -> Iterator[tuple[Said | None, int]]:
    """Updates of one key by their net effect; those that change rules, or cannot be read, stay alone."""
    together: list[Update] = []
    for said in listed:
        if said is not None and (update := _facts_only(said)) is not None:
            together.append(update)
            continue
        if together:
            yield net_effect(together), len(together)
            together = []
        yield said, 1
    if together:
        yield net_effect(together), len(together)


def _facts_only(said: Said) -> Update | None:
    """An update of facts that can be put together with others; None where it changes rules, or is wrong."""
    try:
        update = update_of(said)
        if update.changes_rules:
            return None
        net_effect([update])
        return update
    except (EverlogError, TypeError, ValueError):
        return None

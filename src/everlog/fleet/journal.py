"""How does a fleet outlive the process that holds it?

Somebody keeps texts for it, a *shelf*: Spark's state store, say. Each batch of updates is an entry of a log there, with
a token that nobody else has; now and then the fleet is written down whole, the *base*, and the entries before it go. A
process that has the fleet of the last entry in its memory goes on with it; one that has that of an earlier entry makes
the later ones again; any other reads the base and the entries after it. Tokens tell whether what is in memory is what
the log says, or what a run came to that never counted.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol
from uuid import uuid4

from everlog.errors import UsageError
from everlog.fleet.changes import FleetChange
from everlog.fleet.dumps import update_data, update_from
from everlog.fleet.fleet import Fleet
from everlog.store.updates import Update

_IN_MEMORY = 256  # fleets that a process holds
_CHUNK = 1 << 20  # characters of a piece of the base
_LEAST_BEFORE_A_BASE = 1 << 20  # characters of the log

Said = tuple[str | None, Update | None]


@dataclass(frozen=True)
class Head:
    """What a shelf has: up to which entry, and how much."""

    fleet: str  # a name that no other fleet has
    program: str  # which program and views it began with
    entry: int = 0
    token: str = ""  # of the last entry
    base: int = 0  # the entry after which the base was written; 0: it is the program
    base_token: str = ""
    chunks: int = 0
    base_size: int = 0
    log_size: int = 0


class Shelf(Protocol):
    """Where a fleet is kept between batches."""

    def head(self) -> Head | None: ...

    def put_head(self, head: Head) -> None: ...

    def entry(self, number: int) -> str: ...

    def put_entry(self, number: int, text: str) -> None: ...

    def drop_entry(self, number: int) -> None: ...

    def chunk(self, number: int) -> str: ...

    def put_chunk(self, number: int, text: str) -> None: ...

    def drop_chunk(self, number: int) -> None: ...


class _Held(NamedTuple):
    fleet: Fleet
    entry: int
    token: str


_held: OrderedDict[str, _Held] = OrderedDict()  # of this process, the last used at the end


class Journal:
    """A fleet on a shelf."""

    def __init__(self, shelf: Shelf, begin: Callable[[], Fleet], program: str) -> None:
        """`begin` makes the fleet as it is before the first update; `program` identifies what it begins with."""
        self._shelf, self._begin = shelf, begin
        self.head = shelf.head() or Head(uuid4().hex, program)
        if self.head.program != program:
            raise UsageError(
                "the fleet at this checkpoint began with other rules or views, or another number of shards",
                hint="begin a new checkpoint, or begin with the same ones and change rules by updates",
            )

    def apply(self, updates: Iterable[Said], *, coalesce: bool = False) -> Iterator[FleetChange]:
        """Make a batch of updates, and keep what was made; a change for each part of it."""
        fleet = self._fleet()
        _held.pop(self.head.fleet, None)  # whoever fails here leaves nothing half done behind
        listed = list(updates)
        yield from fleet.stream(listed, coalesce=coalesce)
        self._keep(fleet, listed)

    def _fleet(self) -> Fleet:
        """The fleet after the last entry."""
        head, held = self.head, _held.get(self.head.fleet)
        if held is None or not self._is_true(held):
            fleet = self._begin() if not head.base else Fleet.load(self._base_lines())
            held = _Held(fleet, head.base, head.base_token)
        for number in range(held.entry + 1, head.entry + 1):
            said = json.loads(self._shelf.entry(number))["updates"]
            updates = [(key, None if data is None else update_from(data)) for key, data in said]
            for _ in held.fleet.stream(updates):
                pass
        return held.fleet

    def _is_true(self, held: _Held) -> bool:
        """Is what is in memory what the log says?"""
        head = self.head
        if not head.base <= held.entry <= head.entry:
            return False
        if held.entry == head.entry:
            return held.token == head.token
        if held.entry == head.base:
            return held.token == head.base_token
        return bool(held.token == json.loads(self._shelf.entry(held.entry))["token"])

    def _base_lines(self) -> Iterator[str]:
        for number in range(self.head.chunks):
            yield from self._shelf.chunk(number).splitlines()

    def _keep(self, fleet: Fleet, updates: Iterable[Said]) -> None:
        """Write down what was asked for; what was refused will be again."""
        head, token = self.head, uuid4().hex
        said = [[key, None if update is None else update_data(update)] for key, update in updates]
        text = json.dumps({"token": token, "updates": said})
        number = head.entry + 1
        self._shelf.put_entry(number, text)
        head = replace(head, entry=number, token=token, log_size=head.log_size + len(text))
        if head.log_size > max(_LEAST_BEFORE_A_BASE, 2 * head.base_size):
            head = self._write_base(fleet, head)
        self._shelf.put_head(head)
        self.head = head
        _held[head.fleet] = _Held(fleet, head.entry, head.token)
        if len(_held) > _IN_MEMORY:
            _held.popitem(last=False)

    def _write_base(self, fleet: Fleet, head: Head) -> Head:
        chunks = 0
        size = 0
        for text in _chunks(fleet.dump()):
            self._shelf.put_chunk(chunks, text)
            chunks, size = chunks + 1, size + len(text)
        for number in range(chunks, head.chunks):
            self._shelf.drop_chunk(number)
        for number in range(head.base + 1, head.entry + 1):
            self._shelf.drop_entry(number)
        return replace(head, base=head.entry, base_token=head.token, chunks=chunks, base_size=size, log_size=0)


def _chunks(lines: Iterable[str]) -> Iterator[str]:
    """Lines in pieces of about the same length; a line is never cut."""
    waiting: list[str] = []
    size = 0
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size > _CHUNK:
            yield "\n".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield "\n".join(waiting)

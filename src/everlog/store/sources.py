"""Where do the updates of a stream come from, and which is already there?

A source hands out updates in order. `take` waits for the next one; `peek` never waits: it shows the next update if it
has come, without taking it. What a source raises is passed on in its place, after the updates before it.

- A sequence, or a file on disk (by its name, or open), has its next update ready.
- A queue is asked directly; the item `None` ends it.
- Any other iterator, a pipe too, may make its caller wait, so a thread reads it ahead: as many updates as there is room
  for, and the next only when one is taken.
"""

from __future__ import annotations

import io
import operator
import os
import queue
import stat
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from everlog.errors import FormatError, UsageError
from everlog.store.updates import Place, Update, read_updates, update_of

Updates = Iterable[Update | Mapping[str, Any]] | queue.Queue[Any] | IO[Any] | str | Path


@dataclass(frozen=True)
class _Failure:
    """What the source raised instead of an update."""

    error: BaseException


class UpdateSource(ABC):
    """Updates in order, the next of which may be looked at."""

    def __init__(self) -> None:
        self._number = 0
        self._next: Update | _Failure | None = None  # looked at and not taken yet
        self._ended = False

    def take(self) -> Update | None:
        """The next update, waiting for it if need be; None at the end. Raises what the source raised."""
        self._look(wait=True)
        item, self._next = self._next, None
        if isinstance(item, _Failure):
            self._ended = True
            raise item.error
        return item

    def peek(self) -> Update | None:
        """The next update if it has come."""
        self._look(wait=False)
        return self._next if isinstance(self._next, Update) else None

    @abstractmethod
    def waiting(self) -> int:
        """How many updates have come and are not taken, as far as that is known."""

    def close(self) -> None:
        """Nothing more will be taken."""
        self._ended, self._next = True, None

    @abstractmethod
    def _fetch(self, *, wait: bool) -> Any:
        """The next item, None at the end; queue.Empty where there is none yet and the caller does not wait."""

    def _look(self, *, wait: bool) -> None:
        if self._next is not None or self._ended:
            return
        try:
            item = self._fetch(wait=wait)
        except queue.Empty:
            return
        except Exception as error:
            item = _Failure(error)  # raised when it is taken, not when it is looked at
        self._number += 1
        if item is None:
            self._ended = True
        elif isinstance(item, _Failure):
            self._next = item
        else:
            try:
                self._next = update_of(item, Place("<stream>", self._number))
            except Exception as error:
                self._next = _Failure(error)


def open_source(updates: Updates, *, ahead: int) -> UpdateSource:
    """A source of updates given in whatever form; an iterator is read at most `ahead` updates ahead."""
    if isinstance(updates, str | Path):
        reader = read_updates(updates)
        return ThreadSource(reader, ahead) if Path(updates).is_fifo() else ReadySource(reader)
    if isinstance(updates, io.IOBase) or hasattr(updates, "readline"):
        reader = read_updates(*_opened(updates))
        return ReadySource(reader) if _is_whole(updates) else ThreadSource(reader, ahead)
    if isinstance(updates, queue.Queue | queue.SimpleQueue):
        return QueueSource(updates)
    if isinstance(updates, Update | Mapping):
        raise UsageError("a stream takes many updates", hint="call update(…), or put the update into a list")
    if isinstance(updates, Sequence):
        return ReadySource(updates)
    if isinstance(updates, Iterable):
        return ThreadSource(iter(updates), ahead)
    raise UsageError(
        f"{updates!r:.80} is no source of updates",
        hint="give an iterator, a queue.Queue, an open file or the name of one",
    )


def _opened(file: Any) -> tuple[str, BinaryIO]:
    """The name of an open file, which says what is in it, and its bytes from where it stands."""
    name = getattr(file, "name", None)
    name = name if isinstance(name, str) else "<stream>"
    if getattr(file, "closed", False) or not getattr(file, "readable", lambda: True)():
        raise UsageError(f"{name}: this file is not open to be read", hint="open(path) or open(path, 'rb') opens it so")
    return name, cast(BinaryIO, _encoded_lines(file, name) if isinstance(file, io.TextIOBase) else file)


def _encoded_lines(file: io.TextIOBase, name: str) -> Iterator[bytes]:
    """Lines of text as lines of bytes, as they come."""
    read = 0
    try:
        for line in file:
            read += 1
            yield line.encode()
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        raise FormatError(
            f"this line is not text in the encoding that the file was opened with ({error.reason})",
            path=name,
            line=read + 1,
        ) from error


def _is_whole(file: Any) -> bool:
    """Is all of an open file there? Of a pipe, the rest may come much later."""
    try:
        return stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    except (OSError, AttributeError):
        return isinstance(file, io.StringIO | io.BytesIO)


class ReadySource(UpdateSource):
    """Updates that nobody has to wait for."""

    def __init__(self, updates: Iterable[Any]) -> None:
        super().__init__()
        self._items = iter(updates)

    def _fetch(self, *, wait: bool) -> Any:
        return next(self._items, None)

    def waiting(self) -> int:
        return operator.length_hint(self._items) + (self._next is not None)


class QueueSource(UpdateSource):
    """Updates that others put into a queue."""

    def __init__(self, items: queue.Queue[Any] | queue.SimpleQueue[Any]) -> None:
        super().__init__()
        self._items = items

    def _fetch(self, *, wait: bool) -> Any:
        return self._items.get(block=wait)

    def waiting(self) -> int:
        return self._items.qsize() + (self._next is not None)


class ThreadSource(QueueSource):
    """An iterator that a thread reads ahead, once the source is asked for the first time."""

    def __init__(self, updates: Iterator[Any], ahead: int) -> None:
        super().__init__(queue.SimpleQueue())
        self._room = threading.Semaphore(ahead)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._read, args=(updates,), name="everlog updates", daemon=True)

    def _fetch(self, *, wait: bool) -> Any:
        if self._thread.ident is None:
            self._thread.start()
        return super()._fetch(wait=wait)

    def take(self) -> Update | None:
        update = super().take()
        self._room.release()
        return update

    def close(self) -> None:
        super().close()
        self._closed.set()
        self._room.release()  # a reader that waits for room goes on, sees that it is over, and ends

    def _read(self, updates: Iterator[Any]) -> None:
        item: Any = ...
        while item is not None and not isinstance(item, _Failure):
            self._room.acquire()
            if self._closed.is_set():
                return
            try:
                item = next(updates, None)
            except BaseException as error:
                item = _Failure(error)
            self._items.put(item)

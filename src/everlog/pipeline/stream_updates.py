"""Which updates does a micro-batch hold, in which order?

Files come whole, oldest first; a file of JSON lines is an update a line, one of RDF Patch an update a transaction. Rows
of any other stream are an update each, as JSON. What cannot be read is an update too, one that says why not, so that it
can be set aside at its place and what follows it goes on.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from everlog.addresses import path_of
from everlog.errors import EverlogError
from everlog.formats.update_files import EXTENSIONS
from everlog.store.updates import Place, Update, read_updates


@dataclass(frozen=True)
class StreamedUpdate:
    """An update, or why there is none; and how it was written.

    Attributes:
        file, number: which file of its batch it is in, and which update of that it is, counted from 1.
    """

    place: Place
    text: str
    update: Update | None = None
    error: EverlogError | None = None
    file: int = 0
    number: int = 1


def updates_of_files(landed: Iterable[tuple[str, bytes]]) -> Iterator[StreamedUpdate]:
    """The updates of the files of a batch."""
    for file, (address, content) in enumerate(landed):
        for number, update in enumerate(updates_of_file(address, content), start=1):
            yield replace(update, file=file, number=number)


def updates_of_file(address: str, content: bytes) -> Iterator[StreamedUpdate]:
    """The updates of a file that has landed."""
    path = Path(path_of(address))
    name = PurePosixPath(path.name)
    if name.suffix == ".gz":
        try:
            content, name = gzip.decompress(content), name.with_suffix("")
        except (OSError, EOFError, zlib.error) as error:
            yield StreamedUpdate(Place(str(path)), "", error=EverlogError(f"{path}: cannot be unpacked ({error})"))
            return
    if EXTENSIONS.get(name.suffix) == "jsonl":
        yield from updates_of_lines(str(path), content.splitlines())
        return
    try:
        for update in read_updates(path.with_name(str(name)), io.BytesIO(content)):
            yield StreamedUpdate(update.place or Place(str(path)), "", update)
    except EverlogError as error:
        yield StreamedUpdate(Place(str(path)), content.decode("utf-8", "replace")[:10_000], error=error)


def updates_of_lines(path: str, lines: Iterable[bytes | str | None]) -> Iterator[StreamedUpdate]:
    """Updates as JSON, one each."""
    count = 0
    for number, line in enumerate(lines, start=1):
        data = line.encode() if isinstance(line, str) else bytes(line or b"")
        if not data.strip():
            continue
        place, text = Place(path, number), data.decode("utf-8", "replace")
        try:
            found = list(read_updates(Path(path).with_suffix(".jsonl"), io.BytesIO(data)))
        except EverlogError as error:
            error.stands_at(path, number)
            count += 1
            yield StreamedUpdate(place, text, error=error, number=count)
        else:
            for update in found:
                count += 1
                yield StreamedUpdate(place, text, update, number=count)

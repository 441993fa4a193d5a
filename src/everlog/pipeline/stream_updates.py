"""Which updates does a micro-batch hold, in which order?

Files come whole, oldest first; a file of JSON lines is an update a line, one of RDF Patch an update a transaction. Rows
of any other stream are an update each, as JSON. What cannot be read is an update too, one that says why not, so that it
can be set aside at its place and what follows it goes on.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from everlog.errors import EverlogError
from everlog.formats.update_files import EXTENSIONS
from everlog.pipeline.places import path_of
from everlog.store.updates import Place, Update, read_updates


@dataclass(frozen=True)
class StreamedUpdate:
    """An update, or why there is none; and how it was written."""

    place: Place
    text: str
    update: Update | None = None
    error: EverlogError | None = None


def updates_of_file(address: str, content: bytes) -> Iterator[StreamedUpdate]:
    """The updates of a file that has landed."""
    path = Path(path_of(address))
    name = PurePosixPath(path.name)
    if name.suffix == ".gz":
        try:
            content, name = gzip.decompress(content), name.with_suffix("")
        except (OSError, EOFError) as error:
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
    for number, line in enumerate(lines, start=1):
        data = line.encode() if isinstance(line, str) else bytes(line or b"")
        if not data.strip():
            continue
        place, text = Place(path, number), data.decode("utf-8", "replace")
        try:
            found = list(read_updates(Path(path).with_suffix(".jsonl"), io.BytesIO(data)))
            yield from (StreamedUpdate(place, text, update) for update in found)
        except EverlogError as error:
            error.stands_at(path, number)
            yield StreamedUpdate(place, text, error=error)

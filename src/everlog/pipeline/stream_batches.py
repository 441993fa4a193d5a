"""What does a batch of a stream consist of when it comes again, and which of its updates do the tables have?

After a crash Spark gives the same files again. Some may have grown meanwhile, or have been mended, and are the youngest
now; but updates are counted, so a batch must be the same, in the same order, as when some of it was applied. So its
files and their lengths are noted beside the tables before the first of its updates is applied, and a batch that comes
again is what was noted. The commit of an update says which one it is: the batch, the file, the update in the file.

A checkpoint that was removed is another stream to Spark, whose batches count from 0 again: its id tells them apart.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.addresses import is_remote, path_of
from everlog.formats.compression import replacing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOTES = "_streams"
_STILL = 1.0  # seconds for which a file that ends in the middle of a line must not have grown

Landed = tuple[str, bytes]  # where a file is, and what it holds


@dataclass(frozen=True)
class Progress:
    """The last update of a stream that a version of the tables has."""

    id: str  # of the checkpoint
    batch: int
    file: int
    update: int
    at: str  # the place it was read from, for people

    @classmethod
    def of(cls, info: Mapping[str, Any], stream: str) -> Progress | None:
        said = info.get("streams", {}).get(stream)
        return None if said is None else cls(**said)

    def as_data(self) -> dict[str, Any]:
        return asdict(self)

    def has(self, id: str, batch: int, file: int, update: int) -> bool:
        """Do the tables have an update, or had it been set aside when they got a later one?"""
        return id == self.id and (batch, file, update) <= (self.batch, self.file, self.update)


class BatchNotes:
    """The files of the batch at work, as they were when it first came."""

    def __init__(self, tables: Path, stream: str) -> None:
        self.name = hashlib.sha256(stream.encode()).hexdigest()[:12]  # of the stream, as part of a file's name
        self._path = tables / NOTES / f"{self.name}.json"

    def arranged(self, id: str, batch: int, landed: Sequence[Landed]) -> list[Landed]:
        """The files of a batch, oldest first when it comes for the first time, and ever after as they were then.

        A file that is gone is empty, so that those after it keep their numbers.
        """
        noted = self._noted(id, batch)
        if noted is None:
            found = [(address, whole(address, content)) for address, content in landed]
            self._note(id, batch, [(address, len(content)) for address, content in found])
            return found
        there = dict(landed)
        return [(address, there.get(address, b"")[:length]) for address, length in noted]

    def read_again(self, id: str, batch: int, first: int) -> None:
        """From a file on, what it holds counts when the batch comes again: it is about to be mended."""
        noted = self._noted(id, batch) or []
        self._note(id, batch, [(path, length if n < first else None) for n, (path, length) in enumerate(noted)])

    def _noted(self, id: str, batch: int) -> list[tuple[str, int | None]] | None:
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        if (data["id"], data["batch"]) != (id, batch):
            return None
        return [(path, length) for path, length in data["files"]]

    def _note(self, id: str, batch: int, files: Sequence[tuple[str, int | None]]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self._path) as stream:
            stream.write(json.dumps({"id": id, "batch": batch, "files": files}).encode())
            stream.flush()
            os.fsync(stream.fileno())


def whole(address: str, content: bytes) -> bytes:
    """What a file holds, once nobody is writing it any more, as far as can be seen.

    Lines that came after Spark had looked would never be read, so a local file that ends in the middle of a line is
    looked at until it has not grown for a while.
    """
    path = Path(path_of(address))
    if is_remote(address) or path.suffix == ".gz" or content.endswith(b"\n"):
        return content
    still_since = time.monotonic()
    while time.monotonic() - still_since < _STILL:
        time.sleep(_STILL / 10)
        try:
            now = path.read_bytes()
        except OSError:
            return content
        if now != content:
            content, still_since = now, time.monotonic()
        if content.endswith(b"\n"):
            break
    return content


def stream_id(spark: SparkSession, checkpoint: str) -> str:
    """The id that Spark has given to a checkpoint, and to no other."""
    place = f"{checkpoint}/metadata"
    text = spark.read.text(place).first()[0] if is_remote(checkpoint) else Path(path_of(place)).read_text()  # type: ignore[index]
    return str(json.loads(text)["id"])

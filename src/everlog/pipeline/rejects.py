"""Which lines could not be read, and are there too many of them?

A malformed line does not stop the task that reads it: it is counted, and the first few of each task are collected with
their text. Spark knows no line numbers, so the driver looks those few up in their files afterwards. Then the run stops
if more than the share allowed of a source was malformed; each source counts by itself, so that a small one is not lost
among large ones. A row in which a value is missing is not malformed: unless its source says that such rows are skipped,
one of them stops the run. A file that cannot be read to its end always does.

A snapshot's malformed line may be a fact that is there still, and would be taken for deleted. So where a snapshot has
such lines, a run that would delete facts of it stops (`refuse_doubtful`).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.addresses import path_of
from everlog.errors import DataError, EverlogError, FormatError
from everlog.formats.compression import open_bytes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SAMPLES = 20  # lines collected by each task
SCHEMA = "file string, line long, text string, reason string"

_JARS = (
    'name the jars that bring it in [spark], such as "spark.jars.packages" = "org.apache.hadoop:hadoop-aws:3.4.1", '
    "and write s3a://… for S3; or copy the files to a local folder"
)
_SHOWN = 5  # malformed lines that an error lists
_WIDE = 100  # characters of each


@dataclass(frozen=True)
class Reject:
    """A line, or a row of a table, that is not a fact."""

    file: str | None
    line: int | None
    text: str | None
    reason: str


@dataclass
class Rejects:
    """What was rejected so far: how many, and some of them; and the rows in which a value is missing."""

    count: int = 0
    samples: list[Reject] = field(default_factory=list)
    nulls: int = 0
    missing: list[Reject] = field(default_factory=list)

    def add(self, count: int, samples: Iterable[Reject]) -> None:
        self.count += count
        self.samples += samples

    def add_nulls(self, count: int, samples: Iterable[Reject]) -> None:
        self.nulls += count
        self.missing += samples

    def check(self, title: str, facts: int, most: float, nulls: str) -> None:
        """Stop the run if more than the share `most` of what a source holds was rejected, or a value is missing."""
        if self.nulls and nulls == "refuse":
            first = located(self.missing)[0]
            told = first.reason if first.text is None or first.reason.endswith(first.text) else _told(first)
            raise DataError(
                told,
                path=first.file or title,
                line=first.line,
                hint=f"{self.nulls} of {facts + self.nulls + self.count} rows lack a value: fill them, or say "
                'nulls = "skip" to leave such rows out, or nulls = "empty" to read an empty string',
            )
        if self.count == 0 or self.count <= most * (facts + self.count):
            return
        self.samples = located(self.samples)
        first, *others = self.samples or [Reject(None, None, None, "a line cannot be read")]
        shown = "".join(f"\n  {_place(other)}: {_told(other)}" for other in others[: _SHOWN - 1])
        share = self.count / (facts + self.count)
        raise DataError(
            f"{_told(first)}{shown}",
            path=first.file,
            line=first.line,
            hint=f"{self.count} of {facts + self.count} lines ({share:.2%}) cannot be read: mend or remove them, or "
            "allow such a share by max_rejects",
        )

    def frame(self, spark: SparkSession) -> DataFrame:
        """The samples as a table."""
        self.samples = located(self.samples)
        rows = [(sample.file, sample.line, sample.text, sample.reason) for sample in self.samples]
        return spark.createDataFrame(rows, SCHEMA)


def refuse_doubtful(deleted: Mapping[str, int], doubtful: Mapping[str, Sequence[Reject]]) -> None:
    """Stop the run where facts would be deleted that may stand in malformed lines of their snapshot.

    Args:
        deleted: how many facts of each relation would go.
        doubtful: malformed lines of snapshots, by relation.
    """
    for relation, samples in doubtful.items():
        gone = deleted.get(relation)
        if gone and samples:
            first = located(samples)[0]
            raise DataError(
                _told(first),
                path=first.file,
                line=first.line,
                hint=f"this is a snapshot, and {gone:,} facts of {relation} are not in it any more, unless "
                "they stand in lines that cannot be read: mend those lines, or take them out",
            )


def located(samples: Sequence[Reject]) -> list[Reject]:
    """The samples in the order of their places, each with its line where its file can be read here."""
    found = list(samples)
    places: dict[str, list[int]] = {}
    for place, sample in enumerate(found):
        if sample.line is None and sample.file and sample.text is not None:
            places.setdefault(sample.file, []).append(place)
    for file, some in places.items():
        lines = line_numbers(file, [found[place].text or "" for place in some])
        for place, line in zip(some, lines, strict=True):
            found[place] = replace(found[place], line=line)
    return sorted(found, key=lambda sample: (sample.file or "", sample.line or 0))


def line_numbers(file: str, texts: Sequence[str]) -> list[int | None]:
    """The line of each text in a local file; of equal texts, the next line each; None where it is not found."""
    waiting: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        waiting.setdefault(text, []).append(place)
    found: list[int | None] = [None] * len(texts)
    with contextlib.suppress(EverlogError, OSError), open_bytes(Path(file)) as stream:
        for number, raw in enumerate(stream, 1):
            for line in raw.removesuffix(b"\n").splitlines() or [b""]:  # a lone carriage return ends a line for Spark
                places = waiting.get(line.decode("utf-8", "replace"))
                if places:
                    found[places.pop(0)] = number
                    if not any(waiting.values()):
                        return found
    return found


@contextlib.contextmanager
def reading(title: str) -> Iterator[None]:
    """Turn Spark's failures to read a file into errors that name the file."""
    try:
        yield
    except Exception as error:
        if not from_spark(error):
            raise
        raise _explained(str(error), title) from error


@contextlib.contextmanager
def reading_sources() -> Iterator[None]:
    """The same where facts are used that Spark reads from files only now."""
    try:
        yield
    except Exception as error:
        if from_spark(error) and "FAILED_READ_FILE" in str(error):
            raise _explained(str(error), "the sources") from error
        raise


def from_spark(error: Exception) -> bool:
    """Whether Spark or its bridge to Java raised this, and not we."""
    return any(kind.__module__.startswith(("pyspark.", "py4j.")) for kind in type(error).__mro__)


def _explained(text: str, title: str) -> DataError:
    named = re.search(
        r"(?:while reading file|FAILED_READ_FILE\S*\s.*?file) '?((?:file|[a-z0-9]+)://?[^\s']+?)'?\.?\s", text
    )
    path = path_of(named[1]) if named else title
    causes = re.findall(r"Caused by: (\S+?): ?(.*)", text)
    kind, reason = causes[-1] if causes else ("", text.strip().split("\n")[0])
    kind = kind.rpartition(".")[2]
    missing = re.search(
        r"No FileSystem for scheme \"?(\w+)|Class (\S+FileSystem|org\.apache\.hadoop\.fs\.\S+) not found", text
    )
    if missing:
        return DataError(
            f"Spark has no file system for this ({missing[0]})",
            path=title,
            hint=_JARS,
        )
    if kind in ("EOFException", "ZipException", "DataFormatException") or "stream" in reason.lower():
        return FormatError(
            f"the compressed data is damaged or ends too early ({reason or kind})",
            path=path,
            hint="copy the file again, or take the compression's extension off its name if it is not packed",
        )
    return DataError(f"Spark cannot read this ({(kind + ': ' if kind else '') + reason[:300]})", path=path)


def _place(reject: Reject) -> str:
    return f"{reject.file or '<data>'}:{reject.line}" if reject.line else reject.file or "<data>"


def _told(reject: Reject) -> str:
    if reject.text is None:
        return reject.reason
    return f"{reject.reason}: {reject.text[:_WIDE]}{'…' if len(reject.text) > _WIDE else ''}"

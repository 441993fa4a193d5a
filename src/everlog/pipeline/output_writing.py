"""How is an output written, so that readers see the old one or the new one, and never a part?

First beside its place, under a name that begins with a dot and holds the number of the process; then, when all outputs
of a run are complete, each takes its name. What a process that was killed left beside is removed by the next run.
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.disk import sync
from everlog.engines.spark.session import session_settings
from everlog.errors import OutputError
from everlog.pipeline import delta_files, key_texts
from everlog.pipeline.delta_outputs import put_content
from everlog.pipeline.output_types import native_column, native_types
from everlog.pipeline.outputs import Output
from everlog.tables.commits import unwritable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

_LEFT = re.compile(r"\.(?P<name>.+)\.(?P<process>[0-9]+)-[0-9a-f]{12}\.(?P<what>tmp|old)")

# Otherwise Spark writes timestamps as INT96, which other readers take for times without a zone.
_TIMESTAMPS = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}


@dataclass(frozen=True)
class Prepared:
    """An output that is complete and only needs its name.

    Attributes:
        beside: the folder that holds it.
        mixed: columns that hold texts since their terms are of several kinds.
    """

    output: Output
    beside: Path
    schema: StructType | None = None
    mixed: tuple[str, ...] = ()

    def put_in_place(self) -> Path:
        """Replace what is there."""
        path = self.output.path.absolute()
        try:
            if self.output.kind == "delta":
                assert self.schema is not None
                put_content(path, self.beside, self.schema)
            elif self.output.one_file:
                if path.is_dir():
                    shutil.rmtree(path)  # parts of an earlier run: check_place saw nothing else in it
                os.replace(self.beside / "joined", path)
            else:
                replace_folder(self.beside, path)
            sync(path.parent)
        except OSError as error:
            raise unwritable(path, error) from error
        return path

    def discard(self) -> None:
        shutil.rmtree(self.beside, ignore_errors=True)


def prepare(frame: DataFrame, output: Output) -> Prepared:
    """Write a relation, given as term keys, beside the place of its output."""
    place = beside(output.path.absolute(), "tmp")
    try:
        if output.kind in ("parquet", "delta"):
            return _prepare_table(frame, output, place)
        _write_lines(frame, output, place)
        if output.one_file:
            _join(place, _header(frame, output))
        elif output.kind == "csv":
            _name_parts(place, _header(frame, output))
        return Prepared(output, place)
    except OSError as error:
        shutil.rmtree(place, ignore_errors=True)
        raise unwritable(output.path, error) from error
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise


def tidy(outputs: Sequence[Output]) -> None:
    """Remove what processes that have ended left beside outputs, and bring back what one of them had put aside."""
    for folder, names in _by_folder(outputs).items():
        for path in folder.iterdir() if folder.is_dir() else ():
            found = _LEFT.fullmatch(path.name)
            if found is None or found["name"] not in names or _lives(int(found["process"])):
                continue
            place = folder / found["name"]
            if found["what"] == "old" and not place.exists():
                os.rename(path, place)
            else:
                shutil.rmtree(path, ignore_errors=True)


def _by_folder(outputs: Sequence[Output]) -> dict[Path, set[str]]:
    found: dict[Path, set[str]] = {}
    for output in outputs:
        path = output.path.absolute()
        found.setdefault(path.parent, set()).add(path.name)
    return found


def _lives(process: int) -> bool:
    if process == os.getpid():
        return False  # an earlier run of ours, or of one with the number that is ours now
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it lives, and is another user's
    return True


def beside(path: Path, what: str) -> Path:
    """A name beside a place, that `tidy` knows."""
    return path.with_name(f".{path.name}.{os.getpid()}-{uuid.uuid4().hex[:12]}.{what}")


def _prepare_table(keys: DataFrame, output: Output, beside: Path) -> Prepared:
    from pyspark import StorageLevel
    from pyspark.sql import functions as f

    names = output.names(len(keys.columns))
    keys = keys.persist(StorageLevel.DISK_ONLY)  # read twice: for the types, then for the values
    try:
        types = native_types(keys)
        columns = native_columns(keys.columns, names, types)
        # A table needs a column; so does a fact without arguments.
        values = keys.select(*columns) if columns else keys.select(f.lit("()").alias("c0"))
        write_parquet(values.repartition(1) if output.one_file else values, beside)
    finally:
        keys.unpersist()
    if output.one_file and output.kind == "parquet":
        (part,) = beside.glob("part-*.parquet")
        os.rename(part, beside / "joined")
    mixed = tuple(name for name, type_ in zip(names, types, strict=True) if type_ == "mixed")
    return Prepared(output, beside, values.schema, mixed)


def native_columns(columns: Sequence[str], names: Sequence[str], types: Sequence[str]) -> list[Column]:
    """Columns of keys as columns of values, under other names."""
    from pyspark.sql import functions as f

    return [
        native_column(f.col(column), type_).alias(name)
        for column, name, type_ in zip(columns, names, types, strict=True)
    ]


def write_parquet(values: DataFrame, place: Path) -> None:
    """Let Spark write a table's files into a new folder, so that all readers understand its times."""
    with session_settings(values.sparkSession, _TIMESTAMPS):
        delta_files.write(values, place)


def _write_lines(frame: DataFrame, output: Output, place: Path) -> None:
    from pyspark.sql import functions as f

    columns = [f.col(name) for name in frame.columns]
    if output.kind == "csv":
        line = key_texts.csv_line(columns)
    else:
        frame = frame.select(*(key_texts.ntriples_term(f.col(name)).alias(name) for name in frame.columns))
        line = key_texts.ntriples_line(columns)
    lines = frame.select(line.alias("value"))
    try:
        delta_files.with_our_errors(
            lambda: lines.write.option("lineSep", "\n").text(delta_files.spark_path(place)),
            lambda error: unwritable(place.parent, error),
        )
    except Exception as error:
        _, found, rest = str(error).partition(key_texts.REFUSED)
        if not found:
            raise
        raise OutputError(
            f"{output.path}: {rest.partition(' of a triple;')[0].replace(' as the ', ' cannot be the ')} of a triple",
            hint="RDF has IRIs there, or blank nodes as subjects; write csv or parquet instead",
        ) from error


def _header(frame: DataFrame, output: Output) -> bytes:
    names = output.names(len(frame.columns))
    return csv_header(names) if output.kind == "csv" and output.header else b""


def csv_header(names: Sequence[str]) -> bytes:
    """The first line of a CSV file."""
    if not names:
        return b""
    return (",".join(_csv_field(name, alone=len(names) == 1) for name in names) + "\n").encode()


def _csv_field(text: str, *, alone: bool) -> str:
    special = re.search('[",\r\n\ufeff]', text) or (alone and text in ("", "()"))
    return '"' + text.replace('"', '""') + '"' if special else text


def _join(parts: Path, header: bytes) -> None:
    """Join the parts, in their order, to one file."""
    with open(parts / "joined", "wb") as target:
        target.write(header)
        for part in sorted(parts.glob("part-*")):
            with open(part, "rb") as source:
                shutil.copyfileobj(source, target, 1 << 20)
            part.unlink()
        target.flush()
        os.fsync(target.fileno())


def _name_parts(folder: Path, header: bytes) -> None:
    """Give the parts of a CSV output their extension and header; Spark's checksums would not fit them any more."""
    for part in sorted(folder.glob("part-*")):
        with open(part.with_suffix(".csv"), "wb") as target, open(part, "rb") as source:
            target.write(header)
            shutil.copyfileobj(source, target, 1 << 20)
        part.unlink()
    for checksum in folder.glob(".part-*.crc"):
        checksum.unlink()


def replace_folder(new: Path, path: Path) -> None:
    """Let a folder take the place of another."""
    old = beside(path, "old")
    if path.exists():
        os.rename(path, old)
    try:
        os.rename(new, path)
    except OSError:
        if old.exists():
            os.rename(old, path)
        raise
    shutil.rmtree(old, ignore_errors=True)

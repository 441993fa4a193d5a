"""How is what comes and goes of a relation or a view told to others, run by run, and nothing twice?

A change feed has the columns of its relation, then `weight`, 1 for a fact that came and -1 for one that went (of a view
how many times), and `version`. It is a Delta table, to which a run appends, or a folder of Parquet or CSV files, to
which it adds one, `changes-<version>`. Either says up to which version it goes, in the same step in which it grows: a
run that is killed and made again goes on from there.

Columns have native types as those of other outputs. Should terms of another kind come, a feed is written anew, with
texts in that column, if all versions that it tells of are still kept.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from everlog.disk import sync
from everlog.errors import OutputError
from everlog.pipeline import delta_files, key_texts
from everlog.pipeline.delta_outputs import content_types, content_version, put_content
from everlog.pipeline.output_record import remember_seen, seen_version
from everlog.pipeline.output_types import native_types
from everlog.pipeline.output_writing import beside, csv_header, native_columns, replace_folder, write_parquet
from everlog.pipeline.outputs import Output
from everlog.tables.commits import unwritable
from everlog.tables.layout import VERSION, WEIGHT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NAME = "changes-{version:020d}.{kind}"
_NAMED = re.compile(r"changes-([0-9]{20})\.(?:csv|parquet)")
_OF_CHANGES = [WEIGHT, VERSION]

ChangesSince = Callable[[int | None], "DataFrame | None"]  # None: all that are kept; gives None where there are none


class Feed(Protocol):
    """What a feed holds so far."""

    def version(self) -> int | None:
        """Up to which version it goes; None if it has not begun."""

    def types(self) -> dict[str, str] | None:
        """The types of its columns; None where they are texts."""

    def put(self, changes: DataFrame, names: Sequence[str], types: Sequence[str], version: int, *, anew: bool) -> None:
        """Add changes, given as keys, or let them take the place of all there are."""


def feed_of(output: Output) -> Feed:
    """The feed that an output describes."""
    return _DeltaFeed(output) if output.kind == "delta" else _FolderFeed(output)


def tell_changes(tables: Path, output: Output, changes_since: ChangesSince, newest: int) -> bool:
    """Bring a feed up to a version of tables; says whether there was anything to tell.

    Raises:
        OutputError: it cannot be written, or it goes on from versions that are not kept any more.
    """
    feed = feed_of(output)
    since = seen_version(tables, output, feed.version())
    if since is not None and since > newest:
        raise OutputError(
            f"{output.path}: these changes go up to version {since:,}, and the tables only to {newest:,}",
            hint="it belongs to other tables: choose another path, or remove it",
        )
    told = _tell(output, feed, changes_since, since, newest)
    remember_seen(tables, output, feed.version(), newest)
    return told


def _tell(output: Output, feed: Feed, changes_since: ChangesSince, since: int | None, newest: int) -> bool:
    from pyspark import StorageLevel

    changes = changes_since(since)
    if changes is None:
        return False
    changes = changes.persist(StorageLevel.DISK_ONLY)
    try:
        if changes.isEmpty():
            return False
        keys = [name for name in changes.columns if name not in _OF_CHANGES]
        names, types = output.names(len(keys)), native_types(changes.select(*keys))
        there = None if since is None else feed.types()
        if there is not None:
            fitting = _fitting(changes, keys, types, [there.get(name) for name in names])
            if fitting is None:
                return _tell_anew(output, feed, changes_since, newest)
            types = fitting
        feed.put(changes, names, types, newest, anew=since is None)
        return True
    finally:
        changes.unpersist()


def _fitting(
    changes: DataFrame, keys: Sequence[str], new: Sequence[str], there: Sequence[str | None]
) -> list[str] | None:
    """The types by which new changes fit those that are there; None where they do not."""
    from pyspark.sql import functions as f

    found: list[str] = []
    for key, type_, known in zip(keys, new, there, strict=True):
        if known is None:
            return None
        if known != type_ and known != "string" and not changes.where(f.col(key).isNotNull()).isEmpty():
            return None
        found.append(known)
    return found


def _tell_anew(output: Output, feed: Feed, changes_since: ChangesSince, newest: int) -> bool:
    changes = changes_since(None)
    assert changes is not None, "there are some"
    keys = [name for name in changes.columns if name not in _OF_CHANGES]
    feed.put(changes, output.names(len(keys)), native_types(changes.select(*keys)), newest, anew=True)
    return True


class _DeltaFeed:
    def __init__(self, output: Output) -> None:
        self._path = output.path.absolute()

    def version(self) -> int | None:
        return content_version(self._path)

    def types(self) -> dict[str, str]:
        return content_types(self._path)

    def put(self, changes: DataFrame, names: Sequence[str], types: Sequence[str], version: int, *, anew: bool) -> None:
        place = beside(self._path, "tmp")
        values = _values(changes, names, types)
        try:
            write_parquet(values, place)
            put_content(self._path, place, values.schema, append=not anew, version=version)
            sync(self._path.parent)
        except OSError as error:
            raise unwritable(self._path, error) from error
        finally:
            shutil.rmtree(place, ignore_errors=True)


class _FolderFeed:
    def __init__(self, output: Output) -> None:
        self._output, self._path = output, output.path.absolute()

    def _files(self) -> list[Path]:
        there = self._path.iterdir() if self._path.is_dir() else ()
        return sorted(path for path in there if _NAMED.fullmatch(path.name))

    def version(self) -> int | None:
        found = [_NAMED.fullmatch(path.name) for path in self._files()]
        return max((int(each[1]) for each in found if each is not None), default=None)

    def types(self) -> dict[str, str] | None:
        import pyarrow.parquet as pq
        from pyspark.sql.pandas.types import from_arrow_schema

        files = [path for path in self._files() if path.suffix == ".parquet"]
        if not files:
            return None
        schema = from_arrow_schema(pq.read_schema(files[-1]))
        return {field.name: field.dataType.simpleString() for field in schema}

    def put(self, changes: DataFrame, names: Sequence[str], types: Sequence[str], version: int, *, anew: bool) -> None:
        place = beside(self._path, "tmp")
        name = _NAME.format(version=version, kind=self._output.kind)
        try:
            if self._output.kind == "parquet":
                write_parquet(_values(changes, names, types).repartition(1), place)
                (part,) = place.glob("part-*.parquet")
                os.rename(part, place / name)
            else:
                self._write_lines(changes, names, place, name)
            for other in [path for path in place.iterdir() if path.name != name]:
                other.unlink()
            sync(place / name)
            if anew:
                replace_folder(place, self._path)
                sync(self._path.parent)
            else:
                os.replace(place / name, self._path / name)
                sync(self._path)
        except OSError as error:
            raise unwritable(self._path, error) from error
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def _write_lines(self, changes: DataFrame, names: Sequence[str], place: Path, name: str) -> None:
        from pyspark.sql import functions as f

        keys = [f.col(column) for column in changes.columns if column not in _OF_CHANGES]
        parts = [f.coalesce(key_texts.csv_field(key), f.lit("")) for key in keys]
        line = f.concat_ws(",", *parts, *(f.col(column).cast("string") for column in _OF_CHANGES))
        lines = changes.select(line.alias("value")).repartition(1)
        delta_files.with_our_errors(
            lambda: lines.write.option("lineSep", "\n").text(delta_files.spark_path(place)),
            lambda error: unwritable(place.parent, error),
        )
        with open(place / name, "wb") as target:
            target.write(csv_header([*names, *_OF_CHANGES]) if self._output.header else b"")
            for part in sorted(place.glob("part-*")):
                with open(part, "rb") as source:
                    shutil.copyfileobj(source, target, 1 << 20)


def _values(changes: DataFrame, names: Sequence[str], types: Sequence[str]) -> DataFrame:
    keys = [name for name in changes.columns if name not in _OF_CHANGES]
    return changes.select(*native_columns(keys, names, types), *_OF_CHANGES)

"""Which files is a source?

A folder stands for the files in it, and below it, whose names do not begin with a dot or an underscore (Spark puts its
notes there). A folder that is a Delta table stands for the files of its current version (delta_sources.py): what was
overwritten is gone. Local paths are listed here; a path of another file system (``hdfs://``, ``s3a://``) is listed by
Spark, which needs no more than a session, of Spark Connect too.

A blank node's label means something in one file only, so each file has a *scope*: a hash of the source's name and the
file's path within the source. It is the same in every run, on every machine, and whatever files lie beside it.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from everlog.addresses import BEFORE_PATH, is_remote, path_of, without_scheme
from everlog.errors import DataError, EverlogError, FormatError, NotFoundError, UsageError
from everlog.formats import update_files
from everlog.formats.compression import COMPRESSIONS, check_readable, split_name
from everlog.formats.reading import format_of
from everlog.pipeline.delta_sources import delta_files_of, is_delta
from everlog.pipeline.partitions import Partition, path_partitions
from everlog.pipeline.sources import InputSource, check_options

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

_GLOB = re.compile(r"[*?\[]")
_SCOPE_DIGITS = 12  # 48 bits: a million files, and still one chance in five hundred that any two share a scope


@dataclass(frozen=True)
class SourceFile:
    """One file of a source.

    Attributes:
        path: absolute; with its scheme where it is not local.
        within: its path within the source.
        relation: for tables, where its rows go.
        scope: what stands before the labels of its blank nodes.
        partition: names and keys of the columns that its folders are named after.
        table: the folder of the Delta table that it is part of.
    """

    path: str
    within: str
    format: str
    packed: str
    relation: str
    scope: str
    partition: Partition = ()
    table: str = ""

    @property
    def address(self) -> str:
        """The path for Spark's readers, with the characters escaped that they take for patterns."""
        return re.sub(r"([\\*?\[\]{}])", r"\\\1", self.path)

    @property
    def is_local(self) -> bool:
        return not is_remote(self.path)


@dataclass(frozen=True)
class _Listing:
    base: str  # what the paths within the source are relative to
    paths: list[str]
    folder: str = ""  # where the source is one folder
    table: bool = False  # the folder is a Delta table
    partitions: dict[str, Partition] | None = None


def scope_of(name: str, within: str) -> str:
    """The scope of a file's blank nodes.

    >>> scope_of("data", "a.nt") == scope_of("data", "a.nt") != scope_of("data", "b.nt")
    True
    """
    return "f" + hashlib.sha1(f"{name}\n{within}".encode()).hexdigest()[:_SCOPE_DIGITS]


def source_files(spark: SparkSession | None, source: InputSource) -> list[SourceFile]:
    """The files of a source, in the order of their names; an error where there are none."""
    text = source.path
    listing = _remote(spark, text) if is_remote(text) else _local(text, source.format)
    if not listing.paths and not listing.table:
        raise NotFoundError(f"{text}: there are no files here", hint="check the path, or the pattern in it")
    within = {path: without_scheme(path)[len(listing.base) :].lstrip("/") for path in sorted(listing.paths)}
    partitions = listing.partitions
    if partitions is None:
        partitions = path_partitions(within)
    files = []
    for path in within:
        stem, _, packed = split_name(Path(path))
        folder = listing.folder
        files.append(
            SourceFile(
                path,
                within[path],
                "parquet" if listing.table else _format(path, folder, source),
                packed,
                source.relation or (split_name(Path(folder))[0] if folder else stem),
                scope_of(source.scope_name, within[path]),
                partitions.get(path, ()),
                folder if listing.table else "",
            )
        )
    for file in files:
        if file.packed and file.is_local:
            _check_packed(file)
    for format in {file.format for file in files}:
        check_options(source, format)
    return files


def scope_column(address: Column, source: InputSource, files: Sequence[SourceFile]) -> Column:
    """The same scopes from a column of the files' addresses, as Spark gives them."""
    from pyspark.sql import functions as f

    if len(files) == 1:
        return f.lit(files[0].scope)
    path = path_column(address)
    start = len(without_scheme(files[0].path)) - len(files[0].within)
    within = f.substring(path, f.lit(start + 1), f.length(path))
    digest = f.sha1(f.concat(f.lit(source.scope_name + "\n"), within).cast("binary"))
    return f.concat(f.lit("f"), f.substring(digest, 1, _SCOPE_DIGITS))


def path_column(address: Column) -> Column:
    """The paths of files, without scheme and host, from a column of their addresses."""
    from pyspark.sql import functions as f

    # Java takes a plus sign for a space when it decodes an address.
    return f.regexp_replace(f.url_decode(f.replace(address, f.lit("+"), f.lit("%2B"))), BEFORE_PATH, "")


def _format(path: str, folder: str, source: InputSource) -> str:
    if source.kind == "changes" and source.change_column is None:
        return _update_format(Path(path), source.format)
    if source.format is None and folder and split_name(Path(folder))[1]:
        try:
            return format_of(Path(path))
        except UsageError:
            return format_of(Path(folder))  # `edge.csv/part-00000`: the folder's name says it
    return format_of(Path(path), source.format)


def _update_format(path: Path, said: str | None) -> str:
    """What a file of updates is written in; any other format is judged by sources.py."""
    extension = f".{said.lower().removeprefix('.')}" if said is not None else split_name(path)[1]
    found = update_files.EXTENSIONS.get(extension)
    if found is None:
        return format_of(path, said)
    return "updates" if found == "jsonl" else found


def _local(text: str, said: str | None) -> _Listing:
    path = os.path.abspath(text)
    if os.path.isdir(path):
        if said in (None, "delta", "parquet") and is_delta(path):
            partitions = delta_files_of(path)
            return _Listing(path, list(partitions), path, True, partitions)
        if said == "delta":
            raise FormatError("this folder is no Delta table: it has no _delta_log", path=text)
        return _Listing(path, list(_below(path)), path)
    if os.path.exists(path) or not _GLOB.search(text):
        check_readable(Path(text))
        return _Listing(os.path.dirname(path), [path])
    before = _GLOB.split(path, maxsplit=1)[0]
    base = before[: before.rfind("/")] or "/"
    found: list[str] = []
    for match in glob.glob(path, recursive=True):
        if is_delta(match):
            raise UsageError(
                f"{match}: a Delta table cannot be one of many matches", hint="give it a source of its own"
            )
        found += _below(match) if os.path.isdir(match) else [match]
    return _Listing(base, [each for each in dict.fromkeys(found) if "/_delta_log/" not in each])


def _below(folder: str) -> list[str]:
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name[0] not in "._"]
        if is_delta(place):
            raise UsageError(f"{place}: this is a Delta table inside a folder", hint="give it a source of its own")
        found += [os.path.join(place, name) for name in names if name[0] not in "._"]
    return found


def _remote(spark: SparkSession | None, text: str) -> _Listing:
    if spark is None:
        raise UsageError(
            f"{text}: Python cannot open this", hint="mount the file system, or use everlog.pipeline.ingest"
        )
    from everlog.pipeline.rejects import reading

    reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    try:
        with reading(text):  # only the paths are asked for, so that no file is opened
            found = [path_of(row["path"]) for row in reader.load(text).select("path").collect()]
    except EverlogError as error:
        if "PATH_NOT_FOUND" in str(error.__cause__):
            raise NotFoundError(
                f"{text}: there is no such file", hint="check the path, or the pattern in it"
            ) from error
        raise
    found = [path for path in found if PurePosixPath(path).name[0] not in "._"]
    whole = not _GLOB.search(text)
    asked = without_scheme(text.rstrip("/"))
    folder = text.rstrip("/") if whole and [without_scheme(path) for path in found] != [asked] else ""
    before = without_scheme(folder or _GLOB.split(text, maxsplit=1)[0])
    return _Listing(before if folder else before[: before.rfind("/")], found, folder)


def _check_packed(file: SourceFile) -> None:
    """Raise where a file is not what its extension says: Spark would find no lines in it, and say nothing."""
    start = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ"}[file.packed]
    try:
        with open(file.path, "rb") as stream:
            found = stream.read(len(start))
    except OSError as error:
        raise DataError(f"this file cannot be read ({error.strerror or error})", path=file.path) from error
    if found and found != start:
        raise FormatError(
            f"this is not valid {COMPRESSIONS[file.packed]} data",
            path=file.path,
            hint=f"the file is damaged, or not packed at all: then take {file.packed} off its name",
        )

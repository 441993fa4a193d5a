"""What does a pipeline read, and which files is that?

A source is a file, a glob, a folder or a DataFrame. A folder stands for the files in it, and below it, whose names do
not begin with a dot or an underscore (Spark puts its notes there). Local paths are listed here; a path with a scheme
(``hdfs://``, ``s3a://``) is listed by Spark's own file systems.

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
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from everlog.errors import DataError, FormatError, NotFoundError, UsageError
from everlog.formats.compression import COMPRESSIONS, check_readable, split_name
from everlog.formats.reading import RDF_FORMATS, TABLE_FORMATS, format_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_BEFORE_PATH = r"\A[A-Za-z][A-Za-z0-9+.-]+:(?://[^/]*)?"
_GLOB = re.compile(r"[*?\[]")
_SCOPE_DIGITS = 12  # 48 bits: a million files, and still one chance in five hundred that any two share a scope


@dataclass(frozen=True)
class InputSource:
    """Where facts come from.

    Attributes:
        data: a path, a glob, a folder, or a DataFrame.
        format: how to read files whose extension does not say (see formats/reading.py).
        relation: where rows of tables go; the file's stem by default, for a folder the folder's.
        types: a type for each column of a CSV or TSV file (see formats/fields.py).
        header: whether the first row of each CSV or TSV file holds names.
        graph: the named graph for RDF that names none.
        columns: which columns of a Parquet file or DataFrame become arguments, in which order; all by default.
        name: what stands for the source in the scopes of blank nodes; the path as written by default.
    """

    data: str | os.PathLike[str] | DataFrame
    format: str | None = None
    relation: str | None = None
    types: Sequence[str] | None = None
    header: bool = False
    graph: str | None = None
    columns: Sequence[str] | None = None
    name: str | None = None

    @property
    def is_path(self) -> bool:
        return isinstance(self.data, str | os.PathLike)

    @property
    def title(self) -> str:
        """What errors call it."""
        if self.is_path:
            return os.fspath(self.data)  # type: ignore[arg-type]
        return f"the DataFrame for {self.relation}" if self.relation else "a DataFrame"


@dataclass(frozen=True)
class SourceFile:
    """One file of a source.

    Attributes:
        path: absolute; with its scheme where it is not local.
        within: its path within the source.
        relation: for tables, where its rows go.
        scope: what stands before the labels of its blank nodes.
    """

    path: str
    within: str
    format: str
    packed: str
    relation: str
    scope: str

    @property
    def address(self) -> str:
        """The path for Spark's readers, with the characters escaped that they take for patterns."""
        return re.sub(r"([\\*?\[\]{}])", r"\\\1", self.path)

    @property
    def is_local(self) -> bool:
        return not _SCHEME.match(self.path)


def scope_of(name: str, within: str) -> str:
    """The scope of a file's blank nodes.

    >>> scope_of("data", "a.nt") == scope_of("data", "a.nt") != scope_of("data", "b.nt")
    True
    """
    return "f" + hashlib.sha1(f"{name}\n{within}".encode()).hexdigest()[:_SCOPE_DIGITS]


def source_files(spark: SparkSession | None, source: InputSource) -> list[SourceFile]:
    """The files of a source, in the order of their names; an error where there are none."""
    text = os.fspath(source.data)  # type: ignore[arg-type]
    if text.startswith("file://"):
        text = path_of(text)
    base, paths, folder = _remote(spark, text) if _SCHEME.match(text) else _local(text)
    if not paths:
        raise NotFoundError(f"{text}: there are no files here", hint="check the path, or the pattern in it")
    name = _name(source)
    files = []
    for path in sorted(paths):
        stem, _, packed = split_name(Path(path))
        within = without_scheme(path)[len(base) :].lstrip("/")
        files.append(
            SourceFile(
                path,
                within,
                _format(path, folder, source.format),
                packed,
                source.relation or (split_name(Path(folder))[0] if folder else stem),
                scope_of(name, within),
            )
        )
    for file in files:
        if file.packed and file.is_local:
            _check_packed(file)
    for format in {file.format for file in files}:
        _check_options(source, format)
    return files


def scope_column(address: Column, source: InputSource, files: Sequence[SourceFile]) -> Column:
    """The same scopes from a column of the files' addresses, as Spark gives them."""
    from pyspark.sql import functions as f

    if len(files) == 1:
        return f.lit(files[0].scope)
    # Java takes a plus sign for a space when it decodes an address.
    path = f.url_decode(f.replace(address, f.lit("+"), f.lit("%2B")))
    start = len(without_scheme(files[0].path)) - len(files[0].within)
    within = f.substring(f.regexp_replace(path, _BEFORE_PATH, ""), f.lit(start + 1), f.length(path))
    digest = f.sha1(f.concat(f.lit(_name(source) + "\n"), within).cast("binary"))
    return f.concat(f.lit("f"), f.substring(digest, 1, _SCOPE_DIGITS))


def path_of(address: str) -> str:
    """The path of a file, given its address as Spark writes it.

    >>> path_of("file:/tmp/a%20b.nt"), path_of("file:///tmp/a"), path_of("s3a://bucket/a%20b.nt")
    ('/tmp/a b.nt', '/tmp/a', 's3a://bucket/a b.nt')
    """
    return unquote(without_scheme(address) if address.startswith("file:") else address)


def _name(source: InputSource) -> str:
    if source.name is not None:
        return source.name
    return os.fspath(source.data)  # type: ignore[arg-type]


def without_scheme(path: str) -> str:
    """A path alone, without the scheme and host before it.

    >>> without_scheme("hdfs://host:9000/data/a.nt"), without_scheme("/data/a.nt")
    ('/data/a.nt', '/data/a.nt')
    """
    return re.sub(_BEFORE_PATH, "", path)


def _format(path: str, folder: str, said: str | None) -> str:
    if said is None and folder and split_name(Path(folder))[1]:
        try:
            return format_of(Path(path))
        except UsageError:
            return format_of(Path(folder))  # `edge.csv/part-00000`: the folder's name says it
    return format_of(Path(path), said)


def _local(text: str) -> tuple[str, list[str], str]:
    path = os.path.abspath(text)
    if os.path.isdir(path):
        return path, list(_below(path)), path
    if os.path.exists(path) or not _GLOB.search(text):
        check_readable(Path(text))
        return os.path.dirname(path), [path], ""
    before = _GLOB.split(path, maxsplit=1)[0]
    base = before[: before.rfind("/")] or "/"
    found: list[str] = []
    for match in glob.glob(path, recursive=True):
        found += _below(match) if os.path.isdir(match) else [match]
    return base, list(dict.fromkeys(found)), ""


def _below(folder: str) -> list[str]:
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name[0] not in "._"]
        found += [os.path.join(place, name) for name in names if name[0] not in "._"]
    return found


def _remote(spark: SparkSession | None, text: str) -> tuple[str, list[str], str]:
    if spark is None:
        raise UsageError(
            f"{text}: Python cannot open this", hint="mount the file system, or use everlog.pipeline.ingest"
        )
    context: Any = spark.sparkContext
    path = context._jvm.org.apache.hadoop.fs.Path(text)
    system = path.getFileSystem(context._jsc.hadoopConfiguration())
    whole = not _GLOB.search(text)
    found: list[str] = []
    folder = ""
    for status in system.globStatus(path) or []:
        if status.isDirectory():
            folder = text.rstrip("/") if whole else ""
            walk = system.listFiles(status.getPath(), True)
            while walk.hasNext():
                found.append(walk.next().getPath().toString())
        else:
            found.append(status.getPath().toString())
    before = without_scheme(folder or _GLOB.split(text, maxsplit=1)[0])
    base = before if folder else before[: before.rfind("/")]
    return base, [item for item in found if PurePosixPath(item).name[0] not in "._"], folder


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


def _check_options(source: InputSource, format: str) -> None:
    title = source.title
    if source.relation is not None and format not in TABLE_FORMATS:
        raise UsageError(f"{title}: a {format} file says its relations itself", hint=f"leave out {source.relation!r}")
    if (source.types is not None or source.header) and format not in ("csv", "tsv"):
        raise UsageError(f"{title}: a {format} file says its types itself", hint="leave out types and header")
    if source.types is not None:
        from everlog.formats.fields import check_types

        check_types(source.types)
    if source.columns is not None and format != "parquet":
        raise UsageError(f"{title}: only columns of Parquet files and DataFrames are chosen by name")
    if source.graph is not None and format not in RDF_FORMATS:
        raise UsageError(f"{title}: a {format} file holds no RDF, so it goes into no graph")
    if source.graph is not None and ":" not in source.graph:
        raise UsageError(f"{source.graph!r} is not an absolute IRI", hint="name the graph like http://example.org/g")

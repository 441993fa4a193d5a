"""How does `spark.read.format("rdf")` read RDF?

    register_rdf_source(spark)
    spark.read.format("rdf").load("data/*.nt.gz")          # subject, predicate, object, graph

Terms are written as in N-Triples (``<http://ex.org/a>``, ``"42"^^<…#integer>``), the graph is null for the default
graph; with ``.option("terms", "keys")`` they are term keys (facts/terms.py) instead. Other options: ``format`` where
extensions do not say it, ``graph`` for triples that name none. Plain N-Triples and N-Quads files are split across
tasks; any other file is one task. A malformed line stops the read; to count and collect such lines, use
`everlog.pipeline.ingest`.

Files are opened by Python on the workers, so paths are local or on a mounted file system.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from everlog.errors import DataError, UsageError
from everlog.facts.blocks import FactBlock
from everlog.formats.ntriples import line_chunks
from everlog.formats.rdf import read_rdf
from everlog.formats.rdf_writing import term_text
from everlog.formats.reading import RDF_FORMATS, read_facts
from everlog.pipeline.parsing import keys_of_block
from everlog.pipeline.source_files import SourceFile, source_files
from everlog.pipeline.sources import InputSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "subject string, predicate string, object string, graph string"
SPLIT_BYTES = 64 << 20  # what a task reads of a file that can be split

_ARROW = pa.schema([(name, pa.string()) for name in ("subject", "predicate", "object", "graph")])


def register_rdf_source(spark: SparkSession) -> None:
    """Make `spark.read.format("rdf")` known to a session."""
    spark.dataSource.register(RdfSource)


class RdfSource(DataSource):
    """RDF files as a DataFrame."""

    @classmethod
    def name(cls) -> str:
        return "rdf"

    def schema(self) -> str:
        return SCHEMA

    def reader(self, schema: Any) -> RdfReader:
        return RdfReader(dict(self.options))


@dataclass
class Piece(InputPartition):
    """A file, or the lines of it that begin in a range of bytes."""

    file: SourceFile
    start: int
    end: int | None

    def __init__(self, file: SourceFile, start: int = 0, end: int | None = None) -> None:
        self.file, self.start, self.end = file, start, end


class RdfReader(DataSourceReader):
    """Plans the pieces on the driver, reads one on a worker."""

    def __init__(self, options: dict[str, str]) -> None:
        path = options.get("path")
        if path is None:
            raise UsageError("there is no path to read", hint='spark.read.format("rdf").load("data.nt")')
        terms = options.get("terms", "ntriples")
        if terms not in ("ntriples", "keys"):
            raise UsageError(f"terms are 'ntriples' or 'keys', not {terms!r}")
        self._keys = terms == "keys"
        self._graph = options.get("graph")
        self._source = InputSource(path, format=options.get("format"), graph=self._graph)

    def partitions(self) -> list[InputPartition]:
        pieces: list[InputPartition] = []
        for file in source_files(None, self._source):
            if file.format not in RDF_FORMATS:
                raise UsageError(
                    f"{file.path}: a {file.format} file holds no RDF", hint="read it with spark.read.csv, …"
                )
            if file.format in ("nt", "nq") and not file.packed:
                size = os.path.getsize(file.path)
                pieces += [Piece(file, at, at + SPLIT_BYTES) for at in range(0, max(size, 1), SPLIT_BYTES)]
            else:
                pieces.append(Piece(file))
        return pieces

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Piece)
        file = partition.file
        if partition.end is None:
            blocks = read_facts(file.path, format=file.format, graph=self._graph, scope=file.scope)
        else:
            blocks = self._lines(partition, file)
        for block in blocks:
            columns = keys_of_block(block)
            if not self._keys:
                columns = [_texts(column) for column in columns]
            columns += [pa.nulls(len(block), pa.string())] * (4 - len(columns))
            yield pa.RecordBatch.from_arrays(columns, schema=_ARROW)

    def _lines(self, piece: Piece, file: SourceFile) -> Iterator[FactBlock]:
        assert piece.end is not None
        with open(file.path, "rb") as stream:
            start = _line_after(stream, piece.start)
            end = _line_after(stream, piece.end)
            stream.seek(start)
            for chunk in line_chunks(_Limited(stream, end - start)):  # type: ignore[arg-type]
                try:
                    yield from read_rdf(
                        io.BytesIO(chunk), file.format, path=file.path, graph=self._graph, scope=file.scope
                    )
                except DataError as error:
                    if error.line is None:
                        raise
                    line = error.line + _lines_before(file.path, start)
                    message = error.message.removeprefix(f"{error.path}:{error.line}: ")
                    raise type(error)(message, path=error.path, line=line, hint=error.hint) from error
                start += len(chunk)


class _Limited:
    """A stream that ends early."""

    def __init__(self, stream: io.BufferedReader, size: int) -> None:
        self._stream, self._left = stream, size

    def read(self, size: int) -> bytes:
        data = self._stream.read(min(size, self._left))
        self._left -= len(data)
        return data


def _line_after(stream: io.BufferedReader, place: int) -> int:
    """Where the first line begins that does not begin before `place`."""
    if place == 0:
        return 0
    stream.seek(place - 1)
    stream.readline()
    return stream.tell()


def _lines_before(path: str, place: int) -> int:
    lines = 0
    with open(path, "rb") as stream:
        while place > 0 and (data := stream.read(min(place, 1 << 20))):
            lines += data.count(b"\n")
            place -= len(data)
    return lines


def _texts(column: pa.Array) -> pa.Array:
    distinct = column.dictionary_encode()
    return pa.array([term_text(key) for key in distinct.dictionary.to_pylist()], pa.string()).take(distinct.indices)

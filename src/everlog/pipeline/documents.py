"""How do lines and documents get to the Python workers that read them?

JSON lines are split like any text. Turtle, TriG, RDF/XML, JSON-LD, Arrow and update files can only be read from their
start, so each of them is a task of its own. A worker opens a local file by its path; a file of another file system
comes to it as bytes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from everlog.pipeline import document_parsing, parsing, row_parsing
from everlog.pipeline.gathering import Gathered, text_lines
from everlog.pipeline.partitions import partition_names
from everlog.pipeline.picking import Picked
from everlog.pipeline.row_parsing import RowReader
from everlog.pipeline.source_files import SourceFile
from everlog.pipeline.sources import InputSource, is_table, renamed

_DOCUMENT = "path string, format string, relation string, scope string"


def gather_jsonl(gathered: Gathered, source: InputSource, files: list[SourceFile]) -> None:
    """The facts of JSON lines: objects where the source has a relation, else facts."""
    if source.relation is None:
        parse = functools.partial(parsing.parse_lines, format="jsonl", graph=None, samples=gathered.samples)
    else:
        parse = functools.partial(
            row_parsing.parse_object_lines, reader=_object_reader(source, files), samples=gathered.samples
        )
    gathered.add_parsed(parsed_lines(text_lines(gathered.spark, files), f.lit(""), parse), source.title)


def parsed_lines(lines: DataFrame, scope: Column, parse: Callable[[parsing.Batches], parsing.Batches]) -> DataFrame:
    """Rows of (line, file), parsed."""
    # As bytes: a line that is no UTF-8 must arrive as it is.
    rows = lines.select(f.col("line").cast("binary").alias("line"), "file", scope.alias("scope"))
    return rows.mapInArrow(parse, parsing.PARSED)


def gather_documents(gathered: Gathered, source: InputSource, files: list[SourceFile]) -> None:
    """The facts of files that are read whole."""
    rows = [
        (file.path, file.format, file.relation if is_table(source, file.format) else None, file.scope) for file in files
    ]
    spark = gathered.spark
    # Dealt out from one partition, so that each document is a task.
    named = spark.createDataFrame(rows, _DOCUMENT).coalesce(1).repartition(len(rows))
    if all(file.is_local for file in files):
        named = named.withColumn("content", f.lit(None).cast("binary"))
    else:
        content = spark.read.format("binaryFile").load([file.address for file in files]).select("path", "content")
        named = named.join(content, "path")
    objects = source.relation is not None and any(file.format == "jsonl" for file in files)
    parse = functools.partial(
        document_parsing.parse_documents,
        source=source,
        reader=_object_reader(source, files) if objects else None,
        partitions={file.path: file.partition for file in files},
        samples=gathered.samples,
    )
    gathered.add_parsed(named.mapInArrow(parse, parsing.PARSED), source.title)


def _object_reader(source: InputSource, files: Sequence[SourceFile]) -> RowReader:
    """How to read JSON objects: their values are found by name, so that only a partition's columns have places."""
    partitions = partition_names(files)
    columns = [column for column in source.columns or () if column != source.change_column]
    arguments = []
    for place, column in enumerate(columns):
        name = column if column in partitions else renamed(column)[0]
        arguments.append(-partitions.index(name) - 1 if name in partitions else place)
    names = tuple(renamed(column)[1] for column in columns)
    assert source.relation is not None
    by_path = {file.path: file.partition for file in files}
    return RowReader(source, source.relation, Picked(names, tuple(arguments)), by_path, untyped="string")

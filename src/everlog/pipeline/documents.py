"""How do lines and documents get to the Python workers that read them?

JSON lines are split like any text. Turtle, TriG, RDF/XML, JSON-LD and Arrow files can only be read from their start, so
each of them is a task of its own. A worker opens a local file by its path; a file of another file system comes to it as
bytes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from everlog.formats.reading import TABLE_FORMATS
from everlog.pipeline import parsing
from everlog.pipeline.gathering import Gathered, text_lines
from everlog.pipeline.sources import InputSource, SourceFile

_DOCUMENT = (
    "path string, format string, relation string, scope string, graph string, types array<string>, header boolean"
)


def gather_jsonl(gathered: Gathered, source: InputSource, files: list[SourceFile]) -> None:
    """The facts of JSON lines."""
    parse = functools.partial(parsing.parse_lines, format="jsonl", graph=None, samples=gathered.samples)
    gathered.add_parsed(parsed_lines(text_lines(gathered.spark, files), f.lit(""), parse), source.title)


def parsed_lines(lines: DataFrame, scope: Column, parse: Callable[[parsing.Batches], parsing.Batches]) -> DataFrame:
    """Rows of (line, file), parsed."""
    # As bytes: a line that is no UTF-8 must arrive as it is.
    rows = lines.select(f.col("line").cast("binary").alias("line"), "file", scope.alias("scope"))
    return rows.mapInArrow(parse, parsing.PARSED)


def gather_documents(gathered: Gathered, source: InputSource, files: list[SourceFile]) -> None:
    """The facts of files that are read whole."""
    types = list(source.types) if source.types is not None else None
    rows = [
        (
            file.path,
            file.format,
            file.relation if file.format in TABLE_FORMATS else None,
            file.scope,
            source.graph,
            types,
            source.header,
        )
        for file in files
    ]
    spark = gathered.spark
    named = spark.createDataFrame(spark.sparkContext.parallelize(rows, len(rows)), _DOCUMENT)
    if all(file.is_local for file in files):
        named = named.withColumn("content", f.lit(None).cast("binary"))
    else:
        content = spark.read.format("binaryFile").load([file.address for file in files]).select("path", "content")
        named = named.join(content, "path")
    parse = functools.partial(parsing.parse_documents, samples=gathered.samples)
    gathered.add_parsed(named.mapInArrow(parse, parsing.PARSED), source.title)

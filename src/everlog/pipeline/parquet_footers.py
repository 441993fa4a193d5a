"""What do Parquet files say of themselves, so that Spark need not read them to know?

Their footers name columns and types, and count rows and nulls. Spark would find out in three jobs for each source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import types as t

from everlog.errors import DataError, FormatError
from everlog.formats.compression import open_bytes
from everlog.pipeline.source_files import SourceFile

# Types that mean the same to Arrow and Spark, whoever wrote the file.
_SAME: dict[pa.DataType, t.DataType] = {
    pa.string(): t.StringType(),
    pa.large_string(): t.StringType(),
    pa.bool_(): t.BooleanType(),
    pa.int8(): t.ByteType(),
    pa.int16(): t.ShortType(),
    pa.int32(): t.IntegerType(),
    pa.int64(): t.LongType(),
    pa.float32(): t.FloatType(),
    pa.float64(): t.DoubleType(),
    pa.date32(): t.DateType(),
}
_SPARKS_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"  # which may say more of types than the file itself


@dataclass(frozen=True)
class Footers:
    """The footers of the files of a relation, which have the same columns."""

    schema: pa.Schema
    files: tuple[pq.FileMetaData, ...]

    def spark_schema(self) -> t.StructType | None:
        """The schema that Spark would find; None where it has to look."""
        names = [name.lower() for name in self.schema.names]
        if len(set(names)) < len(names) or any(_SPARKS_SCHEMA in (file.metadata or {}) for file in self.files):
            return None
        if any(field.type not in _SAME for field in self.schema):
            return None
        return t.StructType([t.StructField(field.name, _SAME[field.type]) for field in self.schema])

    def rows_without_nulls(self, columns: Sequence[str]) -> int | None:
        """How many rows there are, where some columns have a value in each of them; else, or if not told, None."""
        for file in self.files:
            for group in map(file.row_group, range(file.num_row_groups)):
                chunks = {chunk.path_in_schema: chunk for chunk in map(group.column, range(group.num_columns))}
                for name in columns:
                    about = chunks[name].statistics if name in chunks else None
                    if about is None or not about.has_null_count or about.null_count:
                        return None
        return sum(int(file.num_rows) for file in self.files)


def read_footers(files: Sequence[SourceFile]) -> Footers | None:
    """The footers of local files, None where there are none; an error where two of them have different columns."""
    found: list[pq.FileMetaData] = []
    first: pa.Schema | None = None
    for file in files:
        open_bytes(Path(file.path)).close()  # raises an error if the file itself cannot be read
        try:
            found.append(pq.read_metadata(file.path))
            schema = found[-1].schema.to_arrow_schema()
        except (pa.ArrowException, OSError) as error:
            raise FormatError(
                f"this is not a whole Parquet file ({str(error).strip().splitlines()[0]})",
                path=file.path,
                hint="it may be cut short: write or copy it again",
            ) from error
        if first is None:
            first = schema
        _check_same(schema, first, file.path, files[0].path)
    return None if first is None else Footers(first, tuple(found))


def _check_same(schema: pa.Schema, first: pa.Schema, path: str, there: str) -> None:
    for name in first.names:
        if name not in schema.names:
            raise DataError(f"there is no column {name!r} here, but there is in {there}", path=path)
        if schema.field(name).type != first.field(name).type:
            types = f"{schema.field(name).type} here, but {first.field(name).type} in {there}"
            raise DataError(f"column {name!r} holds {types}", path=path)
    for name in schema.names:
        if name not in first.names:
            raise DataError(f"there is a column {name!r} here, but not in {there}", path=path)

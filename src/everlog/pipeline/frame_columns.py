"""What is declared of the columns of derived frames: their names, and types too?

["start", "end"]                     names
"start string, distance double"      a schema as Spark writes it; a StructType says the same
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql.types import DataType, StructType

from everlog.errors import UsageError
from everlog.pipeline.column_flow import Types, type_of_column
from everlog.pipeline.output_names import names_problem
from everlog.pipeline.rejects import from_spark

Columns = Sequence[str] | str | StructType


def declared_columns(columns: Mapping[str, Columns]) -> dict[str, tuple[tuple[str, ...], Types]]:
    """Names and types of the columns of each relation; no types where only names are declared."""
    return {relation: _declared(relation, said) for relation, said in columns.items()}


def _declared(relation: str, said: Columns) -> tuple[tuple[str, ...], Types]:
    if isinstance(said, str):
        said = _schema(relation, said)
    if isinstance(said, StructType):
        names, types = tuple(said.names), tuple(type_of_column(field.dataType) for field in said)
    else:
        names, types = tuple(said), ()
    problem = names_problem(names, "csv")
    if problem is not None:
        raise UsageError(f"{relation}: {problem}", hint="name each column of the relation once")
    return names, types


def _schema(relation: str, text: str) -> StructType:
    try:
        schema = DataType.fromDDL(text)
    except Exception as error:
        if not from_spark(error):
            raise
        schema = None
    if not isinstance(schema, StructType):
        raise UsageError(
            f"{relation}: {text!r} is no schema", hint='write names with types, "start string, distance double"'
        )
    return schema

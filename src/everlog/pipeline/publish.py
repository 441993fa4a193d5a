"""How do relations leave the pipeline, as files that people and other programs read?

    delta        a Delta table; a later run replaces its content and keeps its history
    parquet      the same columns, without a history
    csv          texts, with the names of columns in the first line
    nt, nq       N-Triples of the relation `triple` and of graphs that views construct, N-Quads of `triple` and `quad`

Columns are named by the output, its rules or its sources (output_names.py). Those of Delta and Parquet have native
types where all their terms are of one kind (output_types.py); everything else is the text of a term without its type:
an IRI without brackets, a number as it is written. Only N-Triples keeps everything.

A path with an extension (`odd.csv`) becomes one file, any other a folder of the parts that Spark writes in parallel;
`single` says otherwise. Parts are joined by copying, so neither takes memory on the driver. All outputs are written
beside their places first, and take their names one after the other when all are complete (output_writing.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.errors import OutputError, UsageError
from everlog.pipeline.output_names import names_problem
from everlog.pipeline.output_writing import Prepared, prepare, tidy
from everlog.pipeline.outputs import FORMATS, Output, check_place, output_problem
from everlog.pipeline.picking import count_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["FORMATS", "Output", "check_place", "output_problem", "publish"]


def publish(
    spark: SparkSession,
    facts: Mapping[str, DataFrame],
    outputs: Sequence[Output],
    says: Callable[[str], None] | None = None,
) -> list[Path]:
    """Write relations, given as frames of term keys; gives the paths in the order of `outputs`.

    Args:
        says: called with a line for each output with columns that hold texts since their terms are of several kinds.

    Raises:
        OutputError: a place cannot be written, or the format cannot represent a fact. What was there before remains.
    """
    for output in outputs:  # before anything is written, so that a mistake in the last one costs nothing
        frame = facts.get(output.key)
        if frame is None:
            known = ", ".join(sorted(facts)) or "none"
            raise UsageError(f"there is no relation {output.key} to write to {output.path}; there are {known}")
        check_output(output, len(frame.columns))
    tidy(outputs)
    prepared: list[Prepared] = []
    try:
        for output in outputs:
            prepared.append(prepare(facts[output.key], output))
        written = [each.put_in_place() for each in prepared]
    finally:
        for each in prepared:
            each.discard()
    for each in prepared:
        if says is not None and each.mixed:
            what = f"column {each.mixed[0]} holds" if len(each.mixed) == 1 else f"columns {', '.join(each.mixed)} hold"
            says(f"{each.output.path}: {what} texts, since not all terms are of one kind")
    return written


def check_output(output: Output, arity: int) -> None:
    """Raise where a relation of so many arguments cannot be written as an output says."""
    problem = output_problem(output, arity)
    if problem is not None:
        raise OutputError(f"{output.path}: {problem}", hint="write csv or parquet instead")
    names = output.names(arity)
    problem = names_problem(names, output.kind)
    if len(names) != arity:
        problem = f"{count_columns(len(names))} named, but {output.key} has {count_columns(arity)}"
    if problem is not None:
        raise OutputError(f"{output.path}: {problem}", hint="name each column of the relation by columns = […]")
    check_place(output)

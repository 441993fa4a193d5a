"""How do relations leave the pipeline, as files that people and other programs read?

    delta        a Delta table of texts; a later run replaces its content and keeps its history
    parquet      texts of terms, in columns c1 … cn
    csv          the same as `everlog run` writes: texts, no header
    nt, nq       N-Triples of the relation `triple`, N-Quads of `triple` and `quad`

Texts are those of terms without their types: IRIs without brackets, numbers as they are written; only N-Triples keeps
everything. A path with an extension (`odd.csv`) becomes one file, any other a folder of the parts that Spark writes in
parallel; `single` says otherwise. Parts of CSV and N-Triples are joined by copying, so neither takes memory on the
driver. Everything is written beside its place and takes its name when it is complete, or not at all.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.errors import OutputError, UsageError
from everlog.pipeline import delta_files, key_texts
from everlog.pipeline.commits import unwritable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS = ("delta", "parquet", "csv", "nt", "nq")
RDF_WIDTHS = {"triple": 3, "quad": 4}
_EXTENSIONS = {".csv": "csv", ".nt": "nt", ".nq": "nq", ".parquet": "parquet"}


@dataclass(frozen=True)
class Output:
    """A relation and where it goes; the format None is told by the extension, and is delta where there is none."""

    relation: str
    path: Path
    format: str | None = None
    single: bool | None = None  # one file, or a folder of parts

    @property
    def kind(self) -> str:
        extension = self.path.suffix.lower()
        return self.format or _EXTENSIONS.get(extension) or extension[1:] or "delta"

    @property
    def one_file(self) -> bool:
        return self.path.suffix.lower() in _EXTENSIONS if self.single is None else self.single


def output_problem(relation: str, format: str, arity: int | None = None) -> str | None:
    """Why a relation cannot be written in a format, or None."""
    if format not in FORMATS:
        return f"there is no output format {format!r}; there are {', '.join(FORMATS)}"
    if format in ("nt", "nq") and (relation not in RDF_WIDTHS or arity not in (None, RDF_WIDTHS[relation])):
        return f"{relation} holds no RDF: only triple(s, p, o) and quad(s, p, o, g) do"
    if format == "nt" and relation == "quad":
        return "N-Triples has no named graphs; the format nq has"
    return None


def publish(spark: SparkSession, facts: Mapping[str, DataFrame], outputs: Sequence[Output]) -> list[Path]:
    """Write relations, given as frames of term keys; gives the paths in the order of `outputs`.

    Raises:
        OutputError: a place cannot be written, or the format cannot represent a fact. What was there before remains.
    """
    for output in outputs:  # before anything is written, so that a mistake in the last one costs nothing
        frame = facts.get(output.relation)
        if frame is None:
            known = ", ".join(sorted(facts)) or "none"
            raise UsageError(f"there is no relation {output.relation} to write to {output.path}; there are {known}")
        problem = output_problem(output.relation, output.kind, len(frame.columns))
        if problem is not None:
            raise OutputError(f"{output.path}: {problem}", hint="write csv or parquet instead")
        check_place(output)
    return [write_output(facts[output.relation], output) for output in outputs]


def check_place(output: Output) -> None:
    """Raise where an output cannot be put: no permission, or something there that is not ours to replace."""
    path = output.path.absolute()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise OutputError(
            f"{path}: cannot be written: writing to the folder {path.parent} is not permitted",
            hint=f"choose a folder you may write to, or: chmod u+w {path.parent}",
        )
    if path.is_dir():
        if output.kind == "delta":
            foreign = [] if (path / delta_files.LOG).is_dir() or not any(path.iterdir()) else sorted(path.iterdir())
        else:
            foreign = [each for each in sorted(path.iterdir()) if not _by_spark(each.name)]
        if foreign:
            raise OutputError(
                f"{path}: this folder holds other things, such as {foreign[0].name}, and would be replaced",
                hint="name a folder that is not there yet, or remove it yourself",
            )
    elif path.exists() and (output.kind == "delta" or not output.one_file):
        raise OutputError(f"{path}: this is a file, but a folder is to be written there", hint="choose another path")


def _by_spark(name: str) -> bool:
    return name.startswith(("part-", ".part-")) or name in ("_SUCCESS", "._SUCCESS.crc")


def write_output(frame: DataFrame, output: Output) -> Path:
    """Write one relation to its place."""
    path = output.path.absolute()
    if output.kind == "delta":
        _write_table(frame, path, output.one_file)
        return path
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}.tmp")
    try:
        if output.kind == "parquet":
            frame = _texts(frame)
            delta_files.write(frame.repartition(1) if output.one_file else frame, beside)
        else:
            _write_lines(frame, output, beside)
        if output.one_file:
            _one_file(beside, path)
        else:
            _replace_folder(beside, path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return path


def _texts(frame: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    if not frame.columns:
        return frame.select(f.lit("()").alias("c0"))  # a table needs a column; so does a fact without arguments
    return frame.select(*(key_texts.text(f.col(name)).alias(name) for name in frame.columns))


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
            lambda: lines.write.option("lineSep", "\n").text(delta_files.spark_path(place)), place
        )
    except Exception as error:
        _, found, rest = str(error).partition(key_texts.REFUSED)
        if not found:
            raise
        raise OutputError(
            f"{output.path}: {rest.partition(' of a triple;')[0].replace(' as the ', ' cannot be the ')} of a triple",
            hint="RDF has IRIs there, or blank nodes as subjects; write csv or parquet instead",
        ) from error


def _write_table(frame: DataFrame, path: Path, single: bool) -> None:
    from deltalake.exceptions import DeltaError

    texts = _texts(frame)
    place = path / uuid.uuid4().hex
    fresh = not path.exists()
    try:
        delta_files.write(texts.repartition(1) if single else texts, place)
        written = delta_files.describe(place)
        delta_files.sync_all(written)
        delta_files.overwrite(path, dict.fromkeys(texts.columns, "string"), written)
    except BaseException as error:
        shutil.rmtree(path if fresh else place, ignore_errors=True)
        if isinstance(error, DeltaError):
            raise OutputError(
                f"{path}: the Delta table cannot be written ({error})", hint="choose another path, or remove the table"
            ) from error
        if isinstance(error, OSError):
            raise unwritable(path, error) from error
        raise


def _one_file(parts: Path, path: Path) -> None:
    """Join the parts, in their order, to one file that takes the place of `path`."""
    joined = parts / "joined"
    with open(joined, "wb") as target:
        for part in sorted(parts.glob("part-*")):
            with open(part, "rb") as source:
                shutil.copyfileobj(source, target, 1 << 20)
        target.flush()
        os.fsync(target.fileno())
    if path.is_dir():
        shutil.rmtree(path)  # parts of an earlier run: check_place saw nothing else in it
    os.replace(joined, path)


def _replace_folder(new: Path, path: Path) -> None:
    old = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}.old")
    if path.exists():
        os.rename(path, old)
    try:
        os.rename(new, path)
    except OSError:
        if old.exists():
            os.rename(old, path)
        raise
    shutil.rmtree(old, ignore_errors=True)

"""Which facts do the sources of a pipeline hold?

Facts come out as a DataFrame for each relation, with the keys of terms (facts/terms.py) in columns c1, c2, … Files are
read once, here, and what is read is persisted on Spark's disks until `release`:

- plain lines of N-Triples, N-Quads, CSV and TSV are taken apart by Spark's own functions;
- what is left (escapes, quotes, typed fields, malformed lines), JSON lines, and documents of the other formats go
  through the readers of `formats` in Python workers;
- Parquet files and DataFrames are not persisted: reading them again is as fast.

Malformed lines are counted and sampled (rejects.py) and stop the run above a share of all lines; a document in another
format, or an archive, is read whole or stops it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from everlog.pipeline.csv_columns import gather_csv
from everlog.pipeline.documents import gather_documents, gather_jsonl
from everlog.pipeline.gathering import Gathered
from everlog.pipeline.ntriples_columns import gather_triples
from everlog.pipeline.rejects import SAMPLES
from everlog.pipeline.sources import InputSource, SourceFile, source_files
from everlog.pipeline.table_columns import gather_frame, gather_parquet


@dataclass
class Ingested:
    """What was read.

    Attributes:
        facts: for each relation a DataFrame with a column of keys for each argument: c1, c2, …; a fact may be repeated.
        counts: how many rows each of them has.
        rejects: malformed lines: file, line, text, reason; a sample where there are many.
        rejected: how many there are in all.
    """

    facts: dict[str, DataFrame]
    counts: dict[str, int]
    rejects: DataFrame
    rejected: int
    _gathered: Gathered = field(repr=False)

    def release(self) -> None:
        """Free the disk space of what was read; facts that are used after this are read again."""
        self._gathered.release()


def ingest(
    spark: SparkSession, sources: Sequence[InputSource], *, max_rejects: float = 0.0, samples: int = SAMPLES
) -> Ingested:
    """The facts of the sources.

    Args:
        max_rejects: the share of lines that may be malformed; more of them stop the run with a `DataError`.
        samples: how many malformed lines each task keeps.
    """
    gathered = Gathered(spark, samples)
    try:
        for source in sources:
            _gather(gathered, source)
        facts, counts = gathered.facts(), gathered.counts()
        gathered.rejects.check(sum(counts.values()), max_rejects)
        return Ingested(facts, counts, gathered.rejects.frame(spark), gathered.rejects.count, gathered)
    except BaseException:
        gathered.release()
        raise


def _gather(gathered: Gathered, source: InputSource) -> None:
    if not source.is_path:
        gather_frame(gathered, source)
        return
    by_way: dict[Callable[[Gathered, InputSource, list[SourceFile]], None], list[SourceFile]] = {}
    for file in source_files(gathered.spark, source):
        by_way.setdefault(_way(file), []).append(file)
    for way, files in by_way.items():
        way(gathered, source, files)


def _way(file: SourceFile) -> Callable[[Gathered, InputSource, list[SourceFile]], None]:
    if file.packed == ".xz" or (file.packed and file.format == "parquet"):  # which Spark cannot unpack
        return gather_documents
    return _WAYS.get(file.format, gather_documents)


_WAYS: dict[str, Callable[[Gathered, InputSource, list[SourceFile]], None]] = {
    "nt": gather_triples,
    "nq": gather_triples,
    "jsonl": gather_jsonl,
    "csv": gather_csv,
    "tsv": gather_csv,
    "parquet": gather_parquet,
}

"""Which facts do the sources of a pipeline hold?

Facts come out as a DataFrame for each relation, with the keys of terms (facts/terms.py) in columns c1, c2, … Files are
read once, here, and what is read is persisted on Spark's disks until `release`:

- plain lines of N-Triples, N-Quads, CSV and TSV are taken apart by Spark's own functions;
- what is left (escapes, quotes, typed fields, malformed lines), JSON lines, and documents of the other formats go
  through the readers of `formats` in Python workers;
- Parquet files and DataFrames are not persisted: reading them again is as fast.

Malformed lines are counted and sampled (rejects.py) and stop the run above a share of their source's lines; a document
in another format, or an archive, is read whole or stops it.

Sources are of three kinds. What *appends* hold is added; a *snapshot* holds all there is, so that what it does not hold
any more is to go; *changes* say themselves what is inserted and deleted, and where they say both of one fact the last
one counts (gathering.py). All sources of a relation are of one kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from everlog.pipeline.csv_columns import gather_csv
from everlog.pipeline.documents import gather_documents, gather_jsonl
from everlog.pipeline.gathering import Gathered
from everlog.pipeline.ntriples_columns import gather_triples
from everlog.pipeline.rejects import SAMPLES, Reject, Rejects
from everlog.pipeline.source_files import SourceFile, source_files
from everlog.pipeline.source_kinds import Kinds
from everlog.pipeline.sources import InputSource, relations_of
from everlog.pipeline.table_columns import gather_frame, gather_parquet


@dataclass
class Ingested:
    """What was read.

    Attributes:
        facts: for each relation a DataFrame with a column of keys for each argument: c1, c2, …; a fact may be repeated.
        counts: how many facts of each relation were read.
        deleted: for each relation that loses facts by changes, a DataFrame of them; none of them is in `facts` too.
        kinds: "appends", "snapshot" or "changes" for each relation of a source. A relation with a snapshot that is not
            in `facts` has no facts any more.
        rejects: malformed lines: file, line, text, reason; a sample where there are many.
        rejected: how many there are in all.
        skipped: how many rows were left out since a value is missing, by the title of their source.
        doubtful: the relations of snapshots with malformed lines, and some of these: whether a fact is not there any
            more, or stands in such a line, cannot be known.
    """

    facts: dict[str, DataFrame]
    counts: dict[str, int]
    deleted: dict[str, DataFrame]
    kinds: dict[str, str]
    rejects: DataFrame
    rejected: int
    skipped: dict[str, int]
    doubtful: dict[str, list[Reject]]
    _gathered: Gathered = field(repr=False)

    def release(self) -> None:
        """Free the disk space of what was read; facts that are used after this are read again."""
        self._gathered.release()


def ingest(
    spark: SparkSession, sources: Sequence[InputSource], *, max_rejects: float = 0.0, samples: int = SAMPLES
) -> Ingested:
    """The facts of the sources.

    Args:
        max_rejects: the share of a source's lines that may be malformed; more of them stop the run with a `DataError`.
        samples: how many malformed lines each task keeps.
    """
    gathered = Gathered(spark, samples)
    rejects, kinds = Rejects(), Kinds()
    skipped: dict[str, int] = {}
    doubtful: dict[str, list[Reject]] = {}
    try:
        for source in sources:
            gathered.source, gathered.rejects, before = source, Rejects(), len(gathered.parts)
            about = _gather(gathered, source)
            parts, found = gathered.parts[before:], gathered.rejects
            about |= {part.relation for part in parts}
            kinds.add(source, about)
            found.check(source.title, sum(part.count + part.deletions for part in parts), max_rejects, source.nulls)
            rejects.add(found.count, found.samples)
            if found.count and source.kind == "snapshot":
                for relation in about:
                    doubtful.setdefault(relation, []).extend(found.samples)
            if found.nulls:
                skipped[source.title] = skipped.get(source.title, 0) + found.nulls
        return Ingested(
            gathered.facts(),
            gathered.counts(),
            gathered.deleted(),
            kinds.by_relation(),
            rejects.frame(spark),
            rejects.count,
            skipped,
            doubtful,
            gathered,
        )
    except BaseException:
        gathered.release()
        raise


def _gather(gathered: Gathered, source: InputSource) -> set[str]:
    """Read a source; gives the relations that it is known to be about, whether it holds facts of them or not."""
    if not source.is_path:
        gather_frame(gathered, source)
        return {source.relation or ""}
    by_way: dict[Callable[[Gathered, InputSource, list[SourceFile]], None], list[SourceFile]] = {}
    files = source_files(gathered.spark, source)
    for file in files:
        by_way.setdefault(_way(file), []).append(file)
    for way, some in by_way.items():
        way(gathered, source, some)
    return {relation for file in files for relation in relations_of(source, file.format, file.relation) or ()}


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

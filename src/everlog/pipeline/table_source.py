"""How do Spark's own readers read the tables of a pipeline?

    spark.read.format("everlog").option("relation", "path").option("version", 3).load("tables")
    spark.readStream.format("everlog").option("relation", "path").option("changes", True).load("tables")

The first gives the rows that a relation or view has at a version, the newest by default, the second what happens to
it: rows with a `weight`, 1 gained and -1 lost, and the `version` that did it. The offsets of a stream are versions, so
that it goes on after a restart where it was. Options:

    relation     which relation or view
    version      at which version; of changes, up to which
    changes      the changes instead of the rows; also for spark.read
    storage.…    for tables in an object store: its options, such as storage.aws_endpoint_url
    since        of changes: those after this version, all by default; "latest" for those to come

Columns are named (stored_relations.py) and typed (stored_values.py). For the types the ids of all rows are looked at,
unless `.schema(…)` gives names and types, by position. Rows are read file by file, by as many tasks as there are files
worth one; each looks up the terms that it meets in the dictionary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from everlog.errors import UsageError
from everlog.tables.layout import BAG, VERSION, WEIGHT
from everlog.tables.places import TablePlace, table_place
from everlog.tables.table_store import TableStore

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from everlog.pipeline.stored_relations import StoredRelation
    from everlog.tables.commits import TableState

BASE, NET, FEED = "base", "net", "feed"
_STORAGE = "storage."
_ABOUT = (WEIGHT, VERSION)  # of a change
_NO_ARGUMENTS = "c0 string"  # a table needs a column; so does a fact without arguments
_BYTES_A_PARTITION = 64 << 20
_ROWS_A_BATCH = 50_000


def register(spark: SparkSession) -> None:
    """Make the format known to a session. Where Everlog is installed, Spark finds it by itself (pyspark_everlog)."""
    spark.dataSource.register(EverlogSource)


@dataclass
class _Files(InputPartition):
    """What one task reads."""

    what: str  # BASE: rows of these base files that no change is about; NET: what changes have left; FEED: changes
    base: list[str]
    changes: list[str]

    def rows(self, place: TablePlace, state: TableState) -> pa.Table:
        """The rows, as ids."""
        import pyarrow.compute as pc

        from everlog.tables.netting import changed_rows, read_files, untouched_rows

        changes = read_files(place, self.changes, state)
        if self.what == BASE:
            return untouched_rows(read_files(place, self.base, state), changes, state)
        return changed_rows(changes, state) if self.what == NET else changes.filter(pc.not_equal(changes[WEIGHT], 0))


class EverlogSource(DataSource):
    """A relation of a folder of tables."""

    def __init__(self, options: Any) -> None:
        self.options = options
        path, relation = options.get("path"), options.get("relation")
        if not path:
            raise UsageError("no tables are named", hint='say where they are: .load("tables")')
        if not relation:
            raise UsageError("no relation is named", hint='say which to read: .option("relation", "path")')
        self.changes = options.get("changes", "false").lower() == "true"
        storage = {key.removeprefix(_STORAGE): value for key, value in options.items() if key.startswith(_STORAGE)}
        self.place = table_place(path, storage)
        store = TableStore(self.place)
        # The version is chosen here, once: whoever counts and then reads this frame sees one version.
        said = options.get("version")
        self.stored = _stored(store, relation, None if said is None else _number("version", said))
        self.since = self._since(options.get("since"))

    @classmethod
    def name(cls) -> str:
        return "everlog"

    def _since(self, said: str | None) -> int:
        if said is None:
            return 0
        return self.stored.version if said == "latest" else _number("since", said)

    def schema(self) -> str:
        names = list(self.stored.columns)
        if self.changes and set(names) & set(_ABOUT):
            raise UsageError(
                f"{self.stored.name} has a column {next(name for name in names if name in _ABOUT)!r} of its own",
                hint='name its columns otherwise: .schema("… , weight bigint, version bigint")',
            )
        columns = [f"`{name}` {type_}" for name, type_ in zip(names, self._types(), strict=True)] or [_NO_ARGUMENTS]
        return ", ".join([*columns, *(f"{name} bigint" for name in _ABOUT if self.changes)])

    def _types(self) -> list[str]:
        from everlog.pipeline.stored_relations import dictionary_files
        from everlog.pipeline.stored_values import StoredTerms, distinct_ids, type_of_ids

        store, state = TableStore(self.place), self.stored.state
        parts = self.change_partitions(self.since, self.stored.version) if self.changes else self._row_partitions()
        rows = (part.rows(self.place, state) for part in parts)
        found = distinct_ids([table[name] for name in state.columns] for table in rows)
        terms = StoredTerms(self.place, dictionary_files(store, self.stored.version))
        return [type_of_ids(ids, terms) for ids in found] or ["string"] * len(state.columns)

    def reader(self, schema: StructType) -> DataSourceReader:
        if self.changes:
            parts = self.change_partitions(self.since, self.stored.version)
        else:
            parts = self._row_partitions()
        return _Reader(self, schema, parts)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        if not self.changes:
            raise UsageError("a stream of a relation is one of its changes", hint='say so: .option("changes", True)')
        return _StreamReader(self, schema)

    # --- what is read -------------------------------------------------------------------------------------------------

    def _row_partitions(self) -> list[_Files]:
        files = self.stored.files(TableStore(self.place))
        parts = [_Files(BASE, some, files.changes) for some in _grouped(self.place, files.base)]
        return [*parts, _Files(NET, [], files.changes)] if files.changes else parts

    def change_partitions(self, since: int, until: int) -> list[_Files]:
        files, _ = TableStore(self.place).change_files(self.stored.table, since, until)
        return [_Files(FEED, [], some) for some in _grouped(self.place, files)]

    def batches(self, part: InputPartition, schema: StructType, version: int) -> Iterator[pa.RecordBatch]:
        """The rows of some files, decoded."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_schema

        from everlog.pipeline.stored_relations import dictionary_files
        from everlog.pipeline.stored_values import Decoder, StoredTerms

        assert isinstance(part, _Files)
        state, wanted = self.stored.state, to_arrow_schema(schema)
        about = list(_ABOUT) if self.changes else []
        width = max(1, len(state.columns))
        if len(wanted) != width + len(about):
            raise UsageError(
                f"the schema has {len(wanted)} columns, and {self.stored.name} has {width}"
                + (", a weight and a version" if about else ""),
                hint="name each column once, in the order of the relation's arguments",
            )
        rows = part.rows(self.place, state)
        if state.kind == BAG and not self.changes:
            rows = _repeated(rows)
        terms = StoredTerms(self.place, dictionary_files(TableStore(self.place), version))
        if state.columns:
            decoder = Decoder(self.stored.name, wanted.names[:width], wanted.types[:width], terms)
            columns = decoder.columns([rows[name].to_numpy() for name in state.columns])
        else:
            columns = [pa.array(["()"] * rows.num_rows)]
        columns += [rows[name].combine_chunks() for name in about]
        yield from pa.table(columns, names=wanted.names).cast(wanted).to_batches(max_chunksize=_ROWS_A_BATCH)


class _Reader(DataSourceReader):
    """The rows at a version, or the changes up to it."""

    def __init__(self, source: EverlogSource, schema: StructType, parts: Sequence[_Files]) -> None:
        self._source, self._schema, self._parts = source, schema, parts

    def partitions(self) -> Sequence[InputPartition]:
        return self._parts or [_Files(FEED, [], [])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._source.batches(partition, self._schema, self._source.stored.version)


class _StreamReader(DataSourceStreamReader):
    """The changes after a version, and after each offset."""

    def __init__(self, source: EverlogSource, schema: StructType) -> None:
        self._source, self._schema = source, schema

    def initialOffset(self) -> dict[str, int]:
        return {"version": self._source.since}

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, int]:
        """The newest version; Spark 4.1 gives no arguments."""
        return {"version": TableStore(self._source.place).commit().version}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return self._source.change_partitions(start["version"], end["version"])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Terms stay in the dictionary: the newest has all that any version needs.
        newest = TableStore(self._source.place).commit().version
        return self._source.batches(partition, self._schema, newest)


def _stored(store: TableStore, relation: str, version: int | None) -> StoredRelation:
    from everlog.pipeline.stored_relations import stored_relation

    return stored_relation(store, relation, version)


def _number(option: str, said: str) -> int:
    try:
        return int(said)
    except ValueError:
        raise UsageError(f"{option} is {said!r}, which is no number", hint="versions count from 1") from None


def _grouped(place: TablePlace, files: Sequence[str]) -> Iterator[list[str]]:
    """Files in groups that are worth a task each."""
    some: list[str] = []
    size = 0
    for file in files:
        some.append(file)
        size += place.size(file)
        if size >= _BYTES_A_PARTITION:
            yield some
            some, size = [], 0
    if some:
        yield some


def _repeated(rows: pa.Table) -> pa.Table:
    """The rows of a bag as often as they are there."""
    import numpy as np
    import pyarrow as pa

    return rows.take(pa.array(np.repeat(np.arange(rows.num_rows), rows[WEIGHT].to_numpy())))

"""How are thousands of small knowledge bases kept true on Spark?

A stream of updates, each with the key of its knowledge base, becomes a stream of changes, each with its key. Keys are
spread over *shards* by a hash, and a shard is a fleet (everlog.fleet): its knowledge bases share engines, so that a
batch with updates of a thousand of them is a few updates of an engine.

Input rows have a `key` (null: all knowledge bases) and either

    update                   a line of JSON: {"insert": [["edge", "a", "b"]], "add_rules": "…"}; null lets the key go
    op, relation, terms      insert or delete, a fact, terms as rules write them: a, "New York", 42, <http://ex.org/a>
                             add_rules and remove_rules with texts or names in `terms`; drop lets the key go

and may have a `sequence`, by which the updates of a batch are put in order; rows of a key with the same number are one
update. Without it they are taken as they come, and Spark promises no order.

Shards live in Spark's state store, by `transformWithState`, so that a restart from the checkpoint neither loses nor
repeats an update. There they are a log and now and then a whole; a Python worker holds on to the engines of the shards
that it last had, and makes only the updates that others have made meanwhile (everlog/fleet/journal.py).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from everlog.engines.spark.session import parallelism
from everlog.errors import EverlogError, UsageError
from everlog.extras import check_extra
from everlog.fleet.changes import FleetChange
from everlog.fleet.fleet import Fleet
from everlog.fleet.journal import Head, Journal
from everlog.pipeline.fleet_updates import Message, in_order
from everlog.pipeline.shards import shard_numbers
from everlog.rules.printer import print_term

# The kind is relation, view or refused.
CHANGES = "key string, kind string, name string, terms array<string>, weight bigint, version bigint, reason string"
_change = Row("key", "kind", "name", "terms", "weight", "version", "reason")
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_PARTITIONS = "spark.sql.shuffle.partitions"
_ROWS = ("op", "relation", "terms")


def fleet(
    frame: DataFrame,
    program: str = "",
    views: Mapping[str, str] | None = None,
    *,
    shards: int | None = None,
    coalesce: bool = False,
    only: Iterable[str] | None = None,
) -> DataFrame:
    """The changes that a stream of updates makes in the knowledge bases of a fleet.

    Args:
        frame: Updates with their keys, streaming or not: a column `key`, and either `update`, a line of JSON, or `op`,
            `relation` and `terms`; `sequence` gives their order.
        program: Rules that all knowledge bases begin with.
        views: SPARQL queries by name, kept true for each.
        shards: Over how many engines keys are spread; twice the cores unless said. It stays that of the checkpoint.
        coalesce: Make the updates of a key that are in one batch at once, by their net effect.
        only: The relations and views whose changes are wanted; all of them unless said.

    Returns:
        Rows of `CHANGES`: what came (a weight above zero) and went, with the version that its knowledge base has then.
        An update that was refused is a row of kind `refused` with its reason.
    """
    check_extra("google.protobuf", "Spark's transformWithState")
    Fleet(program, views, engine="reference")  # what is wrong with the rules is said here, not by a task
    spark = frame.sparkSession
    shards = shards or 2 * parallelism(spark)
    _prepare(spark, shards)
    chosen = None if only is None else frozenset(only)
    processor = FleetProcessor(program, dict(views or {}), shards, coalesce, chosen)
    return (
        _messages(frame, shards)
        .groupBy("shard")
        .transformWithState(processor, outputStructType=CHANGES, outputMode="Append", timeMode="None")
    )


def _prepare(spark: SparkSession, shards: int) -> None:
    """What `transformWithState` asks of a session; what the user has chosen stays."""
    spark.conf.set(_PROVIDER, _ROCKSDB)
    if spark.conf.get(_PARTITIONS) == "200":  # nobody has chosen, and 200 tasks a batch take seconds
        spark.conf.set(_PARTITIONS, str(max(1, shards // 2)))


def _messages(frame: DataFrame, shards: int) -> DataFrame:
    """Rows of one shape: shard, key, sequence, and either a line of JSON or op, relation and terms."""
    names = set(frame.columns)
    if "key" not in names or not ("update" in names or names.issuperset(_ROWS)):
        raise UsageError(
            f"these are no updates with keys: the columns are {', '.join(frame.columns)}",
            hint="give columns key and update (JSON), or key, op, relation and terms",
        )

    def column(name: str, type_: str) -> Column:
        return (f.col(name) if name in names else f.lit(None)).cast(type_).alias(name)

    everywhere = f.array(*map(f.lit, shard_numbers(shards)))
    one = f.array(f.get(everywhere, f.pmod(f.xxhash64("key"), f.lit(shards)).cast("int")))
    return frame.select(
        f.explode(f.when(f.col("key").isNull(), everywhere).otherwise(one)).alias("shard"),
        column("key", "string"),
        column("sequence", "bigint"),
        column("update", "string"),
        column("op", "string"),
        column("relation", "string"),
        column("terms", "array<string>"),
    )


class FleetProcessor(StatefulProcessor):
    """Makes the updates of a shard; in a Python worker."""

    def __init__(
        self, program: str, views: dict[str, str], shards: int, coalesce: bool, only: frozenset[str] | None
    ) -> None:
        self._program, self._views, self._shards, self._coalesce, self._only = program, views, shards, coalesce, only

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._shelf = _StateStore(handle)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        updates, refused = in_order(Message(*row[1:]) for row in rows)
        journal = Journal(self._shelf, self._begin, self._digest())
        first = key[0] == shard_numbers(self._shards)[0]
        for said_to, error in refused:
            if said_to is not None or first:  # a row for all came to every shard, and one tells of it
                yield _refusal(said_to, error)
        for change in journal.apply(updates, coalesce=self._coalesce):
            yield from self._rows(change)

    def _begin(self) -> Fleet:
        return Fleet(self._program, self._views)

    def _digest(self) -> str:
        return hashlib.sha256(
            json.dumps([self._program, self._views, self._shards], sort_keys=True).encode()
        ).hexdigest()

    def _rows(self, change: FleetChange) -> Iterator[Row]:
        for key, error in change.refused.items():
            yield _refusal(key, error)
        for row in change.rows():
            if self._only is None or row.name in self._only:
                terms = [None if term is None else print_term(term) for term in row.terms]
                yield _change(row.key, row.kind, row.name, terms, row.weight, row.version, None)

    def close(self) -> None:
        """Nothing is open: what counts is in the state store."""


def _refusal(key: str | None, error: EverlogError) -> Row:
    return _change(key, "refused", None, None, None, None, str(error))


class _StateStore:
    """The shelf of a shard (everlog/fleet/journal.py)."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._head = handle.getValueState("head", "text string")
        self._entries = handle.getMapState("entries", "number bigint", "text string")
        self._chunks = handle.getMapState("chunks", "number bigint", "text string")

    def head(self) -> Head | None:
        found = self._head.get()
        return None if found is None else Head(**json.loads(found[0]))

    def put_head(self, head: Head) -> None:
        self._head.update((json.dumps(asdict(head)),))

    def entry(self, number: int) -> str:
        return _text(self._entries.getValue((number,)))

    def put_entry(self, number: int, text: str) -> None:
        self._entries.updateValue((number,), (text,))

    def drop_entry(self, number: int) -> None:
        self._entries.removeKey((number,))

    def chunk(self, number: int) -> str:
        return _text(self._chunks.getValue((number,)))

    def put_chunk(self, number: int, text: str) -> None:
        self._chunks.updateValue((number,), (text,))

    def drop_chunk(self, number: int) -> None:
        self._chunks.removeKey((number,))


def _text(found: Any) -> str:
    assert found is not None, "the head says that it is there"
    return str(found[0])

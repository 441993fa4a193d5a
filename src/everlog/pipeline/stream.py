"""How are tables kept true while updates arrive?

Structured Streaming says which updates are new: files that land in a folder, or rows of any streaming DataFrame. Each
micro-batch is applied in this process (in_process.py), an update a version; an update that the paged way cannot follow
is derived in bulk. The commit of an update says which one of which batch it is, so that a batch that Spark gives again
after a crash goes on where the tables are (stream_batches.py): no update is lost or applied twice.

An update that cannot be applied is set aside, with the reason, in a file beside the tables, and the stream goes on; or
the stream stops there, by setting. What is no update's fault, a full disk or another writer, always stops it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from everlog.errors import (
    DamagedLogError,
    EngineError,
    EverlogError,
    NeedsBulk,
    OutputError,
    StorageError,
    StoreInUseError,
    UsageError,
)
from everlog.formats.compression import replacing
from everlog.logs import logger
from everlog.pipeline.in_process import OpenedTables
from everlog.pipeline.rejects import from_spark, reading
from everlog.pipeline.stream_batches import BatchNotes, Landed, Progress, stream_id
from everlog.pipeline.stream_reports import BatchLog, BatchReport
from everlog.pipeline.stream_updates import StreamedUpdate, updates_of_files, updates_of_lines
from everlog.pipeline.ways import way_in_process
from everlog.plans.flat_rules import is_auxiliary
from everlog.store.updates import Update
from everlog.tables.commits import CommitConflictError
from everlog.tables.table_store import TableStore

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from everlog.pipeline.settings import Settings
    from everlog.pipeline.settings_parts import StreamSettings

SET_ASIDE = "_set_aside"
# Errors of the place that updates are written to: setting updates aside would not help.
_NOT_ITS_FAULT = (OutputError, StorageError, CommitConflictError, StoreInUseError, EngineError, DamagedLogError)
_FILES = "path string, modificationTime timestamp, length bigint, content binary"


class Applied(NamedTuple):
    """What an update did: facts gained and lost, and by which strategies."""

    gained: int
    lost: int
    strategies: tuple[str, ...]


class UpdateStream:
    """Applies micro-batches to tables that are open in this process."""

    def __init__(
        self,
        settings: Settings,
        stream: str,
        on_error: str,
        says: Callable[[BatchReport], None] | None = None,
        spark: SparkSession | None = None,
    ) -> None:
        """`stream` names the stream in commits: another one, with other batches, may write to the same tables.

        Without a session what the paged way cannot follow is an error.
        """
        self.id = ""  # of the stream's checkpoint, once Spark has made it
        self._notes = BatchNotes(settings.tables.beside, stream)
        self._log = BatchLog(settings.tables.beside, stream, self._notes.name)
        self._settings, self._spark = settings, spark
        self.way = way_in_process(settings.maintain, TableStore(settings.tables).commit())
        self._open()
        self._folder, self._stream, self._on_error = settings.tables.beside, stream, on_error
        self._says = says or (lambda report: None)
        self.reports: list[BatchReport] = []

    def _open(self) -> None:
        self._tables = OpenedTables(self._settings.tables, self._settings.limits, self.way.name)

    def apply(self, updates: Iterable[StreamedUpdate], batch: int) -> BatchReport:
        """Apply the updates of a batch, but for those that the tables have already."""
        started = time.perf_counter()
        done, applied, aside, gained, lost = self._done(), 0, 0, 0, 0
        strategies: dict[str, None] = {}
        for update in updates:
            if done is not None and done.has(self.id, batch, update.file, update.number):
                continue
            change = self._apply_one(update, batch)
            if change is None:
                aside += 1
                continue
            applied += 1
            gained, lost = gained + change.gained, lost + change.lost
            strategies.update(dict.fromkeys(change.strategies))
        seconds = time.perf_counter() - started
        version = self._tables.kb.version
        report = BatchReport(
            batch, version, applied, aside, gained, lost, tuple(strategies), seconds, way=str(self.way)
        )
        self.reports.append(report)
        self._log.add(report)
        self._says(report)
        return report

    def _done(self) -> Progress | None:
        return Progress.of(self._tables.last_info(), self._stream)

    def apply_files(self, landed: Sequence[Landed], batch: int) -> BatchReport:
        """Apply the updates of files that have landed, oldest first."""
        files = self._notes.arranged(self.id, batch, landed)
        return self.apply(updates_of_files(files), batch)

    def _apply_one(self, streamed: StreamedUpdate, batch: int) -> Applied | None:
        progress = Progress(self.id, batch, streamed.file, streamed.number, str(streamed.place))
        info = {
            "by": f"the stream's batch {batch:,}",
            "streams": {**self._tables.last_info().get("streams", {}), self._stream: progress.as_data()},
        }
        try:
            if streamed.update is None:
                assert streamed.error is not None
                raise streamed.error
            return self._apply_in_process(streamed.update, info)
        except _NOT_ITS_FAULT:
            raise
        except EverlogError as error:
            if self._on_error == "stop":
                self._notes.read_again(self.id, batch, streamed.file)
                raise
            self._set_aside(streamed, error, batch)
            return None

    def _apply_in_process(self, update: Update, info: Mapping[str, Any]) -> Applied:
        try:
            change = self._tables.apply(update, info)
        except NeedsBulk as refused:
            if self._spark is None:
                raise
            return self._apply_in_bulk(self._spark, update, info, refused.reason)
        counts = change.counts().values()
        return Applied(
            sum(came for came, _ in counts), sum(went for _, went in counts), tuple(change.report.strategies())
        )

    def _apply_in_bulk(self, spark: SparkSession, update: Update, info: Mapping[str, Any], reason: str) -> Applied:
        from everlog.pipeline.bulk_updates import apply_in_bulk

        logger.info("an update is derived in bulk: %s", reason)
        self._tables.close()
        try:
            commit = apply_in_bulk(spark, self._settings, update, info)
        finally:
            self._open()
        moved = [counts for table, counts in commit.moved.items() if not is_auxiliary(table)]
        return Applied(sum(gained for gained, _ in moved), sum(lost for _, lost in moved), ("bulk",))

    def _set_aside(self, streamed: StreamedUpdate, error: EverlogError, batch: int) -> None:
        folder = self._folder / SET_ASIDE
        folder.mkdir(parents=True, exist_ok=True)
        about = {
            "stream": self._stream,
            "batch": batch,
            "file": streamed.file,
            "number": streamed.number,
            "at": str(streamed.place),
            "reason": str(error),
            "update": streamed.text,
        }
        # The same name when the batch comes again, and one that no other stream has.
        name = f"{self._notes.name}-{batch:08d}-{streamed.file:04d}-{streamed.number:06d}.json"
        with replacing(folder / name) as stream:
            stream.write(json.dumps(about, indent=1, ensure_ascii=False).encode())

    def close(self) -> None:
        self._tables.close()


def start_stream(
    settings: Settings,
    spark: SparkSession,
    frame: DataFrame | None = None,
    says: Callable[[BatchReport], None] | None = None,
) -> tuple[StreamingQuery, UpdateStream]:
    """Start applying updates: of the files that land in the folder of the settings, or of a streaming DataFrame.

    Args:
        frame: a streaming DataFrame whose column `value` holds an update as JSON in each row, such as Kafka's.
        says: called after each batch.
    """
    from everlog.engines.spark.session import is_connect

    if settings.stream is None:
        raise UsageError(
            f"{settings.path}: there is no [stream] in it", hint='write [stream] and folder = "updates" into it'
        )
    if is_connect(spark):  # which runs what is applied to a batch on the server, where the tables are not open
        raise UsageError(
            "a stream applies its updates in this process, and Spark Connect has its driver elsewhere",
            hint="start it where Spark runs, by spark-submit or with a master; or run the pipeline now and then",
        )
    if frame is None:
        frame = _landing(spark, settings.stream, settings.path)
    updates = UpdateStream(settings, settings.stream.checkpoint, settings.stream.on_error, says, spark)

    checkpoint = settings.stream.checkpoint

    def apply(batch: DataFrame, number: int) -> None:
        updates.id = updates.id or stream_id(spark, checkpoint)
        if "content" in batch.columns:
            updates.apply_files(_landed(batch), number)
        else:
            updates.apply(_rows(batch), number)

    writer = frame.writeStream.foreachBatch(apply).option("checkpointLocation", settings.stream.checkpoint)
    trigger = settings.stream.trigger
    if isinstance(trigger, str):
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{trigger} seconds")
    try:
        with reading(checkpoint):
            return writer.start(), updates
    except BaseException:
        updates.close()
        raise


def run_stream(
    settings: Settings,
    spark: SparkSession | None = None,
    says: Callable[[str], None] = print,
    *,
    master: str | None = None,
    frame: DataFrame | None = None,
) -> list[BatchReport]:
    """Apply updates until the stream ends, or somebody interrupts it; where there are no tables yet, run first.

    Args:
        spark: the session to run on; by default the one that is running, or else one is started and stopped at the end.
        says: called with a line of text after each batch.
        frame: as in `start_stream`.
    """
    from everlog.engines.spark.session import session_for_a_while
    from everlog.pipeline.job import run_pipeline

    if spark is None:
        with session_for_a_while(settings.spark, master or settings.master) as started:
            return run_stream(settings, started, says, frame=frame)
    if not TableStore(settings.tables).versions():
        run_pipeline(settings, spark, says)
    query, updates = start_stream(settings, spark, frame, lambda report: says(str(report)))
    try:
        query.awaitTermination()
    except KeyboardInterrupt:
        query.stop()
    except Exception as error:
        found = _ours(error)
        if found is None:
            raise
        raise found from error
    finally:
        updates.close()
    return updates.reports


def _ours(error: Exception) -> EverlogError | None:
    """The error of ours that ended a stream; Spark hands on its text alone."""
    if isinstance(error, EverlogError):
        return error
    if not from_spark(error):
        return None
    lines = [line for line in str(error).splitlines() if "everlog.errors." in line]
    said = lines[-1].partition(": ")[2] if lines else str(error).strip().splitlines()[0][:300]
    return EngineError(
        f"the stream has stopped: {said}",
        hint='nothing committed is lost: mend or remove the update and start again, or set on_error = "set-aside"',
    )


def _landing(spark: SparkSession, stream: StreamSettings, path: Path) -> DataFrame:
    if stream.folder is None:
        raise UsageError(f"{path}: [stream] names no folder", hint='write folder = "updates", or hand in a DataFrame')
    if "://" not in stream.folder:
        Path(stream.folder).mkdir(parents=True, exist_ok=True)
    with reading(stream.folder):
        return spark.readStream.format("binaryFile").schema(_FILES).load(stream.folder)


def _landed(batch: DataFrame) -> list[Landed]:
    files = batch.orderBy("modificationTime", "path").select("path", "content").collect()
    return [(row["path"], bytes(row["content"])) for row in files]


def _rows(batch: DataFrame) -> list[StreamedUpdate]:
    if "value" not in batch.columns:
        raise UsageError(
            f"a stream of updates has a column value, and this one has {', '.join(batch.columns)}",
            hint="select the JSON of each update as value",
        )
    return list(updates_of_lines("stream", (row["value"] for row in batch.select("value").collect())))

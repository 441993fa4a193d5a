"""How are tables kept true while updates arrive?

Structured Streaming says which updates are new: files that land in a folder, or rows of any streaming DataFrame. Each
micro-batch is applied in this process (resident.py), an update a version. The commit of an update says which batch it
belongs to and its number there, so that a batch that Spark gives again after a crash goes on where the tables are: no
update is lost or applied twice.

An update that cannot be applied is set aside, with the reason, in a file beside the tables, and the stream goes on; or
the stream stops there, by setting.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.errors import EverlogError, UsageError
from everlog.formats.compression import replacing
from everlog.pipeline.resident import Resident
from everlog.pipeline.stream_updates import StreamedUpdate, updates_of_file, updates_of_lines
from everlog.store.changes import Change

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from everlog.pipeline.settings import Settings
    from everlog.pipeline.settings_parts import StreamSettings

SET_ASIDE = "_set_aside"
_FILES = "path string, modificationTime timestamp, length bigint, content binary"


@dataclass(frozen=True)
class BatchReport:
    """What a micro-batch did."""

    batch: int
    version: int
    updates: int  # applied
    set_aside: int
    gained: int
    lost: int
    strategies: tuple[str, ...]
    seconds: float

    def __str__(self) -> str:
        aside = f", {self.set_aside} set aside" if self.set_aside else ""
        return (
            f"batch {self.batch:,}: {self.updates:,} updates{aside}, +{self.gained:,} -{self.lost:,} facts, "
            f"version {self.version:,}, {self.seconds:.3f} s"
        )

    def as_data(self) -> dict[str, Any]:
        return asdict(self)


class UpdateStream:
    """Applies micro-batches to tables that are open in this process."""

    def __init__(
        self, settings: Settings, stream: str, on_error: str, says: Callable[[BatchReport], None] | None = None
    ) -> None:
        """`stream` names the stream in commits: another one, with other batches, may write to the same tables."""
        self._resident = Resident(settings.tables, settings.limits)
        self._folder, self._stream, self._on_error = Path(settings.tables), stream, on_error
        self._says = says or (lambda report: None)
        self.reports: list[BatchReport] = []

    def apply(self, updates: Iterable[StreamedUpdate], batch: int) -> BatchReport:
        """Apply the updates of a batch, but for those that the tables have already."""
        started = time.perf_counter()
        done, applied, aside, gained, lost = self._done(batch), 0, 0, 0, 0
        strategies: dict[str, None] = {}
        for number, update in enumerate(updates, start=1):
            if number <= done:
                continue
            change = self._apply_one(update, batch, number)
            if change is None:
                aside += 1
                continue
            applied += 1
            for came, went in change.counts().values():
                gained, lost = gained + came, lost + went
            strategies.update(dict.fromkeys(change.report.strategies()))
        seconds = time.perf_counter() - started
        version = self._resident.kb.version
        report = BatchReport(batch, version, applied, aside, gained, lost, tuple(strategies), seconds)
        self.reports.append(report)
        self._says(report)
        return report

    def _done(self, batch: int) -> int:
        """How many updates of a batch the tables have."""
        said = self._resident.tables.last_info().get("streams", {}).get(self._stream)
        if said is None or said["batch"] < batch:
            return 0
        return int(said["updates"]) if said["batch"] == batch else 1 << 62  # of a batch that is long done, all

    def _apply_one(self, streamed: StreamedUpdate, batch: int, number: int) -> Change | None:
        tables = self._resident.tables
        tables.info["by"] = f"the stream's batch {batch:,}"
        tables.info["streams"] = {
            **tables.last_info().get("streams", {}),
            self._stream: {"batch": batch, "updates": number, "at": str(streamed.place)},
        }
        try:
            if streamed.update is None:
                assert streamed.error is not None
                raise streamed.error
            return self._resident.kb.apply(streamed.update)
        except EverlogError as error:
            if self._on_error == "stop":
                raise
            self._set_aside(streamed, error, batch, number)
            return None

    def _set_aside(self, streamed: StreamedUpdate, error: EverlogError, batch: int, number: int) -> None:
        folder = self._folder / SET_ASIDE
        folder.mkdir(parents=True, exist_ok=True)
        about = {
            "stream": self._stream,
            "batch": batch,
            "number": number,
            "at": str(streamed.place),
            "reason": str(error),
            "update": streamed.text,
        }
        with replacing(folder / f"{batch:08d}-{number:06d}.json") as stream:
            stream.write(json.dumps(about, indent=1, ensure_ascii=False).encode())

    def close(self) -> None:
        self._resident.kb.close()


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
    updates = UpdateStream(settings, settings.stream.checkpoint, settings.stream.on_error, says)

    def apply(batch: DataFrame, number: int) -> None:
        updates.apply(_updates(batch), number)

    writer = frame.writeStream.foreachBatch(apply).option("checkpointLocation", settings.stream.checkpoint)
    trigger = settings.stream.trigger
    if isinstance(trigger, str):
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{trigger} seconds")
    try:
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
    from everlog.tables.table_store import TableStore

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
    from everlog.errors import EngineError
    from everlog.pipeline.rejects import from_spark

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
    return spark.readStream.format("binaryFile").schema(_FILES).load(stream.folder)


def _updates(batch: DataFrame) -> Iterable[StreamedUpdate]:
    if "content" in batch.columns:
        files = batch.orderBy("modificationTime", "path").select("path", "content").collect()
        return [update for row in files for update in updates_of_file(row["path"], bytes(row["content"]))]
    if "value" not in batch.columns:
        raise UsageError(
            f"a stream of updates has a column value, and this one has {', '.join(batch.columns)}",
            hint="select the JSON of each update as value",
        )
    return list(updates_of_lines("stream", (row["value"] for row in batch.select("value").collect())))

"""`everlog apply`: what do the updates of a file change?

They are applied one after the other as they are read, to a knowledge base in a folder or to one made from a program and
data files. A line on the terminal says how far it is; at the end stands a summary. Where an update fails, those before
it stay applied.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from everlog.cli.knowledge_bases import JsonOption, RewritesOption, materialised, open_kb, progress_unless
from everlog.cli.limit_options import limited
from everlog.cli.outcomes import outcome, print_json
from everlog.cli.run import EngineName
from everlog.errors import OutputError, UsageError
from everlog.limits import Limits

if TYPE_CHECKING:
    from everlog.cli.progress import Progress
    from everlog.store.changes import Change
    from everlog.store.sources import UpdateSource
    from everlog.store.store import KnowledgeBase
    from everlog.store.updates import Update

STDIN = 0  # its file descriptor
LINES_EVERY = 5.0  # seconds between two lines of progress where there is no terminal


class StrategyName(StrEnum):
    """How facts are kept true."""

    choose = "choose"
    counting = "counting"
    bf = "bf"
    bf_counting = "bf-counting"
    ranked = "ranked"
    dred = "dred"
    rematerialise = "rematerialise"


@limited
def apply(
    arguments: Annotated[
        list[str],
        typer.Argument(help="KB UPDATES…, or with --program FILES… UPDATES; - is stdin.", metavar="KB|FILES UPDATES"),
    ],
    program: Annotated[
        str | None, typer.Option("--program", metavar="PROGRAM", help="Rules to start from, in memory, instead of KB.")
    ] = None,
    header: Annotated[bool, typer.Option("--header", help="The first line of each table names its columns.")] = False,
    strategy: Annotated[
        StrategyName, typer.Option("--strategy", help="How facts are kept true.")
    ] = StrategyName.choose,
    marking: Annotated[bool, typer.Option("--marking", help="Look at the next update while working on one.")] = False,
    coalesce: Annotated[bool, typer.Option("--coalesce", help="Apply updates that wait at once.")] = False,
    changes: Annotated[
        Path | None,
        typer.Option("--changes", metavar="FILE", help="Write what each update changed, as JSON lines; - is stdout."),
    ] = None,
    engine: Annotated[EngineName, typer.Option("--engine", help="With --program.")] = EngineName.columnar,
    rewrites: RewritesOption = True,
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress on stderr.")] = False,
    *,
    limits: Limits,
) -> None:
    """Apply a stream of updates: JSON lines or RDF Patch."""
    with (
        outcome(as_json=as_json, limits=limits),
        ExitStack() as stack,
        progress_unless(quiet or as_json, lines_every=LINES_EVERY) as progress,
    ):
        if len(arguments) < (1 if program else 2):
            raise UsageError("which updates?", hint="everlog apply KB updates.jsonl")
        to_stdout = changes is not None and str(changes) == "-"
        if to_stdout and as_json:
            raise UsageError("--json and --changes - both write to stdout", hint="name a file: --changes FILE")
        if program is not None:
            from everlog.store.program_files import read_programs

            *files, updates = arguments
            read, imported, others = read_programs([program], files)
            options: dict[str, Any] = {"header": header, "engine": engine.value, "rewrites": rewrites}
            kb = materialised(read, imported, others, progress, limits=limits, **options)
            names = [updates]
        else:
            progress(f"opening {arguments[0]}")
            kb = stack.enter_context(open_kb(arguments[0], limits=limits, rewrites=rewrites))
            kb.progress = False  # the command has a bar itself
            names = arguments[1:]
        written = stack.enter_context(_opened(changes)) if changes is not None else None
        told = sys.stderr if to_stdout else sys.stdout
        summary = Summary(kb.version)
        try:
            _apply(kb, _source(names, coalesce), strategy.value, marking, coalesce, summary, written, progress)
        finally:
            progress.close()
            if not as_json:
                summary.print(told)
        if as_json:
            print_json(summary.as_data())


@dataclass
class Summary:
    """The totals of a run of updates."""

    version: int
    updates: int = 0
    latencies: list[float] = field(default_factory=list)  # in seconds, of each change
    gained: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    strategies: Counter[str] = field(default_factory=Counter)
    already_there: int = 0
    not_there: int = 0
    started: float = field(default_factory=time.perf_counter)

    def add(self, change: Change) -> None:
        self.version = change.version
        self.updates += change.updates
        self.latencies.append(change.report.seconds)
        for name, (gained, lost) in change.counts().items():
            self.gained[name] += gained
            self.lost[name] += lost
        self.strategies.update(change.report.strategies())
        self.already_there += change.report.already_there
        self.not_there += change.report.not_there

    def latency(self, part: float) -> float:
        """The milliseconds within which this share of the changes was complete."""
        ordered = sorted(self.latencies)
        return 1000 * ordered[math.ceil(part * len(ordered)) - 1] if ordered else 0.0

    def print(self, file: IO[str]) -> None:
        says = partial(print, file=file)
        seconds = time.perf_counter() - self.started
        gained, lost = self.gained.total(), self.lost.total()
        says(f"{self.updates:,} updates in {seconds:.2f} s, to version {self.version}: +{gained:,} -{lost:,} facts")
        if not self.updates:
            return
        if len(self.latencies) < self.updates:
            says(f"applied as {len(self.latencies):,} net effects")
        says(f"latency: p50 {self.latency(0.5):.2f} ms, p95 {self.latency(0.95):.2f} ms")
        if self.strategies:
            says("strategies: " + ", ".join(f"{name} {count:,}" for name, count in self.strategies.most_common()))
        if self.already_there or self.not_there:
            says(f"without effect: {self.already_there:,} inserts already there, {self.not_there:,} deletes not there")

    def as_data(self) -> dict[str, Any]:
        return {
            "updates": self.updates,
            "changes": len(self.latencies),
            "version": self.version,
            "gained": dict(self.gained),
            "lost": dict(self.lost),
            "already_there": self.already_there,
            "not_there": self.not_there,
            "latency_ms": {"p50": round(self.latency(0.5), 3), "p95": round(self.latency(0.95), 3)},
            "strategies": dict(self.strategies),
            "seconds": round(time.perf_counter() - self.started, 6),
        }


def _apply(
    kb: KnowledgeBase,
    source: UpdateSource,
    strategy: str,
    marking: bool,
    coalesce: bool,
    summary: Summary,
    written: IO[str] | None,
    progress: Progress,
) -> None:
    from everlog.store.streams import apply_source

    for change in apply_source(kb, source, strategy=strategy, marking=marking, coalesce=coalesce):
        summary.add(change)
        if written is not None:
            _write(change, written)
        latency = 1000 * change.report.seconds
        progress(f"{summary.updates:,} updates, the last took {latency:.1f} ms, {source.waiting():,} waiting")


def _source(names: list[str], coalesce: bool) -> UpdateSource:
    from everlog.formats.compression import check_readable
    from everlog.store.sources import ReadySource, ThreadSource
    from everlog.store.streams import read_ahead

    for name in names:  # a file that is missing is noticed before the first is applied
        if name != "-":
            check_readable(Path(name))
    updates = chain.from_iterable(map(_updates, names))
    if all(Path(name).is_file() for name in names):
        return ReadySource(updates)
    return ThreadSource(updates, read_ahead(coalesce))


def _updates(name: str) -> Iterator[Update]:
    from everlog.store.updates import read_updates

    if name != "-":
        return read_updates(name)
    # Not sys.stdin: Python closes that when it ends, and cannot while a thread still waits for a line of it.
    return read_updates("<stdin>", open(STDIN, "rb", closefd=False))


def _opened(path: Path) -> AbstractContextManager[IO[str]]:
    if str(path) == "-":
        return nullcontext(sys.stdout)
    try:
        return open(path, "w", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror})", hint="choose another place") from error


def _write(change: Change, file: IO[str]) -> None:
    """A line for a change, complete when the next update begins."""
    from everlog.cli.display import rows_as_data

    names = change.counts()
    said = {
        "version": change.version,
        "updates": change.updates,
        "gained": [[name, *row] for name in names for row in rows_as_data(change.gained(name))],
        "lost": [[name, *row] for name in names for row in rows_as_data(change.lost(name))],
    }
    try:
        file.write(json.dumps(said, ensure_ascii=False) + "\n")
        file.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"{file.name}: cannot be written ({error.strerror})", hint="free some room") from error

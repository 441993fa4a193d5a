"""How does the columnar engine run inside of a Spark task?

In come Arrow batches of a tagged frame (tagged.py) with 64-bit ids, and with the keys of terms where the program needs
them. Their ids become dense ones (task_dictionary.py), the program's steps run to their fixpoints, and out go the
facts that the program concludes, tagged again, with what is known of each. Nothing here talks to Spark: a task is a
function from batches to batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from everlog.engines.columnar.engine import ColumnarEngine
from everlog.engines.dumps import RelationDump
from everlog.engines.interface import Phase, PhaseReport, Shape
from everlog.engines.spark.task_dictionary import TaskDictionary
from everlog.engines.spark.task_errors import marked_errors
from everlog.facts.weighted import WeightedFacts
from everlog.limits import Limits
from everlog.plans.flat_rules import WholeRule
from everlog.rules.syntax import Atom, Constant

_ROWS_OUT = 1 << 17  # of a batch that goes out: few calls, and no more than some megabytes at a time
_TERM = -1  # tagged.TERM; this file is read where PySpark's types need not be

Booleans = npt.NDArray[np.bool_]
Reports = list[tuple[int, int, int]]  # a component's number, its rounds, and the facts that it gained


@dataclass(frozen=True)
class TaskInput:
    """A relation of the program as it comes in."""

    relation: str
    arity: int
    bag: bool = False


@dataclass(frozen=True)
class TaskOutput:
    """Facts of a relation that go out: those that one of some heads may conclude."""

    relation: str  # in the program
    number: int  # in the tagged frame
    heads: tuple[Atom, ...]
    counted: tuple[Atom, ...]  # the heads of components that count derivations …
    ranked: tuple[Atom, ...]  # … and of those that rank facts


@dataclass(frozen=True)
class TaskProgram:
    """What a task does, as data that goes to it."""

    shapes: tuple[Shape, ...]
    steps: tuple[tuple[int, Phase | WholeRule], ...]  # with the numbers of their components
    inputs: tuple[TaskInput, ...]
    outputs: tuple[TaskOutput, ...]
    width: int  # the most arguments that a relation has, here or in the other frames that go with this one
    keys: bool = False  # are there terms to come out?
    limits: Limits = field(default_factory=Limits)


def run_task(
    program: TaskProgram, batches: Iterable[pa.RecordBatch], report: Callable[[Reports], None] | None = None
) -> Iterator[pa.RecordBatch]:
    """Derive what the program says from the facts that come in."""
    with marked_errors():
        dictionary = TaskDictionary()
        engine = ColumnarEngine(dictionary)
        bags = {given.relation for given in program.inputs if given.bag}
        for shape in program.shapes:  # that a relation is a bag can be seen from its rules only, which may be elsewhere
            engine.declare(replace(shape, bag=True) if shape.name in bags else shape)
        for given in program.inputs:
            if engine.known(given.relation) is None:
                engine.declare(Shape(given.relation, given.arity, given.bag))
        for batch in batches:
            _load(program, engine, dictionary, batch)
        reports = _derive(program, engine)
        if report is not None:
            report(reports)
        yield from _facts_out(program, engine, dictionary)
        if program.keys:
            yield from _terms_out(program, dictionary)


def _derive(program: TaskProgram, engine: ColumnarEngine) -> Reports:
    watch = program.limits.watch()
    reports: Reports = []
    for number, step in program.steps:
        if isinstance(step, Phase):
            found: PhaseReport | None = engine.run(step, watch)
            assert found is not None, "the columnar engine runs phases whole"
            reports.append((number, found.rounds, sum(found.gained.values())))
        else:
            reports.append((number, 1, engine.group(step)))
    return reports


# --- facts in -------------------------------------------------------------------------------------------------------


def _load(program: TaskProgram, engine: ColumnarEngine, dictionary: TaskDictionary, batch: pa.RecordBatch) -> None:
    tags = batch.column("relation").to_numpy(zero_copy_only=False)
    if not len(tags):
        return
    tags = tags.astype(np.int64) * 2 + batch.column("explicit").to_numpy(zero_copy_only=False).astype(np.int64)
    if (tags == tags[0]).all():
        _load_some(program, engine, dictionary, batch, int(tags[0]))
        return
    order = np.argsort(tags, kind="stable")
    tags = tags[order]
    starts = np.flatnonzero(np.concatenate([[True], tags[1:] != tags[:-1]]))
    ends = [*starts[1:].tolist(), len(tags)]
    sorted_ = batch.take(pa.array(order))
    for start, end in zip(starts.tolist(), ends, strict=True):
        _load_some(program, engine, dictionary, sorted_.slice(start, end - start), int(tags[start]))


def _load_some(
    program: TaskProgram, engine: ColumnarEngine, dictionary: TaskDictionary, batch: pa.RecordBatch, tag: int
) -> None:
    number, explicit = divmod(tag, 2)
    if number == _TERM:
        dictionary.learn(batch.column("c1").to_numpy(), batch.column("key"))
        return
    given = program.inputs[number]
    columns = [dictionary.narrow(batch.column(f"c{place}").to_numpy()) for place in range(1, given.arity + 1)]
    weights = batch.column("weight").to_numpy() if "weight" in batch.schema.names else np.ones(len(batch), np.int64)
    engine.take(given.relation, WeightedFacts(columns, weights), explicit=bool(explicit))


# --- facts out ------------------------------------------------------------------------------------------------------


def _facts_out(program: TaskProgram, engine: ColumnarEngine, dictionary: TaskDictionary) -> Iterator[pa.RecordBatch]:
    for output in program.outputs:
        dump = engine.everything_of(output.relation)
        for start in range(0, len(dump.facts), _ROWS_OUT):
            yield _batch_out(program, output, _part(dump, start), dictionary)


def _part(dump: RelationDump, start: int) -> RelationDump:
    rows = slice(start, start + _ROWS_OUT)
    return RelationDump(
        dump.shape,
        dump.facts[rows],
        dump.explicit[rows],
        None if dump.weights is None else dump.weights[rows],
        None if dump.ranks is None else dump.ranks[rows],
    )


def _batch_out(
    program: TaskProgram, output: TaskOutput, part: RelationDump, dictionary: TaskDictionary
) -> pa.RecordBatch:
    facts, explicit = part.facts, part.explicit
    weights = np.zeros(len(facts), np.int64) if part.weights is None else part.weights
    ranks = np.zeros(len(facts), np.int32) if part.ranks is None else part.ranks
    chosen = _matching(output.heads, facts, dictionary)
    if chosen is not None and not chosen.all():
        facts, explicit = facts[chosen], explicit[chosen]
        weights, ranks = weights[chosen], ranks[chosen]
    multiplicities = weights if part.shape.bag else np.ones(len(facts), np.int64)
    derivations = weights if part.shape.bag else _where(output.counted, weights, facts, dictionary)
    arity = part.shape.arity
    columns = [dictionary.wide_ids.wide(np.ascontiguousarray(facts[:, place])) for place in range(arity)]
    return _record_batch(
        program,
        output.number,
        columns,
        len(facts),
        weight=pa.array(multiplicities),
        explicit=pa.array(explicit),
        derivations=pa.array(derivations),
        rank=pa.array(_where(output.ranked, ranks, facts, dictionary)),
    )


def _record_batch(
    program: TaskProgram, number: int, columns: Sequence[npt.NDArray[np.int64]], rows: int, **others: Any
) -> pa.RecordBatch:
    arrays: dict[str, Any] = {"relation": pa.array(np.full(rows, number, np.int32))}
    for place in range(program.width):
        arrays[f"c{place + 1}"] = pa.array(columns[place]) if place < len(columns) else pa.nulls(rows, pa.int64())
    for name, kind in (("weight", pa.int64()), ("explicit", pa.bool_()), ("derivations", pa.int64())):
        arrays[name] = others.get(name, pa.nulls(rows, kind))
    arrays["rank"] = others.get("rank", pa.nulls(rows, pa.int32()))
    if program.keys:
        arrays["key"] = others.get("key", pa.nulls(rows, pa.string()))
    return pa.RecordBatch.from_pydict(arrays)


def _terms_out(program: TaskProgram, dictionary: TaskDictionary) -> Iterator[pa.RecordBatch]:
    ids, keys = dictionary.new_terms()
    for start in range(0, len(keys), _ROWS_OUT):
        some = keys[start : start + _ROWS_OUT]
        yield _record_batch(
            program, _TERM, [ids[start : start + _ROWS_OUT]], len(some), key=pa.array(some, pa.string())
        )


def _where(heads: Sequence[Atom], values: npt.NDArray[Any], facts: npt.NDArray[Any], dictionary: TaskDictionary) -> Any:
    """The values of facts that one of the heads may conclude, zero for the others."""
    chosen = _matching(heads, facts, dictionary)
    return values if chosen is None else np.where(chosen, values, 0).astype(values.dtype)


def _matching(heads: Sequence[Atom], facts: npt.NDArray[Any], dictionary: TaskDictionary) -> Booleans | None:
    """Which facts match one of the heads; None: all of them."""
    found = np.zeros(len(facts), bool)
    for head in heads:
        fits = np.ones(len(facts), bool)
        general = True
        for place, arg in enumerate(head.args):
            first = head.args.index(arg)
            if isinstance(arg, Constant):
                id_ = dictionary.find(arg.term)
                fits &= False if id_ is None else facts[:, place] == id_
                general = False
            elif first < place:
                fits &= facts[:, place] == facts[:, first]
                general = False
        if general:
            return None
        found |= fits
    return found

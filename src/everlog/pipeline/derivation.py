"""How are facts derived from DataFrames to DataFrames, without any table?

    paths = derive(spark, "path(?x, ?y) :- edge(?x, ?y). path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).", {"edge": edges})
    paths["path"].show()

The columns of a frame are the arguments of its relation, by position. What comes out has names and types again: as
declared; else names of the heads' variables or of the given frame (output_names.py), and the types that flow through
the rules (column_flow.py) or, where these do not tell, that all values have (output_types.py).

What runs when: `derive` counts the given rows and looks for nulls in one job; constraints, recursion that goes by
rounds, and columns whose types only their values tell take more. Everything else runs when a frame is read. With
`lazy=True` nothing at all runs before that.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from everlog.engines.spark.local_frames import local_frame
from everlog.engines.spark.placement import FACTS_A_PARTITION
from everlog.engines.spark.session import parallelism
from everlog.errors import NotFoundError, ProgramError, UsageError
from everlog.limits import Limits
from everlog.pipeline.bulk_settings import BulkSettings
from everlog.pipeline.column_flow import INLINE, UNKNOWN, Types, flowing_types
from everlog.pipeline.encode import collisions, decode, encode
from everlog.pipeline.frame_columns import Columns, declared_columns
from everlog.pipeline.frame_facts import GivenFrames
from everlog.pipeline.job import facts_in_text, frames_of_keys
from everlog.pipeline.materialise import ComponentReport, Materialised, materialise_frames
from everlog.pipeline.output_types import native_column, native_types
from everlog.pipeline.rejects import from_spark
from everlog.rules.checks import check_program
from everlog.rules.column_names import relation_columns
from everlog.rules.constraints import is_constraint
from everlog.rules.mentions import mentioned
from everlog.rules.parser import parse_program, read_program
from everlog.rules.syntax import Program

Says = Callable[[str], None]


class Derived(dict[str, DataFrame]):
    """The derived relations by name, each a frame.

    What several frames come from is computed once and held by Spark as long as this dictionary is there; `release`, or
    leaving a `with` block, lets go of it. Frames stay what they are, and are computed again when they are read.

    Attributes:
        skipped: how many rows of each given frame were left out, since a value is missing in them.
        report: how each component of the program is evaluated; facts and rounds once a frame was read.
    """

    def __init__(
        self, frames: Mapping[str, DataFrame], skipped: Mapping[str, int], report: Sequence[ComponentReport]
    ) -> None:
        super().__init__(frames)
        self.skipped = dict(skipped)
        self.report = list(report)
        self._held: weakref.finalize[Any, Any] | None = None

    def holding(self, release: Callable[[], None]) -> Derived:
        """Call this when the frames are not needed any more."""
        self._held = weakref.finalize(self, _unless_gone, release)
        self._held.atexit = False  # the session may be gone by then, and takes with it what it held
        return self

    def release(self) -> None:
        """Let Spark forget what it holds for these frames."""
        if self._held is not None:
            self._held()

    def __enter__(self) -> Derived:
        return self

    def __exit__(self, *raised: object) -> None:
        self.release()


def _unless_gone(release: Callable[[], None]) -> None:
    """Let go of what Spark holds; where the session has ended, it holds nothing any more."""
    try:
        release()
    except Exception as error:
        if not from_spark(error) and not isinstance(error, OSError):
            raise


def derive(
    spark: SparkSession,
    program: str | Path | Program,
    frames: Mapping[str, DataFrame],
    *,
    relations: Sequence[str] | None = None,
    columns: Mapping[str, Columns] | None = None,
    nulls: str = "refuse",
    lazy: bool = False,
    way: str = "auto",
    limits: Limits | None = None,
    progress: Says | None = None,
) -> Derived:
    """Derive what a program says from DataFrames, as DataFrames.

    Args:
        program: the text of rules, or the path of a rule file: a `Path`, or a text that ends in `.dl`.
        frames: by relation; their columns are its arguments, by position. A frame is read more than once and must give
            the same rows each time.
        relations: those to hand out; by default all that rules and facts of the program define.
        columns: what the columns of relations are called, as a list of names or as a schema with types, such as
            "start string, distance double"; a value that is not of its type fails the job that reads it.
        nulls: rows with a missing value are refused, left out ("skip"), or take "" for it ("empty").
        lazy: run no job before a frame is read. Then the program runs in one task, a null fails the job that meets it,
            what is skipped is not counted, and columns whose types only values tell hold texts.
        way: "auto", by size; or "one task", "pivot", "frames" or "rounds", wherever that is possible.
        limits: of rounds, facts and time.
        progress: called with a line of text while components are described.

    Raises:
        ProgramError: the rules cannot be read, make no sense, or do not fit the frames.
        DataError: a value is missing, or a column is of a type that is no type of term.
        ConstraintError: a constraint of the program has matches.
    """
    return _Derivation(
        spark,
        _program(program),
        GivenFrames(frames, nulls, lazy=lazy),
        declared_columns(columns or {}),
        lazy,
        BulkSettings(way="one task" if lazy else way, holds=not lazy),
        limits or Limits(),
        progress,
    ).run(relations)


def deriving(program: str | Path | Program, takes: str, gives: str, **options: Any) -> Callable[[DataFrame], DataFrame]:
    """A function from a frame to a frame, for `DataFrame.transform`.

        edges.transform(deriving(program, takes="edge", gives="path"))

    Args:
        takes: the relation that the frame is.
        gives: the relation that comes out.
        options: of `derive`; `frames` has those of other relations.
    """
    read = _program(program)
    others = options.pop("frames", {})

    def derived(frame: DataFrame) -> DataFrame:
        return derive(frame.sparkSession, read, {**others, takes: frame}, relations=[gives], **options)[gives]

    return derived


def _program(program: str | Path | Program) -> Program:
    if isinstance(program, Program):
        return program
    if isinstance(program, Path) or (program.endswith(".dl") and "\n" not in program):
        return read_program(program)
    return parse_program(program)


class _Derivation:
    """One derivation from frames to frames."""

    def __init__(
        self,
        spark: SparkSession,
        program: Program,
        given: GivenFrames,
        declared: Mapping[str, tuple[tuple[str, ...], Types]],
        lazy: bool,
        settings: BulkSettings,
        limits: Limits,
        progress: Says | None,
    ) -> None:
        self._spark, self._program, self._given, self._declared = spark, program, given, declared
        self._lazy, self._settings, self._limits, self._progress = lazy, settings, limits, progress

    def run(self, relations: Sequence[str] | None) -> Derived:
        defined = self._check()
        wanted = list(relations) if relations is not None else [name for name in defined if defined[name]]
        for name in wanted:
            if name not in defined:
                raise NotFoundError.among("relation", name, defined)
        counts = None if self._lazy else self._given.look()
        rows = facts_in_text(self._program)
        in_text = {name: len(some) for name, some in rows.items()}
        said = frames_of_keys(self._spark, rows)
        keys = self._given.keys()
        keys = {
            name: reduce(DataFrame.unionAll, [each[name] for each in (keys, said) if name in each])
            for name in dict.fromkeys((*keys, *said))
        }
        encoded = encode(keys)
        if counts is not None:
            counts = {name: counts.get(name, 0) + in_text.get(name, 0) for name in keys}
        facts = {name: self._fewer(frame.distinct(), counts) for name, frame in encoded.facts.items()}
        made = materialise_frames(
            self._spark,
            self._program,
            facts,
            encoded.new_terms,
            self._progress,
            self._limits,
            self._settings,
            counts,
        )
        return self._frames(made, self._fewer(self._terms(encoded.new_terms, made), counts), wanted)

    def _terms(self, given: DataFrame, made: Materialised) -> DataFrame:
        """The terms of given facts, of the program's text, and those that came up."""
        frames = [given]
        if made.constants:
            frames.append(local_frame(self._spark, made.constants.items(), "id long, key string"))
        if made.new_terms is not None:
            frames.append(made.new_terms)
        return reduce(DataFrame.unionAll, frames).dropDuplicates(["id"]) if len(frames) > 1 else given

    def _fewer(self, frame: DataFrame, counts: Mapping[str, int] | None) -> DataFrame:
        """A frame in as many partitions as its size is worth, whatever the session says: 200 tasks take seconds."""
        if counts is None:
            return frame
        return frame.coalesce(max(parallelism(self._spark), -(-sum(counts.values()) // FACTS_A_PARTITION)))

    def _check(self) -> dict[str, bool]:
        """The relations there are, and whether the program defines them; an error for what cannot be meant so."""
        if self._program.imports:
            raise UsageError(
                f"the program imports {self._program.imports[0].path}, and a derivation from frames reads no files",
                hint="give its rows as a frame: spark.read…, under the name of the relation",
            )
        if self._lazy and any(map(is_constraint, self._program.rules)):
            raise UsageError(
                "the program has constraints, which have to be looked at before anything is handed out",
                hint="derive without lazy=True, or leave the constraints out",
            )
        problems = check_program(self._program, self._given.arities)
        if problems:
            raise ProgramError(problems)
        rules = [rule for rule in self._program.rules if not is_constraint(rule)]
        defined = {head.relation: True for rule in rules for head in rule.heads}
        defined |= {fact.relation: True for fact in self._program.facts}
        defined |= {name: False for name in self._given.arities if name not in defined}
        known = dict.fromkeys(mentioned(self._program))
        for name in (*self._given.arities, *self._declared):
            if name not in known:
                raise NotFoundError.among("relation", name, known)
        return defined

    # --- what comes out -----------------------------------------------------------------------------------------------

    def _frames(self, made: Materialised, terms: DataFrame, wanted: Sequence[str]) -> Derived:
        arities = dict(made.relations)
        flow = flowing_types(self._program, {name: self._given.types(name) for name in self._given.arities})
        names = {name: self._names(name, arities[name]) for name in wanted}
        types = {name: self._types(name, flow[name]) for name in wanted}
        unknown = {name: [place for place, type_ in enumerate(types[name]) if type_ is UNKNOWN] for name in wanted}
        if self._lazy:
            types = {name: tuple(type_ or "string" for type_ in types[name]) for name in wanted}
            unknown = {}
        held: list[DataFrame] = []
        if not self._lazy and (len(wanted) > 1 or any(unknown.values())):
            made.hold()
            held.append(terms := terms.persist())

        def release() -> None:
            made.release()
            for frame in held:
                frame.unpersist()

        try:
            found = {}
            for name in wanted:
                ids = made.frame(name)
                looked = self._looked(ids, terms, unknown.get(name, ()), made)
                full = tuple(looked.get(place, type_) or "string" for place, type_ in enumerate(types[name]))
                found[name] = _typed(ids, terms, names[name], full)
        except BaseException:
            release()
            raise
        return Derived(found, self._given.skipped, made.report).holding(release)

    def _names(self, relation: str, arity: int) -> tuple[str, ...]:
        if relation in self._declared:
            names = self._declared[relation][0]
            if len(names) != arity:
                raise UsageError(
                    f"{len(names)} columns are declared for {relation}, which has {arity} arguments",
                    hint="name each of them once",
                )
            return names
        named = relation_columns(self._program, relation) or self._given.names(relation)
        return named or tuple(f"c{place}" for place in range(1, arity + 1))

    def _types(self, relation: str, flowing: Types) -> Types:
        declared = self._declared[relation][1] if relation in self._declared else ()
        return declared or flowing

    def _looked(self, ids: DataFrame, terms: DataFrame, places: Sequence[int], made: Materialised) -> dict[int, str]:
        """The types of columns that only their values tell."""
        if not places:
            return {}
        names = [ids.columns[place] for place in places]
        with made.reading(), collisions():
            return dict(zip(places, native_types(decode(ids.select(*names), terms)), strict=True))


def _typed(ids: DataFrame, terms: DataFrame, names: Sequence[str], types: Sequence[str]) -> DataFrame:
    """Facts with their values; those that live in their ids are taken out of them, others are looked up."""
    hashed = [column for column, type_ in zip(ids.columns, types, strict=True) if type_ not in INLINE]
    keys = decode(ids, terms, hashed) if hashed else ids
    return keys.select(
        *(
            (native_column(f.col(column), type_) if column in hashed else f.shiftright(column, 3).cast(type_)).alias(
                name
            )
            for column, name, type_ in zip(ids.columns, names, types, strict=True)
        )
    )

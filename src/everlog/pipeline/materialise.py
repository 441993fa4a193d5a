"""How does a pipeline derive facts, from frames to frames, in the smallest number of jobs?

1. Rules become components, and components that can be divided alike become stages (plans/stages.py).
2. A program over little data is one job in one task. Otherwise each stage goes its way (bulk_settings.py): divided by
   its pivot, in one task, as frames, or in rounds.
3. What a stage derives is a part, a tagged frame that is computed when somebody reads it. A part that another stage
   reads too is held; `release` lets go of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from everlog.dictionary.hash_dictionary import HashDictionary
from everlog.engines.spark.local_frames import local_frame
from everlog.engines.spark.tagged import RELATION, WEIGHT, TaggedFacts, id_columns, matches, matches_any
from everlog.engines.spark.task_errors import error_of_task
from everlog.errors import EngineError, EverlogError
from everlog.facts.terms import key_of
from everlog.limits import Limits
from everlog.maintenance.materialise import shapes
from everlog.pipeline.bulk_facts import Batches, BulkFacts, Part, only_relations
from everlog.pipeline.bulk_frames import FrameStages
from everlog.pipeline.bulk_rounds import RoundStages
from everlog.pipeline.bulk_settings import BulkSettings
from everlog.pipeline.bulk_tasks import NotThisWay, TaskReports, TaskStages
from everlog.pipeline.rejects import from_spark
from everlog.plans.flat_constants import flat_constants
from everlog.plans.flat_rules import EvaluatedRule, flatten_rules, is_auxiliary, rule_of_auxiliary, rule_reads
from everlog.plans.pivots import NoPivot, Pivot, component_pivot
from everlog.plans.rewrites import Closure, Rewriting, rewrite_rules
from everlog.plans.stages import Stage, needs_terms, overlapping, plan_stages
from everlog.rules.atom_index import AtomIndex
from everlog.rules.components import Component, maintenance_components
from everlog.rules.constants import program_constants
from everlog.rules.constraints import constraint_name, is_constraint, is_constraint_relation
from everlog.rules.names import name_rules
from everlog.rules.syntax import Atom, Program, Variable
from everlog.store.constraints import MOST_MATCHES, Broken, refuse_broken

Says = Callable[[str], None]

_NAMES_TOLD = 6  # relations that a line of progress names


@dataclass
class ComponentReport:
    """How a component was evaluated. Facts and rounds are known once somebody has read what it derives."""

    relations: tuple[str, ...]
    way: str
    why: str
    number: int
    seconds: float = 0.0  # until it was described or, for rounds, done
    _rounds: int | None = None
    _facts: int | None = None
    _tasks: TaskReports | None = None

    @property
    def rounds(self) -> int | None:
        found = self._tasks.of(self.number) if self._tasks is not None else None
        return self._rounds if found is None else found[0]

    @property
    def facts(self) -> int | None:
        """Facts that it derived and that were not given; None where nobody has counted."""
        found = self._tasks.of(self.number) if self._tasks is not None else None
        return self._facts if found is None else found[1]

    def __str__(self) -> str:
        facts = "" if self.facts is None else f", {self.facts:,} facts"
        rounds = "" if not self.rounds or self.rounds < 2 else f" in {self.rounds:,} rounds"
        return f"{', '.join(self.relations)}: {self.way}{facts}{rounds}{f' ({self.why})' if self.why else ''}"


@dataclass
class Materialised:
    """Everything that follows from the facts, described; reading it runs the jobs."""

    relations: tuple[tuple[str, int], ...]  # names and arities, which the tag of a row is an index into
    new_terms: DataFrame | None  # that came up: (id, key), each id once; some may be in the dictionary already
    constants: Mapping[int, str]  # ids and keys of the program's constants, which facts may have too
    report: list[ComponentReport]
    defined: tuple[str, ...]  # the relations that rules define, all of whose facts are in the parts
    _parts: list[Part] = field(default_factory=list)
    _given: dict[str, DataFrame] = field(default_factory=dict)
    _kept: list[DataFrame] = field(default_factory=list)

    @property
    def parts(self) -> list[DataFrame]:
        """Tagged frames with all facts of relations that rules define, given ones too, each fact in one of them."""
        return [part.frame for part in self._parts]

    def mapped(self, function: Batches, schema: StructType) -> DataFrame:
        """What a function makes of the batches of all parts, in one job, as `mapInArrow` would.

        Parts that tasks derive hand their batches on inside of those tasks. A batch that comes from one is of one
        relation; others are mixed.
        """
        return reduce(DataFrame.unionAll, [part.mapped(function, schema) for part in self._parts])

    def frame(self, relation: str) -> DataFrame:
        """The facts of one relation: c1, c2, …; for a bag with their weight."""
        if relation not in self.defined:
            return self._given[relation]
        number, arity = next((n, a) for n, (name, a) in enumerate(self.relations) if name == relation)
        found = [
            part.frame.where(f.col(RELATION) == number).select(*id_columns(arity))
            for part in self._parts
            if any(head.relation == relation for head in part.heads)
        ]
        return reduce(DataFrame.unionAll, found)

    def names(self) -> list[str]:
        """Every relation that has facts or rules, without those that only evaluation knows of."""
        return [name for name, _ in self.relations if name in self.defined or name in self._given]

    def reading(self) -> AbstractContextManager[None]:
        """Around whatever reads parts: what fails there is said in our words."""
        return explained_failures(lambda: ", ".join(self.defined) or "facts")

    def hold(self) -> None:
        """Compute each part once, though frames of several relations are read from it."""
        for part in self._parts:
            part.hold()

    def release(self) -> None:
        """Let go of everything that was held."""
        for part in self._parts:
            part.release()
        while self._kept:
            self._kept.pop().unpersist()


def materialise_frames(
    spark: SparkSession,
    program: Program,
    facts: Mapping[str, DataFrame],
    dictionary: DataFrame,
    progress: Says | None = None,
    limits: Limits | None = None,
    settings: BulkSettings | None = None,
    counts: Mapping[str, int] | None = None,
    views: Sequence[EvaluatedRule] = (),
    together: TaggedFacts | None = None,
) -> Materialised:
    """Derive what a program says from frames of distinct facts; `dictionary` holds the terms of their ids.

    Args:
        counts: how many facts each frame has, where that is known; otherwise they are counted.
        views: rules of views, which are flat already, to be evaluated with those of the program.
        together: one frame from which some of the frames come, if there is one.
    """
    says, limits, settings = progress or _silent, limits or Limits(), settings or BulkSettings()
    bulk = _Bulk(spark, program, views, facts, dictionary, says, limits, settings, counts, together)
    with explained_failures(bulk.at_work):
        return bulk.run()


def _silent(line: str) -> None:
    """Say nothing."""


class _Bulk:
    """One derivation of a program."""

    def __init__(
        self,
        spark: SparkSession,
        program: Program,
        views: Sequence[EvaluatedRule],
        given: Mapping[str, DataFrame],
        dictionary: DataFrame,
        says: Says,
        limits: Limits,
        settings: BulkSettings,
        counts: Mapping[str, int] | None,
        together: TaggedFacts | None,
    ) -> None:
        self._spark, self._says, self._limits, self._settings = spark, says, limits, settings
        self._driver = HashDictionary()
        self._dictionary = dictionary.select("id", "key")
        self._rules, self._views = name_rules(program.rules), views
        terms = (*program_constants(program), *flat_constants(views))
        self._constants = {self._driver.encode(term): key_of(term) for term in terms}
        self._concluded = {
            rule.name: [f"constraint {rule.name}"] if is_constraint(rule) else [head.relation for head in rule.heads]
            for rule in self._rules
        }
        self._shown = {head.relation: [f"view {rule.name}"] for rule in views for head in rule.heads}
        self._given, self._counts, self._together = dict(given), counts, together
        self._reports: list[ComponentReport] = []
        self._rounds: RoundStages | None = None

    def run(self) -> Materialised:
        rewriting = rewrite_rules(self._rules, enabled=self._settings.rewrites and self._settings.way != "rounds")
        components = self._components(rewriting)
        arities = {shape.name: shape.arity for shape in shapes(components)}
        arities |= {name: len(frame.columns) for name, frame in self._given.items()}
        known = self._facts(arities, components)
        small = self._settings.way == "one task" or (
            self._settings.way == "auto" and known.count_given() <= self._settings.one_task_facts
        )
        if rewriting.closures and not small and not self._rewriting_pays(components, known):
            rewriting = rewrite_rules(self._rules, enabled=False)
            components = self._components(rewriting)
        for closure in rewriting.closures:
            self._load_base(known, closure)
        known.follow_kinds([rule for component in components for rule in component.rules])
        known.bags |= {shape.name for shape in shapes(components) if shape.bag}
        if components:
            self._derive(known, components, small=small)
        return self._materialised(known, components)

    def _components(self, rewriting: Rewriting) -> list[Component[EvaluatedRule]]:
        return maintenance_components((*flatten_rules(rewriting.rules), *self._views), rule_reads)

    def _facts(self, arities: Mapping[str, int], components: Sequence[Component[EvaluatedRule]]) -> BulkFacts:
        constants = local_frame(self._spark, self._constants.items(), "id long, key string")
        terms = self._dictionary.unionAll(constants).dropDuplicates(["id"])
        known = BulkFacts(
            self._spark, self._given, arities, terms, self._counts, self._together, holds=self._settings.holds
        )
        rules = [rule for component in components for rule in component.rules]
        if self._settings.way != "one task":
            known.look(kinds=False)
            if needs_terms(rules) and not (
                self._settings.way == "auto" and known.count_given() <= self._settings.one_task_facts
            ):
                known.look(kinds=True)
        return known

    def _rewriting_pays(self, components: Sequence[Component[EvaluatedRule]], known: BulkFacts) -> bool:
        """Linear rules take more rounds: they pay where a component is divided or fits one task."""
        if known.count_given() <= self._settings.task_facts:
            return True
        return all(isinstance(component_pivot(each), Pivot) for each in components if each.recursive)

    def _load_base(self, known: BulkFacts, closure: Closure) -> None:
        """The given facts of a relation that is split stand in its base too."""
        relation = closure.part.relation
        if relation in known.given:
            condition = matches(closure.part)
            frame = known.given[relation]
            known.given_too(closure.base, frame if condition is None else frame.where(condition), relation)

    # --- stages -----------------------------------------------------------------------------------------------------

    def _derive(self, known: BulkFacts, components: Sequence[Component[EvaluatedRule]], *, small: bool) -> None:
        way = self._settings.way
        self._tasks = TaskStages(known, self._settings, self._limits)
        folder = self._settings.rounds_folder
        self._frames = FrameStages(known) if folder is None else FrameStages(known, known.persisted)
        self._rounds = RoundStages(known, self._limits.watch(), folder, self._say_round, self._say_loss)
        if small or (overlapping(components) and way != "rounds"):
            why = "" if small else "a fact may belong to two of its components"
            self._one_task(known, list(components), why or self._why_small(known))
            return
        self._readers = AtomIndex(
            (each.number, atom) for each in components for rule in each.rules for atom, _ in rule_reads(rule)
        )
        for stage in plan_stages(components, share=self._settings.shares):
            self._stage(known, stage)

    def _why_small(self, known: BulkFacts) -> str:
        return "as asked for" if self._settings.way == "one task" else f"{known.count_given():,} facts are few"

    def _is_read(self, components: Sequence[Component[EvaluatedRule]]) -> bool:
        """Does anybody else read what these conclude? A constraint's matches are looked at."""
        own = {component.number for component in components}
        return any(map(_has_constraint, components)) or any(
            number not in own for head in _heads(components) for number in self._readers.unifying(head)
        )

    def _stage(self, known: BulkFacts, stage: Stage) -> None:
        if self._settings.divides(stage):
            try:
                self._by_pivot(known, stage)
                return
            except NotThisWay as reason:
                why = str(reason)
        else:
            why = str(stage.pivot) if isinstance(stage.pivot, NoPivot) else ""
        for component in stage.components:
            self._alone(known, component, why)

    def _alone(self, known: BulkFacts, component: Component[EvaluatedRule], why: str) -> None:
        started = time.perf_counter()
        again = self._is_read([component])
        heads = _heads([component])
        if not component.recursive:
            known.add(self._frames.part(component), heads, keys=False, again=again)
            self._report(component, "frames", "", started)
            self._say_way([component], "frames", "")
            return
        if self._settings.way != "rounds" and self._fits_a_task(known, component):
            self._one_task(known, [component], why, again=again)
            return
        assert self._rounds is not None
        frame, report = self._rounds.part(component)
        known.add(frame, heads, keys=False, again=False)  # its frames are checkpoints
        self._report(component, "rounds", why, started, report.rounds, sum(report.gained.values()))
        self._say_way([component], "rounds", why)

    def _fits_a_task(self, known: BulkFacts, component: Component[EvaluatedRule]) -> bool:
        relations = {atom.relation for atom in Stage([component], NoPivot("")).reads()}
        total = 0
        for relation in relations:
            count = known.count(relation)
            if count > self._settings.task_facts:  # some are derived: count them, which runs what they need
                atoms = [atom for atom in Stage([component], NoPivot("")).reads() if atom.relation == relation]
                count = known.facts(relation, atoms).limit(self._settings.task_facts + 1).count()
            total += count
        return total <= self._settings.task_facts

    def _one_task(
        self, known: BulkFacts, components: list[Component[EvaluatedRule]], why: str, *, again: bool = False
    ) -> None:
        started = time.perf_counter()
        heads = _heads(components)
        # A constraint's matches are looked at, and a component that stands alone may be read by others.
        wanted = {
            name
            for name in (head.relation for head in heads)
            if len(components) == 1 or self._wanted(name) or is_constraint_relation(name)
        }
        outputs = {name: tuple(head for head in heads if head.relation == name) for name in sorted(wanted)}
        made = self._tasks.one_task(components, outputs)
        again = again or any(map(_has_constraint, components))
        own = [head for head in heads if head.relation in wanted]
        known.add(made.frame, own, keys=made.keys, again=again, rows=made.rows, task=made.task)
        for component in components:
            self._report(component, "one task", why, started, tasks=made.reports)
        self._say_way(components, "one task", why)

    def _by_pivot(self, known: BulkFacts, stage: Stage) -> None:
        started = time.perf_counter()
        assert isinstance(stage.pivot, Pivot)
        for relation in stage.pivot.unless:
            if not known.facts(relation).isEmpty():
                raise NotThisWay("terms with equal values are among its facts, and the rule as written must be used")
        concluded = self._frames.conclusions(stage.pivot.outside)
        seeds = {name: reduce(DataFrame.unionAll, frames).distinct() for name, frames in concluded.items()}
        made = self._tasks.by_pivot(stage.components, stage.pivot, seeds)
        again = self._is_read(stage.components)
        heads = _heads(stage.components)
        known.add(made.frame, heads, keys=made.keys, again=again, rows=made.rows, task=made.task)
        for component in stage.components:
            self._report(component, f"pivot {stage.pivot.of(_heads([component]))}", "", started, tasks=made.reports)
        self._say_way(stage.components, "divided by pivot", "")

    def _wanted(self, relation: str) -> bool:
        return self._settings.auxiliaries or not is_auxiliary(relation)

    # --- what comes out ---------------------------------------------------------------------------------------------

    def _materialised(self, known: BulkFacts, components: Sequence[Component[EvaluatedRule]]) -> Materialised:
        refuse_broken(self._broken(known))
        defined = tuple(
            dict.fromkeys(
                head.relation
                for head in _heads(components)
                if self._wanted(head.relation) and not is_constraint_relation(head.relation)
            )
        )
        parts = [self._only_wanted(known, part, set(defined)) for part in known.parts]
        for relation in defined:
            unclaimed = self._unclaimed(known, relation, components)
            if unclaimed is not None:
                parts.append(unclaimed)
        made = known.new_terms
        terms = reduce(DataFrame.unionAll, made).dropDuplicates(["id"]) if made else None
        given = {name: frame for name, frame in self._given.items() if name not in defined}
        found = [part for part in parts if part is not None]
        names = tuple(known.arities.items())
        return Materialised(names, terms, self._constants, self._reports, defined, found, given, known.kept)

    def _only_wanted(self, known: BulkFacts, part: Part, defined: set[str]) -> Part | None:
        """The part without relations that only evaluation knows of, and without constraints, which are empty."""
        mine = {head.relation for head in part.heads}
        if mine <= defined:
            return part
        heads = tuple(head for head in part.heads if head.relation in defined)
        if not heads:
            return None
        numbers = [known.numbers[name] for name in mine & defined]
        task = None if part.task is None else only_relations(part.task, set(numbers))
        return Part(part.frame.where(f.col(RELATION).isin(numbers)), heads, part.held, part.rows, task)

    def _unclaimed(
        self, known: BulkFacts, relation: str, components: Sequence[Component[EvaluatedRule]]
    ) -> Part | None:
        """Given facts of a relation that no rule may conclude, such as triples with other predicates."""
        heads = [head for head in _heads(components) if head.relation == relation]
        condition = matches_any(heads)
        if condition is None or relation not in known.given:
            return None
        frame = known.given[relation].where(~condition)
        whole = _whole(relation, known.arities[relation])
        return Part(known.tag(frame, relation, explicit=True), (whole,))

    def _broken(self, known: BulkFacts) -> Iterator[Broken]:
        """The constraints that have matches, with the first of them by their ids."""
        for rule in filter(is_constraint, self._rules):
            relation, arity = rule.heads[0].relation, len(rule.heads[0].args)
            frame = known.facts(relation).select(*(id_columns(arity) or [WEIGHT]))
            count = frame.count()
            if not count:
                continue
            found = frame.orderBy(*frame.columns).limit(MOST_MATCHES).collect()
            ids = [id_ for row in found for id_ in row[:arity]]
            for terms in (self._dictionary, *known.new_terms):
                for id_, key in terms.where(f.col("id").isin(ids)).collect():
                    self._driver.learn(id_, key)
            yield Broken(rule, [tuple(map(self._driver.decode, row[:arity])) for row in found], count)

    # --- telling ----------------------------------------------------------------------------------------------------

    def _report(
        self,
        component: Component[EvaluatedRule],
        way: str,
        why: str,
        started: float,
        rounds: int | None = None,
        facts: int | None = None,
        tasks: TaskReports | None = None,
    ) -> None:
        names = tuple(self._users_names(component.relations()))
        seconds = time.perf_counter() - started
        report = ComponentReport(names, way, why, component.number, seconds, rounds, facts, tasks)
        self._reports.append(report)

    def _say_way(self, components: Sequence[Component[EvaluatedRule]], way: str, why: str) -> None:
        """One line for all that goes the same way."""
        names = list(dict.fromkeys(name for each in components for name in self._users_names(each.relations())))
        more = f" and {len(names) - _NAMES_TOLD} more" if len(names) > _NAMES_TOLD else ""
        self._says(f"{', '.join(names[:_NAMES_TOLD])}{more}: {way}{f' ({why})' if why else ''}")

    def _say_round(self, relations: Sequence[str], number: int, gained: int, seconds: float) -> None:
        self._says(f"{', '.join(self._users_names(relations))}: round {number}, {gained:,} new facts, {seconds:.2f} s")

    def _say_loss(self, relations: Sequence[str], number: int) -> None:
        names = ", ".join(self._users_names(relations))
        self._says(f"{names}: an executor was lost, with what it held: round {number} and those after it run again")

    def _users_names(self, relations: Sequence[str]) -> list[str]:
        """The relations of a component as the user knows them, auxiliary ones replaced by what their rule defines."""
        names = [
            self._shown.get(name) or self._concluded[rule_of_auxiliary(name)]
            if is_auxiliary(name)
            else [_users_name(name)]
            for name in relations
        ]
        return list(dict.fromkeys(name for some in names for name in some))

    def at_work(self) -> str:
        """What was derived when something failed."""
        engine = self._rounds.engine if self._rounds is not None else None
        relations, number = engine.at_work() if engine is not None else ((), 0)
        return ", ".join(self._users_names(relations)) + f" (round {number})" if relations else "facts"


@contextmanager
def explained_failures(at_work: Callable[[], str]) -> Iterator[None]:
    """Around an action: errors of tasks as what they were, and Spark's in our words."""
    try:
        yield
    except Exception as error:
        if isinstance(error, EverlogError) or not from_spark(error):
            raise
        found = error_of_task(error)
        if found is not None:
            raise found from error
        raise EngineError(
            f"Spark failed while deriving {at_work()}: {str(error).strip().splitlines()[0][:300]}",
            hint="nothing was committed: run again; if it fails again, give Spark more memory or more partitions",
        ) from error


def _users_name(relation: str) -> str:
    return f"constraint {constraint_name(relation)}" if is_constraint_relation(relation) else relation


def _heads(components: Sequence[Component[EvaluatedRule]]) -> list[Atom]:
    return list(dict.fromkeys(head for component in components for rule in component.rules for head in rule.heads))


def _whole(relation: str, arity: int) -> Atom:
    return Atom(relation, tuple(Variable(name) for name in id_columns(arity)))


def _has_constraint(component: Component[EvaluatedRule]) -> bool:
    return any(is_constraint_relation(name) for name in component.relations())

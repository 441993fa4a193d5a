"""What does a user hold? A knowledge base: facts and rules, updated atomically, with everything derived kept true.

>>> import everlog
>>> kb = everlog.open(engine="reference")
>>> _ = kb.add_rules("path(?x, ?y) :- edge(?x, ?y).   path(?x, ?z) :- edge(?x, ?y), path(?y, ?z).")
>>> change = kb.insert("edge", [("a", "b"), ("b", "c")])
>>> change.gained("path")
[('a', 'b'), ('a', 'c'), ('b', 'c')]
>>> kb.delete("edge", [("b", "c")]).lost("path")
[('a', 'c'), ('b', 'c')]
>>> list(kb.query("path(a, ?y)"))
[('b',)]
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, Any

from everlog.engines.interface import Engine, FactColumns
from everlog.errors import NotFoundError, ProgramError, UsageError
from everlog.facts.terms import Term
from everlog.limits import Limits
from everlog.maintenance.materialise import evaluation_components, materialise
from everlog.maintenance.program import EvaluatedProgram
from everlog.maintenance.reports import Progress
from everlog.maintenance.strategies import CHOOSE, check_strategy
from everlog.maintenance.update import Maintenance
from everlog.rules.finding import without_rules
from everlog.rules.names import name_rules
from everlog.rules.syntax import Aggregate, Atom, Bind, Literal, Program, Rule, Variable, literal_variables
from everlog.store.applying import Changed, CheckedUpdate, Target, derive_again, maintain
from everlog.store.changes import Change, Report
from everlog.store.encoding import Batch, FactEncoder, FactsArgument
from everlog.store.engines import make_dictionary, make_engine, rewrites_pay
from everlog.store.interrupts import Interrupts
from everlog.store.lookout import nothing_ahead
from everlog.store.rows import Rows
from everlog.store.rule_steps import rule_arities, rule_step
from everlog.store.updates import Update
from everlog.store.views import View, make_view, view_arities, view_rules

if TYPE_CHECKING:
    from everlog.store.durable import Journal
    from everlog.store.verify import Verification

OVERHAUL_FROM = 10_000  # edits in one update below which nobody thinks of beginning anew


@dataclass(frozen=True)
class RelationInfo:
    """A relation, as `kb.relations()` lists it."""

    name: str
    arity: int
    facts: int
    explicit: int
    defined: bool  # some rule concludes it


class KnowledgeBase:
    """Facts, rules, and what follows from them. Made by `everlog.open`."""

    def __init__(
        self,
        *,
        engine: str = "columnar",
        limits: Limits | None = None,
        strategy: str = CHOOSE,
        rewrites: bool = True,
    ) -> None:
        self.version = 0
        self.strategy = check_strategy(strategy)
        self.limits = limits or Limits()
        self._engine_name = engine
        self._dictionary = make_dictionary(engine)
        self._engine: Engine = make_engine(engine, self._dictionary)
        self._arities: dict[str, int] = {}
        self._rules: tuple[Rule, ...] = ()
        self._rule_arities: dict[str, int] = {}
        self._prefixes: dict[str, str] = {}
        self._rewrites = rewrites and rewrites_pay(engine)
        self._maintenance = Maintenance(EvaluatedProgram())
        self._views: Mapping[str, View] = {}
        self.on_progress: Progress | None = None
        self._encoded_ahead: tuple[Update, dict[str, Batch]] | None = None  # the next update, with what it deletes
        self._keeps_witnesses = True  # while marking: derived facts remember what they came from
        self._look_ahead: Callable[[], Update | None] = nothing_ahead  # polled in every round where marking is on
        self._journal: Journal | None = None  # where updates are written before they count; None: nowhere

    def close(self) -> None:
        """Let others open the folder of a durable knowledge base; it takes no updates from then on."""
        if self._journal is not None:
            self._journal.close()

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- updates ------------------------------------------------------------------------------------------------------

    def add_rules(self, rules: str | Program | Sequence[Rule], *, name: str = "<rules>") -> Change:
        """Add rules (and the facts that stand among them) and derive what follows."""
        return self.update(add_rules=rules, name=name)

    def remove_rules(self, names: Sequence[str] | str) -> Change:
        """Remove rules by name, or by their text up to the names of variables."""
        return self.update(remove_rules=[names] if isinstance(names, str) else names)

    def insert(self, relation: str, rows: Any) -> Change:
        """Insert explicit facts: rows of terms, or an Arrow table."""
        return self.update(insert={relation: rows})

    def delete(self, relation: str, rows: Any) -> Change:
        """Delete explicit facts; what still follows from the rest stays."""
        return self.update(delete={relation: rows})

    def load(
        self,
        path: str | Path,
        *,
        relation: str | None = None,
        types: Sequence[str] | None = None,
        header: bool = False,
        graph: str | None = None,
    ) -> Change:
        """Insert the facts of a file; the format is known by its name."""
        from everlog.formats.reading import read_facts

        return self.update(insert=read_facts(path, relation=relation, types=types, header=header, graph=graph))

    def update(
        self,
        *,
        insert: FactsArgument | None = None,
        delete: FactsArgument | None = None,
        add_rules: str | Program | Sequence[Rule] | None = None,
        remove_rules: Sequence[str] = (),
        name: str = "<rules>",
        strategy: str | None = None,
    ) -> Change:
        """Apply one atomic update: facts become (explicit \\ delete) ∪ insert, rules likewise, and all that follows.

        A failed update leaves the version before it. The strategy is the knowledge base's own unless one is named.
        """
        facts = (insert if insert is not None else {}, delete if delete is not None else {})
        return self._update(Update(*facts, add_rules, remove_rules), name=name, strategy=strategy)

    def stream(
        self,
        updates: Iterable[Update | Mapping[str, Any]] | Queue[Any] | str | Path,
        *,
        strategy: str | None = None,
        marking: bool | str = False,
        coalesce: bool = False,
    ) -> Iterator[Change]:
        """Apply updates as they arrive, and yield a change for each; see store/streams.py.

        Args:
            updates: An iterator, which a thread reads one update ahead; a queue, which None ends; or an update file.
            strategy: As in `update`.
            marking: Look at the next update, if it is there already, while working on this one; for `bf` and `dred`.
                "printed" passes marks on by rule applications alone.
            coalesce: Where several updates wait, apply their net effect at once.
        """
        from everlog.store.streams import stream

        return stream(self, updates, strategy=strategy, marking=marking, coalesce=coalesce)

    def _update(
        self,
        update: Update,
        *,
        name: str = "<rules>",
        strategy: str | None = None,
        covers: int = 1,
        views: Mapping[str, View] | None = None,
    ) -> Change:
        """Apply an update that stands for `covers` updates of a stream, and may change which views there are."""
        started = time.perf_counter()
        strategy = check_strategy(strategy or self.strategy)
        program = self._read_rules(update.add_rules, name)
        kept = without_rules(self._rules, update.remove_rules, self._prefixes) if update.remove_rules else self._rules
        rules = (*kept, *name_rules(program.rules, taken={rule.name or "" for rule in kept}))
        if rules != self._rules:
            self._check(rules, program)
        inserted, deleted = self._encode(update, program, rules)
        target = self._target(rules, self._views if views is None else views, inserted)
        report = Report()
        version = self.version + covers

        def acknowledge(arities: Mapping[str, int]) -> None:
            """The last step that can fail: all is worked out, nothing in place yet. From here on Ctrl-C waits."""
            interrupts.hold()
            if self._journal is not None:
                self._journal.write(self, version, target, program.prefixes, kept, inserted, deleted)

        with Interrupts() as interrupts:
            checked = CheckedUpdate(inserted, deleted, target, report, acknowledge)
            gained, lost, answers = self._apply(checked, strategy)
            self._prefixes.update(program.prefixes)
            self.version = version
            seen = [(self._views[name], self._views[name].follow(version, found)) for name, found in answers.items()]
        report.seconds = time.perf_counter() - started
        for view, change in seen:
            if change is not None:
                view.call(change)
        return Change(version, gained, lost, report, updates=covers)

    def sparql_update(self, text: str, *, base: str | None = None, load_from: str | Path | None = None) -> list[Change]:
        """Apply a request in SPARQL Update; gives a change for each of its operations. If one fails, all are undone.

        Args:
            text: INSERT DATA, DELETE DATA, DELETE/INSERT … WHERE, LOAD, CLEAR, DROP, CREATE, ADD, MOVE, COPY.
            base: What relative IRIs in it are relative to.
            load_from: The folder below which LOAD may read files; without one it may not read any.
        """
        from everlog.store.sparql_updates import apply_request

        return apply_request(self, text, base, Path(load_from) if load_from is not None else None)

    # --- views --------------------------------------------------------------------------------------------------------

    def view(self, name: str, text: str | None = None) -> View:
        """Keep the answer to a SPARQL query true from now on; without a text, the view of that name."""
        if text is None:
            return self._view(name)
        if not self._maintains():
            raise UsageError(f"the engine {self._engine_name} keeps no views", hint="use columnar")
        if name in self._views:
            raise UsageError(f"there is a view {name} already", hint="drop it first, or choose another name")
        view = make_view(self, name, text)
        self._update(Update(), views={**self._views, name: view})
        return view

    def drop_view(self, name: str) -> None:
        """Stop keeping a view, and everything that only it needed."""
        self._view(name)
        self._update(Update(), views={other: view for other, view in self._views.items() if other != name})

    def views(self) -> list[View]:
        """Every view that is kept."""
        return list(self._views.values())

    def _replayed(self, facts: Sequence[Any], program: Program, texts: Mapping[str, str]) -> None:
        """Become what a log says, all at once."""
        self._prefixes.update(program.prefixes)
        views = {name: make_view(self, name, text) for name, text in texts.items()}
        self._update(Update(facts, {}, program), views=views or None)

    def _view(self, name: str) -> View:
        if name not in self._views:
            raise NotFoundError.among("view", name, self._views)
        return self._views[name]

    # --- questions ----------------------------------------------------------------------------------------------------

    def facts(self, relation: str) -> Rows:
        """All facts of a relation, explicit and derived."""
        if relation not in self._arities:
            raise NotFoundError.among("relation", relation, self._arities)
        return Rows(self._dictionary, _column_names(self._arities[relation]), *self._engine.collect(relation))

    def query(self, text: str, *, bindings: Mapping[str, Term] | None = None, base: str | None = None) -> Any:
        """The answers to a SPARQL query, or to a Datalog query (a literal or several).

        Args:
            text: SELECT gives `Solutions`, ASK a truth value, CONSTRUCT and DESCRIBE a graph; Datalog gives `Rows`, one
                for each way to give the query's variables values.
            bindings: Values for some of the variables of a SPARQL query, by name.
            base: What relative IRIs in it are relative to.
        """
        if is_sparql(text):
            from everlog.store.answers import answer

            return answer(self, text, bindings, base)
        return self._datalog_query(text)

    def _datalog_query(self, text: str) -> Rows:
        from everlog.rules.parser import parse_body

        body = parse_body(text, prefixes=self._prefixes)
        variables = _query_variables(body)
        answer = Atom("answer~", variables)
        rule = Rule((answer,), body, name="query")
        problems = _checks(Program(rules=(rule,)), self._arities)
        if problems:
            raise ProgramError(problems)
        engine, savepoint = self._engine, self._engine.savepoint()
        try:
            materialise(engine, evaluation_components((rule,)), self.limits.watch())
            answers = engine.collect(answer.relation)
        finally:
            engine.rollback(savepoint)
        return Rows(self._dictionary, [variable.name for variable in variables], *answers)

    def relations(self) -> list[RelationInfo]:
        """Every relation that facts or rules mention."""
        defined = {head.relation for rule in self._rules for head in rule.heads}
        return [
            RelationInfo(name, arity, self._engine.count(name), self._explicit(name), name in defined)
            for name, arity in self._arities.items()
        ]

    def verify(self, *, engine: str | None = None) -> Verification:
        """Derive everything again from the explicit facts, in a fresh engine, and compare with what is kept."""
        from everlog.store.verify import verify

        return verify(self, engine or self._engine_name)

    @property
    def program(self) -> Program:
        """The rules as they are now, each with its name."""
        return Program(rules=self._rules, prefixes=dict(self._prefixes))

    # --- inside -------------------------------------------------------------------------------------------------------

    def _read_rules(self, rules: str | Program | Sequence[Rule] | None, name: str) -> Program:
        if rules is None:
            return Program()
        if isinstance(rules, Program):
            return rules
        if isinstance(rules, str):
            from everlog.rules.parser import parse_program

            return parse_program(rules, name, self._prefixes)
        return Program(rules=tuple(rules))

    def _check(self, rules: tuple[Rule, ...], program: Program) -> None:
        program = Program(rules=rules, facts=program.facts, prefixes=program.prefixes)
        problems = _checks(program, self._settled_among(rule_arities(rules)), self._rules)
        if problems:
            raise ProgramError(problems)

    def _encode(
        self, update: Update, program: Program, rules: Sequence[Rule]
    ) -> tuple[dict[str, Batch], dict[str, Batch]]:
        arities = self._settled_arities(rules)
        inserting = FactEncoder(self._dictionary, arities)
        inserting.add_atoms(program.facts)
        inserting.add(update.insert)
        ahead = self._encoded_ahead
        # What was encoded ahead knew nothing of relations that this very update brings in.
        if (
            ahead is not None
            and ahead[0] is update
            and rules == self._rules
            and inserting.batches.keys() <= arities.keys()
        ):
            return inserting.batches, ahead[1]
        deleting = FactEncoder(self._dictionary, arities | {b.relation: b.arity for b in inserting.batches.values()})
        deleting.add(update.delete)
        return inserting.batches, deleting.batches

    def _target(self, rules: tuple[Rule, ...], views: Mapping[str, View], inserted: Mapping[str, Batch]) -> Target:
        """Where an update leads: rules, views, relations, and the step that its change of rules is."""
        arities = self._arities
        change = None
        if rules != self._rules or views is not self._views:
            arities = arities | rule_arities(rules) | view_arities(views)
            change = self._maintenance.program.changed(rules, rewrites=self._rewrites, views=view_rules(views))
        new = {batch.relation: batch.arity for batch in inserted.values()}
        if any(arities.get(name) != arity for name, arity in new.items()):
            arities = arities | new
        return Target(rules, views, arities, None if change is None else rule_step(self._maintenance, change))

    def _apply(self, update: CheckedUpdate, strategy: str) -> Changed:
        target, report = update.target, update.report
        step = target.step
        if step is not None:
            report.rules = self._rules, target.rules
            report.rebuilt = step.rebuilt
        reshaped = any(target.arities[name] != arity for name, arity in self._arities.items())
        goes_on = not self._rules and not self._views and not update.deleted and not reshaped
        begins = step is not None and (goes_on or step.way is None)
        overhaul = strategy == CHOOSE and self._is_overhaul(update)
        if not (overhaul or reshaped or begins) and self._can_maintain():
            return maintain(self, update, strategy)
        return derive_again(self, update, goes_on=goes_on)

    def _maintains(self) -> bool:
        """Is the engine one that can carry an update through?"""
        return hasattr(self._engine, "commit")

    def _can_maintain(self) -> bool:
        """Is there something to go on from, and an engine that can?"""
        if not self._maintains() or not self._maintenance.possible:
            return False
        # Into an empty store facts are loaded and everything is derived, which is what that is best at; but where
        # updates are marked, derived facts are to remember what they came from.
        return self._look_ahead is not nothing_ahead or not self._is_empty()

    def _is_overhaul(self, update: CheckedUpdate) -> bool:
        """Does an update replace so much that beginning anew is less work?"""
        edits = sum(batch.rows for batches in (update.inserted, update.deleted) for batch in batches.values())
        if edits < OVERHAUL_FROM:
            return False
        given = sum(self._engine.count(name) for name in self._arities if name not in self._maintenance.defined)
        return 2 * edits > given

    def _is_empty(self) -> bool:
        return not any(self._engine.count(name) for name in self._arities)

    def _named(self, arity: int, facts: FactColumns) -> Rows:
        return Rows(self._dictionary, _column_names(arity), *facts)

    def _settled_arities(self, rules: Sequence[Rule]) -> dict[str, int]:
        """Relations whose arity an update must keep to: those in rules and those with facts."""
        in_rules = self._rule_arities if rules == self._rules else rule_arities(rules)
        # Facts of a relation that no rule mentions are explicit, so that counting all of them, which is quick, will do;
        # but where its rules are about to go, derived ones are among them.
        with_facts = {
            name: arity
            for name, arity in self._arities.items()
            if name not in in_rules
            and (self._explicit(name) if name in self._maintenance.defined else self._engine.count(name))
        }
        return with_facts | in_rules

    def _settled_among(self, wanted: Mapping[str, int]) -> dict[str, int]:
        """Relations with their arities, but for those that are wanted with another one and have no explicit facts."""
        return {
            name: arity
            for name, arity in self._arities.items()
            if wanted.get(name, arity) == arity or self._explicit(name)
        }

    def _explicit(self, relation: str) -> int:
        """How many explicit facts a relation has."""
        return self._engine.count(relation, explicit=True)


_SPARQL = re.compile(r"(?i)(\s|#.*\n)*(SELECT|ASK|CONSTRUCT|DESCRIBE|PREFIX|BASE)\b")


def is_sparql(text: str) -> bool:
    """Is this a query in SPARQL, and not in Datalog?"""
    return _SPARQL.match(text) is not None


def _checks(program: Program, arities: dict[str, int], passed: Sequence[Rule] = ()) -> list[Any]:
    from everlog.rules.checks import check_program

    return check_program(program, arities, passed=passed)


def _column_names(arity: int) -> list[str]:
    return [f"c{number}" for number in range(1, arity + 1)]


def _query_variables(body: Sequence[Literal]) -> tuple[Variable, ...]:
    """The variables that a query's answers show, in order of first use; those local to NOT do not count."""
    shown: dict[str, Variable] = {}
    for literal in body:
        if isinstance(literal, Atom | Bind | Aggregate):
            for variable in literal_variables(literal):
                if not variable.anonymous:
                    shown.setdefault(variable.name, Variable(variable.name))
    return tuple(shown.values())

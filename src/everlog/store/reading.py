"""What can be asked of a knowledge base?

Everything here is asked of a state. A snapshot has one, and any number of threads may ask it; a knowledge base asks the
newest, each time anew.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from everlog.errors import HistoryError, NotFoundError, UsageError
from everlog.facts.terms import Term
from everlog.limits import Limits
from everlog.plans.flat_rules import is_auxiliary
from everlog.rules.syntax import Program
from everlog.store.changes import Change
from everlog.store.rows import Rows
from everlog.store.state import State
from everlog.store.view_queries import ViewQuery
from everlog.store.views import View, ViewChange

if TYPE_CHECKING:
    from everlog.plans.explain import Plan
    from everlog.rules.picture.graph import RuleGraph
    from everlog.store.history import Entry
    from everlog.store.ontologies import OntologyInfo
    from everlog.store.timeline import Timeline
    from everlog.store.verify import Verification


@dataclass(frozen=True)
class RelationInfo:
    """A relation, as `kb.relations()` lists it.

    Attributes:
        name: Its name.
        arity: The number of its arguments.
        facts: How many facts it has, explicit and derived.
        explicit: How many of them are explicit.
        defined: Whether a rule concludes it.
    """

    name: str
    arity: int
    facts: int
    explicit: int
    defined: bool


class ReadOnlyKnowledgeBase(ABC):
    """What a snapshot and a knowledge base have in common: questions."""

    @abstractmethod
    def state(self) -> State:
        """The state that is asked."""

    @property
    def strict(self) -> bool:
        """Is a relation that nothing knows an error?"""
        return False

    @abstractmethod
    def _timeline_or_none(self) -> Timeline | None: ...

    @property
    def version(self) -> int:
        """How many updates have led here."""
        return self.state().version

    def facts(self, relation: str) -> Rows:
        """All facts of a relation, explicit and derived."""
        state = self.state()
        declared = state.definitions.declared.get(relation)
        if relation not in state.arities and declared is None:
            raise NotFoundError.among("relation", relation, {*state.arities, *state.definitions.declared})
        types = () if declared is None else declared.types
        if relation not in state.arities:
            assert declared is not None
            nothing = [np.empty(0, state.dictionary.dtype)] * len(declared.columns)
            return Rows(state.dictionary, declared.columns, nothing, 0, types)
        facts = state.facts.reader().collect(relation)
        names = state.definitions.columns(relation, state.arities[relation])
        return Rows(state.dictionary, names, facts.columns, facts.rows, types)

    def query(
        self,
        text: str,
        *,
        bindings: Mapping[str, Term] | None = None,
        base: str | None = None,
        limits: Limits | None = None,
    ) -> Any:
        """The answers to a SPARQL query, or to a Datalog query (a literal or several).

        Args:
            text: SELECT gives `Solutions`, ASK a truth value, CONSTRUCT and DESCRIBE a graph; Datalog gives `Rows`, one
                for each way to give the query's variables values.
            bindings: Values for some of the variables of a SPARQL query, by name.
            base: What relative IRIs in it are relative to.
            limits: Bounds on this query; the knowledge base's own otherwise.
        """
        from everlog.store.answers import answer, datalog_answer

        state = self.state().limited(limits)
        return (
            answer(state, text, bindings, base) if is_sparql(text) else datalog_answer(state, text, strict=self.strict)
        )

    def relations(self) -> list[RelationInfo]:
        """Every relation that facts or rules mention."""
        state = self.state()
        reader = state.facts.reader()
        defined = {head.relation for rule in state.rules for head in rule.heads}
        return [
            RelationInfo(name, arity, reader.count(name), reader.count(name, explicit=True), name in defined)
            for name, arity in state.arities.items()
            if not is_auxiliary(name)
        ]

    def ontologies(self) -> list[OntologyInfo]:
        """The ontologies whose axioms are held."""
        from everlog.store.ontologies import ontologies

        return ontologies(self.state())

    def verify(self, *, engine: str | None = None, limits: Limits | None = None) -> Verification:
        """Derive everything again from the explicit facts, in a fresh engine, and compare with what is kept."""
        from everlog.store.verify import verify

        state = self.state().limited(limits)
        return verify(state, engine or state.facts.engine.name)

    @property
    def program(self) -> Program:
        """The rules as they are now, each with its name."""
        state = self.state()
        declarations = tuple(state.definitions.declared.values())
        return Program(rules=state.rules, prefixes=dict(state.prefixes), declarations=declarations)

    def plan(self) -> Plan:
        """How the rules are evaluated: components, variants, and join orders for the facts that there are."""
        from everlog.plans.explain import explain_program

        counts = {relation.name: relation.facts for relation in self.relations()}
        timeline = self._timeline_or_none()
        return explain_program(self.program, counts, rewrites=timeline is None or timeline.workings.rewrites)

    def rule_graph(self, *, if_adding: str = "", if_removing: Sequence[str] = ()) -> RuleGraph:
        """The components of rules with the sizes of relations, and what a planned change would affect, as a picture."""
        from everlog.rules.parser import parse_program
        from everlog.rules.picture.graph import rule_graph
        from everlog.rules.planned import planned_change
        from everlog.store.sizes import extent_sizes

        program = self.program
        added = parse_program(if_adding, "<if_adding>", program.prefixes)
        given = {relation.name: relation.arity for relation in self.relations() if relation.explicit}
        change = planned_change(program, added, if_removing, given)
        drawn = rule_graph(change, {**program.prefixes, **added.prefixes})
        return replace(drawn, sizes=extent_sizes(self, drawn.extents()))

    # --- how it is shown ----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        from everlog.store.showing import summary

        return f"<{summary(self.state())}>"

    def _repr_html_(self) -> str:
        from everlog.store.showing import html_summary

        return html_summary(self)

    # --- views --------------------------------------------------------------------------------------------------------

    def view(self, name: str) -> View:
        """The view of a name."""
        return View(self, self.view_definition(name))

    def views(self) -> list[View]:
        """Every view that is kept."""
        return [View(self, view) for view in self.state().views.values()]

    def view_definition(self, name: str) -> ViewQuery:
        """The query of a view, parsed."""
        return self.state().view(name)

    def view_changes(self, name: str, since: int) -> list[ViewChange]:
        """What each update after a version has changed in the answer of a view."""
        state = self.state()
        view = state.view(name)
        if since < view.since:
            raise HistoryError(since, view.since)
        return [
            ViewChange(name, view.query, entry.views[name], state.dictionary)
            for entry in self._entries(state, since)
            if name in entry.views
        ]

    def changes(self, since: int) -> list[Change]:
        """What each update after a version has changed, as far back as that is remembered."""
        state = self.state()
        found = []
        for entry in self._entries(state, since):
            facts = {name: facts for name, facts in entry.changes.items() if not is_auxiliary(name)}
            found.append(
                Change(
                    entry.version,
                    facts,
                    state.dictionary,
                    updates=entry.updates,
                    reshaped=entry.reshaped,
                    columns=state.definitions.columns,
                )
            )
        return found

    def _entries(self, state: State, since: int) -> list[Entry]:
        """What led from a version to a state."""
        timeline, newest = self._timeline_or_none(), state.version
        if since > newest:
            raise HistoryError(since, newest, newest)
        if timeline is None:
            raise HistoryError(since, newest)
        return timeline.entries(since, newest)

    def at(self, version: int) -> Snapshot:
        """The knowledge base as it was at a version, as far back as that is remembered."""
        from everlog.store.past import state_at

        state = self.state()
        if version == state.version:
            return Snapshot(state, self._timeline_or_none())
        entries = self._entries(state, version)
        before = entries[0].version - entries[0].updates
        if before != version:  # updates that were applied at once leave no versions between them
            raise HistoryError(version, before)
        return Snapshot(state_at(state, entries, version), self._timeline_or_none())

    def snapshot(self) -> Snapshot:
        """The knowledge base as it is now, for any thread to ask, whatever happens to it meanwhile."""
        return Snapshot(self.state(), self._timeline_or_none())

    # --- what only a knowledge base that can change has ---------------------------------------------------------------

    def subscribe(self, callback: Callable[[Any], None], *, view: str | None = None) -> Callable[[], None]:
        """Refused: a snapshot does not change."""
        raise UsageError("a snapshot does not change", hint="subscribe to the knowledge base")

    def drop_view(self, name: str) -> None:
        """Refused: a snapshot does not change."""
        raise UsageError("a snapshot does not change", hint="drop the view of the knowledge base")


class Snapshot(ReadOnlyKnowledgeBase):
    """A knowledge base at a version; made by `kb.snapshot()` and `kb.at(version)`. Any thread may ask it."""

    def __init__(self, state: State, timeline: Timeline | None) -> None:
        self._state, self._timeline = state, timeline

    def state(self) -> State:
        return self._state

    def _timeline_or_none(self) -> Timeline | None:
        return self._timeline

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is to be closed; what only this snapshot needed goes with it."""

    def __repr__(self) -> str:
        from everlog.store.showing import summary

        return f"<snapshot of a {summary(self.state())}>"


_SPARQL = re.compile(r"(?i)(\s|#.*\n)*(SELECT|ASK|CONSTRUCT|DESCRIBE|PREFIX|BASE)\b")


def is_sparql(text: str) -> bool:
    """Is this a query in SPARQL, and not in Datalog?"""
    return _SPARQL.match(text) is not None

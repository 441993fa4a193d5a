"""What is a state of a knowledge base?

A value: program, views, relations and facts at a version. It never changes. A transaction (transactions.py) takes a
state and edits to the next one; whoever reads, reads a state (reading.py).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from everlog.dictionary.dictionary import Dictionary
from everlog.engines.interface import Capture, Engine
from everlog.errors import NotFoundError
from everlog.limits import Limits
from everlog.maintenance.program import EvaluatedProgram
from everlog.plans.windows import Fact
from everlog.rules.column_names import head_names
from everlog.rules.syntax import Atom, Declaration, Rule
from everlog.store.rows import column_names
from everlog.store.view_queries import ViewQuery

_TAKING = threading.Lock()  # for moments, and one is made for each version: so all share it


class FactsAtVersion:
    """The facts of an engine at a tick; taken when somebody first reads them.

    Those of a state that is not published, or no longer will be when the next one is in place, are taken at once.
    """

    def __init__(self, engine: Engine, tick: int, capture: Capture | None = None, *, whole: bool = True) -> None:
        """`whole`: relations that only evaluation knows are there too."""
        self.engine, self.tick, self.whole = engine, tick, whole
        self._capture = capture

    @classmethod
    def newest(cls, engine: Engine) -> FactsAtVersion:
        """The facts after the last commit, which may not be published yet."""
        return cls(engine, engine.tick, engine.capture(latest=True))

    def take(self, *, latest: bool = False) -> None:
        """Hold on to the facts that the engine has published or, if `latest`, put in place: it is about to go on."""
        with _TAKING:
            if self._capture is None:
                self._capture = self.engine.capture(latest=latest)

    def reader(self) -> Engine:
        """An engine over these facts for one query."""
        assert self._capture is not None, "a state is taken before it is read"
        return self._capture.reader()

    @property
    def capture(self) -> Capture:
        assert self._capture is not None, "a state is taken before it is read"
        return self._capture


@dataclass(frozen=True)
class Definitions:
    """What a state says of relations, besides their facts."""

    rules: tuple[Rule, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict)
    views: Mapping[str, ViewQuery] = field(default_factory=dict)
    arities: Mapping[str, int] = field(default_factory=dict)  # of every relation that facts or rules mention
    rule_arities: Mapping[str, int] = field(default_factory=dict)
    program: EvaluatedProgram = field(default_factory=EvaluatedProgram)
    declared: Mapping[str, Declaration] = field(default_factory=dict)  # what columns are called, by relation

    @cached_property
    def given(self) -> Mapping[str, int]:
        """The relations that no rule mentions."""
        return {name: arity for name, arity in self.arities.items() if name not in self.rule_arities}

    @cached_property
    def declared_names(self) -> Mapping[str, Sequence[str]]:
        """The names of declared columns, by relation."""
        return {name: declaration.columns for name, declaration in self.declared.items()}

    @cached_property
    def _heads(self) -> Mapping[str, list[Atom]]:
        found: dict[str, list[Atom]] = {}
        for rule in self.rules:
            for head in rule.heads:
                found.setdefault(head.relation, []).append(head)
        return found

    def columns(self, relation: str, arity: int) -> Sequence[str]:
        """What the columns of a relation are called."""
        names = self.declared_names.get(relation) or head_names(self._heads.get(relation, ()))
        return names if names is not None and len(names) == arity else column_names(arity)


class State(NamedTuple):
    """Program, views, relations and facts at a version."""

    version: int
    dictionary: Dictionary
    definitions: Definitions
    facts: FactsAtVersion
    shown: Mapping[str, tuple[Fact, ...]]  # what LIMIT and OFFSET leave of views
    limits: Limits  # on queries
    known: dict[str, Any]  # what readers have found out

    @property
    def rules(self) -> tuple[Rule, ...]:
        return self.definitions.rules

    @property
    def prefixes(self) -> Mapping[str, str]:
        return self.definitions.prefixes

    @property
    def views(self) -> Mapping[str, ViewQuery]:
        return self.definitions.views

    @property
    def arities(self) -> Mapping[str, int]:
        return self.definitions.arities

    def view(self, name: str) -> ViewQuery:
        if name not in self.views:
            raise NotFoundError.among("view", name, self.views)
        return self.views[name]

    def limited(self, limits: Limits | None) -> State:
        """The same with other limits on what is asked of it; None keeps those there are."""
        return self if limits is None else self._replace(limits=limits)

    def at(self, version: int, facts: FactsAtVersion) -> State:
        """The same at another version, or with the same facts at another place."""
        return self._replace(version=version, facts=facts, known={})

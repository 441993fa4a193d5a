"""How do the knowledge bases with the same rules and views live in one?

A bucket is a knowledge base whose facts, rules and views have a key before everything else (rules/keyed.py). One update
of it makes the updates of any number of keys. Where that fails because of one key, the others are made without it: keys
do not meet, so whether an update of one can be made does not depend on the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from everlog.answers.answer_table import by_distinct
from everlog.dictionary.dictionary import Dictionary
from everlog.errors import ConstraintError, DataError, EverlogError, NotFoundError
from everlog.facts.weighted import WeightedFacts
from everlog.fleet.changes import Kind, Moved
from everlog.fleet.definitions import Definition
from everlog.fleet.edits import Edits, Facts
from everlog.limits import Limits
from everlog.maintenance.strategies import CHOOSE
from everlog.rules.keyed import KEYS, keyed_relation
from everlog.sparql.graphs import Graph
from everlog.sparql.solutions import Solutions, Truth
from everlog.store.changes import Change
from everlog.store.constraints import Broken, refuse_broken
from everlog.store.history import HistoryLimits
from everlog.store.rows import Rows, column_names
from everlog.store.store import KnowledgeBase
from everlog.store.updates import Update

_LAST_ONLY = HistoryLimits(updates=1)  # what a view has just gained is read from there


class Options(NamedTuple):
    """How the engines of a fleet work."""

    engine: str = "columnar"
    limits: Limits | None = None
    strategy: str = CHOOSE


@dataclass
class Outcome:
    """What became of updates: what came and went, and which were refused."""

    moved: list[Iterable[Moved]] = field(default_factory=list)
    refused: dict[str, EverlogError] = field(default_factory=dict)


class Bucket:
    """The knowledge bases of one definition."""

    def __init__(self, definition: Definition, options: Options) -> None:
        self._kb = KnowledgeBase(
            engine=options.engine, limits=options.limits, strategy=options.strategy, history=_LAST_ONLY, doors=False
        )
        self.keys: set[str] = set()
        self.definition = Definition()
        self._arities: dict[str, set[int]] = defaultdict(set)  # of relations with facts; keys may differ
        self._parts: dict[tuple[str, bool], _Part] = {}  # of relations, by key, at the version that they were read at
        self.become(definition, {})

    # --- updates ------------------------------------------------------------------------------------------------------

    def apply(self, edits: Mapping[str, Edits]) -> Outcome:
        """Make the updates of many keys at once."""
        outcome = Outcome()
        ready = {}
        for key, each in edits.items():
            try:
                self._check(key, each)
                ready[key] = each
            except EverlogError as error:
                outcome.refused[key] = error
        self._apply(ready, outcome)
        return outcome

    def _apply(self, edits: Mapping[str, Edits], outcome: Outcome) -> None:
        if not edits:
            return
        try:
            outcome.moved.append(self._made(edits, self._kb.version))
        except EverlogError as error:
            culprits = culprits_of(error, edits, self.definition)
            outcome.refused.update(culprits)
            for part in halves([key for key in edits if key not in culprits]):
                self._apply({key: edits[key] for key in part}, outcome)

    def _made(self, edits: Mapping[str, Edits], before: int) -> Iterable[Moved]:
        change = self._kb.apply(_together(edits, self.keys))
        self._know(edits)
        return self._moved(change, before)

    def _know(self, edits: Mapping[str, Edits]) -> None:
        self.keys.update(edits)
        for each in edits.values():
            for relation, arity in each.insert:
                self._arities[relation].add(arity)

    def _check(self, key: str, edits: Edits) -> None:
        """Do facts have as many arguments as their relation? Those of other keys do not matter."""
        for relation, arity in (*edits.insert, *edits.delete):
            known = self.definition.arities.get(relation)
            if known is None:
                others = self._arities[relation] - {arity} if relation in self._arities else ()
                known = next((each for each in others if self._part(relation, each).of(key).rows), None)
            if known is not None and known != arity:
                raise DataError(
                    f"{relation} has {known} argument{'' if known == 1 else 's'}, but here are {arity}",
                    hint=f"give {known} value{'' if known == 1 else 's'} per fact, or use another relation name",
                )

    def misfits(self, definition: Definition) -> set[str]:
        """The keys with facts that have other numbers of arguments than a definition says."""
        found: set[str] = set()
        for relation, arity in definition.arities.items():
            for other in self._arities.get(relation, set()) - {arity}:
                found.update(self._part(relation, other).keys())
        return found

    def become(self, definition: Definition, edits: Mapping[str, Edits]) -> Outcome:
        """Take on other rules and views; an error leaves everything as it was."""
        added, removed = definition.differs_by(self.definition)
        update = _together(edits, self.keys)
        old, version = self.definition, self._kb.version
        gone = [name for name, view in old.views.items() if definition.views.get(name) is not view]
        new = [name for name, view in definition.views.items() if old.views.get(name) is not view]
        lost = [self._whole(old, name, -1) for name in gone]
        change = self._kb.apply(
            Update(update.insert, update.delete, added or None, removed),
            views={name: view.keyed for name, view in definition.views.items()} if gone or new else None,
        )
        self._know(edits)
        self.definition = definition
        return Outcome([*lost, self._moved(change, version), *(self._whole(definition, name, 1) for name in new)])

    def remove(self, keys: Collection[str]) -> Iterable[Moved]:
        """Take knowledge bases out, with all their facts."""
        explicit = self.explicit(keys)
        update = _together({key: Edits(delete=facts) for key, facts in explicit.items()}, self.keys)
        goes = {**dict(update.delete), KEYS: [(key,) for key in keys]}  # type: ignore[arg-type]
        before = self._kb.version
        change = self._kb.apply(Update({}, goes))
        self.keys.difference_update(keys)
        return self._moved(change, before)

    # --- what came and went -------------------------------------------------------------------------------------------

    def _moved(self, change: Change, before: int) -> Iterable[Moved]:
        """What an update changed, to be decoded when somebody looks."""
        dictionary = self._dictionary
        blocks: list[tuple[Kind, str, WeightedFacts]] = []
        shown: list[Moved] = []
        for relation in change.relations():
            name, facts = _user_relation(relation), change.facts(relation)
            if name is not None and facts is not None:
                blocks.append(("relation", name, facts))
        for name, view in self.definition.views.items():
            for each in self._kb.view_changes(name, before):
                if view.shows_all:
                    blocks.append(("view", name, each.facts))
                else:
                    shown.extend(self._shown_change(name, each.facts))
        return _Decoded(blocks, dictionary, shown)

    def _shown_change(self, name: str, change: WeightedFacts) -> Iterator[Moved]:
        view, changed = self.definition.views[name], _Part(change, self._dictionary)
        now = self._answers(name)
        for key in changed.keys():
            for row, weight in view.shown_change(now.of(key), changed.of(key), self._dictionary):
                yield Moved(key, "view", name, row, weight)

    def _whole(self, definition: Definition, name: str, sign: int) -> Iterable[Moved]:
        """All that a view shows, as something that came or went."""
        view, answers = definition.views[name], self._answers(name, definition)
        if view.shows_all:
            facts = answers.facts if sign > 0 else answers.facts.negated()
            return _Decoded([("view", name, facts)], self._dictionary)
        return [
            Moved(key, "view", name, row, sign * weight)
            for key in answers.keys()
            for row, weight in view.shown_change(answers.of(key), answers.of(key), self._dictionary)
        ]

    # --- reading ------------------------------------------------------------------------------------------------------

    @property
    def _dictionary(self) -> Dictionary:
        return self._kb.state().dictionary

    def relations(self, key: str) -> dict[str, int]:
        """The relations of a knowledge base that have facts, or that its rules mention, with their arities."""
        found = dict(self.definition.arities)
        for relation, arities in self._arities.items():
            for arity in arities:
                if relation not in found and self._part(relation, arity).of(key).rows:
                    found[relation] = arity
        return found

    def facts(self, key: str, relation: str) -> Rows:
        """The facts of a relation of one knowledge base."""
        known = self.relations(key)
        if relation not in known:
            raise NotFoundError.among("relation", relation, known)
        arity = known[relation]
        facts = self._part(relation, arity).of(key)
        return Rows(self._dictionary, column_names(arity), facts.columns[1:], facts.rows)

    def view(self, key: str, name: str) -> Solutions | Truth | Graph:
        """The answer of a view of one knowledge base."""
        if name not in self.definition.views:
            raise NotFoundError.among("view", name, self.definition.views)
        return self.definition.views[name].answer(self._answers(name).of(key), self._dictionary)

    def explicit(self, keys: Collection[str]) -> dict[str, Facts]:
        """The explicit facts of knowledge bases."""
        found: dict[str, Facts] = {key: {} for key in keys}
        for relation, arities in self._arities.items():
            for arity in arities:
                part = self._part(relation, arity, explicit=True)
                for key in keys:
                    facts = part.of(key)
                    if facts.rows:
                        rows = Rows(self._dictionary, column_names(arity), facts.columns[1:], facts.rows)
                        found[key][relation, arity] = list(rows)
        return found

    def verify(self) -> bool:
        """Is everything as it would be from scratch?"""
        return bool(self._kb.verify())

    def _part(self, relation: str, arity: int, *, explicit: bool = False) -> _Part:
        return self._read(keyed_relation(relation, arity), explicit=explicit, known=True)

    def _answers(self, name: str, definition: Definition | None = None) -> _Part:
        return self._read((definition or self.definition).views[name].relation, explicit=False, known=False)

    def _read(self, relation: str, *, explicit: bool, known: bool) -> _Part:
        found = self._parts.get((relation, explicit))
        state = self._kb.state()
        if found is None or found.version != state.version:
            if known and relation not in state.arities:
                return _Part(WeightedFacts.present([np.empty(0, state.dictionary.dtype)], 0), state.dictionary)
            facts = state.facts.reader().collect(relation, explicit=explicit)
            found = self._parts[relation, explicit] = _Part(facts, state.dictionary, state.version)
        return found


class _Part:
    """Facts in the order of their first column, so that those of a key are next to each other."""

    def __init__(self, facts: WeightedFacts, dictionary: Dictionary, version: int = -1) -> None:
        self.version = version
        self._dictionary = dictionary
        self._order = np.argsort(facts.columns[0], kind="stable")
        self.facts = facts.chosen(self._order)

    def keys(self) -> list[str]:
        return [str(term) for term in self._dictionary.decode_many(np.unique(self.facts.columns[0]))]

    def of(self, key: str) -> WeightedFacts:
        """The facts of a key."""
        id_ = self._dictionary.find(key)
        column = self.facts.columns[0]
        start, end = (0, 0) if id_ is None else (np.searchsorted(column, id_, side) for side in ("left", "right"))
        return self.facts.chosen(np.arange(start, end))


class _Decoded:
    """Changes whose terms are found when somebody looks."""

    def __init__(
        self, blocks: list[tuple[Kind, str, WeightedFacts]], dictionary: Dictionary, more: Iterable[Moved] = ()
    ) -> None:
        self._blocks, self._dictionary, self._more = blocks, dictionary, more

    def __iter__(self) -> Iterator[Moved]:
        dictionary = self._dictionary

        def term(id_: int) -> Any:
            return None if id_ == dictionary.unbound else dictionary.decode(id_)

        for kind, name, facts in self._blocks:
            keys, *columns = (by_distinct(column, term) for column in facts.columns)
            rows = zip(*columns, strict=True) if columns else iter([()] * facts.rows)
            for key, row, weight in zip(keys, rows, facts.weights.tolist(), strict=True):
                yield Moved(key, kind, name, row, weight)
        yield from self._more


def _user_relation(relation: str) -> str | None:
    """The name that a relation has for users, if it is theirs."""
    name, _, arity = relation.rpartition("/")
    return name if name and arity.isdecimal() else None


def _together(edits: Mapping[str, Edits], known: Collection[str]) -> Update:
    """One update for all; a key that is new becomes known."""
    insert: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    delete: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for key, each in edits.items():
        if key not in known:
            insert[KEYS].append((key,))
        for facts, found in ((each.insert, insert), (each.delete, delete)):
            for (relation, arity), rows in facts.items():
                found[keyed_relation(relation, arity)] += [(key, *row) for row in rows]
    return Update(insert, delete)


def halves(keys: list[str]) -> list[list[str]]:
    """Keys in two parts, those that there are."""
    middle = (len(keys) + 1) // 2
    return [part for part in (keys[:middle], keys[middle:]) if part]


def culprits_of(
    error: EverlogError, keys: Collection[str] | Mapping[str, Edits], definition: Definition
) -> dict[str, EverlogError]:
    """The keys that an update of several failed for, as far as is known, each with an error of its own."""
    if isinstance(error, ConstraintError):
        return _broken(error, definition)
    if len(keys) > 1:
        return {}
    [key] = keys
    if isinstance(keys, Mapping):
        try:
            keys[key].check_terms()
        except EverlogError as better:
            return {key: better}
    return {key: error}


def _broken(error: ConstraintError, definition: Definition) -> dict[str, EverlogError]:
    """An error for each key whose matches a constraint has, as a knowledge base of its own would have raised it."""
    matches: dict[str, dict[str, list[tuple[Any, ...]]]] = defaultdict(lambda: defaultdict(list))
    for name, found in error.violations.items():
        for key, *row in found:
            matches[key][name].append(tuple(row))
    rules = {str(rule.name): rule for rule in definition.rules}
    errors: dict[str, EverlogError] = {}
    for key, by_name in matches.items():
        try:
            refuse_broken(Broken(rules[name], rows, len(rows)) for name, rows in by_name.items())
        except ConstraintError as own:
            errors[key] = own
    return errors

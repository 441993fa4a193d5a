"""What does a user hold who has thousands of small knowledge bases?

A fleet: a knowledge base for each key (a pod, a turbine, a tenant), with facts of its own, and rules and views that it
shares with the others or has to itself. Those with the same rules and views live in one engine, a bucket (bucket.py),
so that a small knowledge base costs what its facts cost, and an update of a thousand of them little more than one.

>>> fleet = Fleet("path(?x, ?y) :- edge(?x, ?y).   path(?x, ?z) :- edge(?x, ?y), path(?y, ?z).")
>>> change = fleet.update({"ann": {"insert": [["edge", 1, 2], ["edge", 2, 3]]}, "bob": {"insert": [["edge", 3, 4]]}})
>>> change["ann"].gained("path"), change["bob"].gained("path")
([(1, 2), (1, 3), (2, 3)], [(3, 4)])
>>> _ = fleet.add_rules("back(?y, ?x) :- path(?x, ?y).", key="bob")
>>> fleet.facts("bob", "back").sorted(), fleet.buckets
([(4, 3)], 2)

The law: each knowledge base has the facts and answers of one that was alone and got the same updates. An update that
one of them refuses is returned with its reason, and the others are made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from everlog.errors import EverlogError, NotFoundError, UsageError
from everlog.fleet.bucket import Bucket, Options, Outcome, culprits_of, halves
from everlog.fleet.changes import FleetChange, Moved, net
from everlog.fleet.definitions import Definition
from everlog.fleet.dumps import Written, lines
from everlog.fleet.edits import Edits, Facts, after, checked_edits, facts_of_atoms
from everlog.fleet.waves import ForAll, waves
from everlog.limits import Limits
from everlog.maintenance.strategies import CHOOSE
from everlog.rules.syntax import Program, Rule
from everlog.sparql.graphs import Graph
from everlog.sparql.solutions import Solutions, Truth
from everlog.store.rows import Rows
from everlog.store.updates import Update, update_of

Said = Update | Mapping[str, Any]


class Fleet:
    """Knowledge bases by key."""

    def __init__(
        self,
        rules: str | Program | Sequence[Rule] = "",
        views: Mapping[str, str] | None = None,
        *,
        engine: str = "columnar",
        limits: Limits | None = None,
        strategy: str = CHOOSE,
    ) -> None:
        """
        Args:
            rules: What all begin with; facts among them are facts of each.
            views: SPARQL queries by name, kept true for each.
            engine: "columnar", or "reference" for checking.
            limits: Bounds on each update of a bucket.
            strategy: How updates are maintained.
        """
        self._options = Options(engine, limits, strategy)
        self._buckets: dict[object, Bucket] = {}
        self._homes: dict[str, Bucket] = {}  # where each key lives
        self._versions: dict[str, int] = {}
        self._facts: Facts = {}  # that every knowledge base begins with
        definition, facts = Definition().changed(Update(add_rules=rules))
        for name, text in (views or {}).items():
            definition = definition.with_view(name, text)
        self._facts = facts_of_atoms(facts)
        self._shared = definition
        self._bucket(definition)

    # --- asking -------------------------------------------------------------------------------------------------------

    def keys(self) -> list[str]:
        """The knowledge bases that there are, in the order in which they came."""
        return list(self._homes)

    def __contains__(self, key: str) -> bool:
        return key in self._homes

    def __len__(self) -> int:
        return len(self._homes)

    @property
    def buckets(self) -> int:
        """How many engines they live in."""
        return len(self._buckets)

    def version(self, key: str) -> int:
        """How many updates have led to what a knowledge base is."""
        self._home(key)
        return self._versions[key]

    def facts(self, key: str, relation: str) -> Rows:
        """All facts of a relation of one knowledge base, explicit and derived."""
        return self._home(key).facts(key, relation)

    def view(self, key: str, name: str) -> Solutions | Truth | Graph:
        """The answer of a view for one knowledge base, as it is now."""
        return self._home(key).view(key, name)

    def program(self, key: str | None = None) -> Program:
        """The rules of a knowledge base, each with its name; without a key, those that new ones begin with."""
        definition = self._shared if key is None else self._home(key).definition
        return Program(rules=definition.rules, prefixes=dict(definition.prefixes))

    def verify(self) -> bool:
        """Derive everything again from the explicit facts, and compare."""
        return all(bucket.verify() for bucket in self._buckets.values())

    def __repr__(self) -> str:
        return f"<a fleet of {len(self):,} knowledge bases in {self.buckets:,} buckets>"

    def _home(self, key: str) -> Bucket:
        if key not in self._homes:
            raise NotFoundError.among("knowledge base", key, self._homes)
        return self._homes[key]

    # --- updates ------------------------------------------------------------------------------------------------------

    def update(self, updates: Mapping[str, Said | None]) -> FleetChange:
        """Make an update for each of many keys, each all or nothing.

        A key that is new becomes a knowledge base; one whose update is None goes, with all it has.
        """
        return self._update({key: (said, 1) for key, said in updates.items()})

    def update_all(self, said: Said) -> FleetChange:
        """Make the same update for every knowledge base that there is.

        Rules that it adds or removes, and facts among them, are for those to come too.
        """
        update = update_of(said)
        shared, facts = self._shared.changed(update)  # an error here is the caller's: nothing was changed
        initial = after(self._facts, Edits(facts_of_atoms(facts)))
        change = self._define_all(lambda definition: definition.changed(update), checked_edits(update))
        self._shared, self._facts = shared, initial
        self._tidy()
        return change

    def stream(
        self, updates: Iterable[tuple[str | None, Said | None]], *, coalesce: bool = False
    ) -> Iterator[FleetChange]:
        """Make updates in their order, as many at once as there are keys; None as a key means all of them.

        Between two updates of all, the first updates of each key are made together, then the second ones, and so on.
        With `coalesce` the updates of a key that wait are made at once, by their net effect.
        """
        for wave in waves(updates, coalesce=coalesce):
            if not isinstance(wave, ForAll):
                yield self._update(wave)
                continue
            try:
                yield self.update_all(wave.said)
            except EverlogError as error:
                yield FleetChange({}, (), {key: error for key in self._homes})

    def add_rules(self, rules: str | Program | Sequence[Rule], key: str | None = None) -> FleetChange:
        """Add rules, and the facts that stand among them, to one knowledge base or to all."""
        return self._update_of(Update(add_rules=rules), key)

    def remove_rules(self, names: Sequence[str] | str, key: str | None = None) -> FleetChange:
        """Remove rules by name, or by their text up to the names of variables, from one knowledge base or from all."""
        return self._update_of(Update(remove_rules=[names] if isinstance(names, str) else names), key)

    def _update_of(self, update: Update, key: str | None) -> FleetChange:
        change = self.update_all(update) if key is None else self.update({key: update})
        if key is not None and key in change.refused:
            raise change.refused[key]
        return change

    def add_view(self, name: str, text: str, key: str | None = None) -> FleetChange:
        """Keep the answer to a SPARQL query true for one knowledge base, or for each."""
        return self._define_views(lambda definition: definition.with_view(name, text), key)

    def drop_view(self, name: str, key: str | None = None) -> FleetChange:
        """Stop keeping a view of one knowledge base, or of each."""
        return self._define_views(lambda definition: definition.without_view(name), key)

    def _define_views(self, change: Any, key: str | None) -> FleetChange:
        if key is not None:
            home = self._home(key)
            moved = self._move(key, change(home.definition), Edits())
            self._tidy()
            return self._changed([key], moved)
        shared = change(self._shared)
        changed = self._define_all(lambda definition: (change(definition), ()), Edits())
        self._shared = shared
        self._tidy()
        return changed

    def remove(self, key: str) -> FleetChange:
        """Take a knowledge base out, with all it has."""
        self._home(key)
        return self.update({key: None})

    # --- written down -------------------------------------------------------------------------------------------------

    def dump(self) -> Iterator[str]:
        """The fleet as lines of text, which `Fleet.load` reads."""
        homes = ((bucket.definition, bucket.explicit(bucket.keys)) for bucket in self._buckets.values())
        return lines(self._shared, self._facts, homes, self._versions)

    @classmethod
    def load(cls, texts: Iterable[str], **options: Any) -> Fleet:
        """The fleet that `dump` wrote down; what follows from its facts is derived again."""
        written = Written(texts)
        fleet = cls(**options)
        fleet._buckets, fleet._shared, fleet._facts = {}, written.shared, written.initial
        fleet._bucket(written.shared)
        for definition, by_key in zip(written.definitions, written.groups, strict=True):
            bucket = fleet._bucket(definition)
            outcome = bucket.apply({key: Edits(facts) for key, facts in by_key.items()})
            assert not outcome.refused, "what one fleet has, another takes"
            fleet._homes.update((key, bucket) for key in by_key)
        fleet._versions = written.versions
        return fleet

    # --- how that goes ------------------------------------------------------------------------------------------------

    def _update(self, updates: Mapping[str, tuple[Said | None, int]]) -> FleetChange:
        refused: dict[str, EverlogError] = {}
        moved: list[Iterable[Moved]] = []
        by_bucket: dict[int, tuple[Bucket, dict[str, Edits]]] = {}
        made: list[str] = []
        gone: list[str] = []
        counts = {key: count for key, (_, count) in updates.items()}
        for key, (said, count) in updates.items():
            try:
                if not isinstance(key, str) or not key:
                    raise UsageError(f"{key!r} is no key", hint="a key is a text that is not empty")
                if said is None:
                    moved.append(self._home(key).remove([key]))
                    gone.append(key)
                    continue
                update = update_of(said)
                if update.changes_rules:
                    moved.append(self._update_rules(key, update))
                    made.append(key)
                    continue
                home = self._homes.get(key) or self._bucket(self._shared)
                by_bucket.setdefault(id(home), (home, {}))[1][key] = self._begun(key, checked_edits(update, count))
            except EverlogError as error:
                refused[key] = error
        for home, edits in by_bucket.values():
            outcome = home.apply(edits)
            refused.update(outcome.refused)
            moved += outcome.moved
            for key in edits:
                if key not in outcome.refused:
                    self._homes[key] = home
                    made.append(key)
        change = self._changed((*made, *gone), chain.from_iterable(moved), refused, counts)
        for key in gone:
            del self._homes[key], self._versions[key]
        self._tidy()
        return change

    def _changed(
        self,
        keys: Iterable[str],
        moved: Iterable[Moved],
        refused: Mapping[str, EverlogError] | None = None,
        counts: Mapping[str, int] | None = None,
    ) -> FleetChange:
        """A change that leads to the next versions of keys."""
        reached = {key: self._versions.get(key, 0) + (counts or {}).get(key, 1) for key in keys}
        self._versions.update(reached)
        return FleetChange(reached, moved, refused)

    def _begun(self, key: str, edits: Edits) -> Edits:
        """The first update of a knowledge base brings the facts that all begin with."""
        if key in self._homes or not self._facts:
            return edits
        return Edits(after(self._facts, edits), {}, edits.updates)

    def _update_rules(self, key: str, update: Update) -> list[Moved]:
        home = self._homes.get(key)
        before = self._shared if home is None else home.definition
        definition, facts = before.changed(update)
        edits = checked_edits(update)
        return self._move(key, definition, Edits(after(facts_of_atoms(facts), Edits(edits.insert)), edits.delete))

    def _move(self, key: str, definition: Definition, edits: Edits) -> list[Moved]:
        """Let a knowledge base live with those of another definition; says what that changes."""
        home, target = self._homes.get(key), self._bucket(definition)
        if target is home:
            outcome = target.apply({key: edits})
        else:
            explicit = self._facts if home is None else home.explicit([key])[key]
            outcome = target.apply({key: Edits(after(explicit, edits))})
        if key in outcome.refused:
            raise outcome.refused[key]
        moved = [each for part in outcome.moved for each in part]
        self._homes[key] = target
        if home is not None and target is not home:
            moved = net(chain(moved, home.remove([key])))
        return moved

    def _define_all(self, change: Any, edits: Edits) -> FleetChange:
        """Change the definition of every bucket; keys for which that cannot be stay with the old one."""
        refused: dict[str, EverlogError] = {}
        moved: list[Iterable[Moved]] = []
        made: list[str] = []
        for bucket in list(self._buckets.values()):
            try:
                definition, facts = change(bucket.definition)
            except EverlogError as error:
                refused.update((key, error) for key in bucket.keys)
                continue
            inserted = after(facts_of_atoms(facts), Edits(edits.insert))
            self._redefine(bucket, definition, Edits(inserted, edits.delete), moved, refused)
        made = [key for key in self._homes if key not in refused]
        self._buckets = self._merged(self._buckets.values())
        return self._changed(made, net(chain.from_iterable(moved)), refused)

    def _redefine(
        self,
        bucket: Bucket,
        definition: Definition,
        edits: Edits,
        moved: list[Iterable[Moved]],
        refused: dict[str, EverlogError],
    ) -> None:
        """Change the definition of a bucket, without the keys that refuse it."""
        misfits: dict[str, EverlogError] = {
            key: UsageError(
                "a relation of the new rules has facts with another number of arguments here",
                hint="delete those facts first, or give the relation another name",
            )
            for key in bucket.misfits(definition)
        }
        self._leave_behind(bucket, misfits, refused)
        try:
            outcome = bucket.become(definition, {key: edits for key in bucket.keys})
            moved += outcome.moved
        except EverlogError as error:
            if not bucket.keys:
                raise
            culprits = culprits_of(error, bucket.keys, definition)
            self._leave_behind(bucket, culprits, refused)
            for part in self._split(bucket, not culprits):
                self._redefine(part, definition, edits, moved, refused)

    def _leave_behind(
        self, bucket: Bucket, errors: Mapping[str, EverlogError], refused: dict[str, EverlogError]
    ) -> None:
        """Keys that refuse a change move to a bucket with the definition that they have."""
        if not errors:
            return
        refused.update(errors)
        self._part_with(bucket, [key for key in errors if key in bucket.keys])

    def _part_with(self, bucket: Bucket, keys: Collection[str]) -> Bucket:
        """Move keys to a bucket of their own with the same definition; nothing changes for them."""
        other = Bucket(bucket.definition, self._options)
        self._buckets[object()] = other
        _transfer(bucket, other, keys)
        self._homes.update((key, other) for key in keys)
        return other

    def _split(self, bucket: Bucket, in_two: bool) -> list[Bucket]:
        if not in_two or len(bucket.keys) < 2:
            return [bucket]
        return [bucket, self._part_with(bucket, halves(sorted(bucket.keys))[1])]

    def _merged(self, buckets: Iterable[Bucket]) -> dict[object, Bucket]:
        """Buckets by what their definitions say: those that say the same become one."""
        found: dict[object, Bucket] = {}
        for bucket in sorted(buckets, key=lambda each: -len(each.keys)):
            known = found.setdefault(bucket.definition.identity, bucket)
            if known is not bucket and bucket.keys:
                keys = list(bucket.keys)
                _transfer(bucket, known, keys)
                self._homes.update((key, known) for key in keys)
        return found

    def _bucket(self, definition: Definition) -> Bucket:
        """The bucket of a definition, made if there is none."""
        found = self._buckets.get(definition.identity)
        if found is None:
            found = self._buckets[definition.identity] = Bucket(definition, self._options)
        return found

    def _tidy(self) -> None:
        """Let go of buckets that nobody lives in."""
        shared = self._shared.identity
        if len(self._buckets) > 1:
            self._buckets = {
                identity: bucket for identity, bucket in self._buckets.items() if bucket.keys or identity == shared
            }


def _transfer(source: Bucket, target: Bucket, keys: Collection[str]) -> Outcome:
    """Move keys between buckets of the same definition."""
    outcome = target.apply({key: Edits(facts) for key, facts in source.explicit(keys).items()})
    assert not outcome.refused, "what one bucket has, another takes"
    source.remove(keys)
    return outcome

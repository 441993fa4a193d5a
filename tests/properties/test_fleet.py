"""Does each knowledge base of a fleet have what one that was alone would have?

Random programs, facts and updates go to some of a few keys, or to all, and to a knowledge base for each. After every
update facts, answers of views, what changed, and what was refused are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.properties.following import QUICK
from tests.sparql_strategies import PREFIX, ViewStory, view_stories
from tests.strategies import Story, rule_stories
from tests.subjects import Update

import everlog
from everlog.errors import EverlogError, SparqlError
from everlog.facts.terms import keys_of
from everlog.fleet.changes import KeyChange
from everlog.fleet.fleet import Fleet

EXAMPLES = {"rules": 12, "views": 6} if QUICK else {"rules": 1500, "views": 800}
KEYS = ("a", "b", "c")
Draw = Callable[[st.SearchStrategy], object]


class Alone:
    """A knowledge base for each key."""

    def __init__(self, engine: str, program: str, views: Sequence[str] = ()) -> None:
        self._engine, self._program, self._views = engine, program, views
        self._for_all: list[Update] = []  # changes of rules that new ones begin with
        self.kbs: dict[str, everlog.KnowledgeBase] = {}

    def update(self, key: str, update: Update) -> tuple[everlog.Change, int] | type[EverlogError]:
        """The change and the version before it, or which error there is."""
        kb = self.kbs.get(key)
        if kb is None:
            kb = everlog.open(engine=self._engine)
            if self._program:
                kb.add_rules(self._program)
            for number, text in enumerate(self._views):
                kb.view(f"view{number}", text)
            for each in self._for_all:
                kb.apply(said(each))
        before = kb.version
        try:
            change = kb.apply(said(update))
        except EverlogError as error:
            return type(error)
        self.kbs[key] = kb
        return change, before

    def begin_with(self, update: Update) -> None:
        """From now on, knowledge bases have these rules too."""
        self._for_all.append(Update(add_rules=update.add_rules, remove_rules=update.remove_rules))


def said(update: Update) -> everlog.Update:
    return everlog.Update(update.insert, update.delete, update.add_rules or None, update.remove_rules)


def counted(rows: Sequence[tuple]) -> Counter[tuple[str, ...]]:
    return Counter(map(keys_of, rows))


def same_change(told: KeyChange, change: everlog.Change) -> None:
    assert told.relations() == change.relations()
    for relation in change.relations():
        assert counted(told.gained(relation)) == counted(change.gained(relation))
        assert counted(told.lost(relation)) == counted(change.lost(relation))


def all_is_gained(told: KeyChange, kb: everlog.KnowledgeBase) -> None:
    """A knowledge base that is new has gained all it has."""
    for relation in kb.relations():
        assert counted(told.gained(relation.name)) == counted(list(kb.facts(relation.name)))
        assert not told.lost(relation.name)
    for view in kb.views():
        assert counted(told.view_gained(view.name)) == counted(list(view.rows()))
        assert not told.view_lost(view.name)


def same_views(fleet: Fleet, key: str, kb: everlog.KnowledgeBase) -> None:
    for view in kb.views():
        ours, theirs = list(fleet.view(key, view.name)), list(view.rows())
        assert counted(ours) == counted(theirs)
        if "ORDER BY" in view.text.rpartition("}")[2]:
            assert list(map(keys_of, ours)) == list(map(keys_of, theirs))


def same_view_changes(told: KeyChange, kb: everlog.KnowledgeBase, before: int) -> None:
    for view in kb.views():
        found = view.changes(before)
        assert counted(told.view_gained(view.name)) == sum((counted(list(each.gained)) for each in found), Counter())
        assert counted(told.view_lost(view.name)) == sum((counted(list(each.lost)) for each in found), Counter())


def follow(engine: str, program: str, updates: Sequence[tuple[Sequence[str], Update]], views: Sequence[str]) -> None:
    fleet = Fleet(program, {f"view{number}": text for number, text in enumerate(views)}, engine=engine)
    alone = Alone(engine, program, views)
    for keys, update in updates:
        if keys:
            change = fleet.update(dict.fromkeys(keys, said(update)))
        else:
            try:
                change = fleet.update_all(said(update))
            except EverlogError:  # the rules that new keys begin with cannot take it: nobody has it
                continue
        new = set(keys) - set(alone.kbs)
        for key in keys or list(alone.kbs):
            outcome = alone.update(key, update)
            if isinstance(outcome, type):
                assert type(change.refused[key]) is outcome
                continue
            assert key not in change.refused, change.refused[key]
            if key in new:
                all_is_gained(change[key], alone.kbs[key])
            else:
                same_change(change[key], outcome[0])
                same_view_changes(change[key], alone.kbs[key], outcome[1])
        if not keys:
            alone.begin_with(update)
        assert set(fleet.keys()) == set(alone.kbs)
        for key, kb in alone.kbs.items():
            for relation in kb.relations():
                if relation.facts:
                    assert counted(list(fleet.facts(key, relation.name))) == counted(list(kb.facts(relation.name)))
            same_views(fleet, key, kb)
    assert fleet.verify()


def to_some(draw: Draw, updates: Sequence[Update]) -> list[tuple[Sequence[str], Update]]:
    """Each update goes to some keys; to none of them means to all there are."""
    return [(draw(st.lists(st.sampled_from(KEYS), unique=True)), update) for update in updates]


@st.composite
def rule_fleets(draw: Draw) -> tuple[Story, list[tuple[Sequence[str], Update]]]:
    story: Story = draw(rule_stories())
    some = {relation: rows[: len(rows) // 2] for relation, rows in story.facts.items()}
    begins = [(KEYS[:2], Update(insert=story.facts)), (KEYS[2:], Update(insert=some))]
    return story, [*begins, *to_some(draw, story.updates)]


@st.composite
def view_fleets(draw: Draw) -> tuple[ViewStory, list[tuple[Sequence[str], Update]]]:
    story: ViewStory = draw(view_stories(most=4))
    return story, to_some(draw, story.updates)


@pytest.mark.slow
@settings(max_examples=EXAMPLES["rules"])
@given(fleet=rule_fleets())
def test_rules_of_a_fleet(engine: str, fleet: tuple[Story, list[tuple[Sequence[str], Update]]]) -> None:
    follow(engine, fleet[0].text, fleet[1], ())


@pytest.mark.slow
@settings(max_examples=EXAMPLES["views"])
@given(fleet=view_fleets())
def test_views_of_a_fleet(engine: str, fleet: tuple[ViewStory, list[tuple[Sequence[str], Update]]]) -> None:
    try:
        follow(engine, PREFIX, fleet[1], fleet[0].views)
    except SparqlError as error:
        assume("can be combined" not in str(error) and "inside a subquery" not in str(error))
        raise

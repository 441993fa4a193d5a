"""Does a view of a random query stay true through random updates of facts and rules?

After every update: its rows are the oracle's answer over all triples, given and derived, and its change is the
difference from the answer before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import assume, given, note, settings
from tests.oracle import State
from tests.properties.test_update_streams import QUICK
from tests.reproductions import script
from tests.sparql_opinions import comparable, everlog_rows
from tests.sparql_oracle.patterns import Data, Row, select
from tests.sparql_oracle.terms import Beyond, from_everlog
from tests.sparql_strategies import ViewStory, view_stories
from tests.subjects import EngineSubject, OracleSubject

from everlog.errors import SparqlError
from everlog.facts.terms import term_of
from everlog.rules.syntax import TRIPLE
from everlog.store.views import View

# Nightly is 4,000 streams on each engine.
EXAMPLES = {"facts": 6, "rules": 6} if QUICK else {"facts": 1500, "rules": 500}


def data_of(state: State) -> Data:
    return Data(frozenset(tuple(from_everlog(term_of(key)) for key in fact) for fact in state.get(TRIPLE, ())))


def difference(after: Iterable[Row], before: Iterable[Row]) -> Counter[Row]:
    """How much more often each row is there."""
    found = Counter(after)
    found.subtract(Counter(before))
    return Counter({row: many for row, many in found.items() if many})


def told(view: View, since: int) -> Counter[Row]:
    """What a view says has changed."""
    changes = view.changes(since)
    gained = [row for change in changes for row in everlog_rows(change.gained)]
    lost = [row for change in changes for row in everlog_rows(change.lost)]
    return difference(comparable(gained), comparable(lost))


def shown(view: View, data: Data) -> list[Row]:
    """The rows of a view, which are those of the oracle."""
    rows, wanted = comparable(everlog_rows(view.rows())), comparable(select(view.text, data))
    assert Counter(rows) == Counter(wanted)
    if "ORDER BY" in view.text.rpartition("}")[2]:
        assert rows == wanted
    return rows


def follow(engine: str, story: ViewStory) -> None:
    subject, oracle = EngineSubject(engine), OracleSubject()
    views: list[View] = []
    answers: dict[str, list[Row]] = {}
    for number, update in enumerate(story.updates):
        if number == story.made:
            views = [subject.kb.view(f"view{n}", text) for n, text in enumerate(story.views)]
            answers = {view.name: shown(view, data_of(oracle.state())) for view in views}
        if number == story.dropped:
            views.pop().drop()
        version = subject.kb.version
        subject.update(update, strategy=story.strategy)
        oracle.update(update)
        for view in views:
            note(f"update {number}, {view.text}")
            before, answers[view.name] = answers[view.name], shown(view, data_of(oracle.state()))
            assert told(view, version) == difference(answers[view.name], before)


def check(engine: str, story: ViewStory) -> None:
    note(script(engine, story.updates, options={"strategy": story.strategy}))
    try:
        follow(engine, story)
    except Beyond:
        assume(False)
    except SparqlError as error:
        assume("can be combined in more than" not in str(error))
        raise


@pytest.mark.slow
@settings(max_examples=EXAMPLES["facts"])
@given(story=view_stories(with_rules=False))
def test_oracle_views(engine: str, story: ViewStory) -> None:
    check(engine, story)


@pytest.mark.slow
@settings(max_examples=EXAMPLES["rules"])
@given(story=view_stories())
def test_oracle_views_of_derived_triples(engine: str, story: ViewStory) -> None:
    check(engine, story)

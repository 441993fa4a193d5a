"""Can every call that may take long be limited, with nothing changed when it is stopped?"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import everlog
from everlog import FactLimitError, KnowledgeBase, Limits, RoundLimitError, TimeLimitError

ENDLESS = "n(0). n(?y) :- n(?x), BIND(?x + 1 AS ?y)."
PRODUCT = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o"
FEW, SOON = Limits(facts=400), Limits(seconds=0.2)


@pytest.fixture
def kb() -> KnowledgeBase:
    kb = everlog.open()
    kb.add_rules("path(?x, ?y) :- edge(?x, ?y).   path(?x, ?z) :- edge(?x, ?y), path(?y, ?z).")
    e = everlog.IRI("http://e/p")
    kb.insert("triple", [(everlog.IRI(f"http://e/{n}"), e, everlog.IRI(f"http://e/{n + 1}")) for n in range(40)])
    return kb


CHAIN = [(n, n + 1) for n in range(60)]
CALLS: dict[str, Callable[[KnowledgeBase, Limits], Any]] = {
    "add_rules": lambda kb, limits: kb.add_rules(ENDLESS, limits=limits),
    "insert": lambda kb, limits: kb.insert("edge", CHAIN, limits=limits),
    "update": lambda kb, limits: kb.update(insert={"edge": CHAIN}, limits=limits),
    "what_if": lambda kb, limits: kb.what_if(insert={"edge": CHAIN}, limits=limits),
    "stream": lambda kb, limits: list(kb.stream([{"insert": {"edge": CHAIN}}], limits=limits)),
    "query": lambda kb, limits: kb.query(f"SELECT * {{ {PRODUCT} }}", limits=limits),
    "snapshot": lambda kb, limits: kb.snapshot().query(f"SELECT * {{ {PRODUCT} }}", limits=limits),
    "view": lambda kb, limits: kb.view("v", f"SELECT * {{ {PRODUCT} }}", limits=limits),
    "sparql_update": lambda kb, limits: kb.sparql_update(f"INSERT {{ ?a ?a ?m }} WHERE {{ {PRODUCT} }}", limits=limits),
}


@pytest.mark.parametrize("name", CALLS)
def test_facts_are_limited(name: str, kb: KnowledgeBase) -> None:
    before = kb.version, len(kb.facts("path")), kb.limits
    with pytest.raises(FactLimitError):
        CALLS[name](kb, FEW)
    assert (kb.version, len(kb.facts("path")), kb.limits) == before
    assert not kb.views() and kb.verify()


@pytest.mark.parametrize("name", ["add_rules", "query", "view", "sparql_update"])
def test_time_is_limited(name: str, kb: KnowledgeBase) -> None:
    started = time.monotonic()
    with pytest.raises(TimeLimitError):
        CALLS[name](kb, SOON)
    assert time.monotonic() - started < 20


def test_a_transaction_and_verify(kb: KnowledgeBase) -> None:
    with pytest.raises(FactLimitError), kb.transaction() as transaction:
        transaction.insert("edge", [(1, 2)])
        transaction.query(f"SELECT * {{ {PRODUCT} }}", limits=FEW)
    kb.insert("edge", CHAIN)
    with pytest.raises((RoundLimitError, FactLimitError)):
        kb.verify(limits=Limits(facts=100))


def test_reading_counts(kb: KnowledgeBase, tmp_path: Path) -> None:
    path = tmp_path / "edge.jsonl"
    path.write_text("".join(f'["other", {n}]\n' for n in range(200_000)))
    with pytest.raises(FactLimitError):
        kb.load(path, limits=Limits(facts=1000))
    with pytest.raises(TimeLimitError):
        kb.load(path, limits=Limits(seconds=0.0))
    assert "other" not in [each.name for each in kb.relations()]


def test_operations_of_a_request_share_the_time() -> None:
    watch = Limits(seconds=10).watch()
    time.sleep(0.01)
    assert watch.left().seconds is not None and 9 < watch.left().seconds < 10
    assert Limits().watch().left().seconds is None

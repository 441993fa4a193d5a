"""Is a transaction all or nothing, alone with what it does until it is over, and one version then?"""

from __future__ import annotations

import copy
import inspect
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from tests.properties.following import QUICK, expected
from tests.properties.past_states import Record, check_changes, check_record
from tests.reproductions import script
from tests.strategies import Story, graph_rule_stories
from tests.subjects import EngineSubject, OracleSubject, Update, key_set

import everlog
from everlog.engines.columnar import updates as columnar_updates
from everlog.errors import EverlogError, LimitError, NotFoundError, ProgramError, UsageError
from everlog.limits import Limits
from everlog.rules.parser import parse_program
from everlog.store.reading import ReadOnlyKnowledgeBase
from everlog.store.timeline import Timeline
from everlog.store.transactions import Transaction

PATHS = "base: path(?x, ?y) :- edge(?x, ?y). step: path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)."
FAR = "far: far(?x, ?n) :- AGGREGATE(path(?x, ?y) ON ?x BIND COUNT(?y) AS ?n)."


class Stop(Exception):
    """What a block raises to be rolled back."""


def edges(*pairs: str) -> list[tuple[str, str]]:
    return [(pair[0], pair[1]) for pair in pairs]


def state(kb: ReadOnlyKnowledgeBase) -> dict[str, Any]:
    """Everything that can be asked for."""
    found: dict[str, Any] = {info.name: (info, sorted(map(str, kb.facts(info.name)))) for info in kb.relations()}
    found["rules"] = kb.program.rules
    found["views"] = {view.name: sorted(map(str, view.rows())) for view in kb.views()}  # type: ignore[arg-type]
    found["version"] = kb.version
    return found


@pytest.fixture
def kb(engine: str) -> everlog.KnowledgeBase:
    made = everlog.open(engine=engine)
    made.add_rules(PATHS)
    made.insert("edge", edges("ab", "bc"))
    return made


@pytest.fixture(params=[0, pytest.param(1 << 13, marks=pytest.mark.slow)], ids=["compacting", "not compacting"])
def _compacting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columnar_updates, "_COMPACT_FROM", request.param)


# --- what is seen -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_compacting")
def test_a_transaction_sees_its_updates_and_others_do_not(kb: everlog.KnowledgeBase) -> None:
    with kb.transaction() as transaction:
        change = transaction.delete("edge", edges("ab"))
        assert change.lost("path") == edges("ab", "ac")
        assert list(transaction.query("path(a, ?y)")) == []
        assert sorted(kb.query("path(a, ?y)")) == [("b",), ("c",)]
        seen = transaction.state()  # somebody holds on to what the transaction saw
        transaction.insert("edge", edges("ab"))
        assert sorted(kb.query("path(a, ?y)")) == [("b",), ("c",)]
        transaction.insert("edge", edges("cd"))
        assert len(transaction.query("path(a, ?y)")) == 3
        assert kb.version == 2
        assert len(kb.facts("path")) == 3
        assert seen is not None
    assert kb.version == 3
    assert len(kb.query("path(a, ?y)")) == 3
    assert kb.verify()


def test_other_threads_do_not_see_it_either(kb: everlog.KnowledgeBase) -> None:
    if kb.state().facts.engine.name == "reference":
        pytest.skip("which is read between updates only")
    seen: list[Any] = []
    with kb.transaction() as transaction:
        transaction.insert("edge", edges("cd"))
        _in_thread(lambda: seen.append((kb.version, len(kb.facts("path")), len(kb.query("path(a, ?y)")))))
    _in_thread(lambda: seen.append((kb.version, len(kb.facts("path")), len(kb.query("path(a, ?y)")))))
    assert seen == [(2, 3, 2), (3, 6, 3)]


def test_it_is_one_version_with_the_net_change(kb: everlog.KnowledgeBase) -> None:
    heard: list[everlog.Change] = []
    kb.subscribe(heard.append)
    with kb.transaction() as transaction:
        transaction.insert("edge", edges("cd", "de"))
        transaction.delete("edge", edges("de", "ab"))
        transaction.add_rules(FAR)
    (change,) = kb.changes(2)
    assert transaction.change is not None and heard == [transaction.change]
    for each in (change, transaction.change):
        assert (each.version, each.updates) == (3, 1)
        assert (each.gained("edge"), each.lost("edge")) == (edges("cd"), edges("ab"))
        assert (each.gained("path"), each.lost("path")) == (edges("bd", "cd"), edges("ab", "ac"))
        assert each.gained("far") == [("b", 2), ("c", 1)]


def test_one_without_updates_is_no_version(kb: everlog.KnowledgeBase) -> None:
    with kb.transaction() as transaction:
        assert len(transaction.query("path(?x, ?y)")) == 3
    assert kb.version == 2
    assert not transaction.change


def test_it_is_over_at_the_end(kb: everlog.KnowledgeBase) -> None:
    with kb.transaction() as transaction:
        transaction.insert("edge", edges("cd"))
        transaction.commit()
        with pytest.raises(UsageError, match="over"):
            transaction.insert("edge", edges("de"))
    with pytest.raises(UsageError, match="over"):
        transaction.query("edge(?x, ?y)")
    assert len(kb.facts("edge")) == 3


# --- taken back -------------------------------------------------------------------------------------------------------

CHANGES: dict[str, Callable[[Transaction], object]] = {
    "facts": lambda t: (t.insert("edge", edges("cd")), t.delete("edge", edges("ab"))),
    "gone and back": lambda t: (t.delete("edge", edges("ab")), t.insert("edge", edges("ab"))),
    "rules": lambda t: (t.remove_rules("step"), t.add_rules(FAR), t.insert("edge", edges("cd"))),
    "all rules": lambda t: t.remove_rules(["base", "step"]),
    "relations": lambda t: (t.insert("new", [(1, 2)]), t.add_rules("more: newer(?x) :- new(?x, ?y).")),
    "arity": lambda t: (t.insert("edge", edges("cd")), t.delete("r", [(1, 2)]), t.insert("r", [(1, 2, 3)])),
    "arity and more": lambda t: (
        t.delete("r", [(1, 2)]),
        t.insert("r", [(1, 2, 3)]),
        t.insert("edge", edges("cd")),
        t.delete("r", [(1, 2, 3)]),
        t.insert("r", [(1,)]),
        t.remove_rules("base"),
    ),
    "sparql": lambda t: t.sparql_update("INSERT DATA { <a:3> <a:p> 0 }; DELETE WHERE { <a:1> ?p ?o }"),
    "much": lambda t: t.insert("edge", [(n, n) for n in range(20_000)]),
}


@pytest.mark.usefixtures("_compacting")
@pytest.mark.parametrize("what", CHANGES)
def test_an_exception_takes_everything_back(engine: str, what: str) -> None:
    if (engine, what) == ("reference", "much"):
        pytest.skip("which takes long there")
    kb = everlog.open(engine=engine)
    kb.add_rules(PATHS)
    kb.insert("edge", edges("ab", "bc"))
    kb.insert("r", [(1, 2)])
    kb.sparql_update("INSERT DATA { <a:1> <a:p> 1, 2 . <a:2> <a:p> 2 }")
    kb.view("bag", "SELECT ?y { ?x <a:p> ?y }")
    kb.view("least", "SELECT ?x ?y { ?x <a:p> ?y } ORDER BY ?y LIMIT 1")
    before, held = state(kb), kb.snapshot()
    with pytest.raises(Stop), kb.transaction() as transaction:
        CHANGES[what](transaction)
        raise Stop
    assert state(kb) == before == state(held)
    assert kb.verify()
    kb.insert("edge", edges("ca"))
    kb.insert("r", [(5, 6)])
    kb.delete("r", [(5, 6)])
    kb.sparql_update("INSERT DATA { <a:0> <a:p> 0 }")
    assert len(kb.facts("path")) == 9
    assert len(kb.view("bag").rows()) == 4
    assert list(kb.view("least").rows()) == [(everlog.IRI("a:0"), 0)]
    assert kb.verify()
    assert state(held) == before == state(kb.at(held.version))
    with kb.transaction() as transaction:  # the same to the end
        CHANGES[what](transaction)
    assert kb.verify()
    assert state(kb.at(held.version)) == before


def test_an_update_that_fails_leaves_the_transaction_as_it_was(kb: everlog.KnowledgeBase) -> None:
    with kb.transaction() as transaction:
        transaction.insert("edge", edges("cd"))
        with pytest.raises(EverlogError):
            transaction.insert("edge", [("a", "b", "c")])
        with pytest.raises(ProgramError):
            transaction.add_rules("wrong(?x) :- edge(?y, ?z).")
        assert len(transaction.query("path(a, ?y)")) == 3
    assert (kb.version, len(kb.facts("path"))) == (3, 6)


def test_a_limit_takes_the_update_back_and_the_rest_too_if_nobody_minds(kb: everlog.KnowledgeBase) -> None:
    before = state(kb)
    kb.limits = Limits(rounds=9)
    with pytest.raises(LimitError), kb.transaction() as transaction:
        transaction.insert("edge", edges("cd"))
        transaction.insert("edge", [(n, n + 1) for n in range(40)])
    assert state(kb) == before
    assert kb.verify()


@pytest.mark.parametrize("when", ["in the block", "in an update", "in the commit"])
def test_an_interrupt_leaves_a_whole_version(
    kb: everlog.KnowledgeBase, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while updates are put in place waits, and then takes back the update that it waited for."""
    before = state(kb)

    def interrupting(method: Callable[..., Any]) -> Callable[..., Any]:
        def interrupted(*arguments: Any, **options: Any) -> Any:
            signal.raise_signal(signal.SIGINT)
            return method(*arguments, **options)

        return interrupted

    with pytest.raises(KeyboardInterrupt), kb.transaction() as transaction:
        transaction.insert("edge", edges("cd"))
        if when == "in an update":
            monkeypatch.setattr(transaction, "_put_in_place", interrupting(transaction._put_in_place))
        transaction.delete("edge", edges("ab"))
        if when == "in the block":
            signal.raise_signal(signal.SIGINT)
        timeline = transaction._timeline
        monkeypatch.setattr(timeline, "accept", interrupting(timeline.accept))
    monkeypatch.undo()
    if when == "in the commit":  # it came too late
        assert (kb.version, sorted(kb.facts("edge"))) == (3, edges("bc", "cd"))
        assert len(kb.changes(2)) == 1
    else:
        assert state(kb) == before
    assert kb.verify()
    kb.insert("edge", edges("da"))
    assert kb.verify()


def test_an_interrupt_of_a_single_update_that_is_in_place(
    kb: everlog.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = next(each for each in vars(kb).values() if isinstance(each, Timeline))
    accept = timeline.accept

    def interrupted(*arguments: Any, **options: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        accept(*arguments, **options)

    heard: list[int] = []
    kb.subscribe(lambda change: heard.append(change.version))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(timeline, "accept", interrupted)
        kb.insert("edge", edges("cd"))
    assert (kb.version, heard, len(kb.changes(2))) == (3, [3], 1)
    assert kb.verify()


STOPPED: dict[str, Callable[[everlog.KnowledgeBase], object]] = {
    "update": lambda kb: kb.update(insert={"edge": edges("cd"), "new": [(1,)]}, delete={"edge": edges("ab")}),
    "rules": lambda kb: kb.add_rules(FAR),
    "what if": lambda kb: kb.what_if(delete={"edge": edges("ab")}, add_rules=FAR),
    "transaction": lambda kb: _transaction(kb),
    "view": lambda kb: kb.view("view", "SELECT ?x { ?x <a:p> ?y } ORDER BY ?x LIMIT 1"),
}


def _transaction(kb: everlog.KnowledgeBase) -> None:
    with kb.transaction() as transaction:
        transaction.insert("edge", edges("cd"))
        transaction.update(add_rules=FAR, delete={"edge": edges("ab")})


@pytest.mark.slow
@pytest.mark.parametrize("what", STOPPED)
def test_an_interrupt_in_any_function_leaves_a_whole_version(what: str) -> None:
    """Ctrl-C as one function after the other begins, of those that the store calls for an update."""
    place, kb = 0, None
    while True:
        place += 1
        if kb is None:
            kb = everlog.open()
            kb.add_rules(PATHS)
            kb.insert("edge", edges("ab", "bc"))
        before = state(kb)
        came = _interrupted_at(place, lambda: STOPPED[what](kb))  # type: ignore[arg-type]  # noqa: B023
        after = state(kb)
        assert kb.verify(), place
        if what == "what if":
            assert after == before
        if after != before:
            assert after["version"] == before["version"] + 1, place
            assert len(kb.changes(before["version"])) == 1
            kb = None
        else:
            kb.insert("edge", edges("bc"))  # the next update finds all in order
        if not came:
            return


def _interrupted_at(place: int, work: Callable[[], object]) -> bool:
    """Do something, and interrupt it at the call of that number, where Python looks for signals; did it come so far?"""
    left = place

    def trace(frame: Any, event: str, _: Any) -> None:
        nonlocal left
        code = frame.f_code  # generators are entered when they are thrown away, too, where nobody hears of errors
        if "/everlog/store/" in code.co_filename and not code.co_flags & inspect.CO_GENERATOR and left > 0:
            left -= 1
            if left == 0:
                signal.raise_signal(signal.SIGINT)

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return left == 0


# --- turns ------------------------------------------------------------------------------------------------------------


def test_an_update_beside_the_transaction_in_the_same_thread_is_refused(kb: everlog.KnowledgeBase) -> None:
    with kb.transaction() as transaction:
        transaction.insert("edge", edges("cd"))
        for attempt in (
            lambda: kb.insert("edge", edges("de")),
            lambda: kb.what_if(insert={"edge": edges("de")}),
            lambda: kb.view("view", "SELECT ?x { ?x <a:p> ?y }"),
            lambda: kb.transaction().__enter__(),
        ):
            with pytest.raises(UsageError, match="under way"):
                attempt()
    assert sorted(kb.facts("edge")) == edges("ab", "bc", "cd")


def test_threads_take_turns(kb: everlog.KnowledgeBase) -> None:
    begun, order = threading.Event(), []

    def other() -> None:
        begun.set()
        kb.insert("edge", edges("de"))
        order.append("other")

    with kb.transaction() as transaction:
        thread = threading.Thread(target=other)
        thread.start()
        begun.wait()
        transaction.insert("edge", edges("cd"))
        thread.join(0.05)
        assert thread.is_alive()
        order.append("transaction")
    thread.join()
    assert order == ["transaction", "other"]
    assert [change.gained("edge") for change in kb.changes(2)] == [edges("cd"), edges("de")]


def _in_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


# --- what if ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "strategy",
    [
        "choose",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("ranked", "counting", "dred", "bf", "bf-counting")),
    ],
)
def test_what_if_changes_nothing(engine: str, strategy: str) -> None:
    if strategy == "counting":
        rules = "two(?x, ?z) :- edge(?x, ?y), edge(?y, ?z)."
    else:
        rules = PATHS + FAR
    kb, random = everlog.open(engine=engine, strategy=strategy), Random(3)
    kb.add_rules(rules)
    nodes = "abcdef"
    for _ in range(12):
        some, others = ([(random.choice(nodes), random.choice(nodes)) for _ in range(3)] for _ in range(2))
        before = state(kb)
        supposed = kb.what_if(insert={"edge": some, "new": [(1,)]}, delete={"edge": others})
        ruled = kb.what_if(
            add_rules="back: edge(?y, ?x) :- edge(?x, ?y), edge(?x, ?x).", remove_rules=[kb.program.rules[0].name or ""]
        )
        assert supposed.version == ruled.version == kb.version + 1
        assert state(kb) == before
        change = kb.update(insert={"edge": some, "new": [(1,)]}, delete={"edge": others})
        assert change.counts() == supposed.counts()
        assert all(change.gained(name) == supposed.gained(name) for name in change.relations())
        assert kb.verify()
        kb.delete("new", [(1,)])


# --- SPARQL -----------------------------------------------------------------------------------------------------------


def test_a_request_of_several_operations_is_one_version(kb: everlog.KnowledgeBase) -> None:
    changes = kb.sparql_update(
        "INSERT DATA { <a:1> <a:p> 1 }; INSERT { ?x <a:q> 2 } WHERE { ?x <a:p> 1 }; DELETE WHERE { ?x <a:p> 1 }"
    )
    assert [change.version for change in changes] == [3, 3, 3]
    assert [change.counts() for change in changes] == [{"triple": (1, 0)}, {"triple": (1, 0)}, {"triple": (0, 1)}]
    assert kb.version == 3
    assert list(kb.query("SELECT ?p ?o { <a:1> ?p ?o }")) == [(everlog.IRI("a:q"), 2)]


def test_a_request_that_fails_in_the_middle_changes_nothing(kb: everlog.KnowledgeBase) -> None:
    before = state(kb)
    with pytest.raises(EverlogError):
        kb.sparql_update(
            "INSERT DATA { <a:1> <a:p> 1 }; LOAD <file:/nowhere/at/all.ttl>; INSERT DATA { <a:2> <a:p> 1 }"
        )
    assert state(kb) == before
    with pytest.raises(NotFoundError):
        kb.facts("triple")


# --- copies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [copy.deepcopy, copy.copy, pickle.dumps])
def test_a_copy_is_refused_with_the_remedy(kb: everlog.KnowledgeBase, way: Callable[[Any], Any]) -> None:
    with pytest.raises(UsageError, match=r"kb\.snapshot\(\)"):
        way(kb)


# --- the law ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def _as_it_was() -> Iterator[None]:
    kept = columnar_updates._COMPACT_FROM
    yield
    columnar_updates._COMPACT_FROM = kept


@pytest.mark.slow
@pytest.mark.usefixtures("_as_it_was")
@settings(max_examples=12 if QUICK else 1500)
@given(story=graph_rule_stories(), seed=st.integers(0, 999), compact_from=st.sampled_from([0, 1 << 13]))
def test_oracle_transactions(engine: str, story: Story, seed: int, compact_from: int) -> None:
    """Updates in groups, some taken back and made again; everything that is kept is the oracle's."""
    columnar_updates._COMPACT_FROM = compact_from
    updates = [update for update, *_ in expected(story)]
    note(script(engine, updates, options={}))
    random, subject, oracle = Random(seed), EngineSubject(engine), OracleSubject()
    records = [Record.of(subject.kb, oracle, hold=True)]
    while updates:
        group, kept = updates[: random.randrange(1, 4)], random.random() < 0.6
        note(f"{len(group)} updates, {'kept' if kept else 'taken back'}")
        try:
            with subject.kb.transaction() as transaction:
                trial = copy.copy(oracle)
                for update in group:
                    _apply(transaction, update)
                    trial.update(update)
                    if random.random() < 0.5:
                        for relation, facts in trial.state().items():
                            columns = ", ".join(f"?c{n}" for n in range(len(next(iter(facts)))))
                            if columns:
                                assert key_set(transaction.query(f"{_written(relation, columns)}")) == facts
                    check_record(records[-1], subject.kb)
                if not kept:
                    raise Stop
        except Stop:
            check_record(records[-1], subject.kb)
            assert subject.kb.verify(), str(subject.kb.verify())
            continue
        oracle, updates = trial, updates[len(group) :]
        records.append(Record.of(subject.kb, oracle, hold=random.random() < 0.5))
    for record in records:
        if record.snapshot is not None:
            check_record(record, record.snapshot)
        check_record(record, subject.kb.at(record.version))
    check_changes(subject.kb, records)
    assert subject.kb.verify()


def _written(relation: str, columns: str) -> str:
    return f"[{columns}]" if relation == "triple" else f"{relation}({columns})"


def _apply(transaction: Transaction, update: Update) -> None:
    transaction.update(
        insert=update.insert,
        delete=update.delete,
        add_rules=parse_program(update.add_rules) if update.add_rules else None,
        remove_rules=list(update.remove_rules),
    )

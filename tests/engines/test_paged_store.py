"""Can a store's transactions drive the paged engine over runs with hashed ids, and does it say when bulk is better?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.oracle import materialise
from tests.subjects import key_set

import everlog
from everlog.dictionary.dictionary import Dictionary
from everlog.dictionary.hashed_ids import id_of_key
from everlog.engines.interface import Shape
from everlog.engines.paged import page_files
from everlog.engines.paged.dictionary import PagedDictionary
from everlog.engines.paged.engine import PagedEngine
from everlog.engines.paged.folder import RunFolder
from everlog.engines.paged.sizes import Sizes
from everlog.engines.paged.terms import PagedTerms, write_terms
from everlog.errors import DamagedRunsError, NeedsBulk
from everlog.facts.terms import Term, key_of
from everlog.limits import Limits
from everlog.maintenance.update import Maintenance
from everlog.rules.parser import parse_program
from everlog.store.applying import Workings
from everlog.store.history import HistoryLimits
from everlog.store.state import FactsAtVersion, State
from everlog.store.timeline import Timeline
from everlog.store.updates import Update
from everlog.store.windows import Windows

RULES = """
    path(?x, ?y) :- edge(?x, ?y).
    path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).
    far(?x, ?y) :- path(?x, ?y), NOT edge(?x, ?y), STRLEN(?y) > 2.
    degree(?x, ?n) :- AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(?y) AS ?n).
"""
RELATIONS = {"edge": 2, "path": 2, "far": 2, "degree": 2}
SIZES = Sizes(page=4, run=200, held=60)


def written(path: Path, edges: list[tuple[Term, ...]]) -> Timeline:
    """Runs of what a knowledge base derives, with hashed ids, as a pipeline writes them; and a timeline over them."""
    kb = everlog.open(engine="reference")
    kb.add_rules(RULES)
    kb.insert("edge", edges)
    state = kb.state()
    keys = [state.dictionary.key(id_) for id_ in range(1, len(state.dictionary))]
    path.mkdir()
    folder = RunFolder(path, np.int64, SIZES)
    folder.add_terms(np.array([id_of_key(key) for key in keys]), keys)
    for dump in state.facts.capture.dump():
        hashed = [[id_of_key(state.dictionary.key(id_)) for id_ in row] for row in dump.facts.tolist()]
        columns = list(np.array(hashed, np.int64).reshape(-1, dump.shape.arity).T)
        folder.add(dump.shape, columns, explicit=dump.explicit, derivations=dump.weights, ranks=dump.ranks)
    folder.finish(version=1)
    return timeline(path, 1, state)


def timeline(path: Path, version: int, like: State, sizes: Sizes = SIZES) -> Timeline:
    """A timeline that begins with what is in a folder, with the program of another state."""
    folder = RunFolder.open(path, version, sizes)
    assert folder is not None
    dictionary = PagedDictionary(folder.terms)
    engine, definitions, limits = PagedEngine(dictionary, folder), like.definitions, Limits()
    workings = Workings(
        engine, Maintenance(definitions.program), Windows(dictionary), "choose", True, limits, definitions.arities
    )
    state = State(version, dictionary, definitions, FactsAtVersion(engine, engine.tick), {}, limits, {})
    return Timeline(state, workings, HistoryLimits())


def facts(of: Timeline) -> dict[str, set[tuple[str, ...]]]:
    reader, dictionary = of.read().facts.reader(), of.newest.dictionary
    found = {name: [fact for fact, _ in reader.collect(name).facts()] for name in RELATIONS}
    rows = {name: key_set([[dictionary.decode(id_) for id_ in fact] for fact in each]) for name, each in found.items()}
    return {name: each for name, each in rows.items() if each}


def expected(edges: set[tuple[Term, ...]]) -> dict[str, set[tuple[str, ...]]]:
    derived = materialise(parse_program(RULES), {"edge": sorted(edges)})
    return {name: rows for name, rows in derived.items() if name in RELATIONS}


def test_a_timeline_runs_over_the_paged_engine_and_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "runs"
    edges: set[tuple[Term, ...]] = {(f"n{n}", f"n{n + 1}") for n in range(8, 14)}
    of = written(path, sorted(edges))
    assert facts(of) == expected(edges)
    steps = [
        ({("n14", "new")}, set()),
        ({("new", "n8")}, {("n10", "n11")}),
        (set(), {("n14", "new"), ("n8", "n9")}),
        ({("n10", "n11"), ("n8", "n9")}, {("new", "n8")}),
    ]
    for version, (come, gone) in enumerate(steps, 2):
        edges = edges - gone | come
        update = Update({"edge": sorted(come)}, {"edge": sorted(gone)})
        of.run(lambda transaction, update=update: transaction.only(update))
        assert facts(of) == expected(edges)
        assert isinstance(of.workings.engine, PagedEngine)
        of.workings.engine.save(version)
        of = timeline(path, version, of.newest)  # another process goes on, new terms included
        assert facts(of) == expected(edges)


def test_queries_read_what_is_in_the_runs(tmp_path: Path) -> None:
    of = written(tmp_path / "runs", [("a", "b"), ("b", "long"), ("long", "d")])
    from everlog.store.answers import datalog_answer

    assert sorted(datalog_answer(of.read(), "far(a, ?y)")) == [("long",)]


def test_an_update_looks_at_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_files, "_SMALL", 0)  # as if the files were large
    edges: list[tuple[Term, ...]] = [(f"n{n}", f"n{n + 1}") for n in range(600) if n % 3]
    of = written(tmp_path / "runs", edges)
    engine = of.workings.engine
    assert isinstance(engine, PagedEngine)
    engine.prepare(of.newest.definitions.program.components)
    before = engine.counters.copy()
    change = of.run(lambda transaction: transaction.only(Update({}, {"edge": edges[100:101]})))
    read = engine.counters.since(before)
    assert change.lost("edge") == edges[100:101]
    assert 0 < read.rows < 60 and read.pages < 60, read
    assert f"{read.rows:,} rows" in str(read)


def test_what_reads_too_much_is_left_to_others(tmp_path: Path) -> None:
    edges: list[tuple[Term, ...]] = [(f"n{n}", f"n{n + 1}") for n in range(400) if n % 4]
    path = tmp_path / "runs"
    state = written(path, edges).newest
    of = timeline(path, 1, state, Sizes(page=4, run=200, held=60, fetched=100))
    before = facts(of)
    with pytest.raises(NeedsBulk, match="all 300 facts of edge would be read") as raised:
        of.run(lambda transaction: transaction.only(Update(add_rules="back(?y, ?x) :- edge(?x, ?y).")))
    assert "bound for one update is 100" in raised.value.reason
    assert facts(of) == before and of.newest.version == 1
    change = of.run(lambda transaction: transaction.only(Update({}, {"edge": edges[1:2]})))
    assert change.lost("path") and of.newest.version == 2


def test_deriving_a_component_again_is_left_to_others(tmp_path: Path) -> None:
    edges: list[tuple[Term, ...]] = [(f"n{n}", f"n{n + 1}") for n in range(400) if n % 4]
    path = tmp_path / "runs"
    state = written(path, edges).newest
    of = timeline(path, 1, state, Sizes(page=4, run=200, held=60, fetched=100))
    with pytest.raises(NeedsBulk):
        of.run(lambda transaction: transaction.only(Update({}, {"edge": edges[:1]}), strategy="rematerialise"))
    with pytest.raises(NeedsBulk):  # the rules together would have a negation on a cycle, so all would be derived again
        of.run(
            lambda transaction: transaction.only(
                Update(add_rules="edge(?x, ?x) :- far(?x, ?y).", remove_rules=[_name_of("far", state)])
            )
        )
    assert of.newest.version == 1


def _name_of(relation: str, state: State) -> str:
    (name,) = (rule.name for rule in state.rules if rule.heads[0].relation == relation)
    assert name is not None
    return name


def test_a_rule_over_a_part_of_a_relation_is_followed(tmp_path: Path) -> None:
    edges: list[tuple[Term, ...]] = [(f"n{n}", f"n{n + 1}") for n in range(400) if n % 4]
    path = tmp_path / "runs"
    state = written(path, edges).newest
    of = timeline(path, 1, state, Sizes(page=4, run=200, held=60, fetched=100))
    change = of.run(lambda transaction: transaction.only(Update(add_rules='from5(?y) :- edge("n5", ?y).')))
    assert change.gained("from5") == [("n6",)]


def test_terms_are_found_by_their_ids(tmp_path: Path) -> None:
    terms: list[Term] = ["a", "b\u00e9", 7, 2.5, True, everlog.IRI("http://ex.org/a")]
    keys = [key_of(term) for term in terms]
    write_terms(tmp_path / "t0.terms", np.array([id_of_key(key) for key in keys]), keys)
    files = PagedTerms()
    files.open(tmp_path / "t0.terms")
    dictionary = PagedDictionary(files)
    assert [dictionary.decode(id_of_key(key)) for key in keys] == terms
    dictionary.encode("a")
    new = dictionary.encode("new")
    assert dictionary.take_new_terms() == [(new, '"new')]
    assert dictionary.take_new_terms() == []
    assert PagedDictionary(files).decode(new) == "new"
    with pytest.raises(DamagedRunsError, match="in no dictionary"):
        PagedDictionary(files).decode(id_of_key('"unknown'))


def test_a_damaged_term_is_noticed_or_right(tmp_path: Path) -> None:
    path = tmp_path / "t0.terms"
    key = '"a long text that nobody should change'
    write_terms(path, np.array([id_of_key(key)]), [key])
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x11]) + whole[place + 1 :])
        files = PagedTerms()
        try:
            files.open(path)
            assert PagedDictionary(files).key(id_of_key(key)) == key, place
        except DamagedRunsError:
            pass
    path.write_bytes(whole[:-1])
    with pytest.raises(DamagedRunsError):
        PagedTerms().open(path)


def test_relations_without_arguments_bags_and_arrow_columns_are_kept(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, np.int32, SIZES)
    folder.add(Shape("yes", 0), [], rows=1)
    folder.add(Shape("no", 0), [], rows=0)
    folder.add(Shape("bag", 1, bag=True), [np.array([4, 5], np.int32)], explicit=False, derivations=[3, 1])
    arrow = pa.record_batch({"x": pa.array([1, 2], pa.int32()), "explicit": [True, False]})
    folder.add(Shape("arrow", 1), [arrow["x"]], explicit=arrow["explicit"])
    folder.finish(version=1)
    engine = PagedEngine(Dictionary(), RunFolder.open(tmp_path))
    assert (engine.count("arrow"), engine.count("arrow", explicit=True)) == (2, 1)
    assert [engine.count(name) for name in ("yes", "no", "bag")] == [1, 0, 2]
    assert list(engine.contains("yes", [], 1)) == [True]
    assert list(engine.contains("no", [], 1)) == [False]
    assert sorted(engine.collect("bag").facts()) == [((4,), 3), ((5,), 1)]

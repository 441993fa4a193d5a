"""Do threads that read while others write see whole versions, one after the other, and does nothing get lost?

A *world* has a version for each update, and for each version it is known beforehand what every question has for an
answer. Readers ask one question after the other; whatever they see, they must have seen all of one version.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest

import everlog
from everlog.engines.columnar import updates as columnar_updates
from everlog.store.reading import ReadOnlyKnowledgeBase

RULES = """
    base: path(?x, ?y) :- edge(?x, ?y).
    step: path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).
    far: far(?x, ?n) :- AGGREGATE(path(?x, ?y) ON ?x BIND COUNT(?y) AS ?n).
    end: end(?y) :- edge(?x, ?y), NOT edge(?y, ?x), NOT onward(?y).
    onward: onward(?x) :- edge(?x, ?y).
"""
VIEWS = {
    "bag": "SELECT ?y { ?x <a:p> ?y }",
    "last": "SELECT ?x ?y { ?x <a:p> ?y } ORDER BY DESC(?x) LIMIT 3",
    "names": "SELECT ?x (COUNT(?y) AS ?n) { ?x <a:p> ?y } GROUP BY ?x",
    "graph": "CONSTRUCT { ?x <a:q> ?y } WHERE { ?x <a:p> ?y }",
}
WIDTH = 12  # the longest chain
Answer = Any


class World:
    """A chain of edges that grows to WIDTH and shrinks again, and is written as triples too; and so on.

    The version tells its length, and the length all there is.
    """

    def __init__(self, **options: Any) -> None:
        self.kb = everlog.open(**options)
        self.kb.add_rules(RULES)
        for name, text in VIEWS.items():
            self.kb.view(name, text)
        self.kb.update(insert={"edge": [(0, 1)], "triple": [self.triple(0)]})
        self.first = self.kb.version

    @staticmethod
    def triple(n: int) -> tuple[everlog.IRI, everlog.IRI, str]:
        return everlog.IRI(f"a:{n:02}"), everlog.IRI("a:p"), f"name {n % 3}"

    def length(self, version: int) -> int:
        """The number of edges at a version: 1 to WIDTH and down again, one more or less each time."""
        place = (version - self.first) % (2 * (WIDTH - 1))
        return 1 + min(place, 2 * (WIDTH - 1) - place)

    def write(self) -> None:
        """Make the next version; by one thread."""
        version = self.kb.version
        before, after = self.length(version), self.length(version + 1)
        edge = min(before, after)
        rows = {"edge": [(edge, edge + 1)], "triple": [self.triple(edge)]}
        # Much that comes and goes beside it lets arrays grow, and rows die.
        noise = {"noise": [(version % 5, n, n % 7) for n in range(200 * (version % 4))]}
        if after > before:
            self.kb.update(insert=rows | noise)
        else:
            self.kb.update(delete=rows | {"noise": [(version % 5, n, n % 7) for n in range(400)]})


QUESTIONS: dict[str, tuple[Callable[[ReadOnlyKnowledgeBase], Answer], Callable[[int], Answer]]] = {
    "edges": (lambda s: sorted(s.facts("edge")), lambda n: [(k, k + 1) for k in range(n)]),
    "paths": (lambda s: len(s.facts("path")), lambda n: n * (n + 1) // 2),
    "closure": (lambda s: len(s.query("edge(?x, ?y), path(?y, ?z)")), lambda n: n * (n - 1) // 2),
    "lookup": (lambda s: len(s.query("path(0, ?y)")), lambda n: n),
    "backwards": (lambda s: len(s.query("path(?x, 1), ?x < 5")), lambda n: 1),
    "absent": (lambda s: sorted(s.query("path(0, ?y), NOT edge(?y, ?y), NOT onward(?y)")), lambda n: [(n,)]),
    "far": (lambda s: sorted(s.facts("far")), lambda n: [(k, n - k) for k in range(n)]),
    "end": (lambda s: sorted(s.facts("end")), lambda n: [(n,)]),
    "new terms": (
        lambda s: sorted(s.query('edge(?x, ?y), BIND(concat("to ", str(?y)) AS ?t), strlen(?t) < 5')),
        lambda n: [(k, k + 1, f"to {k + 1}") for k in range(min(n, 9))],
    ),
    "sparql": (lambda s: len(s.query("SELECT ?x ?z { ?x <a:p> ?y . ?z <a:p> ?y }")), lambda n: _pairs(n)),
    "sparql terms": (
        lambda s: sorted(s.query("SELECT DISTINCT ?t { ?x <a:p> ?y BIND(CONCAT(?y, '!') AS ?t) }")),
        lambda n: [(f"name {k}!",) for k in range(min(n, 3))],
    ),
    "sparql counts": (
        lambda s: sorted(s.query("SELECT ?y (COUNT(*) AS ?n) { ?x <a:p> ?y } GROUP BY ?y")),
        lambda n: [(f"name {k}", (n - k + 2) // 3) for k in range(min(n, 3))],
    ),
    "ask": (lambda s: bool(s.query("ASK { <a:05> <a:p> ?y }")), lambda n: n > 5),
    "bag": (lambda s: len(s.view("bag").rows()), lambda n: n),
    "last": (lambda s: [row[0] for row in s.view("last").rows()], lambda n: _last(n)),
    "names": (lambda s: len(s.view("names").rows()), lambda n: n),
    "graph": (lambda s: len(s.view("graph").rows()), lambda n: n),
    "explicit": (
        lambda s: {info.name: info.explicit for info in s.relations() if info.name in ("edge", "path")},
        lambda n: {"edge": n, "path": 0},
    ),
}


def _pairs(n: int) -> int:
    return sum(((n - k + 2) // 3) ** 2 for k in range(3))


def _last(n: int) -> list[everlog.IRI]:
    return [everlog.IRI(f"a:{k:02}") for k in range(n - 1, max(-1, n - 4), -1)]


@pytest.fixture
def _hasty() -> Iterator[None]:
    """Threads take turns far more often than they would."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(params=[0, 1 << 13], ids=["compacting", "not compacting"])
def _compacting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columnar_updates, "_COMPACT_FROM", request.param)


def read_beside_a_writer(world: World, *, readers: int, seconds: float, seed: int) -> int:
    """Readers ask at random while one thread writes; gives how many questions they asked."""
    until, kb, held = time.monotonic() + seconds, world.kb, world.kb.snapshot()
    done = threading.Event()

    def write() -> int:
        written = 0
        while not done.is_set():
            world.write()
            written += 1
        return written

    def read(number: int) -> int:
        random, asked, seen = Random(seed * 100 + number), 0, 0
        while time.monotonic() < until:
            source: ReadOnlyKnowledgeBase = held if random.random() < 0.05 else kb.snapshot()
            if source is not held:
                assert source.version >= seen, "versions go back"
                seen = source.version
                if random.random() < 0.1:
                    source = kb.at(max(world.first, seen - random.randrange(30)))
            length = world.length(source.version)
            for name in random.sample(sorted(QUESTIONS), 3):
                ask, expected = QUESTIONS[name]
                assert ask(source) == expected(length), f"{name} at version {source.version}, of {length} edges"
                asked += 1
            if random.random() < 0.02:
                verified = source.verify()
                assert verified, str(verified)
            elif random.random() < 0.1:
                versions = [change.version for change in kb.changes(seen)]
                assert versions == list(range(seen + 1, seen + 1 + len(versions)))
        return asked

    with ThreadPoolExecutor(readers + 1) as pool:
        writing = pool.submit(write)
        reading = [pool.submit(read, number) for number in range(readers)]
        try:
            asked = sum(each.result() for each in reading)
        finally:
            done.set()
        assert writing.result() > 0
    for name, (ask, expected) in QUESTIONS.items():
        assert ask(held) == expected(world.length(held.version)), name
        assert ask(kb) == expected(world.length(kb.version)), name
    assert kb.verify(), str(kb.verify())
    return asked


@pytest.mark.usefixtures("_hasty")
def test_readers_beside_a_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columnar_updates, "_COMPACT_FROM", 20)
    assert read_beside_a_writer(World(), readers=3, seconds=1, seed=0) > 0


@pytest.mark.slow
@pytest.mark.usefixtures("_compacting")
def test_readers_beside_a_writer_for_longer(engine: str) -> None:
    assert read_beside_a_writer(World(engine=engine), readers=3, seconds=3, seed=1) > 0


@pytest.mark.slow
@pytest.mark.usefixtures("_hasty")
def test_readers_of_a_durable_knowledge_base(tmp_path: Any) -> None:
    world = World.__new__(World)
    world.kb = everlog.open(tmp_path / "kb")
    with world.kb:
        world.kb.add_rules(RULES)
        for name, text in VIEWS.items():
            world.kb.view(name, text)
        world.kb.update(insert={"edge": [(0, 1)], "triple": [world.triple(0)]})
        world.first = world.kb.version
        assert read_beside_a_writer(world, readers=3, seconds=3, seed=2) > 0


@pytest.mark.nightly
@pytest.mark.usefixtures("_compacting")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("interval", [1e-5, 5e-3])
def test_eight_readers_for_a_minute(seed: int, interval: float) -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(interval)
    try:
        assert read_beside_a_writer(World(), readers=8, seconds=60, seed=seed) > 0
    finally:
        sys.setswitchinterval(before)


# --- several writers --------------------------------------------------------------------------------------------------


def in_threads(*work: Callable[[], object]) -> None:
    with ThreadPoolExecutor(len(work)) as pool:
        for each in [pool.submit(one) for one in work]:
            each.result()


@pytest.mark.parametrize("writers", [2, 8])
def test_nothing_of_several_writers_is_lost(engine: str, writers: int) -> None:
    kb, each = everlog.open(engine=engine), 24 // writers
    kb.add_rules(RULES)
    versions: list[list[int]] = [[] for _ in range(writers)]

    def write(number: int) -> None:
        for n in range(each):
            if n % 3 == 2:
                with kb.transaction() as transaction:
                    transaction.insert("edge", [(number, 100 * number + n)])
                    transaction.insert("own", [(number, n)])
                assert transaction.change is not None
                versions[number].append(transaction.change.version)
            else:
                change = kb.update(insert={"edge": [(number, 100 * number + n)], "own": [(number, n)]})
                versions[number].append(change.version)

    in_threads(*(lambda number=number: write(number) for number in range(writers)))
    assert sorted(version for own in versions for version in own) == list(range(2, 2 + writers * each))
    assert all(own == sorted(own) for own in versions)
    assert sorted(kb.facts("own")) == [(number, n) for number in range(writers) for n in range(each)]
    assert kb.version == 1 + writers * each
    assert [change.version for change in kb.changes(0)] == list(range(1, kb.version + 1))
    assert kb.verify()


@pytest.mark.slow
@pytest.mark.usefixtures("_hasty")
def test_rules_and_views_come_and_go_while_others_ask() -> None:
    kb = everlog.open()
    kb.insert("edge", [(n, n + 1) for n in range(20)])
    kb.sparql_update("INSERT DATA { <a:1> <a:p> 1, 2, 3 }")
    done = threading.Event()

    def rules() -> None:
        for number in range(8):
            kb.add_rules(RULES)
            kb.insert("edge", [(100 + number, 200 + number)])
            kb.remove_rules(["base", "step", "far", "end", "onward"])

    def views() -> None:
        for number in range(8):
            kb.view("view", "SELECT ?y { ?x <a:p> ?y OPTIONAL { ?y <a:q> ?z } }")
            kb.view("least", "SELECT ?y { ?x <a:p> ?y } ORDER BY ?y LIMIT 1")
            kb.sparql_update(f"INSERT DATA {{ <a:{number}> <a:p> {number + 10} }}")
            kb.drop_view("view")
            kb.drop_view("least")

    def ask() -> None:
        while not done.is_set():
            seen = kb.snapshot()
            edges, names = len(seen.facts("edge")), {info.name for info in seen.relations()}
            if seen.program.rules:
                assert len(seen.query("path(?x, ?y)")) == 210 + edges - 20
                assert len(seen.query("far(?x, ?n)")) == edges
            elif "path" in names:
                assert len(seen.query("path(?x, ?y)")) == 0
            for view in seen.views():
                count = len(seen.query("SELECT ?y { ?x <a:p> ?y }"))
                assert len(view.rows()) == (1 if view.name == "least" else count)
            assert len(seen.query("edge(?x, ?y), edge(?y, ?z)")) == 19

    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask) for _ in range(2)]
        writing = [pool.submit(rules), pool.submit(views)]
        try:
            for each in writing:
                each.result()
        finally:
            done.set()
        for each in asking:
            each.result()
    assert kb.verify()
    assert len(kb.facts("edge")) == 28


@pytest.mark.usefixtures("_hasty")
def test_readers_build_indexes_while_the_writer_grows_the_relation() -> None:
    kb = everlog.open()
    kb.insert("r", [(0, 0, 0, 0)])
    done = threading.Event()
    texts = ["r({0}, ?b, ?c, ?d)", "r(?a, {0}, ?c, ?d)", "r(?a, ?b, {0}, ?d)", "r(?a, {0}, {0}, ?d)"]
    texts += ["r({0}, {0}, {0}, ?d)", "r(?a, ?b, {0}, {0})", "r({0}, ?b, {0}, ?d), r(?a, ?e, {0}, {0})"]

    def write() -> None:
        size = 1
        while size < 20_000:
            kb.insert("r", [(n % 1000, n % 1000, n % 1000, n) for n in range(size, size + size // 3 + 10)])
            size += size // 3 + 10
            if size % 2:
                kb.delete("r", [(n % 1000, n % 1000, n % 1000, n) for n in range(size - 5, size)])
                kb.insert("r", [(n % 1000, n % 1000, n % 1000, n) for n in range(size - 5, size)])

    def ask(number: int) -> None:
        random = Random(number)
        while not done.is_set():
            seen = kb.snapshot()
            size = len(seen.facts("r"))
            key = random.randrange(1000)
            expected = sum(1 for n in range(key, size, 1000))
            for text in random.sample(texts, 3):
                if text.startswith("r(?a, ?b, {0}, {0})") or "), r(" in text:
                    wanted = 1 if key < size and "), r(" not in text else expected if key < size else 0
                else:
                    wanted = expected
                assert len(seen.query(text.format(key))) == wanted, (text, key, size)

    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask, number) for number in range(3)]
        try:
            pool.submit(write).result()
        finally:
            done.set()
        for each in asking:
            each.result()
    assert kb.verify()


@pytest.mark.usefixtures("_hasty")
def test_threads_parse_at_the_same_time() -> None:
    kb = everlog.open()
    kb.insert("edge", [(n, n + 1) for n in range(9)])
    kb.sparql_update("INSERT DATA { <a:1> <a:p> 1, 2, 3 }")

    def ask(number: int) -> None:
        for n in range(4):
            own = f"{number}{n}"
            assert len(kb.query(f"SELECT ?y{own} {{ <a:1> <a:p> ?y{own} FILTER(?y{own} != 1{own}9) }}")) == 3
            assert len(kb.query(f"edge(?x{own}, ?y), ?y != 1{own}9, NOT edge(?y, ?x{own})")) == 9
            with pytest.raises(everlog.EverlogError):
                kb.query(f"SELECT ?y {{ <a:1> <a:p{own} ?y")
            with pytest.raises(everlog.EverlogError):
                kb.query(f"edge(?x{own}, ?y")

    in_threads(*(lambda number=number: ask(number) for number in range(4)))

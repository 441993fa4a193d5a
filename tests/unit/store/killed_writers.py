"""What happens to a folder whose writers are killed, one after the other, while they update it and write snapshots?

    python killed_writers.py FOLDER KILLS SEED

Each writer is a process that checks the state it finds, goes on with a stream of updates in which version `v` is always
the same, and says which versions it was told are safe, while a thread writes one snapshot after the other. It is killed
at some moment. Damage that one of them leaves is there for all after it.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import everlog
from everlog import KnowledgeBase
from everlog.store.history import HistoryLimits

RULES = """
path(?x, ?y) :- edge(?x, ?y).
path(?x, ?z) :- edge(?x, ?y), path(?y, ?z).
leaf(?x) :- path(?_1, ?x), NOT edge(?x, ?_2).
fan(?x, ?n) :- AGGREGATE(path(?x, ?y) ON ?x BIND COUNT(?y) AS ?n).
[?x, <http://e/to>, ?y] :- path(?x, ?y).
"""
BACK = "back: path(?y, ?x) :- mark(?x), edge(?x, ?y)."
VIEW = "SELECT ?x ?n WHERE { ?x <http://e/to> ?y . ?y <http://e/to> ?n } ORDER BY ?x ?n LIMIT 5"
STRATEGIES = ["choose", "counting", "ranked", "dred", "bf", "bf-counting", "rematerialise"]
RELATIONS = ["edge", "path", "mark", "word"]
Explicit = dict[str, set[tuple[Any, ...]]]
MOST_VERSIONS = 1_000_000


def step(kb: KnowledgeBase) -> int:
    """Make the next version, which depends on nothing but its number."""
    version = kb.version + 1
    if version == 1:
        return kb.add_rules(RULES).version
    if version % 13 == 2:
        if any(view.name == "near" for view in kb.views()):
            kb.drop_view("near")
        else:
            kb.view("near", VIEW)
        return version
    if version % 7 == 3:
        if any(rule.name == "back" for rule in kb.program.rules):
            return kb.remove_rules("back").version
        return kb.add_rules(BACK).version
    insert, delete = edits(version)
    strategy = random.Random(version).choice(STRATEGIES)
    return kb.update(insert=insert, delete=delete, strategy=strategy).version


def edits(version: int) -> tuple[Explicit, Explicit]:
    """The facts that a version inserts and deletes."""
    draw = random.Random(version)

    def pairs(most: int) -> set[tuple[Any, ...]]:
        return {(draw.randrange(9), draw.randrange(9)) for _ in range(draw.randrange(most))}

    delete = {"edge": pairs(6), "path": pairs(3), "mark": {(draw.randrange(9),)}}
    insert = {"edge": pairs(4), "path": pairs(2), "mark": {(draw.randrange(9),)}, "word": {(f"w{version % 500}",)}}
    return insert, delete


def expected(version: int) -> Explicit:
    """The explicit facts at a version."""
    found: Explicit = {name: set() for name in RELATIONS}
    for each in range(2, version + 1):
        if each % 13 != 2 and each % 7 != 3:
            insert, delete = edits(each)
            for name in RELATIONS:
                found[name] = (found[name] - delete.get(name, set())) | insert[name]
    return found


def explicit(kb: KnowledgeBase, name: str) -> set[tuple[Any, ...]]:
    state = kb.state()
    if name not in state.arities:
        return set()
    facts = state.facts.reader().collect(name, explicit=True)
    decode = state.dictionary.decode
    return {tuple(map(decode, fact)) for fact, _ in facts.facts()}


def check(kb: KnowledgeBase) -> None:
    """Is this the state of its version?"""
    wanted = expected(kb.version)
    for name in RELATIONS:
        assert explicit(kb, name) == wanted[name], f"version {kb.version}: {name}"
    verified = kb.verify()
    assert verified, str(verified)
    toggles = len([v for v in range(2, kb.version + 1) if v % 13 == 2])
    assert [view.name for view in kb.views()] == ["near"] * (toggles % 2)


def write(folder: Path, say: int) -> None:
    """Check what is there, then go on until somebody kills us."""
    kb = everlog.open(folder, history=HistoryLimits(updates=20))
    check(kb)
    os.write(say, f"open {kb.version}\n".encode())

    def snapshots() -> None:
        while True:
            kb.compact()
            time.sleep(random.random() * 0.02)

    threading.Thread(target=snapshots, daemon=True).start()
    for _ in range(MOST_VERSIONS):
        os.write(say, f"{step(kb)}\n".encode())


def one_life(folder: Path, seconds: float) -> tuple[int, int]:
    """The version that a writer found, and the last one that it was told is safe."""
    listen, say = os.pipe()
    child = os.fork()
    if not child:
        os.close(listen)
        try:
            write(folder, say)
        except BaseException as error:
            traceback.print_exc()
            os.write(say, f"failed {error!r}\n".encode())
            os._exit(1)
    os.close(say)
    heard = b""
    while b"\n" not in heard and (piece := os.read(listen, 1 << 16)):
        heard += piece
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while piece := os.read(listen, 1 << 16):
        heard += piece
    os.close(listen)
    lines = heard.decode().split("\n")[:-1]
    assert lines and not lines[-1].startswith("failed"), lines[-1:]
    found = int(lines[0].removeprefix("open "))
    return found, int(lines[-1]) if len(lines) > 1 else found


def main(folder: Path, kills: int, seed: int) -> None:
    draw = random.Random(seed)
    with everlog.open() as kb:  # compiled once, for all writers
        for _ in range(20):
            step(kb)
        check(kb)
    acknowledged = 0
    for life in range(kills):
        found, last = one_life(folder, draw.random() * 0.3)
        assert found in (acknowledged, acknowledged + 1), f"life {life}: {acknowledged} was safe, {found} was found"
        acknowledged = last
    with everlog.open(folder) as kb:
        check(kb)
        assert kb.version in (acknowledged, acknowledged + 1)
        print(kb.version)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))

"""Do updates of many threads that are applied at once come to the same as one by one?"""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import everlog
from everlog.errors import DataError
from everlog.store.gathering import Gathering
from everlog.store.updates import Update, update_of


def run(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def test_nothing_is_lost_and_every_update_has_a_version(tmp_path: Path) -> None:
    with everlog.open(tmp_path / "kb", coalesce=True) as kb:
        kb.add_rules("path(?x, ?y) :- edge(?x, ?y).   path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).")
        covered: dict[int, int] = {}

        def work(number: int) -> None:
            for step in range(20):
                change = kb.insert("edge", [(f"{number}-{step}", f"{number}-{step + 1}")])
                covered[change.version] = change.updates
                if step % 5 == 4:
                    change = kb.delete("edge", [(f"{number}-{step}", f"{number}-{step + 1}")])
                    covered[change.version] = change.updates

        run([threading.Thread(target=work, args=(number,)) for number in range(16)])
        assert kb.version == 1 + 16 * 24 == 1 + sum(covered.values())
        assert len(kb.facts("edge")) == 16 * 16
        assert kb.verify()
    with everlog.open(tmp_path / "kb", read_only=True) as kb:
        assert kb.version == 1 + 16 * 24 and kb.verify()


def test_an_error_is_that_of_the_update_that_caused_it() -> None:
    kb = everlog.open(coalesce=True)
    kb.insert("p", [(0, 0)])
    errors: list[str] = []

    def work(number: int) -> None:
        try:
            kb.insert("p", [(number,)] if number % 4 == 0 else [(number, number)])
        except DataError as error:
            errors.append(str(error))

    run([threading.Thread(target=work, args=(number,)) for number in range(32)])
    assert len(errors) == 8 and len(kb.facts("p")) == 1 + 24


def test_an_interrupt_leaves_nobody_waiting() -> None:
    begun, go_on = threading.Event(), threading.Event()
    calls: list[int] = []

    def apply(update: Update, covers: int) -> everlog.Change:
        calls.append(covers)
        begun.set()
        go_on.wait(30)
        raise KeyboardInterrupt

    gathering, ended = Gathering(apply), []

    def work() -> None:
        with pytest.raises(KeyboardInterrupt):
            gathering.update(update_of({"insert": [["p", 1]]}))
        ended.append(True)

    threads = [threading.Thread(target=work) for _ in range(5)]
    threads[0].start()
    assert begun.wait(30)
    for thread in threads[1:]:
        thread.start()
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert len(ended) == 5 and sum(calls) == 5

"""Is every command that may take long stopped when it is told to, with nothing half done?"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.conftest import Ended, Everlog
from tests.cli.test_no_traceback import ALL

from everlog.cli.deadlines import deadline

ENDLESS = "n(0).\nn(?y) :- n(?x), BIND(?x + 1 AS ?y).\n"
SHORT = {"compile", "pipeline stream", "pipeline show", "pipeline history", "pipeline changes", "pipeline vacuum"}


def stopped(ended: Ended, code: str) -> None:
    assert ended.code == 7 and f"error[{code}]" in ended.err, ended


@pytest.mark.parametrize("names", ALL, ids=" ".join)
def test_every_command_has_limits(names: tuple[str, ...]) -> None:
    options = {option for parameter in ALL[names].params for option in parameter.opts}
    assert "--timeout" in options or " ".join(names) in SHORT
    if names[0] not in ("pipeline", "compile"):
        assert {"--limit-rounds", "--limit-facts", "--limit-memory", "--limit-seconds"} <= options


def test_a_load_that_fails_leaves_no_knowledge_base(everlog: Everlog, folder: Path) -> None:
    (folder / "endless.dl").write_text(ENDLESS)
    (folder / "bad.csv").write_text("a\nb,c\n")
    (folder / "there").mkdir()
    for target in ("new", "deep/new", "there"):
        stopped(everlog("load", target, "endless.dl", "--limit-rounds", "20"), "L101")
        stopped(everlog("load", target, "endless.dl", "--limit-facts", "20"), "L102")
        stopped(everlog("load", target, "endless.dl", "--timeout", "0.3"), "L103")
        assert everlog("load", target, "bad.csv").code == 4
        assert everlog("import", target, "nowhere").code != 0
    assert not (folder / "new").exists() and not (folder / "deep").exists()
    assert list((folder / "there").iterdir()) == []
    assert everlog("load", "there", "path.dl", "edge.csv").code == 0
    stopped(everlog("load", "there", "endless.dl", "--limit-rounds", "20"), "L101")
    assert everlog("query", "there", "path(a, c)").out == "true\n"


@pytest.mark.slow
def test_each_kind_of_work_is_limited(everlog: Everlog, folder: Path) -> None:
    (folder / "endless.dl").write_text(ENDLESS)
    (folder / "endless.jsonl").write_text(json.dumps({"add_rules": ENDLESS}) + "\n")
    product = " ?x ?p ?y . ?z ?q ?w . ?v ?r ?u . ?a ?b ?c . ?d ?e ?f "
    everlog("load", "kb", "path.dl", "edge.csv")
    triples = " ".join(f"<http://e/{n}> <http://e/p> <http://e/{n + 1}> ." for n in range(60))
    assert everlog("update", "kb", f"INSERT DATA {{ {triples} }}").code == 0
    few, soon = ("--limit-facts", "500"), ("--timeout", "0.5")
    stopped(everlog("run", "endless.dl", "--count", *few), "L102")
    stopped(everlog("apply", "kb", "endless.jsonl", *few), "L102")
    stopped(everlog("rules", "add", "kb", "endless.dl", *few), "L102")
    stopped(everlog("verify", "endless.dl", *few), "L102")
    stopped(everlog("query", "kb", f"SELECT * {{ {product} }}", *soon), "L103")
    stopped(everlog("view", "add", "kb", "all", f"SELECT * {{ {product} }}", *soon), "L103")
    stopped(everlog("update", "kb", f"INSERT {{ ?x ?x ?f }} WHERE {{ {product} }}", *soon), "L103")
    stopped(everlog("shell", "kb", *few, stdin=ENDLESS), "L102")
    assert everlog("view", "list", "kb").out == "" and "n" not in everlog("rules", "list", "kb").out.split()


@pytest.mark.slow
def test_time_runs_while_a_command_waits_for_input(folder: Path) -> None:
    command = [sys.executable, "-m", "everlog", "run", "-", "--timeout", "0.5"]
    started = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder) as process:
        assert process.wait(30) == 7 and process.stderr is not None
        assert b"error[L103]: stopped after 0.5 s" in process.stderr.read()
    assert time.monotonic() - started < 30


def test_a_deadline_interrupts_and_says_so() -> None:
    with pytest.raises(KeyboardInterrupt), deadline(0.0) as passed:
        time.sleep(10)
    assert passed.is_set()
    with deadline(30) as passed:
        pass
    assert not passed.is_set()


def test_a_deadline_works_where_interrupts_are_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(KeyboardInterrupt), deadline(0.0):
            time.sleep(10)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)

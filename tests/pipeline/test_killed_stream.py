"""Does a stream whose process is killed again and again end in the tables of one that nobody disturbed?

Updates are drawn so that none may be lost, come twice or change places unseen: the same few facts come and go, rules
too, and every update is a version.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import everlog
from everlog.pipeline.settings import read_settings
from everlog.pipeline.stream import SET_ASIDE
from everlog.store.updates import read_updates
from everlog.tables.table_store import TableStore

ROOT = Path(__file__).parents[2]
RULES = "path(?x, ?y) :- edge(?x, ?y).  path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).\n"
REVERSE = "back: path(?x, ?y) :- edge(?y, ?x)."
PIPELINE = """
program = "rules.dl"
[stream]
folder = "updates"
trigger = "available-now"
[spark]
master = "local[1]"
"""


def drawn(files: int, seed: int) -> list[list[dict[str, Any]]]:
    """Files of one to three updates."""
    draw, rule = random.Random(seed), False
    found = []
    for _ in range(files):
        updates: list[dict[str, Any]] = []
        for _ in range(draw.randint(1, 3)):
            facts = [["edge", draw.randint(1, 9), draw.randint(1, 9)] for _ in range(4)]
            update: dict[str, Any] = {"insert": facts[:2], "delete": facts[2:]}
            if draw.random() < 0.1:
                update |= {"remove_rules": ["back"]} if rule else {"add_rules": REVERSE}
                rule = not rule
            updates.append(update)
        found.append(updates)
    return found


class Story:
    """A stream in a folder, files that land there, and a process that is killed."""

    def __init__(self, folder: Path, files: int, seed: int) -> None:
        self.folder, self.random, self.files = folder, random.Random(seed), drawn(files, seed)
        self.landed = 0
        (folder / "rules.dl").write_text(RULES, encoding="utf-8")
        (folder / "pipeline.toml").write_text(PIPELINE, encoding="utf-8")
        (folder / "updates").mkdir()
        kb = everlog.open()
        kb.add_rules(RULES)
        kb.insert("edge", [(1, 2)])
        self.settings = read_settings(folder / "pipeline.toml")
        kb.export(self.settings.tables, format="tables")
        self.store = TableStore(self.settings.tables)
        self.first = self.store.versions()[-1]

    def land(self, files: int) -> None:
        """Let the next files land, each a second younger than the one before."""
        for updates in self.files[self.landed : self.landed + files]:
            path = self.folder / "updates" / f"{self.random.randrange(1 << 40):x}.jsonl"
            text = "".join(json.dumps(update) + "\n" for update in updates)
            beside = path.with_name(f".{path.name}")
            beside.write_text(text, encoding="utf-8")
            os.utime(beside, (1_700_000_000 + self.landed,) * 2)
            beside.rename(path)
            self.landed += 1

    def start(self) -> subprocess.Popen[str]:
        program = "import sys; from everlog.cli.main import app; app(['pipeline', 'stream', sys.argv[1]])"
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        return subprocess.Popen(
            [sys.executable, "-c", program, str(self.folder / "pipeline.toml")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,  # so that Java dies too
        )

    def kill_after(self, updates: int) -> None:
        """Kill the stream at some moment after it has made so many versions more, unless it ends before."""
        process, wanted = self.start(), self.version() + updates
        while self.version() < wanted and process.poll() is None:
            time.sleep(0.01)
        time.sleep(self.random.random() * 0.1)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def version(self) -> int:
        return self.store.versions()[-1]

    def end(self) -> None:
        process = self.start()
        _, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors

    def check(self) -> None:
        expected = everlog.open()
        expected.add_rules(RULES)
        expected.insert("edge", [(1, 2)])
        whole = self.folder / "all.jsonl"
        updates = [update for some in self.files for update in some]
        whole.write_text("".join(json.dumps(update) + "\n" for update in updates), encoding="utf-8")
        for update in read_updates(whole):
            expected.apply(update)
        found = everlog.open(self.settings.tables, read_only=True)
        for relation in ("edge", "path"):
            assert set(found.facts(relation)) == set(expected.facts(relation))
        assert self.version() - self.first == len(updates), "each update is a version"
        assert not (Path(self.settings.tables) / SET_ASIDE).exists()
        assert found.verify()


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_stream_that_is_killed_three_times(tmp_path: Path) -> None:
    story = Story(tmp_path, files=24, seed=1)
    for updates in (5, 0, 9):
        story.land(8)
        story.kill_after(updates)
    story.end()
    story.check()


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.xdist_group("spark")
def test_a_stream_of_200_files_that_is_killed_20_times(tmp_path: Path) -> None:
    story = Story(tmp_path, files=200, seed=2)
    for _ in range(20):
        story.land(10)
        story.kill_after(story.random.randint(0, 18))
    story.end()
    story.check()

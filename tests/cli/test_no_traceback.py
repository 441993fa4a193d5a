"""Does any command show a traceback, whatever it is given?

Every command is called with every kind of bad input for its arguments, and for each option that takes a value. It may
do its work or refuse to; it may not fail in a way that nobody expected.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from tests.cli.conftest import PATHS, Ended, Everlog

from everlog.cli.main import app
from everlog.errors import InternalError

# What a user may name by mistake. Files and folders are made by `bad_things`.
BAD = (
    *("", " ", "nowhere", "nowhere/deep", "-1", "x=y", "é€", "\udcff", "a\0b", "SELECT", "p(", "p(?x) :- ", "INSERT {"),
    *(
        "folder",
        "empty.dl",
        "empty.csv",
        "empty.ttl",
        "empty.parquet",
        "empty.jsonl",
        "junk.dl",
        "junk.csv",
        "junk.ttl",
    ),
    *("junk.nt", "junk.parquet", "junk.arrow", "junk.jsonl", "junk.patch", "junk.csv.gz", "junk.toml", "latin.csv"),
    *("ragged.csv", "damaged", "halved", "kb", "/dev/null", "/proc/self/mem", "locked.csv", "x" * 5000),
)
NOT_HERE = {"bench"}  # they run for minutes, and are tested by themselves


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once: a knowledge base, and what looks like one."""
    import everlog

    folder = tmp_path_factory.mktemp("made")
    with everlog.open(folder / "kb") as kb:
        kb.add_rules(PATHS)
        kb.insert("edge", [("a", "b"), ("b", "c")])
        kb.view("v", "SELECT ?x { ?x ?p ?o }")
    for name, cut in (("damaged", None), ("halved", 30)):
        shutil.copytree(folder / "kb", folder / name)
        (log,) = (folder / name).glob("updates-*.log")
        data = bytearray(log.read_bytes())
        data[40] ^= 0xFF
        log.write_bytes(data[:cut])
    return folder


@pytest.fixture
def bad_things(made: Path, folder: Path) -> Path:
    shutil.copytree(made, folder, dirs_exist_ok=True)
    (folder / "folder").mkdir()
    for name in (each for each in BAD if each.startswith("empty.")):
        (folder / name).write_bytes(b"")
    for name in (each for each in BAD if each.startswith("junk.")):
        (folder / name).write_bytes(bytes(range(256)) * 5)
    (folder / "latin.csv").write_bytes("é,1\n".encode("latin-1"))
    (folder / "ragged.csv").write_text("a\nb,c\n")
    (folder / "locked.csv").write_text("a\n")
    (folder / "locked.csv").chmod(0)
    return folder


def commands(group: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if name in NOT_HERE and not names:
            continue
        if hasattr(command, "commands"):
            yield from commands(command, (*names, name))
        else:
            yield (*names, name), command


ALL = dict(commands(typer.main.get_command(app)))


def arguments_of(command: Any) -> list[Any]:
    return [each for each in command.params if each.param_type_name == "argument"]


def with_time(command: Any) -> list[str]:
    """An end for commands that would wait for more."""
    return ["--timeout", "0.3"] if any("--timeout" in each.opts for each in command.params) else []


def is_told(ended: Ended, *call: str) -> None:
    text = ended.out + ended.err
    assert "Traceback" not in text and InternalError.code not in text, (call, text)
    assert ended.code != InternalError.exit_code, (call, text)
    assert ended.code == 0 or text.strip(), (call, "failed in silence")


@pytest.mark.slow
@pytest.mark.parametrize("names", ALL, ids=" ".join)
def test_bad_arguments(names: tuple[str, ...], everlog: Everlog, bad_things: Path) -> None:
    command = ALL[names]
    arguments = arguments_of(command)
    for bad in BAD:
        call = [*names, *[bad] * max(1, len(arguments)), *with_time(command)]
        is_told(everlog(*call, stdin="\x00junk"), *call)
        if len(arguments) > 1:  # what comes after a knowledge base that is there
            shutil.rmtree("copy", ignore_errors=True)
            shutil.copytree("kb", "copy")
            call = [*names, "copy", *[bad] * (len(arguments) - 1), *with_time(command)]
            is_told(everlog(*call, stdin="\x00junk"), *call)


@pytest.mark.slow
@pytest.mark.parametrize("names", ALL, ids=" ".join)
def test_bad_options(names: tuple[str, ...], everlog: Everlog, bad_things: Path) -> None:
    command = ALL[names]
    good = {"run": ["path.dl"], "plan": ["path.dl"], "apply": ["kb", "empty.jsonl"], "facts": ["kb", "edge"]}
    given = good.get(names[-1], ["kb", *["v"] * (len(arguments_of(command)) - 1)])
    if any("--json" in each.opts for each in command.params):
        ended = everlog(*names, *["nowhere"] * max(1, len(arguments_of(command))), "--json", *with_time(command))
        if ended.code not in (0, 2):  # a call that is not understood is told by the one who reads it
            assert json.loads(ended.out)["code"], ended
    for option in command.params:
        if option.param_type_name == "option" and not option.is_flag:
            for bad in ("", "x", "\udcff", "folder", "nowhere/x", "junk.dl", "-1", "nan", "/proc/no/such"):
                call = [*names, *given, *with_time(command), option.opts[0], bad]
                is_told(everlog(*call, stdin=""), *call)


def process(*arguments: str, stdout: Any = subprocess.PIPE, **options: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "everlog", *arguments]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, timeout=60, **options)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("--help",), ("facts", "kb", "path"), ("facts", "kb", "path", "--json")])
def test_a_full_disk(arguments: tuple[str, ...], bad_things: Path) -> None:
    with open("/dev/full", "wb") as full:
        ended = process(*arguments, stdout=full)
    assert ended.returncode == 6
    assert ended.stderr.startswith(b"error[O100]: stdout: cannot be written (No space left on device)"), ended.stderr
    assert b"Traceback" not in ended.stderr and b"Exception ignored" not in ended.stderr


@pytest.mark.slow
def test_a_closed_stdout(bad_things: Path) -> None:
    ended = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m everlog facts kb path >&-"], stderr=subprocess.PIPE, timeout=60
    )
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.slow
def test_a_terminal_that_has_not_all_characters(bad_things: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bad_things / "names.dl").write_text('name("é").\nsaid(?x) :- name(?x).\n', encoding="utf-8")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    ended = process("run", "names.dl", "-q", "said(?x)")
    assert ended.returncode == 6
    assert b"its encoding, ascii, has no '\\xe9'" in ended.stderr and b"PYTHONIOENCODING" in ended.stderr


def test_what_nobody_expected(everlog: Everlog, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import everlog.store.program_files as program_files

    def broken(*_: object) -> None:
        raise KeyError("broken")

    monkeypatch.setattr(program_files, "read_program", broken)
    ended = everlog("run", "path.dl")
    assert ended.code == 70 and "error[E900]: KeyError: 'broken'" in ended.err and "EVERLOG_TRACEBACK=1" in ended.err
    monkeypatch.setenv("EVERLOG_TRACEBACK", "1")
    with pytest.raises(KeyError):
        everlog("run", "path.dl")

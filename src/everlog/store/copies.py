"""How does a knowledge base leave its folder: as a copy that opens, or as files that anybody can read?

A backup is a folder with a snapshot, made while updates go on. An export has the program as text and the explicit facts
as JSON lines; what is derived is derived again by whoever imports it.

    program.dl    rules and prefixes        facts.jsonl    ["edge", "a", "b"]        views.json    {"name": "SELECT …"}
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from everlog.errors import FormatError, NotFoundError, OutputError, UsageError
from everlog.facts.blocks import FactBlock
from everlog.formats.jsonl import json_of_key
from everlog.plans.flat_rules import is_auxiliary
from everlog.rules.printer import print_program
from everlog.rules.syntax import Program
from everlog.store.folders import Folder
from everlog.store.log import UpdateLog
from everlog.store.rows import Rows, column_names
from everlog.store.snapshots import KnownByRules, changed_prefixes, write_snapshot
from everlog.store.state import State
from everlog.store.view_queries import ViewQuery

PROGRAM, FACTS, VIEWS = "program.dl", "facts.jsonl", "views.json"


def backup(state: State, known: KnownByRules, path: Path) -> Path:
    """Write a state into a new folder, which can be opened."""
    if not state.facts.engine.capabilities.durable:
        raise UsageError(f"the engine {state.facts.engine.name} keeps nothing in a folder", hint="use columnar")
    folder = Folder(path)
    folder.make()
    if folder.exists():
        raise UsageError(f"{path} has a knowledge base already", hint="name a new folder")
    UpdateLog(folder.log(state.version), state.version).close()
    return write_snapshot_last(folder, state, known)


def write_snapshot_last(folder: Folder, state: State, known: KnownByRules) -> Path:
    """Write the snapshot of a folder that has all the rest: with it, the folder is whole."""
    path = folder.snapshot(state.version)
    try:
        write_snapshot(path, state, known)
    except BaseException:
        folder.log(state.version).unlink(missing_ok=True)
        raise
    return path


def export(state: State, path: Path) -> list[Path]:
    """Write program, explicit facts and views of a state as text files."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise UsageError(f"{path} is not empty", hint="name a new folder")
        declarations = tuple(state.definitions.declared.values())
        program = Program(rules=state.rules, prefixes=dict(state.prefixes), declarations=declarations)
        (path / PROGRAM).write_text(print_program(program), encoding="utf-8")
        reader = state.facts.reader()
        with open(path / FACTS, "w", encoding="utf-8") as file:
            for name, arity in state.arities.items():
                if not is_auxiliary(name):
                    facts = reader.collect(name, explicit=True)
                    keys = Rows(state.dictionary, column_names(arity), facts.columns, facts.rows).keys()
                    for row in zip(*keys, strict=True) if keys else [()] * facts.rows:
                        file.write(json.dumps([name, *map(json_of_key, row)], ensure_ascii=False) + "\n")
        views = {view.name: _with_prefixes(view, state) for view in state.views.values()}
        (path / VIEWS).write_text(json.dumps(views, indent=1))
    except (OSError, UnicodeEncodeError) as error:
        for name in (PROGRAM, FACTS, VIEWS):  # half an export is none
            with suppress(OSError):
                (path / name).unlink()
        if isinstance(error, UnicodeEncodeError):
            raise _not_text(path, error) from error
        raise OutputError(f"{path}: cannot be written ({error.strerror})", hint="choose another folder") from error
    return [path / name for name in (PROGRAM, FACTS, VIEWS)]


def _not_text(path: Path, error: UnicodeEncodeError) -> OutputError:
    return OutputError(
        f"{path}: {ascii(error.object[error.start])} in a text is half a surrogate pair, which no file can have",
        hint="delete or mend that fact; a backup keeps it as it is",
    )


def _with_prefixes(view: ViewQuery, state: State) -> str:
    """The text of a view that means the same with the prefixes of now."""
    prefixes = changed_prefixes(view.prefixes, state.prefixes)
    return "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in prefixes.items()) + view.text


def read_export(path: Path) -> tuple[Program, list[FactBlock], dict[str, str]]:
    """The program, the facts and the views of an export."""
    from everlog.formats.reading import read_facts
    from everlog.rules.parser import parse_program

    missing = [name for name in (PROGRAM, FACTS) if not (path / name).is_file()]
    if missing:
        raise NotFoundError(f"{path}: there is no {missing[0]}", hint="everlog export makes such a folder")
    program = parse_program(_text(path / PROGRAM), str(path / PROGRAM))
    views: dict[str, str] = {}
    if (path / VIEWS).is_file():
        try:
            views = json.loads(_text(path / VIEWS))
        except ValueError as error:
            raise FormatError(f"this is not JSON ({error})", path=str(path / VIEWS)) from error
        if not isinstance(views, dict) or not all(isinstance(text, str) for text in views.values()):
            raise FormatError("this is no object of names and texts", path=str(path / VIEWS))
    return program, list(read_facts(path / FACTS)), views


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"cannot be read ({error})", path=str(path)) from error

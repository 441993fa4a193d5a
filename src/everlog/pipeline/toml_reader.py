"""What is wrong with a TOML file: not TOML, unknown keys, values of the wrong kind, keys that are missing?

A `TomlReader` knows nothing of pipelines: it is given the allowed keys, and collects a diagnostic with its place for
every problem.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from everlog.errors import FormatError, NotFoundError, ProgramError
from everlog.formats.compression import check_readable
from everlog.pipeline.toml_places import Places
from everlog.rules.diagnostics import Diagnostic, SourceText, Span

TEXT, FLAG, SHARE, TEXTS = "a string", "true or false", "a number from 0 to 1", "a list of strings"


class SettingsError(ProgramError):
    """Settings with problems, in them or in the program that they name."""

    code = "P100"


def read_toml(path: Path) -> tuple[SourceText, dict[str, Any]]:
    """A file's text and its content as data.

    Raises:
        NotFoundError: there is no such file.
        FormatError: it is no text.
        SettingsError: it is not TOML.
    """
    check_readable(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError("this is not UTF-8 text", path=str(path), hint="save the file as UTF-8") from error
    except OSError as error:
        raise NotFoundError(f"{path}: cannot be read ({error.strerror})", hint=f"try: chmod u+r {path}") from error
    source = SourceText(str(path), text)
    try:
        return source, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError([_not_toml(source, error)]) from None


class TomlReader:
    """One reading of a file; collects problems as it goes.

    Attributes:
        keys: for each kind of table (`""` for what has no header), its keys and what each must be.
        needed: for each kind, the keys that must be there.
        examples: how keys are written, for help.
    """

    keys: Mapping[str, Mapping[str, str]]
    needed: Mapping[str, tuple[str, ...]]
    examples: Mapping[str, str]

    def __init__(self, source: SourceText, data: dict[str, Any]) -> None:
        self.data = data
        self.places = Places(source)
        self.problems: list[Diagnostic] = []
        self._start = Span(source, 0, len(source.line(1)))

    def report(self, code: str, message: str, span: Span | None, *notes: str, help: str | None = None) -> None:
        self.problems.append(Diagnostic(code, message, span or self._start, notes, help))

    def tables(self, section: str) -> list[dict[str, Any]]:
        found = self.data.get(section, [])
        if isinstance(found, list) and all(isinstance(each, dict) for each in found):
            return found
        self.report(
            "P103", f"{section} is not a list of tables", self.places.header(section, 0), help=f"write [[{section}]]"
        )
        return [found] if isinstance(found, dict) else []

    def table(self, section: str, number: int, data: dict[str, Any]) -> dict[str, Any]:
        """The keys of a table that are valid."""
        kinds = self.keys[section]
        good = {}
        for key, value in data.items():
            if key not in kinds:
                choices = list(kinds) if section else [*kinds, *(name for name in self.keys if name)]
                near = get_close_matches(key, choices, n=1)
                where = f"in [[{section}]]" if section else "here"
                self.report(
                    "P102",
                    f"there is no setting {key!r} {where}",
                    self.places.key(section, number, key) or self.places.header(key, 0),
                    f"the settings are {', '.join(choices)}",
                    help=f"did you mean {near[0]}?" if near else None,
                )
            elif not _is(value, kinds[key]):
                self.report(
                    "P103",
                    f"{key} must be {kinds[key]}, not {named(value)}",
                    self.places.value(section, number, key),
                    help=self.examples.get(key),
                )
            else:
                good[key] = value
        for key in self.needed[section]:
            if key not in data:
                where = f"this [[{section}]]" if section else "the file"
                self.report(
                    "P104",
                    f"{where} has no {key}",
                    self.places.header(section, number) if section else None,
                    help=f"add: {self.examples.get(key, key)}",
                )
        return good


def _is(value: Any, kind: str) -> bool:
    if kind == TEXT:
        return isinstance(value, str) and value != ""
    if kind == FLAG:
        return isinstance(value, bool)
    if kind == SHARE:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def named(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    return ("true" if value else "false") if isinstance(value, bool) else repr(value)


def flat(data: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Nested tables as dotted keys: TOML reads a dotted key that is not quoted as tables inside tables."""
    for key, value in data.items():
        if isinstance(value, dict):
            yield from flat(value, f"{before}{key}.")
        else:
            yield before + key, value


def _not_toml(source: SourceText, error: tomllib.TOMLDecodeError) -> Diagnostic:
    found = re.search(r"^(.*?) \(at (?:line (\d+), column (\d+)|end of document)\)", str(error))
    span, reason = None, str(error)
    if found:
        reason = found[1]
        place = source.line_starts[int(found[2]) - 1] + int(found[3]) - 1 if found[2] else len(source.text)
        span = Span(source, place, place + 1)
    return Diagnostic("P101", f"this is not TOML: {reason}", span, help='settings are written name = "value"')

"""What is wrong with a TOML file: not TOML, unknown keys, values of the wrong kind, keys that are missing?

A `TomlReader` knows nothing of pipelines: it is given the allowed keys, and collects a diagnostic with its place for
every problem.
"""

from __future__ import annotations

import math
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
ANY_TEXT = "a string, an empty one too"
COUNT, SECONDS = "a whole number above 0", "a number of seconds above 0"
SIZE = 'a size such as "2 GB"'
TRIGGER = '"available-now" or a number of seconds above 0'

Kind = str | tuple[str, ...]  # one of the above, or the texts to choose from

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)


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
        once: the kinds of which there is one at most: `[limits]`, not `[[limits]]`.
        examples: how keys are written, for help.
    """

    keys: Mapping[str, Mapping[str, Kind]]
    once: tuple[str, ...] = ()
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

    def one_table(self, section: str) -> dict[str, Any]:
        """The valid keys of a table that is there once, or not at all."""
        found = self.data.get(section, {})
        if isinstance(found, dict):
            return self.table(section, 0, found)
        what = self.places.header(section, 0) or self.places.key("", 0, section)
        self.report("P103", f"{section} is not a table", what, help=f"write [{section}]")
        return {}

    def _header(self, section: str) -> str:
        return f"[{section}]" if section in self.once else f"[[{section}]]"

    def table(self, section: str, number: int, data: dict[str, Any]) -> dict[str, Any]:
        """The keys of a table that are valid."""
        kinds = self.keys[section]
        good = {}
        for key, value in data.items():
            if key not in kinds:
                choices = list(kinds) if section else [*kinds, *(name for name in self.keys if name)]
                near = get_close_matches(key, choices, n=1)
                where = f"in {self._header(section)}" if section else "here"
                self.report(
                    "P102",
                    f"there is no setting {key!r} {where}",
                    self.places.key(section, number, key) or self.places.header(key, 0),
                    f"the settings are {', '.join(choices)}",
                    help=f"did you mean {near[0]}?" if near else None,
                )
            elif not _is(value, kinds[key]):
                near = get_close_matches(str(value), kinds[key], n=1) if isinstance(kinds[key], tuple) else []
                self.report(
                    "P103",
                    f"{key} must be {_told(kinds[key])}, not {named(value)}",
                    self.places.value(section, number, key),
                    help=f'did you mean "{near[0]}"?' if near else self.examples.get(key),
                )
            else:
                good[key] = value
        for key in self.needed.get(section, ()):
            if key not in data:
                where = f"this {self._header(section)}" if section else "the file"
                self.report(
                    "P104",
                    f"{where} has no {key}",
                    self.places.header(section, number) if section else None,
                    help=f"add: {self.examples.get(key, key)}",
                )
        return good


def _is(value: Any, kind: Kind) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(kind, tuple):
        return value in kind
    if kind == TEXT:
        return isinstance(value, str) and value != ""
    if kind == ANY_TEXT:
        return isinstance(value, str)
    if kind == FLAG:
        return isinstance(value, bool)
    if kind == SHARE:
        return number and 0 <= value <= 1
    if kind == COUNT:
        return number and isinstance(value, int) and value > 0
    if kind == SECONDS:
        return number and 0 < value < math.inf
    if kind == TRIGGER:
        return value == "available-now" or (number and 0 < value < math.inf)
    if kind == SIZE:
        return isinstance(value, str) and (read_size(value) or 0) > 0
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _told(kind: Kind) -> str:
    if isinstance(kind, str):
        return kind
    *others, last = (f'"{each}"' for each in kind)
    return f"{', '.join(others)} or {last}"


def read_size(text: str) -> int | None:
    """A number of bytes, or None where the text says none.

    >>> read_size("2 GB"), read_size("512 MiB"), read_size("much")
    (2000000000, 536870912, None)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    step = 1024 if found[3] else 1000
    return int(float(found[1]) * step ** " kmgt".index(found[2].lower() or " "))


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

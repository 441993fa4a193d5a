"""How is an update written as a line of JSON?

    {"insert": [["edge", "a", "b"]], "delete": [["edge", "b", "c"]], "add_rules": "…", "remove_rules": ["r7"]}

Every part may be left out. Facts and terms are written as in jsonl.py; a blank node's label is the one that it has in
the knowledge base.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from everlog.errors import DataError, FormatError
from everlog.facts.terms import Term, term_of
from everlog.formats.compression import packed_by_mistake
from everlog.formats.jsonl import FACT_EXAMPLE, decode_json, key_of_json
from everlog.formats.update_files import FactRows, WrittenUpdate

_PARTS = ("insert", "delete", "add_rules", "remove_rules")
_EXAMPLE = 'an update is an object such as {"insert": [["edge", "a", "b"]], "delete": [["edge", "b", "c"]]}'
_PLAIN = frozenset((str, int, float, bool))  # JSON values that are the terms they look like


def read_update_lines(stream: BinaryIO, *, path: str) -> Iterator[WrittenUpdate]:
    """An update for each line that is not blank."""
    for number, line in enumerate(stream, 1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.strip():
            yield _update(line, path, number)


def _update(line: bytes, path: str, number: int) -> WrittenUpdate:
    try:
        text = line.decode()
        said = decode_json(text)
    except UnicodeDecodeError as error:
        hint = packed_by_mistake(line) if number == 1 else None
        raise FormatError(f"this is not UTF-8 ({error.reason})", path=path, line=number, hint=hint) from error
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"this is not JSON ({error}): {text.strip()[:80]}", path=path, line=number, hint=_EXAMPLE
        ) from error
    if not isinstance(said, dict):
        raise DataError(f"not an update: {json.dumps(said)[:80]}", path=path, line=number, hint=_EXAMPLE)
    for part in said:
        if part not in _PARTS:
            near = difflib.get_close_matches(part, _PARTS, n=1)
            raise DataError(
                f"{part!r} is no part of an update; its parts are {', '.join(_PARTS)}",
                path=path,
                line=number,
                hint=f"did you mean {near[0]!r}?" if near else None,
            )
    try:
        return WrittenUpdate(
            number,
            _facts(said, "insert", escapes="\\u" in text),
            _facts(said, "delete", escapes="\\u" in text),
            _rules(said.get("add_rules")),
            _names(said.get("remove_rules", [])),
        )
    except DataError as error:
        error.stands_at(path, number)
        raise


def _facts(said: dict[str, Any], part: str, *, escapes: bool) -> FactRows:
    facts = said.get(part, [])
    if not isinstance(facts, list):
        raise DataError(f"{part} is a list of facts", hint=f'write "{part}": [["edge", "a", "b"]]')
    rows: dict[str, list[tuple[Term, ...]]] = {}
    for place, fact in enumerate(facts, 1):
        if not isinstance(fact, list) or not fact or not isinstance(fact[0], str) or not fact[0]:
            raise DataError(f"{part}, fact {place}: not a fact: {json.dumps(fact)[:80]}", hint=FACT_EXAMPLE)
        terms = tuple(
            value if type(value) in _PLAIN else _term(value, part, place, argument)
            for argument, value in enumerate(fact[1:], 1)
        )
        if escapes:
            _check_characters(fact, part, place)
        rows.setdefault(fact[0], []).append(terms)
    return rows


def _term(value: Any, part: str, fact: int, argument: int) -> Term:
    try:
        return term_of(key_of_json(value))
    except ValueError as error:
        message, _, hint = str(error).partition("; ")
        raise DataError(f"{part}, fact {fact}, argument {argument}: {message}", hint=hint or None) from None


def _check_characters(fact: list[Any], part: str, place: int) -> None:
    """An escape may name half a surrogate pair, which no text can hold."""
    try:
        json.dumps(fact, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise DataError(f"{part}, fact {place}: half a surrogate pair is not a character") from None


def _rules(text: Any) -> str | None:
    if text is None or isinstance(text, str):
        return text
    raise DataError("add_rules is a text of rules", hint='write "add_rules": "path(?x, ?y) :- edge(?x, ?y)."')


def _names(names: Any) -> tuple[str, ...]:
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return tuple(names)
    raise DataError("remove_rules is a list of rule names", hint='write "remove_rules": ["r1"]')

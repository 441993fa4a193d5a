"""Which updates do the rows of a batch come to, in which order?"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from everlog.errors import DataError, EverlogError
from everlog.facts.terms import IRI, Term
from everlog.formats.update_lines import read_update_lines
from everlog.rules.parser import parse_program
from everlog.rules.syntax import Constant
from everlog.store.updates import Update

OPERATIONS = ("insert", "delete", "add_rules", "remove_rules", "drop")
Said = tuple[str | None, Update | None]

_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_WORD = re.compile(r"[a-z][a-z0-9_]*")
_IRI = re.compile(r'<[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*>')
_WORDS_THAT_MEAN = frozenset(("true", "false"))


class Message(NamedTuple):
    """A row of the input."""

    key: str | None
    sequence: int | None
    update: str | None
    op: str | None
    relation: str | None
    terms: Sequence[str] | None


def in_order(messages: Iterable[Message]) -> tuple[list[Said], list[tuple[str | None, EverlogError]]]:
    """Updates with their keys, in the order of their numbers; and rows that are none, with what is wrong with them."""
    listed = list(messages)
    if any(message.sequence is not None for message in listed):
        listed.sort(key=lambda message: (message.sequence is None, message.sequence or 0))  # stable: else as they came
    updates: list[Said] = []
    wrong: list[tuple[str | None, EverlogError]] = []
    for (number, key), rows in _runs(listed):
        try:
            if number is None:
                updates += [(key, _update([row])) for row in rows]
            else:
                updates.append((key, _update(rows)))
        except EverlogError as error:
            wrong.append((key, error))
    return updates, wrong


def _runs(listed: Sequence[Message]) -> Iterable[tuple[tuple[int | None, str | None], list[Message]]]:
    """Rows that are one update: with the same number and the same key; others are alone."""
    for number, rows in groupby(listed, key=lambda message: message.sequence):
        by_key: dict[str | None, list[Message]] = {}
        for row in rows:
            if number is None:
                yield (None, row.key), [row]
            else:
                by_key.setdefault(row.key, []).append(row)
        for key, same in by_key.items():
            yield (number, key), same


def _update(rows: Sequence[Message]) -> Update | None:
    """One update for rows that belong together; None lets the key go."""
    insert: dict[str, list[tuple[Term, ...]]] = {}
    delete: dict[str, list[tuple[Term, ...]]] = {}
    rules: list[str] = []
    gone: list[str] = []
    for row in rows:
        if row.op is None:
            if row.update is None:
                _check_alone(rows)
                return None
            _add_line(row.update, insert, delete, rules, gone)
        elif row.op in ("insert", "delete"):
            if not row.relation:
                raise DataError(f"a row with op {row.op} names no relation")
            facts = insert if row.op == "insert" else delete
            facts.setdefault(row.relation, []).append(tuple(map(term_from_text, row.terms or ())))
        elif row.op == "add_rules":
            rules += row.terms or ()
        elif row.op == "remove_rules":
            gone += row.terms or ()
        elif row.op == "drop":
            _check_alone(rows)
            return None
        else:
            raise DataError(f"there is no op {row.op!r}", hint=f"ops: {', '.join(OPERATIONS)}")
    return Update(insert, delete, "\n".join(rules) if rules else None, tuple(gone))


def _check_alone(rows: Sequence[Message]) -> None:
    if len(rows) > 1:
        raise DataError("a row that lets a key go stands alone", hint="give it a sequence number of its own")


def _add_line(
    text: str,
    insert: dict[str, list[tuple[Term, ...]]],
    delete: dict[str, list[tuple[Term, ...]]],
    rules: list[str],
    gone: list[str],
) -> None:
    for written in read_update_lines(io.BytesIO(text.encode()), path="<update>"):
        for facts, found in ((written.insert, insert), (written.delete, delete)):
            for relation, listed in facts.items():
                found.setdefault(relation, []).extend(listed)
        rules += [written.add_rules] if written.add_rules is not None else []
        gone += written.remove_rules


@lru_cache(1 << 16)
def term_from_text(text: str) -> Term:
    """The term that a text stands for, as rules write it.

    >>> term_from_text("a"), term_from_text("42"), term_from_text('"New York"'), term_from_text("<http://ex.org/a>")
    ('a', 42, 'New York', IRI(value='http://ex.org/a'))
    """
    if _INTEGER.fullmatch(text):
        return int(text)
    if _WORD.fullmatch(text) and text not in _WORDS_THAT_MEAN:
        return text
    if _IRI.fullmatch(text):
        return IRI(text[1:-1])
    try:
        program = parse_program(f"t({text}).", "<term>")
        [fact] = program.facts
        [argument] = fact.args
        assert isinstance(argument, Constant)
        return argument.term
    except (EverlogError, ValueError, AssertionError) as error:
        raise DataError(
            f"{text!r} is no term as rules write it", hint='write a, "New York", 42, 2.5 or <http://ex.org/a>'
        ) from error

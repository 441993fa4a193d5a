"""Which terms do the text fields of a table stand for, once its columns have types?

    any (the usual)             what the text looks like:
                                    42 -7                       integer; 007 and +49 stay strings
                                    2.5 -.5                     decimal
                                    1e6 2.5E-3                  double
                                    true False TRUE             boolean
                                    2024-05-31                  date
                                    2024-05-31T12:30:00Z        dateTime, also with a blank for the T
                                    12:30:00                    time
                                    <http://example.org/a>      IRI
                                    anything else               string
    string                      the text itself
    integer, decimal, double, boolean, date, dateTime, time       the value, whatever its way of writing
    iri                         an absolute IRI, in angle brackets or bare

Columns of strings and of 64-bit integers stay Arrow values; everything else becomes term keys, found once for each
distinct text.
"""

from __future__ import annotations

import datetime as dt
import difflib
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from everlog.errors import UsageError
from everlog.facts.arrays import keys_of_values
from everlog.facts.terms import IRI, Term, key_of


class WrongField(Exception):
    """A text that is not of its column's type; the row and the column count from 0 and 1."""

    def __init__(self, row: int, column: int, text: str, type_: str) -> None:
        self.row, self.column, self.text = row, column, text
        self.expected, self.hint = _EXPECTED[type_]


def check_types(types: Sequence[str]) -> None:
    """Raise for the name of a type that does not exist."""
    for type_ in types:
        if type_ not in READERS:
            near = difflib.get_close_matches(type_, READERS, n=1)
            raise UsageError(
                f"there is no column type {type_!r}; there are {', '.join(READERS)}",
                hint=f"did you mean {near[0]!r}?" if near else None,
            )


def typed_columns(
    texts: Sequence[pa.Array], types: Sequence[str] | None
) -> tuple[tuple[pa.Array, ...], Literal["values", "keys"]]:
    """Columns of text as columns of values, or of keys where one of them needs keys; null is read as "".

    Without types every column is `any`.
    """
    columns: list[pa.Array] = []
    keyed = []
    for place, text in enumerate(texts):
        column, form = _typed(text, "any" if types is None else types[place], place + 1)
        columns.append(column)
        keyed.append(form == "keys")
    if not any(keyed):
        return tuple(columns), "values"
    pairs = zip(columns, keyed, strict=True)
    return tuple(column if done else keys_of_values(column) for column, done in pairs), "keys"


def _typed(texts: pa.Array, type_: str, column: int) -> tuple[pa.Array, Literal["values", "keys"]]:
    if type_ == "string":
        return texts.fill_null(""), "values"
    if texts.null_count:
        there = texts.is_valid()
        found, form = _typed(texts.filter(there), type_, column)
        keys = found if form == "keys" else keys_of_values(found)
        return pc.replace_with_mask(pa.repeat('"', len(texts)), there, keys), "keys"
    if type_ in ("integer", "any"):
        integers = _small_integers(texts, r"^-?[0-9]+$" if type_ == "integer" else r"^(0|-?[1-9][0-9]*)$")
        if integers is not None:
            return integers, "values"
    if type_ == "any" and not pc.any(pc.match_substring_regex(texts, f"^(?:{MAYBE_NO_STRING})"), min_count=0).as_py():
        return texts, "values"
    return _keys(texts, type_, column), "keys"


def _small_integers(texts: pa.Array, written: str) -> pa.Array | None:
    # Arrow would also take 0x10 for a number.
    if not pc.all(pc.match_substring_regex(texts, written), min_count=0).as_py():
        return None
    try:
        return texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return None  # beyond 64 bits


def _keys(texts: pa.Array, type_: str, column: int) -> pa.Array:
    distinct = texts.dictionary_encode()
    read = READERS[type_]
    keys: list[str] = []
    for place, text in enumerate(distinct.dictionary.to_pylist()):
        try:
            keys.append(key_of(read(text)))
        except (ValueError, ArithmeticError):
            row = pc.index(distinct.indices, place).as_py()
            raise WrongField(row, column, text, type_) from None
    # Two texts may say one term ("7", "07"), so these are not the values of a dictionary array.
    return pa.array(keys, pa.string()).take(distinct.indices)


def _text(text: str) -> Term:
    return text


def _integer(text: str) -> Term:
    return int(_matching(_INTEGER, text))


def _decimal(text: str) -> Term:
    return Decimal(_matching(_DECIMAL, text))


def _double(text: str) -> Term:
    return float(_matching(_DOUBLE, text).replace("INF", "inf"))


def _boolean(text: str) -> Term:
    return _matching(_BOOLEAN, text).lower() in ("true", "1")


def _date(text: str) -> Term:
    return dt.date.fromisoformat(_matching(_DATE, text))


def _date_time(text: str) -> Term:
    return dt.datetime.fromisoformat(_matching(_DATE_TIME, text))


def _time(text: str) -> Term:
    return dt.time.fromisoformat(_matching(_TIME, text))


def _iri(text: str) -> Term:
    return IRI(_matching(_BRACKETED if text.startswith("<") else _BARE, text).strip("<>"))


def _any(text: str) -> Term:
    found = _LOOKS.fullmatch(text)
    if found is None:
        return text
    try:
        term = READERS[str(found.lastgroup)](text)
    except (ValueError, ArithmeticError):
        return text  # 2024-02-30, or a number of thousands of digits
    return text if isinstance(term, float) and math.isinf(term) else term


def _matching(pattern: re.Pattern[str], text: str) -> str:
    if not pattern.fullmatch(text):
        raise ValueError(text)
    return text


_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|-?INF|NaN")
_TRUTH = "true|false|True|False|TRUE|FALSE"
_BOOLEAN = re.compile(_TRUTH + "|1|0")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CLOCK = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:[0-9]{2})?"
_TIME = re.compile(_CLOCK)
_DATE_TIME = re.compile(_DATE.pattern + "[T ]" + _CLOCK)
_BARE = re.compile(r'[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*')
_BRACKETED = re.compile(f"<{_BARE.pattern}>")

# What a field of a column of type `any` looks like. A sign +, and zeros before other digits, are not for numbers: phone
# numbers, postcodes and article numbers have them.
_WHOLE = "-?(?:0|[1-9][0-9]*)"
_LOOKS = re.compile(
    rf"(?P<integer>{_WHOLE})"
    rf"|(?P<decimal>{_WHOLE}\.[0-9]+|-?\.[0-9]+)"
    rf"|(?P<double>(?:{_WHOLE}(?:\.[0-9]*)?|-?\.[0-9]+)[eE][+-]?[0-9]+)"
    rf"|(?P<boolean>{_TRUTH})"
    rf"|(?P<date>{_DATE.pattern})"
    rf"|(?P<dateTime>{_DATE_TIME.pattern})"
    rf"|(?P<time>{_CLOCK})"
    rf"|(?P<iri>{_BRACKETED.pattern})"
)
MAYBE_NO_STRING = f"[-.<0-9]|(?:{_TRUTH})$"  # how all of them begin, for columns at a time

READERS: dict[str, Callable[[str], Term]] = {
    "string": _text,
    "integer": _integer,
    "decimal": _decimal,
    "double": _double,
    "boolean": _boolean,
    "date": _date,
    "dateTime": _date_time,
    "time": _time,
    "iri": _iri,
    "any": _any,
}

_EXPECTED: dict[str, tuple[str, Any]] = {
    "integer": ("an integer", "an integer looks like 42 or -7"),
    "decimal": ("a decimal", "a decimal looks like 2.5"),
    "double": ("a double", "a double looks like 2.5, 1e6, INF or NaN"),
    "boolean": ("a boolean", "a boolean is true or false, 1 or 0"),
    "date": ("a date", "a date looks like 2024-05-31"),
    "dateTime": ("a date and time", "a dateTime looks like 2024-05-31T12:30:00Z"),
    "time": ("a time", "a time looks like 12:30:00"),
    "iri": ("an absolute IRI", "an IRI looks like http://example.org/a, with or without <>"),
}

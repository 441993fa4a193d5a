"""Which strings does an XPath regular expression match, and what replaces the matches?

XPath's patterns are nearly Python's. They are read once and written in Python's syntax, so that what only Python
understands (look-around, named groups, `\\b`, possessive quantifiers) is refused, `$` is the very end, and the flags
`x` and `q` mean what XPath says. Known gaps: classes with a subtraction (`[a-z-[aeiou]]`) and blocks (`\\p{IsGreek}`)
are errors, and a pattern that backtracks exponentially takes its time.

>>> matches("Alice", "^ali", "i"), replace("abracadabra", "a(.)", "a$1$1")
(True, 'abbraccaddabbra')
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache

from everlog.expressions.strings import plain_string_of, string_of, with_language
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import Term

_FLAGS = {"s": re.DOTALL, "m": re.MULTILINE, "i": re.IGNORECASE}
_SAME_ESCAPES = frozenset("nrtdDsSwW\\|.?*+(){}-[]^$")  # these mean the same in both languages
# Name characters of XML, close enough in Python's terms.
_NAME_ESCAPES = {"i": r"[^\W\d]|:", "c": r"[\w.:·-]", "I": r"(?!:)[\W\d]", "C": r"[^\w.:·-]"}
_CATEGORY = re.compile(r"\{(\^?)([A-Z][a-z]?)\}")


def matches(term: Term, pattern: Term, flags: Term = "") -> Term:
    """SPARQL's REGEX."""
    text, _ = string_of(term)
    return compiled(plain_string_of(pattern), plain_string_of(flags)).search(text) is not None


def replace(term: Term, pattern: Term, replacement: Term, flags: Term = "") -> Term:
    """SPARQL's REPLACE; the replacement may name groups as `$1`, and `\\$` is a dollar."""
    text, language = string_of(term)
    flag_text = plain_string_of(flags)
    regex = compiled(plain_string_of(pattern), flag_text)
    if regex.search("") is not None:
        raise ExpressionError("the pattern matches the empty string, so there is nothing definite to replace")
    with_what = plain_string_of(replacement)
    parts: list[str | int] = [with_what] if "q" in flag_text else _replacement_parts(with_what, regex.groups)

    def expand(match: re.Match[str]) -> str:
        return "".join(part if isinstance(part, str) else (match.group(part) or "") for part in parts)

    return with_language(regex.sub(expand, text), language)


@lru_cache(maxsize=512)
def compiled(pattern: str, flags: str) -> re.Pattern[str]:
    """A pattern of XPath as one of Python's, or an error."""
    options = 0
    for flag in flags:
        if flag not in "smixq":
            raise ExpressionError(f"{flag!r} is not a flag; flags are s, m, i, x and q")
        options |= _FLAGS.get(flag, 0)
    try:
        if "q" in flags:
            return re.compile(re.escape(pattern), options)
        return re.compile(_translate(pattern, "x" in flags, "m" in flags), options)
    except (re.error, OverflowError, RecursionError) as error:
        raise ExpressionError(f"{pattern!r} is not a regular expression: {error}") from None


def _translate(pattern: str, extended: bool, multiline: bool) -> str:
    if extended:
        pattern = _without_spaces(pattern)
    out: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            text, at = _escape(pattern, at, in_class=False)
            out.append(text)
        elif char == "[":
            text, at = _class(pattern, at)
            out.append(text)
        elif char == "(":
            if pattern.startswith("(?", at) and not pattern.startswith("(?:", at):
                raise ExpressionError("groups are ( ) or (?: )")
            width = 3 if pattern.startswith("(?:", at) else 1
            out.append(pattern[at : at + width])
            at += width
        elif char in "*+?}" and pattern[at + 1 : at + 2] == "+":
            raise ExpressionError(f"{char}+ is not a quantifier")
        elif char == "$":
            out.append("$" if multiline else r"\Z")
            at += 1
        else:
            out.append(char)
            at += 1
    return "".join(out)


def _without_spaces(pattern: str) -> str:
    """Flag x: white space outside classes does not count."""
    out: list[str] = []
    depth, escaped = 0, False
    for char in pattern:
        if char in " \t\n\r" and not depth:
            continue
        out.append(char)
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char in "[]":
            depth = max(0, depth + (1 if char == "[" else -1))
    return "".join(out)


def _escape(pattern: str, at: int, in_class: bool) -> tuple[str, int]:
    """An escape that begins at `at` in Python's syntax, and where it ends."""
    name = pattern[at + 1 : at + 2]
    if name in _SAME_ESCAPES and name:
        return "\\" + name, at + 2
    if name in ("p", "P"):
        match = _CATEGORY.match(pattern, at + 2)
        if match is None:
            raise ExpressionError(r"\p is followed by a category in braces, as \p{L}")
        ranges = _category_ranges(match[2])
        negated = (match[1] == "^") != (name == "P")
        if in_class and negated:
            raise ExpressionError(r"\P inside a class is not supported")
        return (ranges if in_class else f"[{'^' if negated else ''}{ranges}]"), match.end()
    if name in _NAME_ESCAPES and not in_class and name:
        return f"(?:{_NAME_ESCAPES[name]})", at + 2
    if name.isdecimal() and name.isascii() and name != "0" and not in_class:
        return f"(?:\\{name})", at + 2  # a back-reference; the group keeps following digits out of it
    raise ExpressionError(f"\\{name} is not an escape")


def _class(pattern: str, at: int) -> tuple[str, int]:
    """A character class that begins at `at` in Python's syntax, and where it ends."""
    out = ["["]
    at += 1
    if pattern[at : at + 1] == "^":
        out.append("^")
        at += 1
    first = True
    while at < len(pattern):
        char = pattern[at]
        if char == "]" and not first:
            return "".join([*out, "]"]), at + 1
        if char == "[":
            raise ExpressionError("[ inside a class is written \\[; subtraction is not supported")
        if char == "\\":
            text, at = _escape(pattern, at, in_class=True)
            out.append(text)
        elif char == "-":
            ranging = not first and out[-1] != "-" and pattern[at + 1 : at + 2] not in ("]", "")
            out.append("-" if ranging else r"\-")
            at += 1
        else:
            out.append(re.escape(char))  # `&&`, `~~` and `||` are reserved by Python
            at += 1
        first = False
    raise ExpressionError("a class is not closed")


@lru_cache(maxsize=64)
def _category_ranges(category: str) -> str:
    """The characters of a Unicode category (`L`, `Lu`) as ranges of a class; looks at every code point once."""
    ranges: list[str] = []
    begin: int | None = None
    for point in range(sys.maxunicode + 2):
        inside = point <= sys.maxunicode and unicodedata.category(chr(point)).startswith(category)
        if inside and begin is None:
            begin = point
        elif not inside and begin is not None:
            ranges.append(f"\\U{begin:08x}-\\U{point - 1:08x}")
            begin = None
    if not ranges:
        raise ExpressionError(f"{category} is not a category of characters")
    return "".join(ranges)


def _replacement_parts(text: str, groups: int) -> list[str | int]:
    """A replacement as texts and group numbers."""
    parts: list[str | int] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            if text[at + 1 : at + 2] not in ("\\", "$"):
                raise ExpressionError(r"in a replacement, \ stands before \ or $ only")
            parts.append(text[at + 1])
            at += 2
        elif char == "$":
            end = at + 1
            while end < len(text) and text[end] in "0123456789":
                # further digits belong to the number as long as there is such a group
                if end > at + 1 and int(text[at + 1 : end + 1]) > groups:
                    break
                end += 1
            if end == at + 1:
                raise ExpressionError("in a replacement, $ stands before a digit; \\$ is a dollar")
            number = int(text[at + 1 : end])
            parts.append(number if number <= groups else "")
            at = end
        else:
            parts.append(char)
            at += 1
    return parts

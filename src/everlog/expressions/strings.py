"""What do the string functions give?

A string argument is an xsd:string or a string with a language. A result that is made from its first argument has that
argument's language; a second argument with a language must have the same one (SPARQL 1.1, 17.4.3). Positions count
from 1 and characters are code points.

>>> substring("foobar", 4), before(Literal("abc", language="en"), "b"), concatenate("a", "b")
('bar', Literal(lexical='a', datatype='http://www.w3.org/1999/02/22-rdf-syntax-ns#langString', language='en'), 'ab')
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from urllib.parse import quote

from everlog.expressions.numbers import number_of, round_half_up
from everlog.expressions.values import LANGUAGE, STRING, ExpressionError, value_of
from everlog.facts.terms import LANG_STRING, Literal, Term


def string_of(term: Term) -> tuple[str, str | None]:
    """Text and language of a string argument, or an error."""
    kind, value = value_of(term)
    if kind == STRING:
        return value, None
    if kind == LANGUAGE:
        text, language = value
        return text, language
    raise ExpressionError(f"a string is needed, not a term of kind {kind}")


def plain_string_of(term: Term) -> str:
    """The text of a string without a language, or an error."""
    kind, value = value_of(term)
    if kind != STRING:
        raise ExpressionError(f"a string without a language is needed, not a term of kind {kind}")
    text: str = value
    return text


def with_language(text: str, language: str | None) -> Term:
    """A string, with a language if there is one."""
    return text if language is None else Literal(text, LANG_STRING, language)


def _pair(left: Term, right: Term) -> tuple[str, str, str | None]:
    """Two strings that go together, and the first one's language."""
    first, language = string_of(left)
    second, other = string_of(right)
    if other is not None and other != language:
        raise ExpressionError(f"the languages {language or 'none'} and {other} do not go together")
    return first, second, language


def length(term: Term) -> Term:
    return len(string_of(term)[0])


def substring(term: Term, start: Term, size: Term | None = None) -> Term:
    """XPath's substring: the characters at positions p with round(start) <= p < round(start) + round(size)."""
    text, language = string_of(term)
    first = _position(start)
    past = math.inf if size is None else first + _position(size)
    if math.isnan(first) or math.isnan(past):
        return with_language("", language)
    begin = int(min(max(first, 1), len(text) + 1))
    end = int(min(max(past, begin), len(text) + 1))
    return with_language(text[begin - 1 : end - 1], language)


def _position(term: Term) -> int | float:
    number = number_of(round_half_up(term))
    if isinstance(number, float) and not math.isfinite(number):
        return float(number)
    return int(number)


def upper(term: Term) -> Term:
    text, language = string_of(term)
    return with_language(text.upper(), language)


def lower(term: Term) -> Term:
    text, language = string_of(term)
    return with_language(text.lower(), language)


def contains(left: Term, right: Term) -> Term:
    text, part, _ = _pair(left, right)
    return part in text


def starts(left: Term, right: Term) -> Term:
    text, part, _ = _pair(left, right)
    return text.startswith(part)


def ends(left: Term, right: Term) -> Term:
    text, part, _ = _pair(left, right)
    return text.endswith(part)


def before(left: Term, right: Term) -> Term:
    """What stands before the first occurrence; "" without a language where there is none."""
    text, part, language = _pair(left, right)
    at = text.find(part)
    return with_language(text[:at], language) if at >= 0 else ""


def after(left: Term, right: Term) -> Term:
    """What stands after the first occurrence; "" without a language where there is none."""
    text, part, language = _pair(left, right)
    at = text.find(part)
    return with_language(text[at + len(part) :], language) if at >= 0 else ""


def concatenate(*terms: Term) -> Term:
    """The strings one after the other; with a language if all of them have the same one."""
    strings = [string_of(term) for term in terms]
    languages = {language for _, language in strings}
    language = languages.pop() if len(languages) == 1 else None
    return with_language("".join(text for text, _ in strings), language)


def encode_for_uri(term: Term) -> Term:
    """Everything but letters, digits and `-_.~` as %XX of its UTF-8.

    >>> encode_for_uri("Los Angeles")
    'Los%20Angeles'
    """
    try:
        return quote(string_of(term)[0], safe="-_.~")
    except UnicodeEncodeError:
        raise ExpressionError("the string is not Unicode text") from None


def language_matches(tag: Term, pattern: Term) -> Term:
    """Basic filtering of RFC 4647: `en` matches en and en-GB; `*` matches every tag but the empty one."""
    name, wanted = plain_string_of(tag).lower(), plain_string_of(pattern).lower()
    if wanted == "*":
        return name != ""
    return name == wanted or (wanted != "" and name.startswith(wanted + "-"))


def digest(algorithm: str) -> Callable[[Term], Term]:
    """The function that gives the hexadecimal digest of a string's UTF-8.

    >>> digest("md5")("abc")
    '900150983cd24fb0d6963f7d28e17f72'
    """

    def apply(term: Term) -> Term:
        try:
            data = plain_string_of(term).encode()
        except UnicodeEncodeError:
            raise ExpressionError("the string is not Unicode text") from None
        return hashlib.new(algorithm, data, usedforsecurity=False).hexdigest()

    return apply

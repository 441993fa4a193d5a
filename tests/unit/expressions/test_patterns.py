"""Do REGEX and REPLACE match as XPath's regular expressions do?"""

from __future__ import annotations

import pytest

from everlog.expressions.patterns import matches, replace
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import LANG_STRING, Literal


@pytest.mark.parametrize(
    ("text", "pattern", "flags", "expected"),
    [
        ("Alice", "^ali", "i", True),
        ("Alice", "^ali", "", False),
        ("a\nb", "a.b", "", False),
        ("a\nb", "a.b", "s", True),
        ("a\nb", "^b$", "", False),
        ("a\nb", "^b$", "m", True),
        ("ab\n", "b$", "", False),  # the very end, not before a last newline
        ("hello world", "hello\\ sworld", "x", True),
        ("helloworld", "hello world", "x", True),
        ("a b", "[ ]", "x", True),
        ("a.b", "a.b", "q", True),
        ("axb", "a.b", "q", False),
        ("a#b", "a#b", "x", True),
        ("abab", r"^(ab)\1$", "", True),
        ("x-1", r"^[\w\-]+$", "", True),
        ("a-", "^[a-]+$", "", True),
        ("ab&&", "^[a-z&&]+$", "", True),
        ("É", r"^\p{Lu}$", "", True),
        ("É", r"^\P{Lu}$", "", False),
        ("É1", r"^[\p{L}\d]+$", "", True),
        ("a:b.c", r"^\i\c*$", "", True),
    ],
)
def test_matches(text: str, pattern: str, flags: str, expected: bool) -> None:
    assert matches(text, pattern, flags) is expected


@pytest.mark.parametrize(
    "pattern",
    ["(", "[a", "a{2,1}", "*", "(?=a)", "(?P<n>a)", "(?i)a", r"a\b", r"\p{Qq}", "[a-z-[aeiou]]", "a++", "a*+", "\\"],
)
def test_what_is_no_pattern_is_an_error(pattern: str) -> None:
    with pytest.raises(ExpressionError):
        matches("a", pattern)


def test_flags_are_checked() -> None:
    with pytest.raises(ExpressionError):
        matches("a", "a", "g")


@pytest.mark.parametrize(
    ("text", "pattern", "replacement", "flags", "expected"),
    [
        ("abcd", "b", "Z", "", "aZcd"),
        ("abab", "B", "Z", "i", "aZaZ"),
        ("abab", "B.", "Z", "i", "aZb"),
        ("abracadabra", "bra", "*", "", "a*cada*"),
        ("abracadabra", "a.*a", "*", "", "*"),
        ("abracadabra", "a.*?a", "*", "", "*c*bra"),
        ("abracadabra", "a", "", "", "brcdbr"),
        ("abracadabra", "a(.)", "a$1$1", "", "abbraccaddabbra"),
        ("AAAA", "A+", "b", "", "b"),
        ("AAAA", "A+?", "b", "", "bbbb"),
        ("darted", "^(.*?)d(.*)$", "$1c$2", "", "carted"),
        ("abcab", "(ab)|(a)", "[1=$1][2=$2]", "", "[1=ab][2=]c[1=ab][2=]"),
        ("abc", "(b)", "$12", "", "ab2c"),
        ("abc", "b", "$0$0", "", "abbc"),
        ("abc", "b", r"\$\\", "", r"a$\c"),
        ("a.b", ".", "$1", "q", "a$1b"),
        ("aAbBaC", "a", "~/", "i", "~/~/bB~/C"),
    ],
)
def test_replace(text: str, pattern: str, replacement: str, flags: str, expected: str) -> None:
    assert replace(text, pattern, replacement, flags) == expected


def test_replace_keeps_the_language() -> None:
    assert replace(Literal("abc", LANG_STRING, "en"), "b", "x") == Literal("axc", LANG_STRING, "en")


@pytest.mark.parametrize(("pattern", "replacement"), [("a*", "x"), ("", "x"), ("a", "$"), ("a", "$x"), ("a", "\\n")])
def test_replacements_that_are_errors(pattern: str, replacement: str) -> None:
    with pytest.raises(ExpressionError):
        replace("abc", pattern, replacement)

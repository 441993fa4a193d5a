"""Which rules does a name or a text refer to?

A text refers to the rule that is the same up to the names of variables (renaming.py); a text of several rules refers to
each of them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

from everlog.errors import NotFoundError
from everlog.rules.parser import parse_program
from everlog.rules.printer import print_rule
from everlog.rules.renaming import renamed
from everlog.rules.syntax import Rule


def without_rules(rules: Sequence[Rule], wanted: Iterable[str], prefixes: Mapping[str, str]) -> tuple[Rule, ...]:
    """The rules without those that these names or texts refer to.

    >>> rules = parse_program("a: p(?x) :- q(?x).   b: p(?x) :- r(?x, ?y).").rules
    >>> [rule.name for rule in without_rules(rules, ["p(X) :- r(X, _)."], {})]
    ['a']
    """
    remaining = list(rules)
    for each in wanted:
        for rule in find_rules(remaining, each, prefixes):
            remaining.remove(rule)
    return tuple(remaining)


def find_rules(rules: Sequence[Rule], wanted: str, prefixes: Mapping[str, str]) -> list[Rule]:
    """The rule of this name, or those that a text refers to; where there is none, the error suggests the nearest."""
    for rule in rules:
        if rule.name == wanted:
            return [rule]
    said = ":-" in wanted or wanted.lstrip().lower().startswith("@constraint")
    texts = parse_program(wanted, "<rule>", prefixes).rules if said else ()
    if not texts:
        raise NotFoundError.among("rule", wanted, (rule.name or "" for rule in rules))
    left, found = list(rules), []
    for text in texts:
        form = renamed(text)
        same = [rule for rule in left if renamed(rule) == form]
        if not same:
            raise _unknown_text(text, rules, prefixes)
        found.append(next((rule for rule in same if rule.name == text.name), same[0]))
        left.remove(found[-1])
    return found


def _unknown_text(wanted: Rule, rules: Sequence[Rule], prefixes: Mapping[str, str]) -> NotFoundError:
    by_form = {print_rule(renamed(rule), prefixes): rule for rule in rules}
    near = difflib.get_close_matches(print_rule(renamed(wanted), prefixes), by_form, 1, cutoff=0.4)
    nearest = print_rule(by_form[near[0]], prefixes) if near else ""
    return NotFoundError(
        f"there is no rule that says {print_rule(wanted, prefixes)}",
        hint=f"did you mean {nearest}" if near else "`everlog rules list` shows those there are",
    )

"""What is a rule called when nobody named it?"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import count

from everlog.rules.syntax import Rule


def name_rules(rules: Iterable[Rule], taken: Collection[str] = ()) -> tuple[Rule, ...]:
    """Rules with a name each: their own, or the first free one of `r1`, `r2`, …

    >>> [rule.name for rule in name_rules([Rule((), ()), Rule((), (), "r1"), Rule((), ())])]
    ['r2', 'r1', 'r3']
    """
    listed = list(rules)
    used = {*taken, *(rule.name for rule in listed if rule.name)}
    free = (name for number in count(1) if (name := f"r{number}") not in used)
    return tuple(rule if rule.name else replace(rule, name=next(free)) for rule in listed)

"""How is a rule shown among the others: for people, and as JSON?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everlog.rules.constraints import is_constraint
from everlog.rules.extents import print_extent
from everlog.rules.printer import print_rule
from everlog.rules.standing import Link, Standing
from everlog.rules.syntax import Atom

Prefixes = Mapping[str, str]


def print_standing(found: Standing, sizes: Mapping[Atom, int], prefixes: Prefixes) -> None:
    """A few lines: the rule, its component, what it concludes and reads, and who reads it."""
    component = found.component
    print(print_rule(found.rule, prefixes))
    recursive = ", recursive" if component.recursive else ""
    print(f"component {component.number + 1} of {found.components}{recursive}: {', '.join(_names(found))}")
    for extent in found.concludes:
        print(f"concludes {print_extent(extent, prefixes)}: {sizes[extent]:,} facts")
    for link in found.reads:
        what = f"{print_extent(link.extent, prefixes)} ({sizes[link.extent]:,} facts)"
        print(f"reads {what}{_how(link)} from {', '.join(link.rules) or 'given facts alone'}")
    for link in found.read_by:
        print(f"read by {', '.join(link.rules)}{_how(link)} as {print_extent(link.extent, prefixes)}")
    if is_constraint(found.rule):
        print("a constraint: an update that gives its body a match is refused")
    elif not found.read_by:
        print("read by no rule")


def standing_as_data(found: Standing, sizes: Mapping[Atom, int], prefixes: Prefixes) -> dict[str, Any]:
    """The same as data, for JSON."""
    component = found.component
    return {
        "name": found.rule.name,
        "text": print_rule(found.rule, prefixes),
        "component": {
            "number": component.number + 1,
            "of": found.components,
            "recursive": component.recursive,
            "rules": _names(found),
        },
        "concludes": [
            {"relation": print_extent(extent, prefixes), "facts": sizes[extent]} for extent in found.concludes
        ],
        "reads": [{**_link(link, prefixes), "facts": sizes[link.extent]} for link in found.reads],
        "read_by": [_link(link, prefixes) for link in found.read_by],
    }


def _names(found: Standing) -> list[str]:
    return [rule.name or "" for rule in found.component.rules]


def _how(link: Link) -> str:
    return " under NOT or AGGREGATE" if link.negative else ""


def _link(link: Link, prefixes: Prefixes) -> dict[str, Any]:
    return {
        "relation": print_extent(link.extent, prefixes),
        "negative": link.negative,
        "rules": list(link.rules),
    }

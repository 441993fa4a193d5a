"""Which lines of text stand in a box?"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from enum import StrEnum

from everlog.rules.extents import print_extent
from everlog.rules.picture.graph import Box, DrawnRule, Fate, RuleGraph
from everlog.rules.printer import print_rule

MOST_RULES = 16  # shown in one box
MOST_SIZES = 6  # of relations, the largest ones
WIDTH = 68  # characters before a rule is broken into lines
_ATOM = re.compile(r"[\[(][^\[\]()]*[\])]")  # or the arguments of one
_NO_BREAK = "\N{NO-BREAK SPACE}"


class Kind(StrEnum):
    """What a line is."""

    RULE = "rule"  # the first line of one: it begins with a name
    REST = "rest"  # the lines after that
    NOTE = "note"


@dataclass(frozen=True)
class Line:
    """A line of text."""

    text: str
    kind: Kind
    fate: Fate = Fate.STAYS


def box_lines(box: Box, graph: RuleGraph) -> list[Line]:
    """Rules that come or go first, then the others, as far as there is room; then the sizes of relations."""
    changed = [drawn for drawn in box.rules if drawn.fate is not Fate.STAYS]
    unchanged = [drawn for drawn in box.rules if drawn.fate is Fate.STAYS]
    room = max(0, MOST_RULES - len(changed))
    shown = sorted([*changed, *unchanged[:room]], key=box.rules.index)
    lines = [line for drawn in shown for line in _rule_lines(drawn, graph)]
    if len(shown) < len(box.rules):
        lines.append(Line(f"… and {len(box.rules) - len(shown)} more rules", Kind.NOTE))
    if box.components > 1:
        lines.append(Line(f"{box.components} components that stand alike", Kind.NOTE))
    if graph.sizes is not None:
        lines += [Line(text, Kind.NOTE) for text in size_lines(box, graph)]
    return lines


def size_lines(box: Box, graph: RuleGraph) -> list[str]:
    """How many facts there are of what a box concludes, and of what it is given."""
    sizes = graph.sizes or {}
    lines: list[str] = []
    for arrow, extents in (("→", box.concludes), ("←", box.given)):
        largest = sorted(extents, key=lambda each: -sizes.get(each, 0))[:MOST_SIZES]
        parts = [f"{print_extent(each, graph.prefixes)} {sizes.get(each, 0):,}" for each in largest]
        if len(extents) > len(largest):
            parts.append(f"{len(extents) - len(largest)} more")
        if parts:
            lines += _wrapped(f"{arrow} {', '.join(each.replace(' ', _NO_BREAK) for each in parts)}", "  ")
    return lines


def _rule_lines(drawn: DrawnRule, graph: RuleGraph) -> list[Line]:
    text = " ".join(print_rule(drawn.rule, graph.prefixes).split())
    first, *rest = _wrapped(_ATOM.sub(lambda atom: atom[0].replace(" ", _NO_BREAK), text), "    ")
    return [Line(first, Kind.RULE, drawn.fate), *(Line(each, Kind.REST, drawn.fate) for each in rest)]


def _wrapped(text: str, indent: str) -> list[str]:
    lines = textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace(_NO_BREAK, " ") for line in lines]

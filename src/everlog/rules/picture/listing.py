"""How does a graph of rules read as text, and as data for programs?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from everlog.rules.constraints import is_constraint
from everlog.rules.extents import print_extent
from everlog.rules.picture.graph import Affected, Box, DrawnRule, Fate, RuleGraph
from everlog.rules.picture.lines import size_lines
from everlog.rules.printer import print_rule

_SIGNS = {Fate.STAYS: " ", Fate.ADDED: "+", Fate.REMOVED: "-"}


def to_text(graph: RuleGraph) -> str:
    """Component after component: its rules, sizes, and which others read it."""
    fates = Counter(drawn.fate for box in graph.boxes for drawn in box.rules)
    components = sum(not box.gone for box in graph.boxes)
    left = [drawn.rule for box in graph.boxes for drawn in box.rules if drawn.fate is not Fate.REMOVED]
    constraints = sum(map(is_constraint, left))
    lines = [f"{_number(components, 'component')}, {_number(len(left) - constraints, 'rule')}"]
    if constraints:
        lines[0] += f", {_number(constraints, 'constraint')}"
    if graph.planned:
        lines[0] += f", with {fates[Fate.ADDED]} added and {fates[Fate.REMOVED]} removed"
    for number, box in enumerate(graph.boxes):
        lines += ["", ", ".join([f"component {number + 1}", *_qualities(box)])]
        lines += [f"{_SIGNS[drawn.fate]} {print_rule(drawn.rule, graph.prefixes)}" for drawn in box.rules]
        if graph.sizes is not None:
            lines += [f"  {text}" for text in size_lines(box, graph)]
        lines += _readers(number, graph)
    return "\n".join(lines) + "\n"


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _qualities(box: Box) -> Iterator[str]:
    if box.recursive:
        yield "recursive"
    if box.gone:
        yield "goes"
    elif box.affected is not Affected.NOT:
        yield f"{box.affected} affected"


def _readers(number: int, graph: RuleGraph) -> Iterator[str]:
    for negative, how in ((False, ""), (True, " under NOT or AGGREGATE")):
        readers = [arrow.target + 1 for arrow in graph.arrows if (arrow.source, arrow.negative) == (number, negative)]
        if readers:
            yield f"  read by {', '.join(map(str, readers))}{how}"


def graph_as_data(graph: RuleGraph) -> dict[str, Any]:
    """Components and the dependencies between them; what a plan changes, and sizes, where there are any."""
    return {
        "components": [_component(number, box, graph) for number, box in enumerate(graph.boxes, 1)],
        "dependencies": [
            {
                "from": arrow.source + 1,
                "to": arrow.target + 1,
                "negative": arrow.negative,
                "relations": [print_extent(each, graph.prefixes) for each in arrow.extents],
            }
            for arrow in graph.arrows
        ],
    }


def _component(number: int, box: Box, graph: RuleGraph) -> dict[str, Any]:
    data: dict[str, Any] = {
        "component": number,
        "recursive": box.recursive,
        "rules": [_rule(drawn, graph) for drawn in box.rules],
    }
    if graph.planned:
        data["affected"] = box.affected.value
    if graph.sizes is not None:
        for key, extents in (("concludes", box.concludes), ("given", box.given)):
            data[key] = {print_extent(each, graph.prefixes): graph.sizes.get(each, 0) for each in extents}
    return data


def _rule(drawn: DrawnRule, graph: RuleGraph) -> dict[str, Any]:
    data = {"name": drawn.rule.name, "text": print_rule(drawn.rule, graph.prefixes)}
    return {**data, "fate": drawn.fate.value} if graph.planned else data

"""What does a graph of rules look like, drawn as SVG that needs nothing else to be seen?

Solid arrows lead to rules that read what a box concludes, dashed ones to rules that read it under NOT or AGGREGATE. A
bar on the left marks recursion. A planned change colours the boxes that it affects, directly or by way of others; rules
that come are green and have a plus, rules that go are struck through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from everlog.rules.extents import print_extent
from everlog.rules.picture.graph import Affected, Arrow, Box, Fate, RuleGraph, simplified
from everlog.rules.picture.legend import legend
from everlog.rules.picture.lines import Kind, Line, box_lines
from everlog.rules.picture.looks import CHARACTER, COLOURS, LEADING, LINES, MARGIN, PADDING, TEXT
from everlog.rules.picture.packing import packed_layout

Point = tuple[float, float]
SIGNS = {Fate.STAYS: "", Fate.ADDED: "+ ", Fate.REMOVED: "− "}


@dataclass(frozen=True)
class _Drawn:
    """A box with its text and the room that this takes."""

    box: Box
    lines: Sequence[Line]

    @property
    def size(self) -> tuple[float, float]:
        longest = max(len(SIGNS[line.fate]) + len(line.text) for line in self.lines)
        return longest * CHARACTER + 2 * PADDING, len(self.lines) * LEADING + 2 * PADDING - 4


def to_svg(graph: RuleGraph) -> str:
    """A picture of its own."""
    graph = simplified(graph)
    drawn = [_Drawn(box, box_lines(box, graph)) for box in graph.boxes]
    sizes = [each.size for each in drawn]
    # A rule that goes may close a cycle of boxes; its arrow is laid out from top to bottom like all others.
    ends = [(arrow.source, arrow.target) for arrow in graph.arrows]
    solid = [edge for edge, arrow in enumerate(graph.arrows) if not (arrow.negative or arrow.gone)]
    layout = packed_layout(sizes, [(min(pair), max(pair)) for pair in ends], together=solid)
    legend_parts, legend_width, legend_height = legend(layout.width, layout.height + 2 * LEADING, graph)
    width = max(layout.width, legend_width) + 2 * MARGIN
    height = layout.height + 2 * LEADING + legend_height + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{-MARGIN:.0f} {-MARGIN:.0f} {width:.0f} {height:.0f}" font-family="monospace" font-size="12">',
        "<defs>",
        *(_tip(name, colour) for name, colour in (("tip", LINES), ("gone", COLOURS["gone"].stroke))),
        "</defs>",
        f'<rect x="{-MARGIN:.0f}" y="{-MARGIN:.0f}" width="{width:.0f}" height="{height:.0f}" fill="white"/>',
    ]
    for arrow, path in zip(graph.arrows, layout.paths, strict=True):
        parts.append(_arrow(arrow, path if arrow.source < arrow.target else path[::-1], graph))
    for number, (each, corner) in enumerate(zip(drawn, layout.corners, strict=True)):
        parts += _box(number, each, corner)
    return "\n".join([*parts, *legend_parts, "</svg>"]) + "\n"


def _tip(name: str, colour: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0 1 L10 5 L0 9 z" fill="{colour}"/></marker>'
    )


def _arrow(arrow: Arrow, path: Sequence[Point], graph: RuleGraph) -> str:
    colour, tip = (COLOURS["gone"].stroke, "gone") if arrow.gone else (LINES, "tip")
    dashes = ' stroke-dasharray="5 4"' if arrow.negative else ""
    title = escape(", ".join(print_extent(each, graph.prefixes) for each in arrow.extents))
    return (
        f'<path class="arrow" data-from="{arrow.source}" data-to="{arrow.target}" d="{_curve(path)}" fill="none" '
        f'stroke="{colour}" stroke-width="1.3"{dashes} marker-end="url(#{tip})"><title>{title}</title></path>'
    )


def _curve(points: Sequence[Point]) -> str:
    """Straight within a layer, an S between layers."""
    (x, y), *rest = points
    parts = [f"M{x:.1f} {y:.1f}"]
    for next_x, next_y in rest:
        if next_x == x:
            parts.append(f"L{next_x:.1f} {next_y:.1f}")
        else:
            middle = (y + next_y) / 2
            parts.append(f"C{x:.1f} {middle:.1f} {next_x:.1f} {middle:.1f} {next_x:.1f} {next_y:.1f}")
        x, y = next_x, next_y
    return " ".join(parts)


def _box(number: int, drawn: _Drawn, corner: Point) -> list[str]:
    (x, y), (width, height) = corner, drawn.size
    box = drawn.box
    looks = COLOURS[_looks(box)]
    dashes = ' stroke-dasharray="3 3"' if box.gone else ""
    names = ", ".join(each.rule.name or "" for each in box.rules)
    parts = [
        f'<g class="box" data-box="{number}" data-names="{escape(names, {chr(34): "&quot;"})}">',
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="4" '
        f'fill="{looks.fill}" stroke="{looks.stroke}"{dashes}/>',
    ]
    if box.recursive:
        bar = COLOURS["recursive"].stroke
        parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="4" height="{height:.1f}" fill="{bar}"/>')
    for index, line in enumerate(drawn.lines):
        parts.append(_line(line, x + PADDING, y + PADDING + 8 + index * LEADING))
    return [*parts, "</g>"]


def _looks(box: Box) -> str:
    if box.gone:
        return "gone"
    if box.affected is not Affected.NOT:
        return box.affected.value
    return "recursive" if box.recursive else "plain"


def _line(line: Line, x: float, y: float) -> str:
    text = escape(line.text)
    if line.kind is Kind.RULE:
        name, colon, rest = text.partition(":")
        text = f'<tspan font-weight="bold">{name}{colon}</tspan>{rest}'
    strike = ' text-decoration="line-through"' if line.fate is Fate.REMOVED else ""
    colour = TEXT["note"] if line.kind is Kind.NOTE else TEXT[line.fate.value]
    sign = SIGNS[line.fate] if line.kind is Kind.RULE else " " * len(SIGNS[line.fate])
    before = f"<tspan>{sign}</tspan>" if sign else ""
    inside = f"{before}<tspan{strike}>{text}</tspan>"
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" xml:space="preserve">{inside}</text>'

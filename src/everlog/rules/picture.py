"""What does the graph of a program's rules look like?

A box is a hyper-node of Xu and Curé (ZodiacEdge, section 4.2): a strongly connected component of rules. A solid arrow
leads to rules that read what a box concludes; a dashed one to rules that read it under NOT or AGGREGATE, and so must
wait for all of it. Boxes with a bar on the left are recursive. `to_dot` is for Graphviz; `to_svg` needs nothing.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from everlog.rules.dependencies import dependencies, strongly_connected
from everlog.rules.layout import layered_layout
from everlog.rules.names import name_rules
from everlog.rules.printer import print_rule
from everlog.rules.syntax import Program, Rule

MOST_RULES = 12  # shown in one box
LINE = 64  # characters before a rule is broken into lines
CHARACTER, LEADING, PADDING, MARGIN = 7.2, 17.0, 10.0, 24.0  # pixels: 12 px monospace


@dataclass(frozen=True)
class Box:
    """Rules that depend on one another, or a single rule."""

    rules: tuple[int, ...]
    lines: tuple[str, ...]
    recursive: bool


@dataclass(frozen=True)
class Arrow:
    """What `source` concludes is read by `target`, as `relations`."""

    source: int
    target: int
    negative: bool
    relations: tuple[str, ...]


def rule_graph(rules: Sequence[Rule], prefixes: Mapping[str, str] | None = None) -> tuple[list[Box], list[Arrow]]:
    """The graph of components of rules, in topological order."""
    rules = name_rules(rules)
    found = dependencies(rules)
    components = strongly_connected(len(rules), [(each.source, each.target) for each in found])
    component_of = {rule: index for index, component in enumerate(components) for rule in component}
    selves = {each.source for each in found if each.source == each.target}
    nodes = [
        Box(tuple(component), _lines(rules, component, prefixes), len(component) > 1 or component[0] in selves)
        for component in components
    ]
    arrows: dict[tuple[int, int, bool], set[str]] = {}
    for each in found:
        ends = component_of[each.source], component_of[each.target]
        if ends[0] != ends[1]:
            arrows.setdefault((*ends, each.negative), set()).add(each.atom.relation)
    return nodes, [Arrow(*key, tuple(sorted(names))) for key, names in sorted(arrows.items())]


def _lines(rules: Sequence[Rule], component: Sequence[int], prefixes: Mapping[str, str] | None) -> tuple[str, ...]:
    lines: list[str] = []
    for index in component[:MOST_RULES]:
        text = " ".join(print_rule(rules[index], prefixes).split())
        lines += textwrap.wrap(text, LINE, subsequent_indent="    ", break_on_hyphens=False)
    if len(component) > MOST_RULES:
        lines.append(f"… and {len(component) - MOST_RULES} more rules")
    return tuple(lines)


def to_dot(program: Program) -> str:
    """The graph in Graphviz's language."""
    nodes, arrows = rule_graph(program.rules, program.prefixes)
    lines = ["digraph rules {", '  rankdir=TB; node [shape=box, fontname="monospace", fontsize=10];']
    for index, node in enumerate(nodes):
        label = "".join(line.replace("\\", "\\\\").replace('"', '\\"') + "\\l" for line in node.lines)
        lines.append(f'  c{index + 1} [label="{label}"{", style=bold" if node.recursive else ""}];')
    for arrow in arrows:
        lines.append(f"  c{arrow.source + 1} -> c{arrow.target + 1}{' [style=dashed]' if arrow.negative else ''};")
    return "\n".join([*lines, "}"]) + "\n"


def to_svg(program: Program) -> str:
    """The graph as a picture of its own: nothing else is needed to see it."""
    nodes, arrows = rule_graph(program.rules, program.prefixes)
    sizes = [
        (max(map(len, node.lines)) * CHARACTER + 2 * PADDING, len(node.lines) * LEADING + 2 * PADDING - 4)
        for node in nodes
    ]
    layout = layered_layout(sizes, [(arrow.source, arrow.target) for arrow in arrows])
    legend = "solid: reads    dashed: reads under NOT or AGGREGATE    bar: recursive" if nodes else "no rules"
    width = max(layout.width, len(legend) * CHARACTER) + 2 * MARGIN
    height = layout.height + 2 * MARGIN + 2 * LEADING
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{-MARGIN:.0f} {-MARGIN:.0f} {width:.0f} {height:.0f}" font-family="monospace" font-size="12">',
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 1 L10 5 L0 9 z" fill="#555"/></marker></defs>',
        f'<rect x="{-MARGIN:.0f}" y="{-MARGIN:.0f}" width="{width:.0f}" height="{height:.0f}" fill="white"/>',
    ]
    for arrow, path in zip(arrows, layout.paths, strict=True):
        dashes = ' stroke-dasharray="5 4"' if arrow.negative else ""
        parts.append(
            f'<path d="{_curve(path)}" fill="none" stroke="#555" stroke-width="1.3"{dashes} marker-end="url(#tip)">'
            f"<title>{escape(', '.join(arrow.relations))}</title></path>"
        )
    for node, corner, size in zip(nodes, layout.corners, sizes, strict=True):
        parts += _drawn(node, corner, size)
    parts.append(f'<text x="0" y="{layout.height + 2 * LEADING:.0f}" fill="#777" xml:space="preserve">{legend}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _drawn(node: Box, corner: tuple[float, float], size: tuple[float, float]) -> list[str]:
    (x, y), (width, height) = corner, size
    fill = "#eef4fb" if node.recursive else "#fafafa"
    parts = [
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="4" fill="{fill}" stroke="#888"/>'
    ]
    if node.recursive:
        parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="4" height="{height:.1f}" fill="#3b76b8"/>')
    for index, line in enumerate(node.lines):
        name, colon, rest = line.partition(":") if not line.startswith((" ", "…")) else ("", "", line)
        bold = f'<tspan font-weight="bold">{escape(name)}{colon}</tspan>' if name else ""
        parts.append(
            f"<text x={quoteattr(f'{x + PADDING:.1f}')} y={quoteattr(f'{y + PADDING + 8 + index * LEADING:.1f}')} "
            f'xml:space="preserve">{bold}{escape(rest)}</text>'
        )
    return parts


def _curve(points: Sequence[tuple[float, float]]) -> str:
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

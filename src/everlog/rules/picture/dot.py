"""What is a graph of rules in Graphviz's language?"""

from __future__ import annotations

from everlog.rules.picture.graph import RuleGraph
from everlog.rules.picture.lines import box_lines


def to_dot(graph: RuleGraph) -> str:
    """Boxes in bold are recursive, dashed arrows negative."""
    lines = ["digraph rules {", '  rankdir=TB; node [shape=box, fontname="monospace", fontsize=10];']
    for number, box in enumerate(graph.boxes, 1):
        texts = (line.text.replace("\\", "\\\\").replace('"', '\\"') for line in box_lines(box, graph))
        label = "".join(text + "\\l" for text in texts)
        lines.append(f'  c{number} [label="{label}"{", style=bold" if box.recursive else ""}];')
    for arrow in graph.arrows:
        lines.append(f"  c{arrow.source + 1} -> c{arrow.target + 1}{' [style=dashed]' if arrow.negative else ''};")
    return "\n".join([*lines, "}"]) + "\n"

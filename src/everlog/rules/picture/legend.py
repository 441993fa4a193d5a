"""What do the lines and colours of a picture mean? A row of samples below it, or several."""

from __future__ import annotations

from everlog.rules.picture.graph import RuleGraph
from everlog.rules.picture.looks import CHARACTER, COLOURS, LEADING, LINES, TEXT

SAMPLE, GAP = 30.0, 26.0  # pixels: the width of a sample, and what follows an entry
LEAST = 640.0  # a picture with a single small box still has a legend of a few entries a row


def legend(width: float, top: float, graph: RuleGraph) -> tuple[list[str], float, float]:
    """The SVG of a legend below a picture of this width, and the width and height that it takes."""
    if not graph.boxes:
        return [_text(0, top, "no rules")], 8 * CHARACTER, LEADING
    entries = _entries(graph)
    parts: list[str] = []
    x, y, widest = 0.0, top, 0.0
    for sample, meaning in entries:
        room = SAMPLE + (len(meaning) + 1) * CHARACTER
        if x and x + room > max(width, LEAST):
            x, y = 0.0, y + LEADING * 1.4
        parts += [f'<g transform="translate({x:.1f} {y:.1f})">{sample}</g>', _text(x + SAMPLE + CHARACTER, y, meaning)]
        x += room + GAP
        widest = max(widest, x - GAP)
    return parts, widest, y - top + LEADING


def _entries(graph: RuleGraph) -> list[tuple[str, str]]:
    """Samples, drawn around the base line of the text beside them, with their meanings; those that occur."""
    entries = [(_line(""), "reads")]
    if any(arrow.negative for arrow in graph.arrows):
        entries.append((_line(' stroke-dasharray="5 4"'), "reads under NOT or AGGREGATE"))
    if any(box.recursive for box in graph.boxes):
        bar = f'<rect x="0" y="-11" width="4" height="14" fill="{COLOURS["recursive"].stroke}"/>'
        entries.append((_swatch("recursive") + bar, "recursive"))
    if graph.sizes is not None:
        entries.append((_sign("→ ←", "note"), "facts concluded, facts given"))
    if graph.planned:
        entries += [
            (_swatch("directly"), "directly affected"),
            (_swatch("indirectly"), "indirectly affected"),
            (_sign("+", "added"), "comes"),
            (_sign("−", "removed"), "goes"),
        ]
    return entries


def _line(dashes: str) -> str:
    way = f'<path d="M0 -4 L{SAMPLE:.0f} -4" fill="none" stroke="{LINES}" stroke-width="1.3"'
    return f'{way}{dashes} marker-end="url(#tip)"/>'


def _swatch(looks: str) -> str:
    fill, stroke = COLOURS[looks].fill, COLOURS[looks].stroke
    return f'<rect x="0" y="-11" width="{SAMPLE:.0f}" height="14" rx="3" fill="{fill}" stroke="{stroke}"/>'


def _sign(sign: str, colour: str) -> str:
    strike = ' text-decoration="line-through"' if colour == "removed" else ""
    text = f"{sign} r" if colour in ("added", "removed") else sign
    return f'<text x="2" y="0" fill="{TEXT[colour]}"{strike}>{text}</text>'


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{TEXT["note"]}">{text}</text>'

"""Where do the parts of a drawing go that no arrow joins? Each is laid out alone (layout.py), then all in rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from everlog.rules.picture.layout import Layout, layered_layout

GAP = 48.0  # pixels between two parts
PROPORTION = 1.3  # of many small parts: somewhat wider than high


def packed_layout(
    sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], together: Collection[int] = ()
) -> Layout:
    """As `layered_layout`, with what is not joined side by side, the largest first.

    >>> packed_layout([(10, 10), (90, 10)], []).corners
    [(0.0, 58.0), (0.0, 0.0)]
    """
    corners: list[tuple[float, float]] = [(0.0, 0.0)] * len(sizes)
    paths: list[list[tuple[float, float]]] = [[] for _ in edges]
    drawn = [(part, own, _alone(part, own, sizes, edges, together)) for part, own in _parts(len(sizes), edges)]
    drawn.sort(key=lambda each: -each[2].width * each[2].height)
    area = sum(layout.width * layout.height for _, _, layout in drawn)
    row_width = max([PROPORTION * area**0.5, *(layout.width for _, _, layout in drawn)])
    x = y = height = width = 0.0
    for part, own, layout in drawn:
        if x and x + layout.width > row_width:
            x, y, height = 0.0, y + height + GAP, 0.0
        for box, (left, top) in zip(part, layout.corners, strict=True):
            corners[box] = left + x, top + y
        for edge, path in zip(own, layout.paths, strict=True):
            paths[edge] = [(across + x, down + y) for across, down in path]
        width, height = max(width, x + layout.width), max(height, layout.height)
        x += layout.width + GAP
    return Layout(corners, paths, width, y + height)


def _alone(
    part: Sequence[int],
    own: Sequence[int],
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    together: Collection[int],
) -> Layout:
    place = {box: index for index, box in enumerate(part)}
    ends = [(place[source], place[target]) for source, target in (edges[edge] for edge in own)]
    return layered_layout([sizes[box] for box in part], ends, [i for i, edge in enumerate(own) if edge in together])


def _parts(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[list[int], list[int]]]:
    """Boxes that are joined, whichever way arrows point, each part with its edges."""
    part_of = list(range(count))

    def find(box: int) -> int:
        while part_of[box] != box:
            box = part_of[box]
        return box

    for source, target in edges:
        part_of[max(find(source), find(target))] = min(find(source), find(target))
    parts: dict[int, tuple[list[int], list[int]]] = {}
    for box in range(count):
        parts.setdefault(find(box), ([], []))[0].append(box)
    for edge, (source, _) in enumerate(edges):
        parts[find(source)][1].append(edge)
    return list(parts.values())

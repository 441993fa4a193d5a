"""Where does each box of a layered drawing go, and which way do its arrows run?

The method of Sugiyama, Tagawa and Toda (1981), small: 1. a layer for each box, so that arrows point down and no layer
is wider than reads well; 2. an arrow over several layers gets an invisible box in each layer between, which arrows to
the same box may share: they come together to one line; 3. boxes change places within a layer until few arrows cross;
4. boxes move sideways towards what they are joined to.

**The caller makes sure** that every edge goes from a smaller to a larger index, as in a topological order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

GAP_ACROSS, GAP_DOWN, PASSAGE = 28.0, 60.0, 14.0  # in pixels; a passage is the width of an invisible box
SWEEPS = 16  # enough for drawings of a hundred boxes to settle
WIDE, PROPORTION = 2100.0, 1.8  # a layer may be that wide in any case; a large drawing is that much wider than high


@dataclass(frozen=True)
class Layout:
    """Top left corners of the boxes, and for each edge the points that it passes from top to bottom."""

    corners: list[tuple[float, float]]
    paths: list[list[tuple[float, float]]]
    width: float
    height: float


@dataclass
class _Grid:
    """Boxes 0 … n-1 and then the invisible ones, in layers."""

    layers: list[list[int]]
    above: list[list[int]]
    below: list[list[int]]
    widths: list[float]
    boxes: int


def layered_layout(
    sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], together: Collection[int] = ()
) -> Layout:
    """Positions for boxes of the given widths and heights, joined by edges; some edges, by index, may come together.

    >>> layout = layered_layout([(10, 10), (10, 10)], [(0, 1)])
    >>> layout.corners[0][1] < layout.corners[1][1]
    True
    """
    layer_of = _layers(sizes, edges)
    grid, chains = _grid(sizes, edges, layer_of, together)
    _reorder(grid)
    centres = _centres(grid)
    return _layout(sizes, edges, layer_of, grid, chains, centres)


def _layers(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> list[int]:
    """1. From the bottom up: each box as low as what it leads to allows, and higher where a layer is full. Then boxes
    that lead to nothing go up again, to what leads to them."""
    sources: list[list[int]] = [[] for _ in sizes]
    targets: list[list[int]] = [[] for _ in sizes]
    for source, target in edges:
        sources[target].append(source)
        targets[source].append(target)
    area = sum((width + GAP_ACROSS) * (height + GAP_DOWN) for width, height in sizes)
    most = max(WIDE, (area * PROPORTION) ** 0.5)
    filled: dict[int, float] = {}
    level = [0] * len(sizes)  # counted from the bottom

    def put(box: int, wanted: int, step: int) -> None:
        width = sizes[box][0] + GAP_ACROSS
        while filled.get(wanted) and filled[wanted] + width > most:
            wanted += step
        filled[wanted] = filled.get(wanted, 0.0) + width
        level[box] = wanted

    for box in reversed(range(len(sizes))):
        put(box, max((level[target] + 1 for target in targets[box]), default=0), 1)
    for box, above in enumerate(sources):
        if above and not targets[box]:
            filled[level[box]] -= sizes[box][0] + GAP_ACROSS
            put(box, min(level[source] for source in above) - 1, -1)
    used = sorted(set(level), reverse=True)  # a layer may have lost all of its boxes
    return [used.index(each) for each in level]


def _grid(
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    layer_of: Sequence[int],
    together: Collection[int],
) -> tuple[_Grid, list[list[int]]]:
    """2. Layers of boxes, invisible ones included; and for each edge the boxes that it visits."""
    layers: list[list[int]] = [[] for _ in range(max(layer_of, default=-1) + 1)]
    passing: list[list[int]] = [[] for _ in layers]
    for box, layer in enumerate(layer_of):
        layers[layer].append(box)
    widths = [width for width, _ in sizes]
    chains = []
    passages: dict[tuple[int, int], int] = {}  # shared ones, by target and layer
    for edge, (source, target) in enumerate(edges):
        chain = [source]
        for layer in range(layer_of[source] + 1, layer_of[target]):
            passage = passages.get((target, layer)) if edge in together else None
            if passage is None:
                passage = len(widths)
                passing[layer].append(passage)
                widths.append(PASSAGE)
                if edge in together:
                    passages[target, layer] = passage
            chain.append(passage)
        chains.append([*chain, target])
    for own, through in zip(layers, passing, strict=True):
        middle = len(own) // 2  # where nothing else decides, boxes stand on both sides of a common way
        own[middle:middle] = through
    above: list[list[int]] = [[] for _ in widths]
    below: list[list[int]] = [[] for _ in widths]
    for upper, lower in dict.fromkeys(pair for chain in chains for pair in pairwise(chain)):
        above[lower].append(upper)
        below[upper].append(lower)
    return _Grid(layers, above, below, widths, len(sizes)), chains


def _reorder(grid: _Grid) -> None:
    """3. Sort layers by the mean place of neighbours, down and up in turn; keep the order with fewest crossings."""
    best, fewest = [list(layer) for layer in grid.layers], _crossings(grid)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for layer in grid.layers[1:] if down else grid.layers[-2::-1]:
            place = {box: index for among in grid.layers for index, box in enumerate(among)}
            neighbours = grid.above if down else grid.below
            layer.sort(key=lambda box: _mean([place[other] for other in neighbours[box]], place[box]))
        crossings = _crossings(grid)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in grid.layers], crossings
    grid.layers = best


def _crossings(grid: _Grid) -> int:
    place = {box: index for layer in grid.layers for index, box in enumerate(layer)}
    total = 0
    for layer in grid.layers:
        ends = [sorted(place[lower] for lower in grid.below[box]) for box in layer]
        seen: list[int] = []
        for lowers in ends:
            total += sum(1 for lower in lowers for other in seen if other > lower)
            seen += lowers
    return total


def _centres(grid: _Grid) -> list[float]:
    """4. Each box as near the mean of its neighbours as its own neighbours to the left and right let it."""
    centre = [0.0] * len(grid.widths)
    for layer in grid.layers:
        _place(layer, [0.0] * len(layer), grid, centre)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for layer in grid.layers if down else reversed(grid.layers):
            wanted = []
            for box in layer:
                near = grid.above[box] if down else grid.below[box]
                wanted.append(_mean([centre[other] for other in near], centre[box]))
            _place(layer, wanted, grid, centre)
    return centre


def _place(layer: Sequence[int], wanted: Sequence[float], grid: _Grid, centre: list[float]) -> None:
    """The places nearest to those wanted (least squares) that keep the order and the gaps: pool adjacent violators."""
    offset, offsets = 0.0, []
    for index, box in enumerate(layer):
        if index:
            offset += (grid.widths[layer[index - 1]] + grid.widths[box]) / 2 + GAP_ACROSS
        offsets.append(offset)
    pools: list[tuple[float, float, int]] = []  # mean, weight, boxes
    for box, want, shift in zip(layer, wanted, offsets, strict=True):
        weight = 3.0 if box >= grid.boxes else 1.0  # straight passages read better than centred boxes
        mean, count = want - shift, 1
        while pools and pools[-1][0] > mean:
            other, other_weight, other_count = pools.pop()
            mean = (mean * weight + other * other_weight) / (weight + other_weight)
            weight, count = weight + other_weight, count + other_count
        pools.append((mean, weight, count))
    placed = [mean for mean, _, count in pools for _ in range(count)]
    for box, mean, shift in zip(layer, placed, offsets, strict=True):
        centre[box] = mean + shift


def _layout(
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    layer_of: Sequence[int],
    grid: _Grid,
    chains: Sequence[Sequence[int]],
    centres: list[float],
) -> Layout:
    left = min((centre - width / 2 for centre, width in zip(centres, grid.widths, strict=True)), default=0.0)
    centres = [centre - left for centre in centres]
    tops, bottoms, y = [], [], 0.0
    for layer in grid.layers:
        tops.append(y)
        y += max(sizes[box][1] if box < grid.boxes else 0.0 for box in layer)
        bottoms.append(y)
        y += GAP_DOWN
    corners = [
        (centres[box] - width / 2, (tops[layer_of[box]] + bottoms[layer_of[box]] - height) / 2)
        for box, (width, height) in enumerate(sizes)
    ]
    leaving = _ports(
        ((source, chain[1], edge) for edge, ((source, _), chain) in _numbered(edges, chains)), sizes, centres
    )
    coming = _ports(
        ((target, chain[-2], edge) for edge, ((_, target), chain) in _numbered(edges, chains)), sizes, centres
    )
    paths = []
    for edge, ((source, target), chain) in _numbered(edges, chains):
        start, end = leaving[edge], coming[edge]
        points = [(start, corners[source][1] + sizes[source][1]), (start, bottoms[layer_of[source]])]
        for step, passage in enumerate(chain[1:-1], layer_of[source] + 1):
            points += [(centres[passage], tops[step]), (centres[passage], bottoms[step])]
        paths.append([*points, (end, tops[layer_of[target]]), (end, corners[target][1])])
    width = max((centre + wide / 2 for centre, wide in zip(centres, grid.widths, strict=True)), default=0.0)
    return Layout(corners, paths, width, bottoms[-1] if bottoms else 0.0)


def _numbered(
    edges: Sequence[tuple[int, int]], chains: Sequence[Sequence[int]]
) -> Iterable[tuple[int, tuple[tuple[int, int], Sequence[int]]]]:
    return enumerate(zip(edges, chains, strict=True))


def _ports(
    ends: Iterable[tuple[int, int, int]], sizes: Sequence[tuple[float, float]], centres: Sequence[float]
) -> dict[int, float]:
    """Where each edge meets its box: spread over the middle of the side, in the order of what they lead to."""
    at_box: dict[int, dict[int, list[int]]] = {}
    for box, towards, edge in ends:
        at_box.setdefault(box, {}).setdefault(towards, []).append(edge)
    ports = {}
    for box, found in at_box.items():
        step = min(24.0, 0.6 * sizes[box][0] / len(found))
        for index, towards in enumerate(sorted(found, key=lambda other: centres[other])):
            for edge in found[towards]:
                ports[edge] = centres[box] + (index - (len(found) - 1) / 2) * step
    return ports


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise

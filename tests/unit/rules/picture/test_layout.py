"""Do the boxes of a drawing keep apart, do arrows point down, and is nothing far away?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from everlog.rules.picture.layout import WIDE, Layout, layered_layout
from everlog.rules.picture.packing import packed_layout

Sizes = Sequence[tuple[float, float]]

SIZES = [(60.0 + 13 * (box % 5), 20.0 + 9 * (box % 3)) for box in range(30)]
EDGES = [(a, b) for a in range(30) for b in range(a + 1, 30) if (a * 7 + b * 3) % 11 == 0]


def assert_apart(layout: Layout, sizes: Sizes) -> None:
    for one, other in combinations(range(len(sizes)), 2):
        (x, y), (width, height) = layout.corners[one], sizes[one]
        (u, v), (wide, high) = layout.corners[other], sizes[other]
        assert x + width <= u + 1e-6 or u + wide <= x + 1e-6 or y + height <= v + 1e-6 or v + high <= y + 1e-6
    for (x, y), (width, height) in zip(layout.corners, sizes, strict=True):
        assert x >= 0 and y >= 0 and x + width <= layout.width + 1e-6 and y + height <= layout.height + 1e-6


def test_boxes_do_not_overlap_and_arrows_point_down() -> None:
    for layout in (layered_layout(SIZES, EDGES), layered_layout(SIZES, EDGES, range(len(EDGES)))):
        assert_apart(layout, SIZES)
        assert all(layout.corners[a][1] < layout.corners[b][1] for a, b in EDGES)


def test_a_layer_is_no_wider_than_reads_well() -> None:
    sizes = [(400.0, 30.0)] * 21
    layout = layered_layout(sizes, [(box, 20) for box in range(20)], range(20))
    assert_apart(layout, sizes)
    assert layout.width <= 1.3 * WIDE


def test_arrows_to_one_box_come_together() -> None:
    sizes = [(900.0, 30.0)] * 7
    edges = [(box, 6) for box in range(6)]
    together, apart = layered_layout(sizes, edges, range(6)), layered_layout(sizes, edges)
    assert len({path[-1] for path in together.paths}) < len({path[-1] for path in apart.paths}) == 6


def test_a_box_that_leads_to_nothing_stays_near_what_leads_to_it() -> None:
    chain = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 5)]
    layout = layered_layout([(50.0, 20.0)] * 6, chain)
    assert layout.corners[5][1] == layout.corners[1][1]


def test_parts_that_nothing_joins_stand_in_rows() -> None:
    edges = [(0, 1), (2, 3), (3, 4), (6, 7)]
    layout = packed_layout(SIZES[:12], edges)
    assert_apart(layout, SIZES[:12])
    assert [len(path) > 1 for path in layout.paths] == [True] * 4
    for (source, target), path in zip(edges, layout.paths, strict=True):
        (x, y), (u, v) = path[0], path[-1]
        assert layout.corners[source][0] <= x <= layout.corners[source][0] + SIZES[source][0]
        assert y == layout.corners[source][1] + SIZES[source][1]
        assert layout.corners[target][0] <= u <= layout.corners[target][0] + SIZES[target][0]
        assert v == layout.corners[target][1]
    assert packed_layout([], []) == Layout([], [], 0.0, 0.0)

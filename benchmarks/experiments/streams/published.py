"""What do the papers say? Their tables as data, to stand beside ours.

Moritz Illich, Birte Glimm. Backward/Forward with Marking for Update Streams. Description Logics 2025. Tables 1 to 3.

Their seconds are of their machine; `PROGRAMS_HERE` is the CPU time of their programs for a whole stream, with marking,
measured on the machine this project is developed on.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """One line of their tables; pairs are without and with marking."""

    seconds: tuple[float, float]
    deletion: tuple[int, int]
    backward: tuple[int, int]
    forward: tuple[int, int]
    insertion: int
    marked_explicit: int
    marked_implicit: int


TRANS = {
    10: Published((42.48, 39.17), (1603, 447), (11253, 14447), (18777, 19001), 545, 480, 991),
    20: Published((38.55, 35.68), (3046, 594), (10468, 13199), (15373, 15516), 2912, 960, 2277),
    30: Published((38.64, 35.57), (5146, 1100), (10206, 11856), (11154, 11224), 7288, 1399, 4153),
    40: Published((41.35, 40.17), (4755, 682), (10834, 13036), (12560, 12612), 6575, 1816, 4069),
    50: Published((43.60, 45.09), (3778, 360), (11514, 14441), (15060, 15096), 4570, 2215, 3660),
    60: Published((45.78, 48.51), (3227, 213), (11842, 15254), (16518, 16547), 3327, 2604, 3428),
    70: Published((48.34, 52.76), (2724, 161), (11919, 16054), (17780, 17796), 2158, 2973, 3085),
    80: Published((50.04, 55.76), (2584, 126), (11863, 16323), (18169, 18183), 1782, 3293, 3078),
}

SEQ = {
    10: Published((10.32, 8.73), (1960, 1480), (0, 0), (0, 0), 2360, 480, 480),
    20: Published((18.69, 15.68), (3920, 2960), (0, 0), (0, 0), 4317, 960, 960),
    30: Published((28.59, 23.33), (5880, 4440), (0, 0), (0, 0), 6265, 1440, 1440),
    40: Published((43.14, 34.60), (7827, 5910), (0, 0), (0, 0), 8228, 1917, 1917),
    50: Published((64.62, 52.67), (9709, 7332), (0, 0), (0, 0), 10173, 2377, 2377),
    60: Published((107.12, 85.82), (11588, 8744), (0, 0), (0, 0), 12129, 2844, 2844),
    70: Published((152.29, 120.46), (13457, 10147), (0, 0), (0, 0), 14069, 3311, 3311),
    80: Published((220.44, 177.29), (15283, 11516), (0, 0), (0, 0), 16005, 3767, 3767),
}

TRACKS = {
    0: Published((114.58, 106.22), (859, 754), (4329, 4400), (3299, 3299), 4638, 910, 70),
    1: Published((20.57, 20.29), (684, 544), (2697, 2733), (2317, 2317), 2653, 1208, 119),
    2: Published((10.46, 10.24), (558, 400), (1484, 1479), (1206, 1206), 1704, 1017, 137),
}

PUBLISHED = {"trans": TRANS, "seq": SEQ, "track": TRACKS}

PROGRAMS_HERE = {
    ("trans", 10): 36.0,
    ("trans", 80): 45.0,
    ("seq", 10): 7.7,
    ("seq", 40): 29.0,
    ("track", 0): 97.0,
    ("track", 1): 18.0,
    ("track", 2): 9.6,
}

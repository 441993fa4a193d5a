"""What does ZodiacEdge take? Seconds to stand beside ours.

`HERE`: its program, for the data of the paper, with chains of 200, measured on the machine this project
is developed on. `TABLES`: what Tables 2 and 3 print for the authors' machine. Figures 7 to 10 print no numbers.
"""

from __future__ import annotations

Operation = tuple[str, str, str]  # rule set, "add" or "remove", rules

HERE: dict[Operation, float] = {
    ("RS2", "add", "r3"): 68.6,
    ("RS2", "add", "r17"): 19.8,
    ("RS2", "add", "r4"): 14.8,
    ("RS2", "remove", "r10"): 17.4,
    ("RS2", "remove", "r6"): 15.9,
    ("RS2", "remove", "r4"): 12.9,
    ("RS3", "remove", "r10"): 13.1,
}

TABLES: dict[Operation, tuple[float, float]] = {  # from scratch, incremental
    ("RS3", "add", "r6"): (24.134, 0.2789),
    ("RS3", "add", "r10"): (24.134, 2.335),
    ("RS3", "remove", "r6"): (24.7, 7.304),
    ("RS3", "remove", "r10"): (23.347, 6.073),
}

MIDDLE_EDGE_HERE = {"remove": 109.0, "add": 23.0}  # of processor time, RS1 with 200 turbines

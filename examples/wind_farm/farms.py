"""What do several wind farms measure in two days?

Farms of different sizes, each a chain of neighbours as in data.py; every turbine reads the air temperature each hour.
Afternoons are warmer than nights, farms in the south warmer than those in the north, and no two sensors quite agree. A
few sensors are odd: they read too much or too little all the time. The same seed gives the same readings.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, field

ODD_BY = (6.5, 14.0)  # degrees, at least and at most; RS1 calls more than 5 an anomaly
CLOSE_BY = (2.0, 3.5)  # unusual, yet no anomaly
NEIGHBOURS, READINGS = "neighbours.csv", "readings.csv"


@dataclass(frozen=True)
class Farms:
    """Neighbours, readings, and the sensors that were made odd, with what each is off by."""

    neighbours: list[tuple[str, str]] = field(default_factory=list)
    readings: list[tuple[str, int, float]] = field(default_factory=list)  # turbine, hour, degrees
    odd: dict[str, float] = field(default_factory=dict)
    turbines: int = 0


def make_farms(
    farms: int = 50, sizes: tuple[int, int] = (12, 17), hours: int = 48, odd: int = 9, close: int = 9, seed: int = 7
) -> Farms:
    """Farms with their readings; at most one sensor of a farm is odd, and at most one close to it.

    >>> made = make_farms(farms=3, sizes=(4, 6), hours=2, odd=1, close=1)
    >>> len(made.readings) == 2 * made.turbines, len(made.neighbours) == made.turbines - 3, len(made.odd)
    (True, True, 1)
    """
    chance = random.Random(seed)
    odd_farms = set(chance.sample(range(1, farms + 1), odd))
    close_farms = set(chance.sample(range(1, farms + 1), close))
    made = Farms()
    turbines = 0
    for farm in range(1, farms + 1):
        usual = chance.uniform(6, 24)
        names = [turbine(farm, number) for number in range(1, chance.randint(*sizes) + 1)]
        turbines += len(names)
        special = chance.sample(names, 2)
        off = {name: chance.gauss(0, 0.4) for name in names}
        if farm in close_farms:
            off[special[1]] = _either_way(chance, CLOSE_BY)
        if farm in odd_farms:
            off[special[0]] = made.odd[special[0]] = _either_way(chance, ODD_BY)
        made.neighbours.extend(zip(names, names[1:], strict=False))
        for hour in range(hours):
            air = usual - 4 * math.cos((hour - 3) / 24 * 2 * math.pi)  # coldest at three in the morning
            made.readings.extend((name, hour, round(air + off[name] + chance.gauss(0, 0.3), 1)) for name in names)
    return Farms(made.neighbours, made.readings, made.odd, turbines)


def turbine(farm: int, number: int) -> str:
    return f"farm{farm:02}-windTurbine{number:02}"


def farm_of(name: str) -> str:
    """The farm of a turbine.

    >>> farm_of(turbine(7, 3))
    'farm07'
    """
    return name.partition("-")[0]


def csv_files(made: Farms) -> dict[str, str]:
    """The files that the pipeline reads: their texts by name."""
    return {NEIGHBOURS: _csv(made.neighbours), READINGS: _csv(made.readings)}


def _csv(rows: Iterable[tuple[object, ...]]) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def _either_way(chance: random.Random, between: tuple[float, float]) -> float:
    return chance.choice((-1, 1)) * chance.uniform(*between)

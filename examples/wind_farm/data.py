"""What does the wind farm measure?

DS1 of Xu and Curé (ZodiacEdge, section 6.1) for fifty turbines, which has no randomness: a chain of neighbours, and
25 degrees at every turbine; 99 facts. Ours are the few sensors that read something else.
"""

from __future__ import annotations

TURBINES = 50
USUAL = 25
ODD = {7: 12, 23: 41, 42: 33}  # turbine to degrees; more than 5 from the median of the others is an anomaly
CLOSE = {11: 27, 30: 24}  # unusual, yet no anomaly


def wind_farm() -> dict[str, list[tuple[str, str | int]]]:
    """Facts by relation.

    >>> {relation: len(rows) for relation, rows in wind_farm().items()}
    {'hasNeighbour': 49, 'hasAirTemperatureMesurement': 50}
    """
    degrees = {number: USUAL for number in range(1, TURBINES + 1)} | ODD | CLOSE
    return {
        "hasNeighbour": [(turbine(number), turbine(number + 1)) for number in range(1, TURBINES)],
        "hasAirTemperatureMesurement": [(turbine(number), value) for number, value in degrees.items()],
    }


def turbine(number: int) -> str:
    return f"windTurbine{number}"

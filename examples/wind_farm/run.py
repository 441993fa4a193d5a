"""Which temperature sensors of a wind farm are odd, by how much, and against which median?

Materialises rules.dl over the readings of data.py, then repairs one sensor and shows what that changes.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import everlog

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent.parent))  # so that it runs from any folder

from examples.wind_farm.data import USUAL, turbine, wind_farm  # noqa: E402


def main() -> None:
    facts = wind_farm()
    started = time.perf_counter()
    kb = everlog.open()
    kb.update(insert=facts, add_rules=(FOLDER / "rules.dl").read_text(encoding="utf-8"))
    seconds = time.perf_counter() - started

    print(f"{sum(map(len, facts.values()))} facts in; materialised in {seconds:.2f} s\n")
    print(f"  {'relation':<46}{'facts':>7}{'derived':>9}")
    for relation in kb.relations():
        print(f"  {relation.name:<46}{relation.facts:>7}{relation.facts - relation.explicit:>9}")

    print("\nOdd sensors:\n")
    print(f"  {'turbine':<16}{'reads':>7}{'median nearby':>16}{'off by':>9}")
    odd = kb.facts("oddSensor").sorted()
    for name, degrees, median, distance in odd:
        print(f"  {name!s:<16}{degrees!s:>7}{median!s:>16}{distance!s:>9}")

    repaired = turbine(23)
    reading = next(degrees for name, degrees, *_ in odd if name == repaired)
    change = kb.update(
        delete={"hasAirTemperatureMesurement": [(repaired, reading)]},
        insert={"hasAirTemperatureMesurement": [(repaired, USUAL)]},
    )
    print(f"\n{repaired} is repaired and reads {USUAL}. No longer odd:\n")
    for (name,) in change.lost("SensorAnomalyWindTurbine"):
        print(f"  {name}")


if __name__ == "__main__":
    main()

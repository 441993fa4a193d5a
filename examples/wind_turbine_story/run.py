"""A turbine reads an odd temperature: is its sensor broken, or is it hot?

It receives rules that it does not need on other days, finds out, and drops them again. See README.md.
"""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

import everlog

FOLDER = Path(__file__).parent
TURBINES = 30
SELF, READS = "WT12", 37
TEMPERATURE, MEDIAN, ANOMALY = (
    "hasAirTemperatureMesurement",
    "hasMedianAirTemperatureMeasurementNearby",
    "SensorAnomalyWindTurbine",
)
DIAGNOSIS = ("r3", "r4", "r5", "r6")

State = dict[str, set[tuple[object, ...]]]


def main() -> None:
    tell(Console())


def tell(console: Console) -> tuple[State, State]:
    """Tell the story; returns the state before and after it."""
    kb = everlog.open()
    kb.update(insert={"hasNeighbour": row_of_turbines()}, add_rules=rules("daily.dl"))
    console.print(f"[bold]An ordinary day.[/] {SELF} knows its neighbours, by rules {names(kb)}.")

    reading = {TEMPERATURE: [(SELF, READS)]}
    change = kb.update(insert=reading)
    ((_, degrees),) = change.gained("unusualReading")
    console.print(f"\n[bold]Something is odd.[/] Its sensor reads {degrees} °C. Is it broken, or is it hot?")
    before = state(kb)

    mild = temperatures(24)
    kb.insert(TEMPERATURE, mild)
    change = kb.add_rules(rules("diagnosis.dl"))
    console.print(
        f"\n[bold]It asks.[/] {len(mild)} neighbours send their temperatures, and a server sends rules "
        f"{', '.join(DIAGNOSIS)}:"
    )
    console.print(effect(change))
    for (turbine,) in change.gained(ANOMALY):
        console.print(f"{compared(change)}: [red]the sensor of {turbine} is broken.[/]")

    hot = temperatures(36)
    change = kb.update(delete={TEMPERATURE: mild}, insert={TEMPERATURE: hot})
    console.print("\n[bold]And if the others were as warm?[/] Facts change, the same rules stay:")
    for (turbine,) in change.lost(ANOMALY):
        console.print(f"{compared(change)}: [green]nothing is wrong with {turbine}, it is a hot day.[/]")

    change = kb.update(delete={TEMPERATURE: hot}, remove_rules=DIAGNOSIS)
    console.print(f"\n[bold]Done.[/] It drops the rules and what the others sent, at once. Left are {names(kb)}:")
    console.print(effect(change))

    after = state(kb)
    same = "as before" if after == before else "NOT as before"
    console.print(f"\nThe state is {same}: {sum(map(len, after.values())):,} facts; {kb.verify()}.")
    return before, after


def row_of_turbines() -> list[tuple[str, str]]:
    return [(f"WT{number}", f"WT{number + 1}") for number in range(1, TURBINES)]


def temperatures(usual: int) -> list[tuple[str, int]]:
    """What the other turbines read; no two sensors quite agree."""
    others = [number for number in range(1, TURBINES + 1) if f"WT{number}" != SELF]
    return [(f"WT{number}", usual + number % 3 - 1) for number in others]


def rules(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")


def names(kb: everlog.KnowledgeBase) -> str:
    return ", ".join(rule.name or "" for rule in kb.program.rules)


def state(kb: everlog.KnowledgeBase) -> State:
    """All facts there are, by relation; a relation without facts is as good as none."""
    found = {relation.name: set(kb.facts(relation.name)) for relation in kb.relations()}
    return {name: facts for name, facts in found.items() if facts}


def effect(change: everlog.Change) -> Table:
    """What an update changed, and which components of rules it concerned."""
    table = Table(
        "relation", title=f"version {change.version}, {change.report.seconds * 1e3:.1f} ms", title_justify="left"
    )
    table.add_column("gained", justify="right")
    table.add_column("lost", justify="right")
    for relation, (gained, lost) in change.counts().items():
        table.add_row(relation, f"{gained:,}", f"{lost:,}")
    if affected := [*change.report.directly_affected, *change.report.indirectly_affected]:
        table.caption = f"rules concerned: {', '.join(dict.fromkeys(affected))}"
        table.caption_justify = "left"
    return table


def compared(change: everlog.Change) -> str:
    medians = dict(change.gained(MEDIAN))
    return f"{SELF} reads {READS} °C, the median of its neighbours is {medians[SELF]} °C"


if __name__ == "__main__":
    main()

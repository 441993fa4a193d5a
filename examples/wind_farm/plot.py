"""What does it look like when a sensor is odd?

A column of dots per farm, a dot per turbine at its temperature, a dash at the farm's median; odd sensors in red, each
with its turbine's number and a line to the median.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median

from examples.wind_farm.farms import farm_of

USUAL, ODD = "#4c78a8", "#d62728"


def plot_farms(temperatures: Mapping[str, float], odd: set[str], path: Path) -> None:
    """Draw the temperatures of all turbines into a PNG file."""
    from matplotlib.figure import Figure  # without pyplot there is no window and no state to clean up

    farms = sorted({farm_of(name) for name in temperatures})
    place = {farm: number for number, farm in enumerate(farms)}
    figure = Figure(figsize=(max(6.0, 0.3 * len(farms) + 1), 5), layout="constrained")
    axes = figure.add_subplot()

    usual = [name for name in temperatures if name not in odd]
    axes.scatter(
        [place[farm_of(name)] for name in usual],
        [temperatures[name] for name in usual],
        s=12, color=USUAL, alpha=0.5, linewidths=0, label="a turbine",
    )  # fmt: skip
    middles = [median(temperatures[name] for name in temperatures if farm_of(name) == farm) for farm in farms]
    axes.scatter(range(len(farms)), middles, marker="_", s=90, color="black", linewidths=1, label="median of the farm")
    marked = sorted(odd & temperatures.keys())
    where = [(place[farm_of(name)], temperatures[name]) for name in marked]
    axes.scatter([x for x, _ in where], [y for _, y in where], s=40, color=ODD, label="odd sensor", zorder=3)
    for x, y in where:
        axes.plot([x, x], [middles[x], y], color=ODD, linewidth=0.8, alpha=0.5)
    for name, (x, y) in zip(marked, where, strict=True):
        number = name.rpartition("windTurbine")[2]
        away = 10 if y > middles[x] else -10  # from the line to the median
        axes.annotate(
            number, (x, y), (0, away), textcoords="offset points", ha="center", va="center", fontsize=8, color=ODD
        )

    axes.set_xticks(range(len(farms)), [farm.removeprefix("farm") for farm in farms], fontsize=8)
    axes.set_xlim(-0.8, len(farms) - 0.2)
    axes.margins(y=0.1)
    axes.set_xlabel("farm")
    axes.set_ylabel("average of two days, °C")
    axes.set_title(f"{len(temperatures)} turbines, {len(marked)} odd temperature sensors", loc="left")
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower left", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, fontsize=8, borderaxespad=0.3)
    figure.savefig(path, dpi=120)

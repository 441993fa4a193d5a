"""What do all benchmarks of updates write? NAME.json with every figure; NAME.md and NAME.png, made from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.measuring.machine import described, machine

Record = dict[str, Any]
Says = Callable[[str], None]

PACKAGES = ("everlog", "numpy", "numba")


def new_results(**conditions: Any) -> Record:
    """Results without figures yet: the machine, the versions, and what all figures were made with."""
    return {
        "machine": machine(),
        "versions": {package: version(package) for package in PACKAGES},
        "conditions": conditions,
    }


def origin(name: str, results: Record) -> str:
    """The line under a page's title that says where its figures come from."""
    versions = ", ".join(f"{package} {number}" for package, number in results["versions"].items())
    command = f"everlog bench {name}" + (" --quick" if results["conditions"].get("quick") else "")
    return (
        f"Made by `{command}`; every figure is in [{name}.json]({name}.json).\n\n"
        f"{described(results['machine'])}; {versions}."
    )


def write_results(
    folder: Path, name: str, results: Record, page: Callable[[Record], str], draw: Callable[[Record, Path], None]
) -> None:
    """Write the three files."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (folder / f"{name}.md").write_text(page(results), encoding="utf-8")
    draw(results, folder / f"{name}.png")

"""Which systems are compared? `NAME` or `NAME:OPTION`; a driver is imported only in the process that measures it."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Protocol, cast

from benchmarks.workload import Tables, Workload

MODULES = {"everlog": "everlog", "duckdb": "duckdb_sql", "clingo": "clingo_asp"}
DEFAULT = ("everlog", "duckdb:1", "duckdb:2", "clingo")


class Unsupported(Exception):
    """The system is not installed, or has no program for the workload; the message says which."""


class System(Protocol):
    """One system under measurement. The methods are called once each, in this order, and timed apart."""

    version: str

    def prepare(self, workload: Workload, tables: Tables) -> None:
        """Work on the harness's side: files written, values encoded. Not timed."""

    def load(self) -> None:
        """The given facts into the system."""

    def reason(self) -> None:
        """Everything the rules derive."""

    def count(self, relations: Iterable[str]) -> dict[str, int]:
        """Facts per relation, given ones included where rules define the relation too."""

    def report(self) -> dict[str, object]:
        """What else the system says about the run: rule applications, its own idea of its memory."""


def start(name: str) -> System:
    """Imports the system and warms it up: what a fresh process pays before any data."""
    base, _, option = name.partition(":")
    if base not in MODULES:
        raise Unsupported(f"unknown system {base}; there are: {', '.join(MODULES)}")
    try:
        module = import_module(f"benchmarks.systems.{MODULES[base]}")
    except ModuleNotFoundError as missing:
        raise Unsupported(f"{missing.name} is not installed") from missing
    return cast(System, module.start(option))

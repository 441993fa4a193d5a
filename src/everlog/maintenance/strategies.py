"""Which strategies of maintenance can be asked for by name?"""

from __future__ import annotations

from everlog.errors import UsageError

CHOOSE = "choose"
NAMES = (CHOOSE, "counting", "bf", "bf-counting", "ranked", "dred", "rematerialise")


def check_strategy(name: str) -> str:
    """The name of a strategy, or an error that lists them."""
    if name not in NAMES:
        raise UsageError(f"there is no strategy {name!r}", hint=f"one of: {', '.join(NAMES)}")
    return name

"""How do figures read as Markdown?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A table whose first `left` columns are text and whose others are figures.

    >>> print(table(["stream", "ms"], [["seq 10", "1.2"]]))
    | stream | ms |
    |---|--:|
    | seq 10 | 1.2 |
    """
    line = "|" + "---|" * left + "--:|" * (len(head) - left)
    return "\n".join(["| " + " | ".join(head) + " |", line, *("| " + " | ".join(row) + " |" for row in rows)])


def seconds(value: float) -> str:
    """A time in the unit that suits it, with three figures.

    >>> seconds(0.0000471), seconds(0.0123), seconds(2.5), seconds(97.0)
    ('47.1 µs', '12.3 ms', '2.50 s', '97.0 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size or unit == "µs":
            scaled = value / size
            return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f} {unit}"
    raise AssertionError("the loop ends with its last unit")


def verdict(kept: bool) -> str:
    """Whether what was asked for was measured."""
    return "yes" if kept else "**no**"

"""What becomes of a row in which a value is missing?

An empty cell, a null in a table or in JSON is no value, so the row's fact cannot be made. `nulls` says what then:

    refuse (the usual)    an error that names the place
    skip                  the row is left out, and counted
    empty                 the value is the empty string
"""

from __future__ import annotations

from everlog.errors import DataError, UsageError

NULLS = ("refuse", "skip", "empty")


class MissingValues:
    """The rule for rows without a value, and how many rows it has left out."""

    def __init__(self, nulls: str = "refuse") -> None:
        if nulls not in NULLS:
            raise UsageError(f"{nulls!r} is no way to treat nulls; there are {', '.join(NULLS)}")
        self.nulls, self.skipped = nulls, 0

    @property
    def refuses(self) -> bool:
        return self.nulls == "refuse"

    @property
    def skips(self) -> bool:
        return self.nulls == "skip"

    @staticmethod
    def refusal(what: str, path: str | None = None, line: int | None = None) -> DataError:
        """The error for a value that is not there."""
        return DataError(
            f"{what} has no value",
            path=path,
            line=line,
            hint='a fact has all its terms: fill them in, or say nulls="skip" to leave such rows out, '
            'or nulls="empty" to read them as ""',
        )

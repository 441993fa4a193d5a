"""Which errors does Everlog raise?

    EverlogError                      everything below; `exit_code` for the shell, `http_status` for a server
    ├── ProgramError                  rules that cannot be read or make no sense; `.diagnostics` lists every problem
    │   └── SettingsError             the same for a pipeline.toml (pipeline/settings.py)
    ├── SparqlError                   a query or update in SPARQL that cannot be read or makes no sense
    ├── DataError                     facts that cannot be read or do not fit; names file and line
    │   ├── FormatError               a file that is not what its name says, is cut short, or is not UTF-8
    │   └── DamagedLogError           a log of updates that was changed after it was written; `offset` says where
    │       ├── DamagedSnapshotError  the same for a snapshot
    │       └── DamagedRunsError      the same for the sorted runs of the paged engine, which are made again
    ├── NotFoundError                 a file, relation or rule that is not there
    │   └── HistoryError              a version that is no longer remembered; `oldest` says from when on they are
    ├── ConstraintError               an update that would break a constraint; `violations` has the matches
    ├── OutputError                   results that cannot be written
    ├── StorageError                  an object store that refuses us, or does not answer
    ├── UsageError                    a call or command that asks for something that does not exist
    │   └── MissingExtraError         an optional package is not installed; the hint installs it
    ├── StoreInUseError               another process, or this one, has the durable knowledge base open
    ├── CommitConflictError           another writer was there first (tables/commits.py)
    ├── EngineError                   Spark failed while it worked for us; its own words are chained below
    ├── NeedsBulk                     an update that the paged engine leaves to others; `reason` says why
    ├── InternalError                 a mistake in Everlog itself; only commands say it so, Python shows what was raised
    └── LimitError                    work stopped by a limit; the state before it remains
        ├── RoundLimitError           too many rounds of a fixpoint
        ├── FactLimitError            too many facts
        ├── TimeLimitError            too much time
        └── MemoryLimitError          too much memory

    UnknownRelationWarning            no error: a relation that is read, and that no fact, rule or declaration knows

An error says what was found, where, and what would have been right. A violated invariant is an assertion instead.
What is done and was perhaps not meant is an `EverlogWarning`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from everlog.rules.diagnostics import Diagnostic

_MOST_NAMES = 10  # listed where none is near


class EverlogError(Exception):
    """A mistake or a limit that a user can do something about."""

    code = "E000"
    exit_code = 1
    http_status = 500

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n   = help: {self.hint}" if self.hint else self.message

    def stands_at(self, path: str, line: int | None) -> None:
        """Say where the cause stands, if the error does not say so yet."""
        self.message = f"{_place(path, line)}: {self.message}"

    def as_data(self) -> dict[str, Any]:
        """The error for programs: what `--json` prints."""
        return {"error": type(self).__name__, "code": self.code, "message": self.message, "hint": self.hint}


class ProgramError(EverlogError):
    """A program with problems; all of them are in `diagnostics`."""

    code = "R000"
    exit_code = 3
    http_status = 400

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(replace(each, level="error") for each in diagnostics)
        super().__init__("\n\n".join(diagnostic.render() for diagnostic in self.diagnostics))

    def stands_at(self, path: str, line: int | None) -> None:
        """Diagnostics name their own place."""

    def as_data(self) -> dict[str, Any]:
        return {
            "error": type(self).__name__,
            "code": self.code,
            "message": f"{len(self.diagnostics)} problem(s) in the program",
            "diagnostics": [diagnostic.as_data() for diagnostic in self.diagnostics],
        }


class UnknownRelationWarning(UserWarning):
    """Rules or a query read a relation that no fact, rule or declaration knows; `strict=True` makes it an error."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.render())
        self.diagnostic = diagnostic


class SparqlError(EverlogError):
    """A query or update in SPARQL that cannot be read, makes no sense, or asks for what there is not."""

    code = "S000"
    exit_code = 3
    http_status = 400


class DataError(EverlogError):
    """Facts that do not fit: a wrong arity, a value that is not of its column's type."""

    code = "D100"
    exit_code = 4
    http_status = 400

    def __init__(
        self, message: str, *, path: str | None = None, line: int | None = None, hint: str | None = None
    ) -> None:
        self.path, self.line = path, line
        placed = path is not None or line is not None
        super().__init__(f"{_place(path, line)}: {message}" if placed else message, hint=hint)

    def stands_at(self, path: str, line: int | None) -> None:
        if self.path is None and self.line is None:
            super().stands_at(path, line)
            self.path, self.line = path, line

    def as_data(self) -> dict[str, Any]:
        return {**super().as_data(), "path": self.path, "line": self.line}


def _place(path: str | None, line: int | None) -> str:
    return (path or "<data>") if line is None else f"{path or '<data>'}:{line}"


class FormatError(DataError):
    """A file that is not what its name says, is cut short, or is not UTF-8."""

    code = "D200"


class DamagedLogError(DataError):
    """A log of updates that does not fit its checksums."""

    code = "D300"
    http_status = 500

    def __init__(
        self, message: str, *, path: str | None = None, offset: int | None = None, hint: str | None = None
    ) -> None:
        self.offset = offset
        super().__init__(message, path=path, hint=hint)

    def as_data(self) -> dict[str, Any]:
        return {**super().as_data(), "offset": self.offset}


class DamagedSnapshotError(DamagedLogError):
    """A snapshot that does not fit its checksums."""

    code = "D310"


class DamagedRunsError(DamagedLogError):
    """Sorted runs (engines/paged) that do not fit their checksums; they are a copy, to be made again."""

    code = "D320"


class StoreInUseError(EverlogError):
    """Somebody else has the folder open for writing."""

    code = "W100"
    exit_code = 10
    http_status = 409


class NotFoundError(EverlogError):
    """A file, relation, rule, view or version that is not there."""

    code = "N100"
    exit_code = 5
    http_status = 404

    @classmethod
    def among(cls, what: str, wanted: str, known: Iterable[str]) -> NotFoundError:
        """An error that names the nearest of those there are, or lists some.

        >>> print(NotFoundError.among("rule", "bth", ["both", "one"]))
        there is no rule 'bth'
           = help: did you mean both?
        """
        import difflib

        names = list(known)
        near = difflib.get_close_matches(wanted, names, 3)
        if near:
            return cls(f"there is no {what} {wanted!r}", hint=f"did you mean {' or '.join(near)}?")
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        return cls(
            f"there is no {what} {wanted!r}", hint=f"known: {', '.join(names[:_MOST_NAMES]) or 'none yet'}{more}"
        )


class HistoryError(NotFoundError):
    """A version that is no longer remembered, or not there yet; `oldest` and `newest` say which ones are."""

    code = "N110"
    http_status = 410

    def __init__(self, version: int, oldest: int, newest: int | None = None) -> None:
        self.version, self.oldest, self.newest = version, oldest, newest
        if newest is not None and version > newest:
            super().__init__(f"there is no version {version} yet", hint=f"the newest is {newest}")
        else:
            super().__init__(
                f"version {version} is no longer remembered",
                hint=f"the oldest version there is: {oldest}; everlog.open(history=…) says how many are kept",
            )


class ConstraintError(EverlogError):
    """An update that would break a constraint, and was not made; `violations` has the first matches by constraint."""

    code = "C100"
    exit_code = 8
    http_status = 409

    def __init__(self, message: str, *, violations: dict[str, list[tuple[Any, ...]]], hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.violations = violations


class OutputError(EverlogError):
    """Results that cannot be written."""

    code = "O100"
    exit_code = 6


class StorageError(EverlogError):
    """An object store that refuses us, or does not answer; what was committed before is still there."""

    code = "O200"
    exit_code = 6
    http_status = 502


class UsageError(EverlogError):
    """A call with arguments that do not exist or do not go together."""

    code = "U100"
    exit_code = 2
    http_status = 400


class MissingExtraError(UsageError):
    """An optional package that this call needs is not installed; the hint says how to install it."""

    code = "U110"


class EngineError(EverlogError):
    """Spark failed while it worked: a worker died, memory ran out. Its own error is chained below."""

    code = "S100"
    exit_code = 9
    http_status = 503


class NeedsBulk(EverlogError):
    """An update that reads so much that deriving in bulk is better; nothing was changed."""

    code = "B100"
    exit_code = 7
    http_status = 413

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"not by looking up single facts: {reason}", hint="derive in bulk, or raise the bound on rows fetched"
        )


class InternalError(EverlogError):
    """A mistake in Everlog itself, as commands report it."""

    code = "E900"
    exit_code = 70


class LimitError(EverlogError):
    """Work stopped by a limit; nothing was changed."""

    code = "L100"
    exit_code = 7
    http_status = 413


class RoundLimitError(LimitError):
    """A fixpoint took too many rounds."""

    code = "L101"


class FactLimitError(LimitError):
    """More facts than allowed."""

    code = "L102"


class TimeLimitError(LimitError):
    """More time than allowed."""

    code = "L103"
    http_status = 408


class MemoryLimitError(LimitError):
    """More memory than allowed."""

    code = "L104"


class EverlogWarning(UserWarning):
    """Something was asked for that has no effect, or not the one that its name suggests."""

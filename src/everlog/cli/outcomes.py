"""How does a command end?

A mistake ends it with a message on stderr (with `--json`: an object on stdout) and the exit code of its error's class;
see errors.py. Ctrl-C ends it with 130, a reader that closes the pipe (`everlog … | head`) with 141, as shells expect.
What nobody expected is a bug in Everlog: a message that says so, and the traceback for whoever asks for one.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import typer

from everlog.cli.deadlines import deadline
from everlog.errors import (
    DataError,
    EverlogError,
    EverlogWarning,
    FormatError,
    InternalError,
    MemoryLimitError,
    OutputError,
    ProgramError,
    TimeLimitError,
    UnknownRelationWarning,
    UsageError,
)

if TYPE_CHECKING:
    from everlog.limits import Limits

INTERRUPTED, BROKEN_PIPE = 130, 141
TRACEBACK = "EVERLOG_TRACEBACK"  # a variable of the environment: show where an unexpected error came from


@contextmanager
def outcome(*, as_json: bool, limits: Limits | None = None) -> Iterator[None]:
    """Run the body of a command; turn what goes wrong, and more time than allowed, into a message and an exit code."""
    seconds = limits.seconds if limits is not None else None
    with _warnings_for_people(), deadline(seconds) as passed:
        try:
            yield
            sys.stdout.flush()  # a closed pipe, or a full disk, shows here, not while Python shuts down
        except typer.Exit:
            raise
        except BrokenPipeError:
            _discard_stdout()
            raise typer.Exit(BROKEN_PIPE) from None
        except KeyboardInterrupt:
            if not passed.is_set():
                print("interrupted", file=sys.stderr)
                raise typer.Exit(INTERRUPTED) from None
            late = TimeLimitError(f"stopped after {seconds:g} s", hint="raise --timeout, or ask for less")
            raise _ended(late, as_json) from None
        except Exception as error:
            if isinstance(error, OSError):
                _discard_stdout_if_full()
            ours = our_error(error)
            if isinstance(ours, InternalError) and os.environ.get(TRACEBACK):
                raise
            raise _ended(ours, as_json) from None


def our_error(error: Exception) -> EverlogError:
    """An error in our words, with a code and a remedy."""
    if isinstance(error, EverlogError):
        return error
    if isinstance(error, MemoryError):
        return MemoryLimitError("the machine has no memory left for this", hint="--limit-memory stops earlier")
    if isinstance(error, ModuleNotFoundError) and error.name:
        from everlog.extras import missing_extra

        return missing_extra(error.name, "this command")
    if isinstance(error, UnicodeEncodeError):
        return _not_encodable(error)
    if isinstance(error, UnicodeDecodeError):
        return FormatError(f"this is not UTF-8 text (byte {error.start})", hint="convert it first: iconv -t utf-8")
    if isinstance(error, RecursionError):
        return UsageError("this is nested too deeply", hint="split it into smaller parts")
    if type(error).__module__.partition(".")[0] == "pyarrow":
        return DataError(f"Arrow cannot do this: {error}", hint="is the file, or the type of a column, what it says?")
    if isinstance(error, OSError):
        if error.filename is None:
            return OutputError(f"stdout: cannot be written ({error.strerror or error})", hint="write to another place")
        return OutputError(
            f"{error.filename}: cannot be read or written ({error.strerror or error})",
            hint="see to the disk, and to who may use the file",
        )
    return InternalError(
        f"{type(error).__name__}: {error}",
        hint=f"this is a mistake in Everlog: please report it, with what {TRACEBACK}=1 shows",
    )


def _not_encodable(error: UnicodeEncodeError) -> EverlogError:
    character = error.object[error.start : error.start + 1]
    if "\ud800" <= character <= "\udfff":
        return FormatError(f"{character!r} is no character: the text is not UTF-8", hint="convert it first: iconv")
    return OutputError(
        f"stdout: its encoding, {error.encoding}, has no {character!r}",
        hint="set PYTHONIOENCODING=utf-8, or write a file",
    )


def print_json(data: Any) -> None:
    """A result for programs: one JSON object on stdout."""
    json.dump(data, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")


def _ended(error: EverlogError, as_json: bool) -> typer.Exit:
    """Tell an error, and end with its exit code."""
    if as_json:
        try:
            print_json(error.as_data())
            sys.stdout.flush()
            return typer.Exit(error.exit_code)
        except OSError:
            _discard_stdout()  # which may be what went wrong: then stderr has to do
    if isinstance(error, ProgramError):
        print(error, file=sys.stderr)  # its diagnostics say "error" themselves
    else:
        print(f"error[{error.code}]: {error}", file=sys.stderr)
    return typer.Exit(error.exit_code)


def _discard_stdout_if_full() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        _discard_stdout()


def _discard_stdout() -> None:
    """Python flushes stdout once more at exit; give it a place where that works."""
    with suppress(OSError, ValueError):  # a test's stdout is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _warnings_for_people() -> Iterator[None]:
    """Warnings of ours are lines on stderr; the place in the code means nothing to whoever calls a command."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", EverlogWarning)
        before = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, UnknownRelationWarning):  # which says what it is itself
                print(message, file=sys.stderr)
            elif issubclass(category, EverlogWarning):
                print(f"warning: {message}", file=sys.stderr)
            else:
                before(message, category, *place, **more)

        warnings.showwarning = show
        yield

"""How does a command end?

A mistake ends it with a message on stderr (with `--json`: an object on stdout) and the exit code of its error's class;
see errors.py. Ctrl-C ends it with 130, a reader that closes the pipe (`everlog … | head`) with 141, as shells expect.
A traceback means a bug in Everlog, never a mistake of the user's.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from everlog.errors import EverlogError, MemoryLimitError, ProgramError, UnknownRelationWarning

INTERRUPTED, BROKEN_PIPE = 130, 141


@contextmanager
def outcome(*, as_json: bool) -> Iterator[None]:
    """Run the body of a command; turn what goes wrong into a message and an exit code."""
    try:
        with warnings_told():
            yield
        sys.stdout.flush()  # a closed pipe shows here, not while Python shuts down
    except BrokenPipeError:
        # Python flushes stdout once more at exit; give it a place where that works.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(BROKEN_PIPE) from None
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    except MemoryError:
        _report(
            MemoryLimitError("the machine has no memory left for this", hint="--limit-memory stops earlier"), as_json
        )
        raise typer.Exit(MemoryLimitError.exit_code) from None
    except EverlogError as error:
        _report(error, as_json)
        raise typer.Exit(error.exit_code) from None


@contextmanager
def warnings_told() -> Iterator[None]:
    """Say on stderr what the user is warned of, each once; other warnings go the usual way."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, UnknownRelationWarning):
                print(message, file=sys.stderr)
            else:
                usual(message, category, *place, **more)

        warnings.simplefilter("always", UnknownRelationWarning)
        warnings.showwarning = show
        yield


def print_json(data: Any) -> None:
    """A result for programs: one JSON object on stdout."""
    json.dump(data, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")


def _report(error: EverlogError, as_json: bool) -> None:
    if as_json:
        print_json(error.as_data())
        sys.stdout.flush()
    elif isinstance(error, ProgramError):
        print(error, file=sys.stderr)  # its diagnostics say "error" themselves
    else:
        print(f"error[{error.code}]: {error}", file=sys.stderr)

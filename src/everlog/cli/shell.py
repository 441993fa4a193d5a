"""`everlog shell`: what if one could just ask?

On a terminal lines can be edited and completed, mistakes are told and forgotten. From a pipe or a file statements are
read without prompts, and the first mistake ends it, so that nothing is done after a step that failed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from everlog.cli.knowledge_bases import kept_kb, read_kb
from everlog.cli.limit_options import limited
from everlog.cli.outcomes import our_error, outcome
from everlog.errors import FormatError, InternalError, ProgramError
from everlog.limits import Limits

if TYPE_CHECKING:
    from everlog.cli.shell_session import Session
    from everlog.store.store import KnowledgeBase

PROMPT, MORE = "everlog> ", "    ...> "


@limited
def shell(
    kb: Annotated[
        Path | None,
        typer.Argument(help="The folder of a knowledge base, made if it is not there; without one, in memory."),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Only ask; another process may be writing meanwhile.")
    ] = False,
    *,
    limits: Limits,
) -> None:
    """Type rules, facts, queries and SPARQL, and see what they give; `.help` lists more. Limits are for each."""
    with outcome(as_json=False):
        from everlog.cli.shell_session import Session

        terminal = sys.stdin.isatty()
        with _opened(kb, read_only, limits) as opened:
            session = Session(opened, timed=terminal and sys.stdout.isatty())
            if terminal:
                _converse(session)
            else:
                _read(session)


def _opened(path: Path | None, read_only: bool, limits: Limits) -> AbstractContextManager[KnowledgeBase]:
    if path is None:
        from everlog.store.opening import open

        return nullcontext(open(limits=limits))
    return read_kb(path, limits) if read_only else kept_kb(path, limits=limits)


def _read(session: Session) -> None:
    """Statements from a pipe or a file."""
    for line in _lines():
        session.take(line)
        if session.over:
            return
    if session.begun:
        session.finish()


def _lines() -> Iterator[str]:
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            yield line.decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise FormatError("this is not UTF-8 text", path="<stdin>", line=number) from error


def _converse(session: Session) -> None:
    """Statements from somebody who types; a mistake does not end it."""
    from everlog.cli.shell_editing import editing

    kb = session.kb
    print(f"Everlog, version {kb.version}: {len(kb.relations())} relations. Type .help for help, .quit to leave.")
    with editing(session.completions):
        while not session.over:
            try:
                session.take(input(MORE if session.begun else PROMPT))
            except EOFError:
                print()
                return
            except KeyboardInterrupt:
                print("interrupted" if not session.begun else "")
                session.forget()
            except BrokenPipeError:
                raise
            except Exception as error:
                ours = our_error(error)
                if isinstance(ours, InternalError):
                    raise
                print(ours if isinstance(ours, ProgramError) else f"error[{ours.code}]: {ours}", file=sys.stderr)

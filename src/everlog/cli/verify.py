"""`everlog verify`: do the stored facts equal what would be derived from scratch?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from everlog.cli.knowledge_bases import JsonOption, materialised, read_kb
from everlog.cli.limit_options import limited
from everlog.cli.outcomes import outcome, print_json
from everlog.cli.progress import Progress
from everlog.cli.run import EngineName
from everlog.errors import UsageError
from everlog.limits import Limits

DIFFERENT = 1  # the exit code where something differs


@limited
def verify(
    subject: Annotated[str, typer.Argument(help="The folder of a knowledge base, or a program.", metavar="KB|PROGRAM")],
    files: Annotated[list[str] | None, typer.Argument(help="Data files for a program.", metavar="FILES")] = None,
    engine: Annotated[EngineName, typer.Option("--engine", help="What derives from scratch.")] = EngineName.columnar,
    as_json: JsonOption = False,
    *,
    limits: Limits,
) -> None:
    """Derive everything again and compare; name what differs."""
    with outcome(as_json=as_json, limits=limits), Progress(verbose=False, quiet=as_json) as progress:
        is_program = Path(subject).is_file() or subject == "-"
        if files and not is_program:
            raise UsageError(f"{subject} has its data already", hint="name files only after a program")
        if is_program:
            from everlog.store.program_files import read_programs

            opened = materialised(*read_programs([subject], files or []), progress, limits=limits)
        else:
            opened = read_kb(subject, limits)
        with opened as kb:
            progress("deriving from scratch")
            found = kb.verify(engine=engine.value)
        progress.close()
        if as_json:
            print_json(found.as_data())
        else:
            print(found)
        if not found:
            raise typer.Exit(DIFFERENT)

"""How does a command get the knowledge base it works on?

Either it is in a folder (KB), or it is built in memory from a program and files.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from everlog.addresses import is_remote
from everlog.cli.progress import Progress
from everlog.errors import NotFoundError

if TYPE_CHECKING:
    from everlog.limits import Limits
    from everlog.rules.syntax import Program
    from everlog.store.store import KnowledgeBase

KbArgument = Annotated[
    str, typer.Argument(help="The folder of a knowledge base, or the tables of a pipeline.", metavar="KB")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Results and errors as JSON on stdout.")]

RewritesOption = Annotated[
    bool, typer.Option("--rewrites/--no-rewrites", help="Evaluate transitive rules linearly: same facts, sooner.")
]


def read_kb(path: str | Path) -> KnowledgeBase:
    """The knowledge base in a folder, to be read: another process may be writing to it."""
    return open_kb(path, read_only=True)


def open_kb(path: str | Path, *, make: bool = False, rewrites: bool = True, read_only: bool = False) -> KnowledgeBase:
    """The knowledge base in a folder; where there is none, one is made, or an error is raised."""
    from everlog.store.durable import is_folder
    from everlog.store.opening import open
    from everlog.tables.table_store import is_table_folder

    if not make and not is_remote(str(path)) and not is_folder(Path(path)) and not is_table_folder(path):
        what = "there is no knowledge base in this folder" if Path(path).is_dir() else "there is no such knowledge base"
        raise NotFoundError(f"{path}: {what}", hint=f"make one: everlog load {path} program.dl data.csv")
    return open(path, rewrites=rewrites, read_only=read_only)


def materialised(
    name: str,
    program: Program,
    files: Sequence[str],
    progress: Progress,
    *,
    data: Sequence[str] = (),
    header: bool = False,
    engine: str = "columnar",
    limits: Limits | None = None,
    rewrites: bool = True,
) -> KnowledgeBase:
    """A knowledge base in memory: the program of that name, the files it imports, and those that a command names."""
    from everlog.store import program_files
    from everlog.store.store import KnowledgeBase

    sources = [
        *program_files.imports(program, Path() if name == "-" else Path(name).parent),
        *(program_files.named_source(each, header=header) for each in files),
        *(program_files.assigned_source(each, header=header) for each in data),
    ]
    kb = KnowledgeBase(engine=engine, limits=limits, rewrites=rewrites)
    kb.on_progress = component_progress(progress)
    kb.update(insert=program_files.read_sources(sources, progress), add_rules=program)
    kb.on_progress = None
    return kb


def component_progress(progress: Progress) -> Callable[[int, int, Any], None]:
    """A progress message for people, for `kb.on_progress`."""

    def says(done: int, components: int, phase: Any) -> None:
        progress(f"component {done} of {components}: {phase.name}, {sum(phase.gained.values()):,} facts")

    return says


def progress_unless(quiet: bool, *, lines_every: float) -> Progress:
    """A spinner on a terminal; elsewhere a line now and then."""
    return Progress(verbose=not quiet and not sys.stderr.isatty(), quiet=quiet, lines_every=lines_every)

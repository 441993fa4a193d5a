"""How does a command get the knowledge base it works on?

Either it is in a folder (KB), or it is built in memory from a program and files.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from everlog.addresses import is_remote
from everlog.cli.progress import Progress
from everlog.errors import FormatError, NotFoundError, UnknownRelationWarning

if TYPE_CHECKING:
    from everlog.limits import Limits
    from everlog.rules.syntax import Program
    from everlog.store.program_files import FactFile
    from everlog.store.store import KnowledgeBase


def place(text: str) -> str:
    """A folder, or an address in an object store, as it was written."""
    if "\0" in text:
        raise typer.BadParameter("no name of a folder has a null character in it")
    return text


KbArgument = Annotated[
    str, typer.Argument(help="The folder of a knowledge base, or the tables of a pipeline.", metavar="KB", parser=place)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Results and errors as JSON on stdout.")]

NullsOption = Annotated[
    str, typer.Option("--nulls", metavar="RULE", help="Rows without a value: refuse, skip, or read as empty text.")
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="A relation that no fact, rule or declaration knows is an error.")
]
RewritesOption = Annotated[
    bool, typer.Option("--rewrites/--no-rewrites", help="Evaluate transitive rules linearly: same facts, sooner.")
]


def read_kb(path: str | Path, limits: Limits, *, follow: bool = False, strict: bool = False) -> KnowledgeBase:
    """The knowledge base in a folder, to be read: another process may be writing to it."""
    return open_kb(path, limits=limits, read_only=True, follow=follow, strict=strict)


def open_kb(
    path: str | Path,
    *,
    limits: Limits,
    make: bool = False,
    rewrites: bool = True,
    read_only: bool = False,
    follow: bool = False,
    strict: bool = False,
) -> KnowledgeBase:
    """The knowledge base in a folder; where there is none, one is made, or an error is raised."""
    from everlog.store.durable import is_folder
    from everlog.store.opening import open
    from everlog.tables.table_store import is_table_folder

    if not make and not is_remote(str(path)) and not is_folder(Path(path)) and not is_table_folder(path):
        what = "there is no knowledge base in this folder" if Path(path).is_dir() else "there is no such knowledge base"
        raise NotFoundError(f"{path}: {what}", hint=f"make one: everlog load {path} program.dl data.csv")
    return open(path, limits=limits, rewrites=rewrites, read_only=read_only, follow=follow, strict=strict)


@contextmanager
def kept_kb(named: str | Path, *, limits: Limits, strict: bool = False) -> Iterator[KnowledgeBase]:
    """The knowledge base in a folder, made if it is not there; one that was made and got no update goes again."""
    from everlog.store.folders import Folder

    if is_remote(str(named)):  # tables, which a pipeline makes
        with open_kb(named, limits=limits, strict=strict) as kb:
            yield kb
        return
    path = Path(named)
    folder = Folder(path)
    new = folder.is_free()
    made = [each for each in (path, *path.parents) if not each.exists()]  # innermost first
    version = 0
    try:
        with open_kb(path, make=True, limits=limits, strict=strict) as kb:
            try:
                yield kb
            finally:
                version = kb.version
    finally:
        if new and not version:
            folder.remove_empty(made)


def materialised(
    program: Program,
    imported: Sequence[FactFile],
    files: Sequence[str],
    progress: Progress,
    *,
    data: Sequence[str] = (),
    header: bool = False,
    nulls: str = "refuse",
    engine: str = "columnar",
    limits: Limits | None = None,
    rewrites: bool = True,
    strict: bool = False,
) -> KnowledgeBase:
    """A knowledge base in memory: a program, the files that it imports, and those that a command names.

    All that it will have is there, so that a relation which nothing knows is told of, whatever it is called.
    """
    from everlog.facts.missing import MissingValues
    from everlog.rules.syntax import QUAD, TRIPLE
    from everlog.rules.unknown_relations import unknown_relations
    from everlog.store import program_files
    from everlog.store.store import KnowledgeBase
    from everlog.store.unknown_relations import point_out

    sources = [
        *imported,
        *(program_files.named_source(each, header=header) for each in files),
        *(program_files.assigned_source(each, header=header) for each in data),
    ]
    sources = program_files.typed_sources(sources, program.declarations)
    kb = KnowledgeBase(engine=engine, limits=limits, rewrites=rewrites, strict=strict, progress=False)
    kb.on_progress = component_progress(progress)
    missing = MissingValues(nulls)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownRelationWarning)
        kb.update(insert=program_files.read_sources(sources, progress, missing), add_rules=program)
    tell_skipped(missing.skipped)
    kb.on_progress = None
    known = [*(relation.name for relation in kb.relations() if relation.facts or relation.defined), TRIPLE, QUAD]
    declared = [source.relation or "" for source in sources]
    point_out(unknown_relations(program.rules, [*known, *declared]), strict=strict)
    return kb


def tell_skipped(rows: int) -> None:
    """Say on stderr how many rows were left out."""
    if rows:
        print(f"{rows:,} rows without a value were skipped", file=sys.stderr)


def component_progress(progress: Progress) -> Callable[[int, int, Any], None]:
    """A progress message for people, for `kb.on_progress`."""

    def says(done: int, components: int, phase: Any) -> None:
        progress(f"component {done} of {components}: {phase.name}, {sum(phase.gained.values()):,} facts")

    return says


def progress_unless(quiet: bool, *, lines_every: float) -> Progress:
    """A spinner on a terminal; elsewhere a line now and then."""
    return Progress(verbose=not quiet and not sys.stderr.isatty(), quiet=quiet, lines_every=lines_every)


def text_of(path: Path) -> tuple[str, str | None]:
    """The text of a query or a request in a file, and the base of its relative IRIs; `-` is stdin."""
    from everlog.formats.compression import check_readable

    if str(path) == "-":
        data, base = sys.stdin.buffer.read(), None
    else:
        check_readable(path)
        data, base = path.read_bytes(), path.absolute().as_uri()
    try:
        return data.decode("utf-8-sig"), base
    except UnicodeDecodeError as error:
        name = "<stdin>" if base is None else str(path)
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError("this is not UTF-8 text", path=name, line=line, hint="convert it first: iconv") from error

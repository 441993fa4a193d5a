"""Which commands are there? `everlog --help` lists them; each has a file of its own.

Start-up is part of every command, so this file and the commands import little: what is heavy (Numba, Arrow, the parser)
is imported where a command needs it.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from everlog.cli.apply import apply
from everlog.cli.bench import bench
from everlog.cli.compile import compile_
from everlog.cli.copies import backup, compact, export, import_
from everlog.cli.facts import facts
from everlog.cli.load import load
from everlog.cli.ontology import ontology
from everlog.cli.outcomes import outcome
from everlog.cli.pipeline import pipeline
from everlog.cli.plan import plan
from everlog.cli.query import query
from everlog.cli.rules import rules
from everlog.cli.run import run
from everlog.cli.shell import shell
from everlog.cli.update import update
from everlog.cli.verify import verify
from everlog.cli.view import view

app = typer.Typer(
    name="everlog",
    help="Keeps derived data true: Datalog rules over facts and RDF.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help: rich would cost a tenth of a second at each start
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"everlog {version('everlog')}")
        raise typer.Exit


@app.callback()
def everlog(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Keeps derived data true: Datalog rules over facts and RDF."""


app.command()(run)
app.command()(plan)
app.command()(load)
app.command()(apply)
app.command()(facts)
app.command()(query)
app.command()(update)
app.command()(shell)
app.command()(verify)
app.command()(compact)
app.command()(backup)
app.command()(export)
app.command("import")(import_)
app.command("compile")(compile_)
app.add_typer(rules)
app.add_typer(ontology)
app.add_typer(view)
app.add_typer(pipeline)
app.add_typer(bench)


def main() -> None:
    """The `everlog` command."""
    if sys.stdout is None:  # closed by whoever called: nobody reads it
        sys.stdout = open(os.devnull, "w")
    try:
        with outcome(as_json=False):  # help and versions are written outside of any command
            try:
                app(prog_name="everlog")
            finally:
                sys.stdout.flush()
    except typer.Exit as ended:
        sys.exit(ended.exit_code)


if __name__ == "__main__":
    main()

"""`everlog ontology`: whose axioms does a knowledge base hold, and what happens when ontologies come, change and go?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from everlog.cli.knowledge_bases import JsonOption, KbArgument, open_kb, read_kb
from everlog.cli.limit_options import limited
from everlog.cli.outcomes import outcome, print_json
from everlog.limits import Limits

if TYPE_CHECKING:
    from everlog.store.changes import Change

ontology = typer.Typer(
    name="ontology",
    help="Ontologies in OWL 2 and RDFS: list, add, replace, remove.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

_FIRST = 5  # unused axioms that are shown

NameArgument = Annotated[str, typer.Argument(help="What the ontology is called.", metavar="NAME")]
FileArgument = Annotated[str, typer.Argument(help="An RDF file: .ttl, .owl, .rdf, .nt, …", metavar="FILE")]
UnusedOption = Annotated[bool, typer.Option("--unused", help="List every axiom that no rule can say.")]


@ontology.callback()
def _ontology() -> None:
    """Ontologies in OWL 2 and RDFS: list, add, replace, remove."""


@ontology.command(name="list")
@limited
def list_ontologies(kb: KbArgument, as_json: JsonOption = False, *, limits: Limits) -> None:
    """Print the ontologies, and how their axioms are held."""
    with outcome(as_json=as_json, limits=limits):
        with read_kb(kb, limits) as opened:
            found = opened.ontologies()
        if as_json:
            print_json([{"name": o.name, "way": o.way, "rows": o.rows, "rules": o.rules} for o in found])
            return
        for each in found:
            print(f"{each.name}\t{each.way}\t{each.rows:,} axioms in tables\t{each.rules:,} as rules")


@ontology.command()
@limited
def add(
    kb: KbArgument,
    file: FileArgument,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="What to call it; like its file.")] = None,
    way: Annotated[
        str, typer.Option("--way", metavar="WAY", help="How to hold axioms: choose, tables, compiled or generic.")
    ] = "choose",
    unused: UnusedOption = False,
    as_json: JsonOption = False,
    *,
    limits: Limits,
) -> None:
    """Derive what follows from the axioms of an ontology."""
    with outcome(as_json=as_json, limits=limits):
        with open_kb(kb, limits=limits) as opened:
            change = opened.add_ontology(file, name=name, way=way)
        tell_ontology(change, as_json, every=unused)


@ontology.command()
@limited
def replace(
    kb: KbArgument,
    name: NameArgument,
    file: FileArgument,
    unused: UnusedOption = False,
    as_json: JsonOption = False,
    *,
    limits: Limits,
) -> None:
    """Make an ontology what another file says, by the axioms in which they differ."""
    with outcome(as_json=as_json, limits=limits):
        with open_kb(kb, limits=limits) as opened:
            change = opened.replace_ontology(name, file)
        tell_ontology(change, as_json, every=unused)


@ontology.command()
@limited
def remove(kb: KbArgument, name: NameArgument, as_json: JsonOption = False, *, limits: Limits) -> None:
    """Take away the axioms of an ontology, and what follows only from them."""
    with outcome(as_json=as_json, limits=limits):
        with open_kb(kb, limits=limits) as opened:
            change = opened.remove_ontology(name)
        tell_ontology(change, as_json)


def tell_ontology(change: Change, as_json: bool, *, every: bool = False) -> None:
    """Print what an ontology changed, and which of its axioms are not used."""
    unused = change.report.unused
    if as_json:
        counts = {name: {"gained": gained, "lost": lost} for name, (gained, lost) in change.counts().items()}
        print_json(
            {
                "version": change.version,
                "relations": counts,
                "unused": [{"axiom": each.axiom, "reason": each.reason} for each in unused],
                **change.report.as_data(),
            }
        )
        return
    for name, (gained, lost) in change.counts().items():
        print("\t".join([name, *([f"+{gained}"] if gained else []), *([f"-{lost}"] if lost else [])]))
    for each in unused if every else unused[:_FIRST]:
        print(f"not used: {each}")
    if len(unused) > _FIRST and not every:
        print(f"… and {len(unused) - _FIRST:,} more axioms that no rule can say: --unused lists them")
    print(f"version {change.version}")

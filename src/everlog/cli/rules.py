"""`everlog rules`: which rules does a knowledge base have, and what happens when some come or go?

`rules graph` draws them; see rules_graph.py.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from everlog.cli.knowledge_bases import JsonOption, KbArgument, StrictOption, open_kb, read_kb
from everlog.cli.limit_options import limited
from everlog.cli.ontology import tell_ontology
from everlog.cli.outcomes import outcome, print_json
from everlog.cli.rules_graph import graph
from everlog.errors import ProgramError, UnknownRelationWarning, UsageError
from everlog.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from everlog.rules.syntax import Program, Rule
    from everlog.store.changes import Change

rules = typer.Typer(
    name="rules",
    help="The rules of a knowledge base: list, show, check, add, remove, sync, draw.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
rules.command()(graph)


@rules.callback()
def _rules() -> None:
    """The rules of a knowledge base: list, show, check, add, remove, sync, draw."""


@rules.command(name="list")
@limited
def list_rules(kb: KbArgument, as_json: JsonOption = False, *, limits: Limits) -> None:
    """Print every rule with its name."""
    with outcome(as_json=as_json, limits=limits):
        from everlog.rules.printer import print_rule

        with read_kb(kb, limits) as opened:
            program = opened.program
        if as_json:
            print_json({"prefixes": dict(program.prefixes), "rules": _as_data(program.rules, program.prefixes)})
            return
        for prefix, iri in program.prefixes.items():
            print(f"PREFIX {prefix}: <{iri}>")
        for rule in program.rules:
            print(print_rule(rule, program.prefixes))


@rules.command()
@limited
def check(kb: KbArgument, strict: StrictOption = False, as_json: JsonOption = False, *, limits: Limits) -> None:
    """Print what rules and views read and nobody has: relations, classes and properties without facts and rules."""
    with outcome(as_json=as_json, limits=limits):
        with read_kb(kb, limits) as opened:
            found, checked = opened.check_rules(), len(opened.program.rules) + len(opened.views())
        if found and strict:
            raise ProgramError(found)
        if as_json:
            print_json({"checked": checked, "warnings": [each.as_data() for each in found]})
            return
        for each in found:
            print(each.render())
        print(f"{checked} rules and views checked, {len(found)} {'warning' if len(found) == 1 else 'warnings'}")


@rules.command()
@limited
def show(
    kb: KbArgument,
    name: Annotated[str, typer.Argument(help="A rule's name, or its text.", metavar="NAME")],
    as_json: JsonOption = False,
    *,
    limits: Limits,
) -> None:
    """Print a rule, its component, what it reads and what reads it, with the sizes of relations."""
    with outcome(as_json=as_json, limits=limits):
        from everlog.cli.rule_standing import print_standing, standing_as_data
        from everlog.rules.finding import find_rules
        from everlog.rules.standing import standing
        from everlog.store.sizes import extent_sizes

        with read_kb(kb, limits) as opened:
            program = opened.program
            found = [standing(rule, program.rules) for rule in find_rules(program.rules, name, program.prefixes)]
            extents = [extent for each in found for extent in (*each.concludes, *(link.extent for link in each.reads))]
            sizes = extent_sizes(opened, extents)
        if as_json:
            print_json({"rules": [standing_as_data(each, sizes, program.prefixes) for each in found]})
            return
        for each in found:
            print_standing(each, sizes, program.prefixes)


@rules.command()
@limited
def add(
    kb: KbArgument,
    files: Annotated[
        list[str] | None, typer.Argument(help="Files of rules, - for stdin; or ontologies (RDF).", metavar="FILES")
    ] = None,
    text: Annotated[list[str] | None, typer.Option("--text", metavar="RULES", help="Rules as text.")] = None,
    strict: StrictOption = False,
    as_json: JsonOption = False,
    *,
    limits: Limits,
) -> None:
    """Add rules to a knowledge base, with the facts and imports that stand among them, as one update."""
    with outcome(as_json=as_json, limits=limits):
        from everlog.rules.parser import parse_program
        from everlog.store import program_files

        if not files and not text:
            raise UsageError("which rules?", hint="name a file, or give --text 'p(?x) :- q(?x).'")
        if files and _is_ontology(files, text or ()):
            with open_kb(kb, limits=limits, strict=strict) as opened:
                change = opened.add_ontology(files[0])
            tell_ontology(change, as_json)
            return
        with open_kb(kb, limits=limits, strict=strict) as opened:
            before = opened.program
            read = [program_files.read_program(name, before.prefixes) for name in files or ()]
            said = [parse_program(each, "--text", before.prefixes) for each in text or ()]
            if not any(program.rules or program.declarations for program in (*read, *said)):
                raise UsageError("there are no rules in this", hint=f"facts alone: everlog load {kb} FILE")
            imported = chain.from_iterable(
                program_files.imports(program, Path(name).parent)
                for name, program in zip(files or (), read, strict=True)
            )
            new = program_files.as_one([*read, *said])
            sources = program_files.typed_sources(imported, (*before.declarations, *new.declarations))
            change = opened.update(insert=program_files.read_sources(sources), add_rules=new)
            after = opened.program
        _tell(change, before, after, as_json)


@rules.command()
@limited
def sync(
    kb: KbArgument,
    files: Annotated[
        list[str],
        typer.Argument(help="Files with all rules there are to be; - reads them from stdin.", metavar="FILES"),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    strict: StrictOption = False,
    as_json: JsonOption = False,
    *,
    limits: Limits,
) -> None:
    """Make the rules of a knowledge base those of the files, as one update: rules in the same words stay.

    Facts that stand among the rules are inserted, none is deleted; @import lines are left to `everlog rules add`.
    """
    with outcome(as_json=as_json, limits=limits):
        from everlog.store import program_files

        with open_kb(kb, limits=limits, strict=strict) as opened:
            before = opened.program
            wanted = program_files.as_one([program_files.read_program(name, before.prefixes) for name in files])
            with warnings.catch_warnings():
                if not dry_run:  # told of when it is made
                    warnings.simplefilter("ignore", UnknownRelationWarning)
                planned = opened.sync_rules(wanted, dry_run=True)
            _, rules_after = planned.report.rules if planned.report.rules != ((), ()) else ((), before.rules)
            after = replace(before, rules=tuple(rules_after), prefixes={**before.prefixes, **wanted.prefixes})
            if dry_run:
                _tell(planned, before, after, as_json, made=False)
                return
            if not as_json:
                _print_rules(before, after)
                sys.stdout.flush()  # shown before it is made
            change = opened.sync_rules(wanted)
        _tell(change, before, after, as_json, listed=as_json)


@rules.command()
@limited
def remove(
    kb: KbArgument,
    names: Annotated[list[str], typer.Argument(help="Names of rules, or texts of them.", metavar="NAMES")],
    as_json: JsonOption = False,
    *,
    limits: Limits,
) -> None:
    """Remove rules from a knowledge base, as one update; a text means the rule that says the same."""
    with outcome(as_json=as_json, limits=limits):
        with open_kb(kb, limits=limits) as opened:
            before = opened.program
            change = opened.update(remove_rules=names)
            after = opened.program
        _tell(change, before, after, as_json)


def _is_ontology(files: Sequence[str], texts: Sequence[str]) -> bool:
    """RDF files hold axioms; each is an update of its own, and so are rules beside it."""
    from everlog.formats.compression import split_name
    from everlog.formats.reading import EXTENSIONS, RDF_FORMATS

    rdf = [name for name in files if EXTENSIONS.get(split_name(Path(name))[1]) in RDF_FORMATS]
    if rdf and (texts or len(files) > 1):
        raise UsageError(f"{rdf[0]} is an ontology, and not all there is", hint="add the one, then the others")
    return bool(rdf)


def _moved(before: Program, after: Program) -> tuple[list[Rule], list[Rule]]:
    """The rules that came and those that went."""
    added = [rule for rule in after.rules if rule not in before.rules]
    return added, [rule for rule in before.rules if rule not in after.rules]


def _print_rules(before: Program, after: Program) -> None:
    from everlog.rules.printer import print_rule

    for sign, rules_ in zip("+-", _moved(before, after), strict=True):
        for rule in rules_:
            print(f"{sign} {print_rule(rule, after.prefixes)}")


def _tell(
    change: Change, before: Program, after: Program, as_json: bool, *, made: bool = True, listed: bool = True
) -> None:
    """Print which rules were added and removed, unless they are listed already, and the facts gained and lost."""
    added, removed = _moved(before, after)
    report = change.report
    if as_json:
        counts = {name: {"gained": gained, "lost": lost} for name, (gained, lost) in change.counts().items()}
        print_json(
            {
                "version": change.version,
                "made": made,
                "added": _as_data(added, after.prefixes),
                "removed": _as_data(removed, after.prefixes),
                "relations": counts,
                **report.as_data(),
            }
        )
        return
    if listed:
        _print_rules(before, after)
    for name, (gained, lost) in change.counts().items():
        print("\t".join([name, *([f"+{gained}"] if gained else []), *([f"-{lost}"] if lost else [])]))
    print(f"directly affected: {'; '.join(report.directly_affected) or 'none'}")
    print(f"indirectly affected: {'; '.join(report.indirectly_affected) or 'none'}")
    if report.rebuilt:
        print(f"all was derived again: {report.rebuilt}")
    moved = f"{_count(len(added), 'added')}, {_count(len(removed), 'removed')}"
    print(f"version {change.version}: {moved}" if made else f"nothing was changed; it would be: {moved}")


def _count(rules_: int, what: str) -> str:
    return f"{rules_} {'rule' if rules_ == 1 else 'rules'} {what}"


def _as_data(rules_: Sequence[Rule], prefixes: Mapping[str, str]) -> list[dict[str, Any]]:
    from everlog.rules.printer import print_rule

    return [{"name": rule.name, "text": print_rule(rule, prefixes)} for rule in rules_]

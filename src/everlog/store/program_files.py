"""Which files does a program read and write?

A program is a file of rules. Its `@import` lines name data files, found beside the program; its `@export` lines name
relations to write, with or without a file. A command adds files of its own, each a `FactFile` like those of `@import`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from everlog.errors import FormatError, OutputError, UsageError
from everlog.facts.blocks import FactBlock
from everlog.facts.missing import MissingValues
from everlog.formats.compression import check_readable, split_name
from everlog.formats.reading import RDF_FORMATS, format_of, read_facts
from everlog.formats.writing import write_facts
from everlog.rules import parser
from everlog.rules.column_names import declared_types
from everlog.rules.constraints import is_constraint
from everlog.rules.syntax import Declaration, Program
from everlog.store.file_names import file_names, tell_changed
from everlog.store.store import KnowledgeBase

PROGRAM = ".dl"  # how the name of a file of rules ends

_ASSIGNED = re.compile(r"(?P<relation>[^=(]+?)\s*(?:\((?P<types>[^)]*)\))?=(?P<path>.+)", re.DOTALL)


@dataclass(frozen=True)
class FactFile:
    """A data file, and into which relation its rows go; None leaves that to the file's name, or to RDF."""

    path: Path
    relation: str | None = None
    types: tuple[str, ...] | None = None
    header: bool = False
    nulls: str | None = None  # what becomes of rows without a value; None leaves that to who reads it


def read_program(path: str, prefixes: Mapping[str, str] | None = None) -> Program:
    """The program in a file, which may use prefixes that were declared before; `-` is standard input."""
    if path != "-":
        check_readable(Path(path))
        return parser.read_program(path, prefixes)
    data = sys.stdin.buffer.read()
    try:
        return parser.parse_program(data.decode("utf-8-sig"), "<stdin>", prefixes)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError("this is not UTF-8 text", path="<stdin>", line=line) from error


def read_programs(names: Sequence[str], files: Sequence[str]) -> tuple[Program, list[FactFile], list[str]]:
    """Programs, among them those (`.dl`) in a list of files, as one; the files that they import; the other files."""
    programs = [*names, *(each for each in files if Path(each).suffix == PROGRAM)]
    read = [read_program(name) for name in programs]
    imported = [
        source
        for name, program in zip(programs, read, strict=True)
        for source in imports(program, Path() if name == "-" else Path(name).parent)
    ]
    return as_one(read), imported, [each for each in files if Path(each).suffix != PROGRAM]


def as_one(programs: Sequence[Program]) -> Program:
    """What several programs say, without the files that they import, which are looked up beside each."""
    return Program(
        tuple(rule for program in programs for rule in program.rules),
        tuple(fact for program in programs for fact in program.facts),
        {prefix: iri for program in programs for prefix, iri in program.prefixes.items()},
        declarations=tuple(each for program in programs for each in program.declarations),
        exports=tuple(each for program in programs for each in program.exports),
    )


def imports(program: Program, folder: Path) -> list[FactFile]:
    """The files of `@import`; relative names are looked up in the program's folder."""
    return [
        FactFile(folder / each.path, each.relation, each.types, each.header, each.nulls) for each in program.imports
    ]


def typed_sources(sources: Iterable[FactFile], declarations: Iterable[Declaration]) -> list[FactFile]:
    """The files, text among them with the types that are declared for their relations, unless they have some."""
    declared = {each.relation: each for each in declarations}
    found = []
    for source in sources:
        stem, extension, _ = split_name(source.path)
        if source.types is None and extension in (".csv", ".tsv"):
            source = replace(source, types=declared_types(declared, source.relation or stem))
        found.append(source)
    return found


def named_source(argument: str, *, header: bool = False) -> FactFile:
    """A file as a command line names it: `edge.csv`, `edge=links.csv`, `age(string, integer)=people.csv`.

    >>> named_source("age(string, integer)=people.csv").types
    ('string', 'integer')
    """
    found = _ASSIGNED.fullmatch(argument)
    path, relation, types = Path(argument), None, None
    if found is not None and not path.exists():
        path, relation = Path(found["path"]), found["relation"]
        if found["types"] is not None:
            types = tuple(name.strip() for name in found["types"].split(","))
    # Only these have a first line to skip; the other formats among the files keep theirs.
    return FactFile(path, relation, types, header and split_name(path)[1] in (".csv", ".tsv"))


def assigned_source(argument: str, *, header: bool = False) -> FactFile:
    """The same where only `REL=FILE` will do."""
    source = named_source(argument, header=header)
    if source.relation is None:
        raise UsageError(f"--data {argument}: which relation?", hint=f"write --data REL={argument}")
    return source


def read_sources(
    sources: Sequence[FactFile],
    says: Callable[[str], None] = lambda _: None,
    missing: MissingValues | None = None,
) -> Iterator[FactBlock]:
    """The facts of all files, file by file. A file that is missing is noticed before the first is read."""
    for source in sources:
        check_readable(source.path)
    for source in sources:
        says(f"reading {source.path}")
        of_rdf = format_of(source.path) in RDF_FORMATS  # where no value is ever missing
        own = missing if source.nulls is None else MissingValues(source.nulls)
        yield from read_facts(
            source.path,
            relation=source.relation,
            types=source.types,
            header=source.header,
            missing=None if of_rdf and source.nulls is None else own,
        )
        if missing is not None and own is not None and own is not missing:
            missing.skipped += own.skipped


def defined_relations(program: Program) -> list[str]:
    """The relations that rules of the program define, in order of first definition."""
    rules = (rule for rule in program.rules if not is_constraint(rule))
    return list(dict.fromkeys(head.relation for rule in rules for head in rule.heads))


@dataclass(frozen=True)
class OutputFile:
    """A relation and the file that it goes to; the format None is told by the file's name."""

    relation: str
    path: Path
    format: str | None = None


def targets(program: Program, folder: Path | None, format: str | None) -> list[OutputFile]:
    """Where results go: what `@export` names, or else every relation the program defines, a file each in the folder.

    Without a folder only exports that name a file are written, relative to the current folder.
    """
    wanted: Iterable[tuple[str, str | None]] = [(each.relation, each.path) for each in program.exports]
    if folder is None:
        return _apart([OutputFile(relation, Path(path)) for relation, path in wanted if path is not None])
    chosen = list(wanted) or [(relation, None) for relation in defined_relations(program)]
    names = file_names(relation for relation, _ in chosen)
    found = []
    for relation, path in chosen:
        if path is not None:
            found.append(OutputFile(relation, folder / path))
        else:
            place = folder / f"{names[relation]}.{format or 'csv'}"
            tell_changed(relation, str(place), names[relation])
            found.append(OutputFile(relation, place, format or "csv"))
    return _apart(found)


def _apart(outputs: list[OutputFile]) -> list[OutputFile]:
    """The outputs, unless two relations go to one file."""
    relations: dict[str, str] = {}
    for output in outputs:
        other = relations.setdefault(os.path.realpath(output.path).casefold(), output.relation)
        if other != output.relation:
            raise UsageError(
                f"{other} and {output.relation} would both be written to {output.path}",
                hint='give each a file of its own: @export name "file.csv".',
            )
    return outputs


def prepare_folder(folder: Path) -> None:
    """Make the folder for results now: a long run should not end in finding that it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {folder}: {error.strerror}", hint="choose another folder") from error


def write_targets(
    kb: KnowledgeBase, wanted: Sequence[OutputFile], says: Callable[[str], None] = lambda _: None
) -> list[Path]:
    """Write each relation to its file; gives the files."""
    for target in wanted:
        says(f"writing {target.path}")
        prepare_folder(target.path.parent)
        facts = kb.facts(target.relation)
        write_facts(target.path, target.relation, facts.keys(), format=target.format, rows=len(facts))
    return [target.path for target in wanted]

"""What does a pipeline.toml say?

    program = "rules.dl"            # the rules; their @import and @export lines count too
    tables = "tables"               # where facts are stored between runs (table_store.py)
    results = "out"                 # where outputs with a relative path go; beside this file by default
    max_rejects = 0.01              # the share of malformed lines above which a run fails

    [[source]]                      # as many as there are
    path = "readings/*.csv"         # relative to this file: a file, a pattern or a folder (sources.py)
    format = "csv"                  # unless the extension says it
    relation = "reading"            # tables only; the file's stem by default
    types = ["iri", "double"]       # CSV and TSV only
    header = true
    columns = ["sensor", "value"]   # Parquet only
    graph = "http://ex.org/g"       # RDF only

    [[output]]
    relation = "odd"
    path = "odd.csv"
    format = "csv"                  # delta, parquet, csv, nt, nq (publish.py)
    single = true

    [spark]
    master = "local[*]"
    "spark.sql.shuffle.partitions" = 8

Everything that can be wrong is found here, before Spark starts, and reported together: in this file, in the program,
and files that are missing. Codes are `P1xx`; the program's own problems keep theirs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from everlog.errors import EverlogError, NotFoundError, ProgramError, UsageError
from everlog.formats.compression import check_readable
from everlog.formats.reading import RDF_FORMATS, TABLE_FORMATS
from everlog.pipeline.publish import FORMATS, Output, output_problem
from everlog.pipeline.sources import InputSource, SourceFile, source_files
from everlog.pipeline.toml_reader import FLAG, SHARE, TEXT, TEXTS, SettingsError, TomlReader, flat, named, read_toml
from everlog.rules.checks import check_program
from everlog.rules.constraints import is_constraint
from everlog.rules.diagnostics import Span
from everlog.rules.parser import read_program
from everlog.rules.syntax import QUAD, TRIPLE, Aggregate, Atom, Literal, Negation, Program
from everlog.store.program_files import file_name

__all__ = ["Settings", "SettingsError", "read_settings"]

MAX_REJECTS = 0.01


@dataclass(frozen=True)
class Settings:
    """A pipeline, checked."""

    path: Path
    program_path: Path
    program: Program
    program_hash: str  # of the rules' text
    sources: tuple[InputSource, ...]
    outputs: tuple[Output, ...]
    tables: Path
    max_rejects: float = MAX_REJECTS
    master: str | None = None
    spark: Mapping[str, str] = field(default_factory=dict)


def read_settings(path: str | Path) -> Settings:
    """Read and check a pipeline.toml, with its program.

    Raises:
        NotFoundError: there is no such file.
        SettingsError: problems, all of them in `diagnostics`.
    """
    source, data = read_toml(Path(path))
    return _Pipeline(source, data).settings(Path(path))


class _Pipeline(TomlReader):
    keys = {
        "": {"program": TEXT, "tables": TEXT, "results": TEXT, "max_rejects": SHARE},
        "source": {
            "path": TEXT,
            "format": TEXT,
            "relation": TEXT,
            "types": TEXTS,
            "header": FLAG,
            "columns": TEXTS,
            "graph": TEXT,
        },
        "output": {"relation": TEXT, "path": TEXT, "format": TEXT, "single": FLAG},
        "spark": {},
    }
    needed = {"": ("program",), "source": ("path",), "output": ("relation", "path")}
    examples = {
        "program": 'program = "rules.dl"',
        "path": 'path = "data.csv"',
        "relation": 'relation = "path"',
        "types": 'types = ["string", "integer"]',
        "header": "header = true",
        "single": "single = true",
        "max_rejects": "max_rejects = 0.01",
    }

    def settings(self, path: Path) -> Settings:
        folder = path.parent
        top = self.table("", 0, {key: value for key, value in self.data.items() if key not in self.keys})
        inputs = [self.table("source", number, each) for number, each in enumerate(self.tables("source"))]
        wanted = [self.table("output", number, each) for number, each in enumerate(self.tables("output"))]
        master, confs = self._spark()
        program = self._program(folder, top)
        self.known: set[str] = set()
        self.all_known = program is not None  # whether every relation that may come is known now
        sources = [each for number, data in enumerate(inputs) for each in self._source(folder, number, data)]
        if program is not None:
            self.known.update(_mentioned(program))
            sources += self._imports(folder / Path(top["program"]).parent, program)
        results = folder / top.get("results", "")
        outputs = [each for number, data in enumerate(wanted) for each in self._output(results, number, data)]
        if program is not None:
            outputs += self._exports(program, results, {output.relation for output in outputs})
        self._check_places(outputs)
        if self.problems or program is None:
            raise SettingsError(self.problems)
        program_path = folder / top["program"]
        return Settings(
            path,
            program_path,
            program,
            hashlib.sha256(program_path.read_bytes()).hexdigest(),
            tuple(sources),
            tuple(outputs),
            folder / top.get("tables", "tables"),
            top.get("max_rejects", MAX_REJECTS),
            master,
            confs,
        )

    def _spark(self) -> tuple[str | None, dict[str, str]]:
        data = self.data.get("spark", {})
        if not isinstance(data, dict):
            self.report("P103", "spark is not a table", self.places.key("", 0, "spark"), help="write [spark]")
            return None, {}
        confs: dict[str, str] = {}
        master = None
        for key, value in flat(data):
            if not isinstance(value, str | int | float):
                what = f"{key} must be a string, a number, true or false, not {named(value)}"
                self.report("P103", what, self.places.value("spark", 0, key))
            elif key == "master":
                master = str(value)
            elif key.startswith("spark."):
                confs[key] = str(value).lower() if isinstance(value, bool) else str(value)
            else:
                self.report(
                    "P102",
                    f"there is no setting {key!r} in [spark]",
                    self.places.key("spark", 0, key),
                    "the settings are master, and Spark's own, which begin with spark.",
                    help="did you mean master?" if get_close_matches(key, ["master"]) else f'write "spark.{key}" = …',
                )
        return master, confs

    def _program(self, folder: Path, top: dict[str, Any]) -> Program | None:
        if "program" not in top:
            return None
        path = folder / top["program"]
        try:
            check_readable(path)
            program = read_program(path)
        except ProgramError as error:
            self.problems.extend(error.diagnostics)
            return None
        except EverlogError as error:
            self.report("P106", error.message, self.places.value("", 0, "program"), help=error.hint)
            return None
        self.problems.extend(check_program(program, {}))
        return program

    def _source(self, folder: Path, number: int, data: dict[str, Any]) -> Iterator[InputSource]:
        if "path" not in data:
            self.all_known = False
            return
        remote = "://" in data["path"]
        path = data["path"] if remote else str(folder / data["path"])
        before = len(self.problems)
        if remote:  # only Spark can list it
            self.all_known = False
            formats: set[str] = set()
        else:
            found = self._files(InputSource(path, data.get("format"), data.get("relation")), number, data)
            formats = {file.format for file in found}
        for format in sorted(formats):
            for key, message, hint in _misfits(format, data):
                self.report("P105", message, self.places.value("source", number, key), help=hint)
        if len(self.problems) == before:
            # Named as written: blank nodes stay the same wherever the whole pipeline is moved.
            yield InputSource(path, name=data["path"], **{key: value for key, value in data.items() if key != "path"})

    def _files(self, source: InputSource, number: int, data: dict[str, Any]) -> list[SourceFile]:
        plain = InputSource(source.data, source.format)  # options are checked one by one, each at its place
        try:
            files = source_files(cast(Any, None), plain)
        except UsageError as error:
            key = "format" if "format" in data else "path"
            hint = (error.hint or "").replace("format='csv'", 'format = "csv"') or None
            self.report("P105", error.message, self.places.value("source", number, key), help=hint)
        except EverlogError as error:
            self.report("P106", error.message, self.places.value("source", number, "path"), help=error.hint)
        else:
            self._learn(files, source.relation)
            return files
        self.all_known = False
        return []

    def _learn(self, files: list[SourceFile], relation: str | None) -> None:
        for file in files:
            if file.format in RDF_FORMATS:
                self.known.update((TRIPLE, QUAD))
            elif file.format in TABLE_FORMATS:
                self.known.add(relation or file.relation)
            else:
                self.all_known = False  # JSON lines name their relations line by line

    def _imports(self, folder: Path, program: Program) -> Iterator[InputSource]:
        for each in program.imports:
            source = InputSource(str(folder / each.path), None, each.relation, each.types, each.header, name=each.path)
            try:
                self._learn(source_files(cast(Any, None), source), each.relation)
            except EverlogError as error:
                code = "P106" if isinstance(error, NotFoundError) else "P105"
                self.report(code, error.message, each.span, help=error.hint)
                self.all_known = False
            else:
                yield source

    def _output(self, results: Path, number: int, data: dict[str, Any]) -> Iterator[Output]:
        def wrong(code: str, message: str, key: str, *notes: str, help: str | None) -> None:
            self.report(code, message, self.places.value("output", number, key), *notes, help=help)

        relation = data.get("relation")
        if relation is not None and self.all_known and relation not in self.known:
            near = get_close_matches(relation, self.known, n=1)
            message = f"neither the program nor a source has a relation {relation}"
            notes = f"the relations are {', '.join(sorted(self.known))}" if self.known else "there are no relations"
            wrong("P107", message, "relation", notes, help=f"did you mean {near[0]}?" if near else None)
        if relation is None or "path" not in data:
            return
        output = Output(relation, results / data["path"], data.get("format"), data.get("single"))
        problem = output_problem(relation, output.kind)
        if problem is None:
            yield output
            return
        near = get_close_matches(output.kind, FORMATS, n=1) if output.kind not in FORMATS else []
        hint = f"did you mean {near[0]!r}?" if near else "write csv or parquet instead"
        wrong("P105", problem, "format" if "format" in data else "path", help=hint)

    def _exports(self, program: Program, results: Path, done: set[str]) -> Iterator[Output]:
        """What `@export` asks for: its file, or else a CSV file named like the relation, unless an output has it."""
        for export in program.exports:
            if export.path is None and export.relation in done:
                continue
            output = Output(export.relation, results / (export.path or f"{file_name(export.relation)}.csv"))
            problem = output_problem(output.relation, output.kind)
            if problem is None:
                yield output
            else:
                self.report("P105", problem, export.span, help="name a .csv, .parquet, .nt or .nq file")

    def _check_places(self, outputs: list[Output]) -> None:
        seen: dict[Path, str] = {}
        for output in outputs:
            place = output.path.absolute()
            if place in seen:
                what = f"{seen[place]} and {output.relation} would both be written to {output.path}"
                self.report("P108", what, self._line_of(output.path.name), help="give each output a path of its own")
            seen[place] = output.relation

    def _line_of(self, name: str) -> Span | None:
        source = self.places.source
        places = [found.start() for found in re.finditer(re.escape(name), source.text)]
        return Span(source, places[-1], places[-1] + len(name)) if places else None


def _misfits(format: str, data: Mapping[str, Any]) -> Iterator[tuple[str, str, str | None]]:
    """Keys of a source that do not go with its format: the key, what is wrong, what helps."""
    if "relation" in data and format not in TABLE_FORMATS:
        yield "relation", f"a {format} file says its relations itself", "leave out relation"
    for key in ("types", "header"):
        if data.get(key) and format not in ("csv", "tsv"):
            yield key, f"a {format} file says its types itself", f"leave out {key}"
    if "columns" in data and format != "parquet":
        yield "columns", f"columns of a {format} file cannot be chosen by name", "leave out columns"
    if "types" in data and format in ("csv", "tsv"):
        from everlog.formats.fields import check_types

        try:
            check_types(data["types"])
        except UsageError as error:
            yield "types", error.message, error.hint
    if "graph" in data and format not in RDF_FORMATS:
        yield "graph", f"a {format} file holds no RDF, so it goes into no graph", "leave out graph"
    elif "graph" in data and ":" not in data["graph"]:
        yield "graph", f"{data['graph']!r} is not an absolute IRI", "name the graph like http://example.org/g"


def _mentioned(program: Program) -> Iterator[str]:
    """Every relation in rules and facts."""

    def within(body: tuple[Literal, ...]) -> Iterator[str]:
        for literal in body:
            if isinstance(literal, Atom):
                yield literal.relation
            elif isinstance(literal, Negation | Aggregate):
                yield from within(literal.body)

    for rule in program.rules:
        yield from (head.relation for head in rule.heads if not is_constraint(rule))
        yield from within(rule.body)
    yield from (fact.relation for fact in program.facts)

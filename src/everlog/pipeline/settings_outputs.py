"""Which outputs do a pipeline.toml and its program ask for, and is there anything wrong with them?"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from everlog.addresses import is_remote, local_text, one_spelling
from everlog.pipeline.output_names import column_names, names_problem
from everlog.pipeline.outputs import FORMATS, REMOTE_HINT, Output, output_problem
from everlog.pipeline.settings_sources import Sources
from everlog.pipeline.sources import InputSource
from everlog.pipeline.toml_reader import TomlReader
from everlog.rules.diagnostics import Span
from everlog.rules.syntax import Program
from everlog.store.file_names import file_names, tell_changed
from everlog.store.view_queries import ViewQuery
from everlog.store.view_rows import shown_names
from everlog.tables.layout import VERSION, WEIGHT
from everlog.tables.places import TablePlace


@dataclass(frozen=True)
class Outputs:
    """Where outputs go, and what is known of the rest of the pipeline."""

    reader: TomlReader
    results: Path
    sources: Sources
    inputs: Sequence[InputSource]
    program: Program | None
    views: Mapping[str, ViewQuery]

    def read(self, number: int, data: dict[str, Any]) -> Iterator[Output]:
        """The output that a table describes, if nothing is wrong with it."""

        def wrong(code: str, message: str, key: str, *notes: str, help: str | None) -> None:
            self.reader.report(code, message, self.reader.places.value("output", number, key), *notes, help=help)

        view, known = self.views.get(data.get("view", "")), self.sources.known
        relation = data.get("relation") if "view" not in data else data["view"]
        if "view" in data and "relation" in data:
            wrong("P105", "an output is of a relation or of a view", "relation", help="write two outputs")
        elif "view" in data and view is None:
            near = get_close_matches(data["view"], self.views, n=1)
            notes = f"the views are {', '.join(sorted(self.views))}" if self.views else "there are no views"
            help = f"did you mean {near[0]}?" if near else None
            wrong("P107", f"there is no view {relation}", "view", notes, help=help)
        elif "view" not in data and relation is None:
            wrong("P104", "this [[output]] has no relation", "relation", help='add relation = "path", or view = "hot"')
        elif view is None and self.sources.all_known and relation not in known:
            near = get_close_matches(str(relation), known, n=1)
            message = f"neither the program nor a source has a relation {relation}"
            notes = f"the relations are {', '.join(sorted(known))}" if known else "there are no relations"
            wrong("P107", message, "relation", notes, help=f"did you mean {near[0]}?" if near else None)
        if relation is None or "path" not in data or ("view" in data and view is None):
            return
        if is_remote(data["path"]):
            wrong("P105", "only local folders can be written", "path", help=REMOTE_HINT)
            return
        named = self._names(relation) if view is None else shown_names(view)
        columns = tuple(data["columns"]) if "columns" in data else named
        output = Output(
            relation,
            self.results / local_text(data["path"]),
            data.get("format"),
            data.get("single"),
            columns,
            data.get("header", True),
            view=view is not None,
            graph=view is not None and view.query.form == "construct",
            changes=data.get("kind") == "changes",
        )
        problem = output_problem(output)
        if problem is not None:
            near = get_close_matches(output.kind, FORMATS, n=1) if output.kind not in FORMATS else []
            hint = f"did you mean {near[0]!r}?" if near else "write csv or parquet instead"
            hint = 'format = "csv" and a path without an extension' if output.changes else hint
            wrong("P105", problem, "format" if "format" in data else "path", help=hint)
            return
        all_names = (*(columns or ()), *((WEIGHT, VERSION) if output.changes else ()))
        problem = None if columns is None else names_problem(all_names, output.kind)
        if problem is not None:
            wrong("P105", problem, "columns" if "columns" in data else "path", help='columns = ["a", "b"]')
        elif "header" in data and output.kind != "csv":
            wrong("P105", f"{output.kind} has no header", "header", help="leave out header")
        else:
            yield output

    def exports(self, program: Program, done: set[str]) -> Iterator[Output]:
        """What `@export` asks for: its file, or else a CSV file named like the relation, unless an output has it.

        It is the file that `everlog run` writes, so CSV has no header.
        """
        names = file_names(export.relation for export in program.exports)
        for export in program.exports:
            if export.path is None and export.relation in done:
                continue
            path = self.results / (export.path or f"{names[export.relation]}.csv")
            if export.path is None:
                tell_changed(export.relation, str(path), names[export.relation])
            output = Output(export.relation, path, columns=self._names(export.relation), header=False)
            problem = output_problem(output)
            if problem is None:
                yield output
            else:
                self.reader.report("P105", problem, export.span, help="name a .csv, .parquet, .nt or .nq file")

    def _names(self, relation: str) -> tuple[str, ...] | None:
        return None if self.program is None else column_names(self.program, self.inputs, relation)

    def check_places(self, outputs: Sequence[Output], tables: TablePlace, program: Path | None, toml: Path) -> None:
        """Report outputs that would overwrite each other, a source, the program, the settings or the tables."""
        seen: dict[Path, str] = {}
        for output in outputs:
            place = one_spelling(output.path)
            problem = self._overwritten(place, tables, program, toml)
            for other, relation in seen.items():
                if str(place).casefold() == str(other).casefold():
                    problem = f"{relation} and {output.key} would both be written to {output.path}"
                elif place.is_relative_to(other) or other.is_relative_to(place):
                    problem = f"{output.path} would be inside the output of {relation}, or around it"
            if problem is not None:
                help = "give each output a path of its own"
                self.reader.report("P108", problem, self._line_of(output.path.name), help=help)
            seen[place] = output.key

    def _overwritten(self, place: Path, tables: TablePlace, program: Path | None, toml: Path) -> str | None:
        for path, what in ((program, "the program"), (toml, "the settings themselves")):
            if path is not None and one_spelling(path).is_relative_to(place):
                return f"{place} would overwrite {what}, {path}"
        kept = one_spelling(tables.beside)
        if place.is_relative_to(kept) or kept.is_relative_to(place):
            return f"{place} would overwrite the tables in {tables}"
        for text in self.sources.files:
            source = one_spelling(text)
            if source.is_relative_to(place):
                return f"{place} would overwrite a source, {text}"
            if place.is_relative_to(source) or _matches(place, source):
                return f"{place} would be read as a source by the next run, since it is in {text}"
        return None

    def _line_of(self, name: str) -> Span | None:
        source = self.reader.places.source
        places = [found.start() for found in re.finditer(re.escape(name), source.text)]
        return Span(source, places[-1], places[-1] + len(name)) if places else None


def _matches(path: Path, pattern: Path) -> bool:
    """Whether a pattern stands for a path: a star for a part of a name, two stars for any number of folders.

    >>> _matches(Path("/a/b.csv"), Path("/a/*.csv")), _matches(Path("/a/c/b.csv"), Path("/a/*.csv"))
    (True, False)
    """
    if "**" in pattern.parts:
        return fnmatch.fnmatchcase(str(path), str(pattern).replace("**/", "*"))
    return len(path.parts) == len(pattern.parts) and all(map(fnmatch.fnmatchcase, path.parts, pattern.parts))

"""Which sources do a pipeline.toml and its program name, and is there anything wrong with them?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from everlog.addresses import is_remote, local_text
from everlog.errors import EverlogError, NotFoundError, UsageError
from everlog.formats.reading import RDF_FORMATS
from everlog.pipeline.source_files import SourceFile, source_files
from everlog.pipeline.source_kinds import HINT, Kinds
from everlog.pipeline.sources import InputSource, is_table, misfits, relations_of
from everlog.pipeline.toml_reader import TomlReader
from everlog.rules.diagnostics import Span
from everlog.rules.syntax import QUAD, TRIPLE, Program
from everlog.store.program_files import imports, typed_sources

# Options that change which files a source is, or how they are named.
_OF_FILES = ("format", "kind", "change_column")


class Sources:
    """The sources read so far.

    Attributes:
        known: the relations that they are known to hold.
        all_known: whether these are all: not where a source is remote, missing, or names its relations line by line.
        files: the local files, and the folders and patterns that stand for some.
    """

    def __init__(self, reader: TomlReader) -> None:
        self._reader = reader
        self._kinds = Kinds()
        self.known: set[str] = set()
        self.all_known = True
        self.files: list[str] = []

    def read(self, folder: Path, number: int, data: dict[str, Any]) -> Iterator[InputSource]:
        """The source that a table describes, if nothing is wrong with it."""
        if "path" not in data:
            self.all_known = False
            return
        text: str = data["path"]
        path = text if is_remote(text) else str(folder / local_text(text))
        options: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in data.items() if key != "path"
        }
        # Named as written: blank nodes stay the same wherever the whole pipeline is moved.
        source = InputSource(path, name=text, **options)
        problems = self._reader.problems
        before = len(problems)
        if source.is_remote:  # only Spark can list it
            self.all_known = False
        else:
            for format in sorted({file.format for file in self._files(source, number, data)}):
                for key, message, hint in misfits(source, format):
                    place = self._reader.places.value("source", number, key if key in data else "path")
                    self._reader.report("P105", message, place, help=hint)
        if len(problems) == before:
            yield source

    def _files(self, source: InputSource, number: int, data: dict[str, Any]) -> list[SourceFile]:
        # The other options are checked one by one, each at its place.
        bare = InputSource(source.data, **{key: value for key, value in data.items() if key in _OF_FILES})
        places = self._reader.places
        try:
            files = _listed(bare)
        except UsageError as error:
            key = "format" if "format" in data else "path"
            hint = (error.hint or "").replace("format='csv'", 'format = "csv"') or None
            self._reader.report("P105", error.message, places.value("source", number, key), help=hint)
        except EverlogError as error:
            self._reader.report("P106", error.message, places.value("source", number, "path"), help=error.hint)
        else:
            self._learn(source, files, places.value("source", number, "kind" if "kind" in data else "path"))
            return files
        self.all_known = False
        return []

    def imports(self, folder: Path, program: Program) -> Iterator[InputSource]:
        """The sources that `@import` lines name."""
        files = typed_sources(imports(program, folder), program.declarations)
        for each, file in zip(program.imports, files, strict=True):
            source = InputSource(
                str(file.path),
                None,
                each.relation,
                file.types,
                each.header,
                name=each.path,
                nulls=each.nulls or "refuse",
            )
            try:
                self._learn(source, source_files(None, source), each.span)
            except EverlogError as error:
                code = "P106" if isinstance(error, NotFoundError) else "P105"
                self._reader.report(code, error.message, each.span, help=error.hint)
                self.all_known = False
            else:
                yield source

    def _learn(self, source: InputSource, files: list[SourceFile], place: Span | None) -> None:
        self.files += [source.path, *(file.path for file in files)]
        conflicts: set[str] = set()
        for file in files:
            if file.format in RDF_FORMATS:
                self.known.update((TRIPLE, QUAD))
            relations = relations_of(source, file.format, source.relation or file.relation)
            if relations is None:
                self.all_known = False  # lines name their relations, line by line
                continue
            if is_table(source, file.format):
                self.known.update(relations)
            conflicts.update(filter(None, (self._kinds.conflict(source, relation) for relation in relations)))
        for conflict in sorted(conflicts):
            self._reader.report("P110", conflict, place, help=HINT)


def _listed(source: InputSource) -> list[SourceFile]:
    """The files of a source, whatever else is said about it."""
    try:
        return source_files(None, source)
    except UsageError:
        if source.kind == "appends" and source.change_column is None:
            raise
        # What does not fit a kind is reported with the other options.
        return source_files(None, InputSource(source.data, source.format))

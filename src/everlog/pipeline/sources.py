"""What does a pipeline read, and how?

A source is a file, a glob, a folder or a DataFrame; source_files.py finds its files. What can be said about one is in
`InputSource`; here is checked that it fits the formats of its files.

The rows of a table become facts of one relation. `columns` says which columns become arguments, and in which order;
each may have another name from here on, `"temp as value"`, which outputs show. A CSV file without a header has no
names, so there `columns` gives them, all of them. Columns from a Hive-partitioned folder (`year=2024/…`) stand behind
those of the file; they are integers or dates where all of them look like it, else strings.

An empty cell or null is no value, so that the row's fact cannot be made. `nulls` says what then: the run is refused,
the row skipped and counted, or the value read as an empty string. In CSV and TSV files `null` is another text that
stands for no value.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from everlog.addresses import is_remote, local_text
from everlog.errors import UsageError
from everlog.facts.missing import NULLS
from everlog.formats.reading import RDF_FORMATS, TABLE_FORMATS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KINDS = ("appends", "snapshot", "changes")
UPDATE_FORMATS = ("updates", "patch")  # JSON lines of updates, RDF Patch; of sources of changes only


@dataclass(frozen=True)
class InputSource:
    """Where facts come from.

    Attributes:
        data: a path, a glob, a folder, or a DataFrame.
        format: how to read files whose extension does not say (see formats/reading.py); "patch" for RDF Patch.
        relation: where rows of tables go; the file's stem by default, for a folder the folder's. JSON lines with a
            relation are objects, whose values are found by name; without one they are facts or updates.
        types: a type for each argument that comes from a CSV or TSV file (see formats/fields.py), or from strings in
            JSON objects; by default a cell of a file is what it looks like, and a string in JSON a string.
        header: whether the first row of each CSV or TSV file holds names.
        graph: the named graph for RDF that names none.
        columns: which columns of a table become arguments, in which order, and their names; all by default.
        name: what stands for the source in the scopes of blank nodes; the path as written by default.
        kind: "appends": facts are added; "snapshot": what is not in it any more goes; "changes": it says what comes
            and goes.
        change_column: in a table of changes, the column that says insert or delete.
        delimiter: the character between the cells of a CSV file; a comma by default.
        null: a text in CSV and TSV cells that stands for no value, as an empty cell does.
        nulls: what to do with rows in which a value is missing: "refuse", "skip" or "empty".
        date_format: how dates and times are written in columns of these types, as `strptime` has it: "%d.%m.%Y".
    """

    data: str | os.PathLike[str] | DataFrame
    format: str | None = None
    relation: str | None = None
    types: Sequence[str] | None = None
    header: bool = False
    graph: str | None = None
    columns: Sequence[str] | None = None
    name: str | None = None
    kind: str = "appends"
    change_column: str | None = None
    delimiter: str | None = None
    null: str | None = None
    nulls: str = "refuse"
    date_format: str | None = None

    @property
    def is_path(self) -> bool:
        return isinstance(self.data, str | os.PathLike)

    @property
    def path(self) -> str:
        """The path, without the scheme `file:`."""
        return local_text(os.fspath(self.data))  # type: ignore[arg-type]

    @property
    def is_remote(self) -> bool:
        return self.is_path and is_remote(self.path)

    @property
    def title(self) -> str:
        """What errors call it."""
        if self.is_path:
            return os.fspath(self.data)  # type: ignore[arg-type]
        return f"the DataFrame for {self.relation}" if self.relation else "a DataFrame"

    @property
    def scope_name(self) -> str:
        if self.name is not None:
            return self.name
        return os.fspath(self.data)  # type: ignore[arg-type]

    def cell_delimiter(self, format: str) -> str:
        return self.delimiter or ("," if format == "csv" else "\t")


def is_table(source: InputSource, format: str) -> bool:
    """Whether files of a format are rows of one relation here: JSON lines are if they are objects."""
    return format in TABLE_FORMATS or (format == "jsonl" and source.relation is not None)


def relations_of(source: InputSource, format: str, relation: str) -> tuple[str, ...] | None:
    """The relations that a file of the source may hold, or None where its lines say them."""
    if is_table(source, format):
        return (relation,)
    if format in RDF_FORMATS:
        graphs = source.graph is not None, format in ("nq", "trig", "jsonld")
        return {(False, False): ("triple",), (True, False): ("quad",)}.get(graphs, ("triple", "quad"))
    return ("triple", "quad") if format == "patch" else None


def check_options(source: InputSource, format: str) -> None:
    """Raise where what is said about a source does not fit a format of its files."""
    for _, message, hint in misfits(source, format):
        raise UsageError(f"{source.title}: {message}", hint=hint)


def misfits(source: InputSource, format: str) -> Iterator[tuple[str, str, str | None]]:
    """What does not fit: the option, what is wrong, what helps."""
    yield from _misfits_of_tables(source, format)
    yield from _misfits_of_text(source, format)
    if source.graph is not None and format not in RDF_FORMATS:
        yield "graph", f"a {format} file holds no RDF, so it goes into no graph", "leave out graph"
    elif source.graph is not None and ":" not in source.graph:
        yield "graph", f"{source.graph!r} is not an absolute IRI", "name the graph like http://example.org/g"
    yield from _misfits_of_kinds(source, format)


def _misfits_of_tables(source: InputSource, format: str) -> Iterator[tuple[str, str, str | None]]:
    table = is_table(source, format)
    if source.relation is not None and not table:
        yield "relation", f"a {format} file says its relations itself", "leave out relation"
    if format == "jsonl" and source.columns is None and (source.relation is not None or source.change_column):
        help = 'name the values of each object that become arguments: columns = ["sensor", "value"]'
        yield "relation", "the columns of JSON objects are not named", help
    if format == "jsonl" and source.columns is not None and source.relation is None:
        yield "columns", "the rows of JSON objects go to no relation", 'say which: relation = "reading"'
    elif source.columns is not None and not table:
        yield "columns", f"a {format} file has no columns to choose", "leave out columns"
    if source.columns is not None:
        yield from _repeated(source.columns)
    if source.nulls not in NULLS:
        yield "nulls", f"{source.nulls!r} is no way to treat nulls; there are {', '.join(NULLS)}", None
    elif source.nulls != "refuse" and not table:
        yield "nulls", f"a {format} file has no cells without a value", "leave out nulls"


def _repeated(columns: Sequence[str]) -> Iterator[tuple[str, str, str | None]]:
    names = [renamed(column)[1] for column in columns]
    if len(set(names)) < len(names) or "" in names:
        yield "columns", f"two columns have one name among {', '.join(names)}", 'rename one: "a as b"'


def _misfits_of_text(source: InputSource, format: str) -> Iterator[tuple[str, str, str | None]]:
    cells = format in ("csv", "tsv")
    if source.header and not cells:
        yield "header", f"a {format} file says its types itself", "leave out header"
    if source.types is not None and not cells and not (format == "jsonl" and source.relation is not None):
        yield "types", f"a {format} file says its types itself", "leave out types"
    elif source.types is not None:
        from everlog.formats.fields import check_types

        try:
            check_types(source.types)
        except UsageError as error:
            yield "types", error.message, error.hint
    if source.delimiter is not None and format != "csv":
        what = "the cells of a tsv file are divided by tabs" if cells else f"a {format} file has no delimiters"
        yield "delimiter", what, 'say format = "csv", or leave out delimiter'
    elif source.delimiter is not None and (len(source.delimiter) != 1 or source.delimiter in '"\r\n'):
        yield "delimiter", f"{source.delimiter!r} is not one character between cells", 'delimiter = ";"'
    if source.null is not None and not cells:
        yield "null", f"a {format} file says itself where there is no value", "leave out null"
    if source.date_format is not None:
        typed = {"date", "dateTime", "time"} & set(source.types or ())
        if not typed:
            yield "date_format", "no column is of the type date, dateTime or time", 'types = ["string", "date"]'
        elif "%" not in source.date_format:
            yield "date_format", f"{source.date_format!r} says no part of a date", 'date_format = "%d.%m.%Y"'


def _misfits_of_kinds(source: InputSource, format: str) -> Iterator[tuple[str, str, str | None]]:
    if source.kind not in KINDS:
        yield "kind", f"there is no kind {source.kind!r} of sources; there are {', '.join(KINDS)}", None
        return
    if source.change_column is not None and source.kind != "changes":
        yield "change_column", f"a source of kind {source.kind} has no changes", 'say kind = "changes"'
    if source.kind == "changes" and source.change_column is None and format not in UPDATE_FORMATS:
        if is_table(source, format):
            yield "kind", "no column says what is inserted and what is deleted", 'change_column = "op"'
        else:
            yield "kind", f"a {format} file says no changes", "write RDF Patch (.rdfp), or JSON lines of updates"
    if source.kind == "snapshot" and relations_of(source, format, "") is None:
        # A relation whose last fact is gone would not be named any more, and its facts stay.
        yield "kind", f"a {format} file does not say which relations it is a snapshot of", "give each relation a table"


def renamed(column: str) -> tuple[str, str]:
    """The name of a column where it comes from, and the name from here on.

    >>> renamed("temp as value"), renamed("temp")
    (('temp', 'value'), ('temp', 'temp'))
    """
    before, found, after = column.rpartition(" as ")
    return (before.strip(), after.strip()) if found else (column, column)

"""What does a pipeline.toml say?

    program = "rules.dl"            # the rules; their @import and @export lines count too
    tables = "tables"               # where facts are stored between runs (tables/table_store.py); or s3://bucket/…
    beside = "beside_tables"        # a local folder for what cannot be in an object store, where tables are in one
    results = "out"                 # where outputs with a relative path go; beside this file by default
    max_rejects = 0.01              # the share of a source's lines that may be malformed; with more a run fails

    [[source]]                      # as many as there are (sources.py)
    path = "readings/*.csv"         # relative to this file: a file, a pattern, a folder or a Delta table; or s3a://…
    format = "csv"                  # unless the extension says it: csv tsv parquet arrow jsonl nt nq ttl trig rdf …
    relation = "reading"            # tables and JSON objects only; the file's stem by default
    kind = "appends"                # facts are added; "snapshot": others go; "changes": rows say what comes and goes
    change_column = "op"            # changes in tables: insert or delete, + or -, 1 or -1, I or D
    columns = ["sensor", "temp as value"]   # tables: which columns, in which order, and their names from here on
    types = ["iri", "double"]       # CSV, TSV and strings in JSON objects: a type for each of these columns
    header = true                   # CSV and TSV: the first row holds names
    delimiter = ";"                 # CSV: what is between cells
    null = "NA"                     # CSV and TSV: the text of a cell without a value, besides empty cells
    nulls = "refuse"                # tables: rows without a value stop a run; "skip" leaves them out, "empty" reads ""
    date_format = "%d.%m.%Y"        # CSV, TSV, JSON objects: how dates and times are written, as strptime has it
    graph = "http://ex.org/g"       # RDF only: the named graph for triples that name none

    [[output]]                      # as many as there are (publish.py)
    relation = "odd"                # or, of a view:
    view = "hot"
    kind = "facts"                  # all that is there; "changes": what came and went, run by run (change_feeds.py)
    path = "odd.csv"                # a local file or folder
    format = "csv"                  # unless the extension says it: delta parquet csv nt nq; delta without an extension
    single = true                   # one file, or a folder of parts; one file by default if the path has an extension
    columns = ["sensor", "value"]   # the names of columns; by default those of the rules' variables, or of sources
    header = true                   # CSV: whether the first line holds the names

    [[view]]                        # a SPARQL query whose answer is kept as a table; an output may write it
    name = "hot"
    query = "hot.rq"                # or the text of the query itself

    [limits]                        # of a run (limits.py)
    rounds = 1000                   # of one component
    facts = 1000000000
    seconds = 3600

    [maintain]                      # how tables are kept true
    way = "auto"                    # "resident", "paged" or "bulk" force one (ways.py)
    memory = "2 GB"                 # that facts may take in process
    rounds_folder = "/shared/tmp"   # where rounds on Spark are written (rounds_folder.py); in the tables' by default

    [stream]                        # updates that arrive while the pipeline runs
    folder = "updates"              # where update files land
    checkpoint = "checkpoint"       # where Spark remembers what it has read; beside the tables by default
    on_error = "set-aside"          # an update that cannot be applied; or "stop"
    trigger = 1                     # seconds between two looks, or "available-now": apply what is there and end

    [storage]                       # options for tables in an object store, as deltalake knows them
    AWS_ENDPOINT_URL = "https://…"  # what is not said here may be in the environment

    [spark]
    master = "local[*]"
    "spark.sql.shuffle.partitions" = 8

Everything that can be wrong is found here, before Spark starts, and reported together: in this file, in the program,
and files that are missing. Codes are `P1xx`; the program's own problems keep theirs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from everlog.addresses import is_remote, local_text
from everlog.errors import EverlogError, ProgramError, UsageError
from everlog.facts.missing import NULLS
from everlog.formats.compression import check_readable
from everlog.limits import Limits
from everlog.pipeline import settings_parts as parts
from everlog.pipeline.outputs import OUTPUT_KINDS, REMOTE_HINT, Output
from everlog.pipeline.settings_outputs import Outputs
from everlog.pipeline.settings_parts import MaintainSettings, StreamSettings, ViewSettings
from everlog.pipeline.settings_sources import Sources
from everlog.pipeline.sources import KINDS, InputSource
from everlog.pipeline.toml_reader import (
    ANY_TEXT,
    COUNT,
    FLAG,
    SECONDS,
    SHARE,
    SIZE,
    TEXT,
    TEXTS,
    TRIGGER,
    SettingsError,
    TomlReader,
    read_toml,
)
from everlog.rules.checks import check_program
from everlog.rules.mentions import mentioned
from everlog.rules.parser import read_program
from everlog.rules.syntax import Program
from everlog.tables.places import TablePlace, table_place

__all__ = ["MaintainSettings", "Settings", "SettingsError", "StreamSettings", "ViewSettings", "read_settings"]

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
    tables: TablePlace
    max_rejects: float = MAX_REJECTS
    master: str | None = None
    spark: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = Limits()
    maintain: MaintainSettings = MaintainSettings()
    views: tuple[ViewSettings, ...] = ()
    stream: StreamSettings | None = None


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
        "": {"program": TEXT, "tables": TEXT, "beside": TEXT, "results": TEXT, "max_rejects": SHARE},
        "source": {
            "path": TEXT,
            "format": TEXT,
            "relation": TEXT,
            "kind": KINDS,
            "change_column": TEXT,
            "columns": TEXTS,
            "types": TEXTS,
            "header": FLAG,
            "delimiter": TEXT,
            "null": ANY_TEXT,
            "nulls": NULLS,
            "date_format": TEXT,
            "graph": TEXT,
        },
        "output": {
            "relation": TEXT,
            "view": TEXT,
            "kind": OUTPUT_KINDS,
            "path": TEXT,
            "format": TEXT,
            "single": FLAG,
            "columns": TEXTS,
            "header": FLAG,
        },
        "view": {"name": TEXT, "query": TEXT},
        "limits": {"rounds": COUNT, "facts": COUNT, "seconds": SECONDS},
        "maintain": {"way": parts.WAYS, "memory": SIZE, "rounds_folder": TEXT},
        "stream": {"folder": TEXT, "checkpoint": TEXT, "on_error": parts.ON_ERROR, "trigger": TRIGGER},
        "storage": {},
        "spark": {},
    }
    needed = {"": ("program",), "source": ("path",), "output": ("path",), "view": ("name", "query")}
    once = ("limits", "maintain", "stream", "storage", "spark")
    examples = {
        "program": 'program = "rules.dl"',
        "path": 'path = "data.csv"',
        "relation": 'relation = "path"',
        "types": 'types = ["string", "integer"]',
        "columns": 'columns = ["sensor", "value"]',
        "header": "header = true",
        "single": "single = true",
        "max_rejects": "max_rejects = 0.01",
        "name": 'name = "hot"',
        "query": 'query = "hot.rq"',
        "rounds": "rounds = 1000",
        "facts": "facts = 1000000",
        "seconds": "seconds = 60",
        "memory": 'memory = "2 GB"',
        "trigger": 'trigger = "available-now"',
    }

    def settings(self, path: Path) -> Settings:
        folder = path.parent
        top = self.table("", 0, {key: value for key, value in self.data.items() if key not in self.keys})
        inputs = [self.table("source", number, each) for number, each in enumerate(self.tables("source"))]
        wanted = [self.table("output", number, each) for number, each in enumerate(self.tables("output"))]
        tables = self._tables(folder, top)
        master, confs = parts.read_spark(self)
        limits, maintain = parts.read_limits(self), parts.read_maintain(self, folder)
        stream = parts.read_stream(self, folder, tables)
        program = self._program(folder, top)
        views, kept = parts.read_views(self, folder, program)
        sources = Sources(self)
        read = [each for number, data in enumerate(inputs) for each in sources.read(folder, number, data)]
        program_path = folder / local_text(top["program"]) if "program" in top else None
        if program is not None and program_path is not None:
            sources.known.update(mentioned(program))
            read += sources.imports(program_path.parent, program)
        else:
            sources.all_known = False
        outputs = Outputs(self, self._folder(folder, top, "results", ""), sources, read, program, kept)
        written = [each for number, data in enumerate(wanted) for each in outputs.read(number, data)]
        if program is not None:
            written += outputs.exports(program, {output.key for output in written if not output.changes})
        outputs.check_places(written, tables, program_path, path)
        if self.problems or program is None or program_path is None:
            raise SettingsError(self.problems)
        return Settings(
            path,
            program_path,
            program,
            hashlib.sha256(program_path.read_bytes()).hexdigest(),
            tuple(read),
            tuple(written),
            tables,
            top.get("max_rejects", MAX_REJECTS),
            master,
            confs,
            limits,
            maintain,
            tuple(views),
            stream,
        )

    def _folder(self, folder: Path, top: dict[str, Any], key: str, usual: str) -> Path:
        """A folder that is written to."""
        text = top.get(key, usual)
        if is_remote(text):
            self.report("P105", "only local folders can be written", self.places.value("", 0, key), help=REMOTE_HINT)
            text = usual
        return folder / local_text(text)

    def _tables(self, folder: Path, top: dict[str, Any]) -> TablePlace:
        """Where the tables are."""
        where, storage = top.get("tables", "tables"), parts.read_storage(self)
        beside = self._folder(folder, top, "beside", "beside_tables").absolute()
        if not is_remote(where):
            for key in ("beside", "storage"):
                if key in self.data:
                    what = f"{key} is for tables in an object store"
                    said = self.places.key("", 0, key) or self.places.header(key, 0)
                    self.report("P105", what, said, help='leave it out, or tables = "s3://bucket/prefix"')
            return table_place(folder / local_text(where))
        try:
            return table_place(where, storage, beside)
        except UsageError as error:
            self.report("P105", error.message, self.places.value("", 0, "tables"), help=error.hint)
            return table_place(folder / "tables")

    def _program(self, folder: Path, top: dict[str, Any]) -> Program | None:
        if "program" not in top:
            return None
        path = folder / local_text(top["program"])
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

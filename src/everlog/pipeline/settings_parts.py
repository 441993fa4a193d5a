"""What do the small tables of a pipeline.toml say: [spark], [limits], [storage], [maintain], [[view]], [stream]?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.addresses import is_remote, local_text
from everlog.errors import EverlogError, SparqlError, UsageError
from everlog.formats.compression import check_readable
from everlog.limits import Limits
from everlog.pipeline.toml_reader import TomlReader, flat, named, read_size
from everlog.rules.syntax import Program
from everlog.tables.places import TablePlace

if TYPE_CHECKING:
    from everlog.store.view_queries import ViewQuery

WAYS = ("auto", "resident", "paged", "bulk")
ON_ERROR = ("set-aside", "stop")

_QUERY_FILES = (".rq", ".sparql")


@dataclass(frozen=True)
class MaintainSettings:
    """How tables are kept true.

    Attributes:
        way: in this process, on Spark, or whichever takes less.
        memory: how many bytes facts in this process may take.
        rounds_folder: where recursion on Spark writes its rounds (rounds_folder.py); beside the tables unless said.
    """

    way: str = "auto"
    memory: int | None = None
    rounds_folder: str | None = None


@dataclass(frozen=True)
class ViewSettings:
    """A SPARQL query whose answer is kept as a table; `path` is the file that it stands in."""

    name: str
    query: str
    path: Path | None = None


@dataclass(frozen=True)
class StreamSettings:
    """Updates that arrive while the pipeline runs.

    Attributes:
        folder: where update files land; None if no folder is streamed.
        checkpoint: where Spark remembers what it has read.
        on_error: what happens to an update that cannot be applied: it is set aside, or the stream stops.
        trigger: "available-now" to apply what is there and end, or the seconds between two looks.
    """

    folder: str | None
    checkpoint: str
    on_error: str = "set-aside"
    trigger: str | float = 1.0


def read_spark(reader: TomlReader) -> tuple[str | None, dict[str, str]]:
    """The master and Spark's own settings."""
    data = reader.data.get("spark", {})
    if not isinstance(data, dict):
        reader.report("P103", "spark is not a table", reader.places.key("", 0, "spark"), help="write [spark]")
        return None, {}
    confs: dict[str, str] = {}
    master = None
    for key, value in flat(data):
        if not isinstance(value, str | int | float):
            what = f"{key} must be a string, a number, true or false, not {named(value)}"
            reader.report("P103", what, reader.places.value("spark", 0, key))
        elif key == "master":
            master = str(value)
            _check(reader, key, {"spark.master": master})
        elif key.startswith("spark."):
            confs[key] = str(value).lower() if isinstance(value, bool) else str(value)
            _check(reader, key, {key: confs[key]})
        else:
            reader.report(
                "P102",
                f"there is no setting {key!r} in [spark]",
                reader.places.key("spark", 0, key),
                "the settings are master, and Spark's own, which begin with spark.",
                help="did you mean master?" if get_close_matches(key, ["master"]) else f'write "spark.{key}" = …',
            )
    return master, confs


def _check(reader: TomlReader, key: str, settings: Mapping[str, str]) -> None:
    from everlog.engines.spark.session import check_settings

    try:
        check_settings(settings)
    except UsageError as error:
        reader.report("P103", error.message, reader.places.value("spark", 0, key), help=error.hint)


def read_storage(reader: TomlReader) -> dict[str, str]:
    """The options for an object store, whatever their names are."""
    data = reader.data.get("storage", {})
    if not isinstance(data, dict):
        reader.report("P103", "storage is not a table", reader.places.key("", 0, "storage"), help="write [storage]")
        return {}
    options: dict[str, str] = {}
    for key, value in flat(data):
        if isinstance(value, str | int | float):
            options[key] = str(value).lower() if isinstance(value, bool) else str(value)
        else:
            what = f"{key} must be a string, a number, true or false, not {named(value)}"
            reader.report("P103", what, reader.places.value("storage", 0, key))
    return options


def read_limits(reader: TomlReader) -> Limits:
    return replace(Limits(), **reader.one_table("limits"))


def read_maintain(reader: TomlReader, folder: Path) -> MaintainSettings:
    data = reader.one_table("maintain")
    memory = read_size(data["memory"]) if "memory" in data else None
    rounds = _place(folder, data["rounds_folder"]) if "rounds_folder" in data else None
    return MaintainSettings(data.get("way", "auto"), memory, rounds)


def read_stream(reader: TomlReader, folder: Path, tables: TablePlace) -> StreamSettings | None:
    """The stream, or None where there is no such table; what is remote is left to Spark."""
    data = reader.one_table("stream")
    if "stream" not in reader.data:
        return None

    beside = tables.beside
    return StreamSettings(
        _place(folder, data["folder"]) if "folder" in data else None,
        _place(folder, data["checkpoint"])
        if "checkpoint" in data
        else str(beside.with_name(f"{beside.name}_stream").absolute()),
        data.get("on_error", "set-aside"),
        data.get("trigger", 1.0),
    )


def _place(folder: Path, text: str) -> str:
    """A place that Spark writes to or reads from: as it is if remote, else from the folder of the settings on."""
    return text if is_remote(text) else str((folder / local_text(text)).absolute())


def read_views(
    reader: TomlReader, folder: Path, program: Program | None
) -> tuple[list[ViewSettings], dict[str, ViewQuery]]:
    """The views whose queries can be kept true, and what these are."""
    views: list[ViewSettings] = []
    kept: dict[str, ViewQuery] = {}
    names: set[str] = set()
    tables = [reader.table("view", number, each) for number, each in enumerate(reader.tables("view"))]
    for number, data in enumerate(tables):
        if "name" not in data or "query" not in data:
            continue
        if data["name"] in names:
            what = f"two views have the name {data['name']}"
            reader.report("P109", what, reader.places.value("view", number, "name"), help="rename one of them")
            continue
        names.add(data["name"])
        view = _view(reader, folder, number, data)
        query = None if view is None else _kept(reader, number, view, {} if program is None else program.prefixes)
        if view is not None and query is not None:
            views.append(view)
            kept[view.name] = query
    return views, kept


def _view(reader: TomlReader, folder: Path, number: int, data: dict[str, Any]) -> ViewSettings | None:
    text: str = data["query"]
    if not text.lower().endswith(_QUERY_FILES) or "\n" in text or "{" in text:
        return ViewSettings(data["name"], text)
    path = folder / local_text(text)
    try:
        check_readable(path)
        return ViewSettings(data["name"], path.read_text(encoding="utf-8-sig"), path)
    except EverlogError as error:
        reader.report("P106", error.message, reader.places.value("view", number, "query"), help=error.hint)
    except (OSError, UnicodeDecodeError) as error:
        reader.report("P106", f"{path}: cannot be read ({error})", reader.places.value("view", number, "query"))
    return None


def _kept(reader: TomlReader, number: int, view: ViewSettings, prefixes: Mapping[str, str]) -> ViewQuery | None:
    from everlog.store.view_queries import view_query

    try:
        return view_query(view.name, view.query, prefixes, since=0)
    except SparqlError as error:
        where = f"{view.path}: " if view.path is not None else ""
        key = "name" if "is no name for a view" in error.message else "query"
        reader.report("P109", where + error.message, reader.places.value("view", number, key), help=error.hint)
        return None

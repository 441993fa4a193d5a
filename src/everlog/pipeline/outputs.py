"""Which relation or view goes where, in which format, and can it be put there?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from everlog.addresses import lost_scheme
from everlog.errors import OutputError
from everlog.tables.commits import unwritable

FORMATS = ("delta", "parquet", "csv", "nt", "nq")
OUTPUT_KINDS = ("facts", "changes")
FEED_FORMATS = ("delta", "parquet", "csv")
RDF_WIDTHS = {"triple": 3, "quad": 4}
REMOTE_HINT = "name a local folder, or one that is mounted, and copy the results from there"

_EXTENSIONS = {".csv": "csv", ".nt": "nt", ".nq": "nq", ".parquet": "parquet"}
_LOG = "_delta_log"


@dataclass(frozen=True)
class Output:
    """A relation or a view, and where it goes.

    Attributes:
        relation: its name, or that of the view.
        format: told by the extension if None, and delta where there is no extension.
        single: one file, or a folder of parts; by default one file where the path has an extension.
        columns: the names of its columns; c1, c2, … by default.
        header: whether CSV begins with the names.
        view: it is a view …
        graph: … whose rows are the triples of a graph.
        changes: what comes and goes is told, run by run, instead of what is there.
    """

    relation: str
    path: Path
    format: str | None = None
    single: bool | None = None
    columns: tuple[str, ...] | None = None
    header: bool = True
    view: bool = False
    graph: bool = False
    changes: bool = False

    @property
    def key(self) -> str:
        """What it is known by among all relations and views."""
        return f"view {self.relation}" if self.view else self.relation

    @property
    def kind(self) -> str:
        extension = self.path.suffix.lower()
        return self.format or _EXTENSIONS.get(extension) or extension[1:] or "delta"

    @property
    def one_file(self) -> bool:
        return not self.changes and self._is_named_like_a_file

    @property
    def _is_named_like_a_file(self) -> bool:
        return self.path.suffix.lower() in _EXTENSIONS if self.single is None else self.single

    def names(self, arity: int) -> list[str]:
        """The names of its columns."""
        return [f"c{place}" for place in range(1, arity + 1)] if self.columns is None else list(self.columns)


def output_problem(output: Output, arity: int | None = None) -> str | None:
    """Why an output cannot be written in its format, or None."""
    relation, format = "triple" if output.graph else output.key, output.kind
    if format not in FORMATS:
        return f"there is no output format {format!r}; there are {', '.join(FORMATS)}"
    if output.changes and format not in FEED_FORMATS:
        return f"changes are not written as {format}, which has no place for weights and versions"
    if output.changes and (output.single or (output.single is None and output.path.suffix.lower() in _EXTENSIONS)):
        return "each run adds a file with its changes, so they go into a folder and not into one file"
    if format in ("nt", "nq") and (relation not in RDF_WIDTHS or arity not in (None, RDF_WIDTHS[relation])):
        return f"{relation} holds no RDF: only triple(s, p, o) and quad(s, p, o, g) do"
    if format == "nt" and relation == "quad":
        return "N-Triples has no named graphs; the format nq has"
    return None


def check_place(output: Output) -> None:
    """Raise where an output cannot be put: no permission, or something there that is not ours to replace."""
    if lost_scheme(output.path):
        raise OutputError(f"{output.path}: only local folders can be written", hint=REMOTE_HINT)
    path = output.path.absolute()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise OutputError(
                f"{path}: cannot be written: writing to the folder {path.parent} is not permitted",
                hint=f"choose a folder you may write to, or: chmod u+w {path.parent}",
            )
        _check_what_is_there(output, path)
    except OSError as error:
        raise unwritable(path, error) from error


def _check_what_is_there(output: Output, path: Path) -> None:
    if path.is_dir():
        if output.kind == "delta":
            foreign = [] if (path / _LOG).is_dir() or not any(path.iterdir()) else sorted(path.iterdir())
        else:
            foreign = [each for each in sorted(path.iterdir()) if not _by_spark(each.name)]
        if foreign:
            raise OutputError(
                f"{path}: this folder holds other things, such as {foreign[0].name}, and would be replaced",
                hint="name a folder that is not there yet, or remove it yourself",
            )
    elif path.exists() and (output.kind == "delta" or not output.one_file):
        raise OutputError(f"{path}: this is a file, but a folder is to be written there", hint="choose another path")


def _by_spark(name: str) -> bool:
    return name.startswith(("part-", ".part-", "changes-")) or name in ("_SUCCESS", "._SUCCESS.crc")

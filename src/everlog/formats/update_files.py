"""Which updates does a file hold?

The extension says how they are written, before one of a compression:

    .jsonl .ndjson                a JSON object a line (update_lines.py)
    .rdfp .rdfpatch .patch        RDF Patch, a transaction an update (rdf_patch.py)

Updates are read one at a time, so that a file may be as long as it likes, or still be growing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from everlog.errors import UsageError
from everlog.facts.terms import Term
from everlog.formats.compression import COMPRESSIONS, open_bytes, split_name

EXTENSIONS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".rdfp": "patch", ".rdfpatch": "patch", ".patch": "patch"}

FactRows = Mapping[str, Sequence[tuple[Term, ...]]]


@dataclass(frozen=True)
class WrittenUpdate:
    """An update as written in a file, and the line where it begins."""

    line: int
    insert: FactRows = field(default_factory=dict)
    delete: FactRows = field(default_factory=dict)
    add_rules: str | None = None
    remove_rules: tuple[str, ...] = ()


def read_update_file(path: Path, stream: BinaryIO | None = None) -> Iterator[WrittenUpdate]:
    """The updates of a file; of `stream`, if one is given, with the name telling the format."""
    format = _format_of(path) if stream is None or path.suffix else "jsonl"
    return _read(format, path, open_bytes(path) if stream is None else nullcontext(stream))


def _read(format: str, path: Path, opened: AbstractContextManager[BinaryIO]) -> Iterator[WrittenUpdate]:
    with opened as stream:
        if format == "jsonl":
            from everlog.formats.update_lines import read_update_lines

            yield from read_update_lines(stream, path=str(path))
        else:
            from everlog.formats.rdf_patch import read_rdf_patch

            yield from read_rdf_patch(stream, path=str(path))


def _format_of(path: Path) -> str:
    extension = split_name(path)[1]
    if extension not in EXTENSIONS:
        what = f"the extension {extension} is not one of updates" if extension else "the name has no extension"
        raise UsageError(
            f"{path}: {what}; those are {' '.join(EXTENSIONS)}, each also with {', '.join(COMPRESSIONS)}",
            hint='write updates as JSON lines such as {"insert": [["edge", "a", "b"]]} into a .jsonl file',
        )
    return EXTENSIONS[extension]

"""Which facts does a file hold?

The extension says how to read it, before one of a compression (``edge.csv.gz``); `format` says otherwise:

    .csv .tsv                                 rows of one relation; values are what they look like, or of `types`
    .parquet .arrow .feather                  rows of one relation, with the types of the file
    .jsonl .ndjson                            lines like ["edge", "a", "b"], of any relations
    .nt .nq .ttl .trig .rdf .owl .xml .jsonld RDF: `triple`, and `quad` for named graphs

The readers and the libraries they need are imported when first used.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from everlog.errors import UsageError
from everlog.facts.blocks import FactBlock
from everlog.facts.missing import MissingValues
from everlog.formats.compression import COMPRESSIONS, check_readable, open_bytes, split_name

EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".nt": "nt",
    ".nq": "nq",
    ".ttl": "ttl",
    ".trig": "trig",
    ".rdf": "rdf",
    ".owl": "rdf",
    ".xml": "rdf",
    ".jsonld": "jsonld",
}
RDF_FORMATS = ("nt", "nq", "ttl", "trig", "rdf", "jsonld")
TABLE_FORMATS = ("csv", "tsv", "parquet", "arrow")


def read_facts(
    path: str | Path,
    *,
    relation: str | None = None,
    types: Sequence[str] | None = None,
    header: bool = False,
    format: str | None = None,
    graph: str | None = None,
    base: str | None = None,
    scope: str | None = None,
    missing: MissingValues | None = None,
) -> Iterator[FactBlock]:
    """The facts of a file, in blocks of bounded size.

    Args:
        relation: where the rows of a table go; the file's stem by default.
        types: a type for each column of a CSV or TSV file (see fields.py); `any` by default.
        header: whether the first row of a CSV or TSV file holds names, not values.
        format: how to read the file, where its extension does not say.
        graph: the named graph (an IRI) for RDF that names none.
        base: the IRI that relative IRIs in RDF are relative to; the file's own by default.
        scope: what stands before the labels of blank nodes in RDF; by default, unique in this process.
        missing: what becomes of rows in which a value is missing; they are refused by default.
    """
    path = Path(path)
    check_readable(path)
    name = format_of(path, format)
    _check_options(name, relation, types, header, graph)
    missing = missing or MissingValues()
    if not missing.refuses and name in RDF_FORMATS:
        raise UsageError(f"a {name} file has no rows without a value", hint="leave out nulls")
    stem = relation or split_name(path)[0]
    if name in ("csv", "tsv"):
        from everlog.formats.csv import read_csv

        delimiter = "," if name == "csv" else "\t"
        return read_csv(path, stem, delimiter=delimiter, types=types, header=header, missing=missing)
    if name == "jsonl":
        from everlog.formats.jsonl import read_jsonl

        return _streamed(path, functools.partial(read_jsonl, path=str(path), missing=missing))
    if name in ("parquet", "arrow"):
        from everlog.formats.parquet import read_parquet

        return read_parquet(path, stem, format=name, missing=missing)
    from everlog.formats.rdf import read_rdf

    base = base or path.absolute().as_uri()
    return _streamed(
        path, functools.partial(read_rdf, format=name, path=str(path), graph=graph, base=base, scope=scope)
    )


def _streamed(path: Path, read: Callable[[BinaryIO], Iterator[FactBlock]]) -> Iterator[FactBlock]:
    """The file is opened when the first block is asked for, and closed after the last one or an error."""
    with open_bytes(path) as stream:
        yield from read(stream)


def format_of(path: Path, format: str | None = None) -> str:
    """The format of a file: what is said, or what its extension says."""
    if format is not None:
        name = EXTENSIONS.get("." + format.lower().removeprefix("."))
        if name is None:
            near = difflib.get_close_matches(format, sorted(set(EXTENSIONS.values())), n=1)
            raise UsageError(
                f"there is no format {format!r}; there are {', '.join(dict.fromkeys(EXTENSIONS.values()))}",
                hint=f"did you mean {near[0]!r}?" if near else None,
            )
        return name
    extension = split_name(path)[1]
    if extension not in EXTENSIONS:
        what = f"the extension {extension} is not known" if extension else "the name has no extension"
        raise UsageError(
            f"{path}: {what}; known are {' '.join(EXTENSIONS)}, each also with {', '.join(COMPRESSIONS)}",
            hint="rename the file, or say its format: format='csv'",
        )
    return EXTENSIONS[extension]


def _check_options(
    format: str, relation: str | None, types: Sequence[str] | None, header: bool, graph: str | None
) -> None:
    if relation is not None and format not in TABLE_FORMATS:
        raise UsageError(f"a {format} file says its relations itself", hint=f"leave out {relation!r}")
    if (types is not None or header) and format not in ("csv", "tsv"):
        raise UsageError(f"a {format} file says its types itself", hint="leave out types and header")
    if types is not None:
        from everlog.formats.fields import check_types

        check_types(types)
    if graph is not None and format not in RDF_FORMATS:
        raise UsageError(f"a {format} file holds no RDF, so it goes into no graph", hint=f"leave out {graph!r}")
    if graph is not None and ":" not in graph:
        raise UsageError(f"{graph!r} is not an absolute IRI", hint="name the graph like http://example.org/g")

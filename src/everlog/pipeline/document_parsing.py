"""How do Python workers read whole files: documents of RDF, CSV with fields over lines, Arrow tables, update files?

A file is a task of its own, since it can only be read from its start. What is wrong with its rows goes to the log; what
is wrong with the file itself, or with an update file anywhere, is its failure: half of it is never taken.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from everlog.errors import DataError, EverlogError
from everlog.facts.blocks import FactBlock
from everlog.facts.terms import key_of
from everlog.formats.arrow_columns import value_column
from everlog.formats.compression import open_bytes
from everlog.formats.csv import csv_records
from everlog.formats.parquet import read_rows
from everlog.formats.reading import read_facts
from everlog.formats.update_files import FactRows, WrittenUpdate
from everlog.pipeline.parsing import Batches, RowLog, broken, facts_of, keys_of_block
from everlog.pipeline.partitions import Partition
from everlog.pipeline.picking import SIGNS, SIGNS_TOLD, named_csv, picked
from everlog.pipeline.row_parsing import EMPTY, Row, RowReader, checked_row, object_rows
from everlog.pipeline.sources import InputSource

_ROWS = 1 << 16  # rows handled at a time


def parse_documents(
    batches: Batches, *, source: InputSource, reader: RowReader | None, partitions: dict[str, Partition], samples: int
) -> Batches:
    """Facts from rows that each name a file (see documents.py).

    Args:
        reader: for JSON objects, how to read them.
        partitions: the values of partition columns, by the file's path.
    """
    log = RowLog(samples)
    for batch in batches:
        for row in batch.to_pylist():
            try:
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(row["path"])
                    if row["content"] is not None:  # from a file system that Python does not know
                        path = Path(folder) / path.name
                        path.write_bytes(row["content"])
                    yield from _Document(row, path, source, reader, partitions.get(row["path"], ()), log).parse()
            except EverlogError as error:
                yield broken(row["path"], error)
    yield from log.batches()


class _Document:
    """One file and how to read it."""

    def __init__(
        self,
        row: dict[str, Any],
        path: Path,
        source: InputSource,
        reader: RowReader | None,
        partition: Partition,
        log: RowLog,
    ) -> None:
        self.file: str = row["path"]
        self.format: str = row["format"]
        self.relation: str = row["relation"]
        self.scope: str = row["scope"]
        self.path, self.source, self.reader, self.partition, self.log = path, source, reader, partition, log

    def parse(self) -> Batches:
        if self.format in ("csv", "tsv"):
            return self._csv()
        if self.format in ("parquet", "arrow"):
            return self._table()
        if self.format in ("updates", "patch"):
            return self._updates()
        if self.reader is not None:
            return self._objects(self.reader)
        return map(facts_of, self._facts())

    def _facts(self) -> Iterator[FactBlock]:
        return read_facts(
            self.path,
            format=self.format,
            graph=self.source.graph,
            base=self.file if "://" in self.file else None,
            scope=self.scope,
        )

    def _csv(self) -> Batches:
        """A whole CSV or TSV file: fields may span lines, and each row knows its line."""
        delimiter = self.source.cell_delimiter(self.format)
        records = self._closed(delimiter)
        first = next(records, None)
        if first is None:
            return
        names = [name for name, _ in self.partition]
        if not self.source.header:
            second = next(records, None)
            if first[1] == ["()"] and second is None and self.source.types is None and not names:
                yield facts_of(FactBlock(self.relation, ()))
                return
            records = itertools.chain([first, second] if second else [first], records)
        chosen = named_csv(self.source, first[1], names, self.file)
        reader = RowReader(self.source, self.relation, chosen, {self.file: self.partition})
        while some := list(itertools.islice(records, _ROWS)):
            rows: list[Row] = []
            for line, fields in some:
                text = delimiter.join(fields)
                rows += checked_row(reader, line, text, fields, len(first[1]), self.file, self.log)
            yield from reader.facts(rows, self.file, self.log)

    def _closed(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """The rows with their lines; an error where the last quote is never closed."""
        end = "\0end of file"  # lands in the last field where that is still open
        before: tuple[int, list[str]] | None = None
        for record in csv_records(self.path, delimiter, end, quoted=self.format == "csv"):
            if before is not None:
                yield before
            before = record
        if before is not None and before[1] != [end]:
            raise DataError("a quote is opened in this row and never closed", line=before[0])

    def _objects(self, reader: RowReader) -> Batches:
        with open_bytes(self.path) as stream:
            lines: Iterator[tuple[int | None, bytes]] = iter(enumerate(stream, 1))
            while some := list(itertools.islice(lines, _ROWS)):
                rows = list(object_rows(reader, iter(some), self.file, self.log))
                yield from reader.facts(rows, self.file, self.log)

    def _table(self) -> Batches:
        """A Parquet or Arrow file."""
        names = [name for name, _ in self.partition]
        chosen, row = None, 1
        for batch in read_rows(self.path, self.format):
            chosen = chosen or picked(self.source, batch.schema.names, names, self.file)
            signs = None if chosen.change is None else self._signs(batch.column(chosen.change), row)
            found, missing = [], pa.repeat(False, batch.num_rows)
            for name, place in zip(chosen.names, chosen.arguments, strict=True):
                if place < 0:
                    column = pa.repeat(pa.scalar(self.partition[-place - 1][1], pa.string()), batch.num_rows)
                else:
                    column = self._keys(batch.column(place), name)
                missing = pc.or_(missing, column.is_null())
                found.append(column)
            good = pa.repeat(True, batch.num_rows) if self.source.nulls == "empty" else pc.invert(missing)
            for place in pc.indices_nonzero(pc.invert(good)).to_pylist():
                missed = next(
                    name for name, column in zip(chosen.names, found, strict=True) if not column[place].is_valid
                )
                at = f"row {row + place}"
                self.log.null(self.file, None, at, f"column {missed!r} has no value in {at}")
            keys = [column.fill_null(EMPTY) for column in found]
            for sign in (1, -1):
                rows = good if signs is None else pc.and_(good, pc.equal(signs, sign))
                if signs is None and sign < 0:
                    break
                if pc.any(rows, min_count=0).as_py():
                    yield facts_of(FactBlock(self.relation, tuple(key.filter(rows) for key in keys), "keys"), sign)
            row += batch.num_rows

    def _keys(self, column: pa.Array, name: str) -> pa.Array:
        """The keys of a column of values; null where there is none."""
        there = column.is_valid()
        values = value_column(column.filter(there), name, self.file)
        keys = keys_of_block(FactBlock("", (values,)))[0]
        return pc.replace_with_mask(pa.nulls(len(column), pa.string()), there, keys)

    def _signs(self, column: pa.Array, row: int) -> pa.Array:
        """1 or -1 for each row; 0 where a row, which goes to the log, says neither."""
        texts = pc.utf8_lower(pc.utf8_trim_whitespace(column.cast(pa.string()).fill_null("")))
        signs = [SIGNS.get(text, 0) for text in texts.to_pylist()]
        for place, sign in enumerate(signs):
            if not sign:
                said = f"a change is {SIGNS_TOLD}, not {column[place].as_py()!r}"
                self.log.reject(self.file, None, f"row {row + place}", said)
        return pa.array(signs, pa.int32())

    def _updates(self) -> Batches:
        """An update file; the later of two changes of a fact is told by file and line; insertion wins within one."""
        for update in self._written():
            if update.add_rules is not None or update.remove_rules:
                raise DataError(
                    "this update changes rules, and a run takes its rules from the program",
                    line=update.line,
                    hint="change the program's file, or apply the updates by `everlog pipeline stream`",
                )
            for facts, sign in ((update.insert, 1), (update.delete, -1)):
                for block in _blocks(facts):
                    yield facts_of(block, sign, self.file, update.line)

    def _written(self) -> Iterator[WrittenUpdate]:
        with open_bytes(self.path) as stream:
            if self.format == "patch":
                from everlog.formats.rdf_patch import read_rdf_patch

                yield from read_rdf_patch(stream, path=self.file)
            else:
                from everlog.formats.update_lines import read_update_lines

                yield from read_update_lines(stream, path=self.file)


def _blocks(facts: FactRows) -> Iterator[FactBlock]:
    for relation, rows in facts.items():
        by_width: dict[int, list[tuple[str, ...]]] = {}
        for row in rows:
            by_width.setdefault(len(row), []).append(tuple(map(key_of, row)))
        for width, keys in by_width.items():
            columns = tuple(pa.array(column, pa.string()) for column in zip(*keys, strict=True)) if width else ()
            yield FactBlock(relation, columns, "keys")

"""Does a knowledge base take facts in the shapes in which people have them, and refuse what is no row?"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import everlog
from everlog import IRI
from everlog.errors import DataError, ProgramError, UsageError
from everlog.facts.missing import MissingValues
from everlog.rules.parser import parse_program
from everlog.rules.printer import print_program
from everlog.store.program_files import imports, read_sources

DAY = dt.date(2024, 5, 31)
ROWS = [("ann", 41, DAY), ("bob", 7, DAY)]
TABLE = pa.table({"name": ["ann", "bob"], "age": [41, 7], "day": [DAY, DAY]})


class Capsule:
    """An object of some other library that knows the Arrow PyCapsule interface and nothing else."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return TABLE.__arrow_c_stream__(requested_schema)


SHAPES: dict[str, Callable[[], Any]] = {
    "tuples": lambda: ROWS,
    "lists": lambda: [list(row) for row in ROWS],
    "a tuple of tuples": lambda: tuple(ROWS),
    "a generator": lambda: (row for row in ROWS),
    "dictionaries": lambda: [dict(zip(("name", "age", "day"), row, strict=True)) for row in ROWS],
    "pandas": lambda: TABLE.to_pandas(),
    "pandas with an index": lambda: TABLE.to_pandas().set_index("name"),
    "pandas of objects": lambda: pd.DataFrame(ROWS, dtype=object),
    "polars": lambda: pl.from_arrow(TABLE),
    "arrow": lambda: TABLE,
    "an arrow batch": lambda: TABLE.to_batches()[0],
    "an arrow reader": lambda: TABLE.to_reader(),
    "a capsule": Capsule,
    "numpy objects": lambda: np.array(ROWS, object),
    "numpy records": lambda: np.array([("ann", 41, DAY), ("bob", 7, DAY)], "U3,i4,M8[D]"),
    "rows of numpy scalars": lambda: [(np.str_(a), np.int16(n), np.datetime64(d)) for a, n, d in ROWS],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_facts_in_many_shapes(shape: str) -> None:
    kb = everlog.open(engine="reference")
    change = kb.insert("p", SHAPES[shape]())
    assert change.gained("p") == ROWS
    assert [tuple(map(type, row)) for row in change.gained("p")] == [tuple(map(type, row)) for row in ROWS]
    with kb.transaction() as transaction:
        assert transaction.delete("p", SHAPES[shape]()).lost("p") == ROWS
    assert kb.what_if(insert={"p": SHAPES[shape]()}).gained("p") == ROWS
    (streamed,) = kb.stream([{"insert": {"p": SHAPES[shape]()}}])
    assert streamed.gained("p") == ROWS
    fleet = everlog.Fleet()
    assert fleet.update({"k": {"insert": {"p": SHAPES[shape]()}}})["k"].gained("p") == ROWS


@pytest.mark.parametrize(
    "column",
    [["a", "b"], {"a", "b"}, np.array(["a", "b"]), pd.Series(["a", "b"]), pl.Series(["a", "b"]), pa.array(["a", "b"])],
)
def test_a_column_is_facts_of_one_argument(column: Any) -> None:
    assert everlog.open(engine="reference").insert("p", column).gained("p") == [("a",), ("b",)]


def test_numbers_in_arrays_and_scalars() -> None:
    kb = everlog.open(engine="reference")
    assert kb.insert("p", np.array([[1, 2], [3, 4]])).gained("p") == [(1, 2), (3, 4)]
    assert kb.insert("q", [np.float32(0.5), np.bool_(True), np.int64(3)]).gained("q") == [(0.5,), (3,), (True,)]
    assert (1, 2) in kb.facts("p") and (np.int8(1), np.uint64(2)) in kb.facts("p")
    assert kb.query("SELECT ?x { ?x ?p ?o }", bindings={"o": np.int64(3)}).sorted() == []


def test_facts_of_a_relation_keep_their_terms() -> None:
    kb = everlog.open(engine="reference")
    kb.insert("p", [(IRI("http://ex.org/a"), Decimal("2.5"), "007")])
    assert kb.insert("q", kb.facts("p")).gained("q") == kb.facts("p").sorted()
    assert kb.insert("r", kb.query("p(?x, ?y, ?z)")).gained("r") == kb.facts("p").sorted()


def test_objects_that_arrow_cannot_hold() -> None:
    frame = pd.DataFrame({"x": [IRI("http://ex.org/a"), "b"], "n": [2**70, 1]})
    found = everlog.open(engine="reference").insert("p", frame).gained("p")
    assert found == [(IRI("http://ex.org/a"), 2**70), ("b", 1)]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (("a", "b"), r"\('a', 'b'\) is one row\n.*write insert\('edge', \[\('a', 'b'\)\]\)"),
        ("ab", r"'ab' is no list of rows\n.*\[\('ab',\)\]"),
        ({"from": "a", "to": "b"}, r"is one row\n.*\[\{'from': …, 'to': …\}\]"),
        (7, "7 is no list of rows"),
        (None, "None is no list of rows"),
        (b"ab", "is no list of rows"),
        (Path("edge.csv"), "is a file\n.*kb.load"),
        ([("a", "b"), {"c", "d"}], "row 2 is no row"),
        ([("a", "b"), object()], "row 2 is no row: <object.*\n.*rows look like"),
        ([{"x": 1, "y": 2}, {"x": 1}], "row 2 has x; its columns are x, y"),
        ([("a", ["b"])], r"\['b'\] is not a term"),
        (np.zeros((2, 2, 2)), "an array of 3 dimensions has no rows"),
        (pa.table({"x": [[1]]}), "column 'x' holds list"),
        (pd.DataFrame(), "the table has no columns"),
        (np.array(5), "is no list of rows"),
    ],
)
def test_what_is_no_row_is_refused(rows: Any, message: str) -> None:
    kb = everlog.open(engine="reference")
    for act in (
        lambda: kb.insert("edge", rows),
        lambda: kb.delete("edge", rows),
        lambda: kb.what_if(insert={"edge": rows}),
    ):
        with pytest.raises(DataError, match=message):
            act()
    assert not kb.relations()


def test_facts_that_name_their_relation() -> None:
    kb = everlog.open(engine="reference")
    assert kb.update(insert=[["edge", "a", "b"], ("node", "a")]).gained("edge") == [("a", "b")]
    for wrong in ("edge", 7, TABLE, TABLE.to_pandas()):
        with pytest.raises(DataError, match="facts are given by relation"):
            kb.update(insert=wrong)
    with pytest.raises(DataError, match="fact 1: not a fact: 'ab'"):
        kb.update(insert=["ab"])


GAPS = [("a", 1), ("b", None), ("c", 3)]


@pytest.mark.parametrize(
    "shape",
    [
        lambda: GAPS,
        lambda: [{"x": x, "n": n} for x, n in GAPS],
        lambda: pa.table({"x": ["a", "b", "c"], "n": [1, None, 3]}),
        lambda: pd.DataFrame({"x": ["a", "b", "c"], "n": pd.array([1, None, 3], "Int64")}),
        lambda: pl.DataFrame({"x": ["a", "b", "c"], "n": [1, None, 3]}),
        lambda: [("a", 1), ("b", pd.NA), ("c", 3)],
        lambda: [("a", 1), ("b", pd.NaT), ("c", 3)],
    ],
)
def test_values_that_are_missing(shape: Callable[[], Any]) -> None:
    kb = everlog.open(engine="reference")
    with pytest.raises(DataError, match="column ('n'|2) in row 2 has no value\n.*nulls"):
        kb.insert("p", shape())
    change = kb.insert("p", shape(), nulls="skip")
    assert (change.gained("p"), change.report.skipped) == ([("a", 1), ("c", 3)], 1)
    assert kb.update(insert={"p": shape()}, nulls="empty").gained("p") == [("b", "")]
    with pytest.raises(UsageError, match="'drop' is no way"):
        kb.insert("p", shape(), nulls="drop")


def test_a_file_with_gaps(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("a,1\nb,\n")
    kb = everlog.open(engine="reference")
    with pytest.raises(DataError, match="p.csv:2: column 2 has no value"):
        kb.load(path)
    change = kb.load(path, nulls="skip")
    assert (change.gained("p"), change.report.skipped) == ([("a", 1)], 1)


def test_numbers_of_a_csv_file_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "price.csv").write_text("tea,99.9\ncake,110\nmilk,3\n")
    kb = everlog.open(engine="reference")
    kb.add_rules("dear(?x) :- price(?x, ?y), ?y > 50.  most(?m) :- AGGREGATE(price(?x, ?y)) WITH MAX(?y) AS ?m.")
    kb.load(tmp_path / "price.csv")
    assert kb.facts("dear").sorted() == [("cake",), ("tea",)]
    assert kb.facts("most").sorted() == [(110,)]


@pytest.mark.parametrize(("said", "rows"), [("nulls skip", 1), ("nulls empty", 2), ("header nulls skip (any, any)", 0)])
def test_an_import_says_what_becomes_of_gaps(tmp_path: Path, said: str, rows: int) -> None:
    (tmp_path / "p.csv").write_text("a,1\nb,\n")
    program = parse_program(f'@import p "p.csv" {said} .')
    assert parse_program(print_program(program)) == program
    missing = MissingValues()
    kb = everlog.open(engine="reference")
    kb.update(insert=read_sources(imports(program, tmp_path), missing=missing))
    assert sum(relation.facts for relation in kb.relations()) == rows
    assert missing.skipped == ("skip" in said)


def test_an_import_with_a_wrong_word_for_gaps() -> None:
    with pytest.raises(ProgramError, match="`drop` is no way to treat nulls"):
        parse_program('@import p "p.csv" nulls drop .')

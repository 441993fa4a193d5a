"""Do tables that come out have the names and types of what is in them?"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import everlog
from everlog.errors import DataError, ProgramError
from everlog.rules.parser import parse_program
from everlog.rules.printer import print_program

STAFF = "@relation employee(name, boss, salary integer) ."
WHEN = dt.datetime(2024, 5, 31, 12, 30)


def test_columns_have_the_types_of_their_terms() -> None:
    kb = everlog.open(engine="reference")
    kb.insert("p", [(dt.date(2024, 5, 31), WHEN, dt.time(12), Decimal("2.50"), True, 1, 0.5, "x")])
    kb.insert("p", [(dt.date(2024, 6, 1), WHEN.replace(day=1), dt.time(13), Decimal("10"), False, 2, 1.5, "y")])
    table = kb.facts("p").arrow()
    assert table.schema.types == [
        pa.date32(), pa.timestamp("us"), pa.time64("us"), pa.decimal128(3, 1), pa.bool_(), pa.int64(), pa.float64(),
        pa.string(),
    ]  # fmt: skip
    assert sorted(map(tuple, (row.values() for row in table.to_pylist()))) == kb.facts("p").sorted()
    assert kb.facts("p").polars().schema["c1"] == pl.Date
    assert kb.facts("p").pandas()["c5"].dtype == bool


def test_a_column_of_several_types_has_texts() -> None:
    kb = everlog.open(engine="reference")
    kb.insert("p", [(1,), (dt.date(2024, 5, 31),)])
    assert sorted(kb.facts("p").arrow()["c1"].to_pylist()) == ["1", "2024-05-31"]


def test_columns_are_named_by_rules_and_declarations() -> None:
    kb = everlog.open(engine="reference")
    kb.add_rules(
        STAFF + " boss(?who, ?of) :- employee(?of, ?who, _).  pair(?a, ?b) :- q(?a, ?b).  pair(?b, ?a) :- q(?a, ?b)."
    )
    change = kb.insert("employee", [("ann", "bob", 41)])
    kb.insert("q", [(1, 2)])
    assert kb.facts("employee").names == ("name", "boss", "salary")
    assert kb.facts("boss").names == ("who", "of")
    assert kb.facts("pair").names == ("c1", "c2")  # its rules do not agree
    assert kb.facts("q").names == ("c1", "c2")
    assert change.arrow("boss").to_pylist() == [{"who": "bob", "of": "ann", "weight": 1}]
    assert kb.changes(since=1)[0].arrow("employee").column_names == ["name", "boss", "salary", "weight"]


def test_declared_columns_find_values_by_name() -> None:
    kb = everlog.open(engine="reference")
    kb.add_rules(STAFF)
    expected = [("ann", "bob", 41)]
    shuffled = {"salary": [41], "name": ["ann"], "boss": ["bob"]}
    for rows in (
        [{"boss": "bob", "salary": 41, "name": "ann"}],
        pa.table(shuffled),
        pd.DataFrame(shuffled),
        pl.DataFrame(shuffled),
        pa.table({"a": ["ann"], "b": ["bob"], "c": [41]}),  # other names: by position
    ):
        assert kb.what_if(insert={"employee": rows}).gained("employee") == expected
        (streamed, *_) = kb.stream([{"insert": {"employee": rows}}, {"delete": {"employee": rows}}], coalesce=True)
    with pytest.raises(DataError, match="the columns of employee are name, boss, salary; here are name, pay"):
        kb.insert("employee", pa.table({"name": ["ann"], "pay": [41]}))
    with pytest.raises(DataError, match="row 1 has name; its columns are name, boss, salary"):
        kb.insert("employee", [{"name": "ann"}])
    with pytest.raises(DataError, match="employee has 3 arguments, but here are 2"):
        kb.insert("employee", [("ann", "bob")])


def test_declared_types_are_for_text(tmp_path: Path) -> None:
    (tmp_path / "part.csv").write_text("42,7\n007,8\n")
    (tmp_path / "program.dl").write_text('@relation part(number string, left) .\n@import part "part.csv" .\n')
    kb = everlog.open(engine="reference")
    kb.add_rules("@relation part(number string, left) .")
    assert kb.facts("part").arrow().schema.types == [pa.string(), pa.string()]
    assert kb.load(tmp_path / "part.csv").gained("part") == [("007", 8), ("42", 7)]
    kb.add_rules("@relation day(at date, hot boolean) .")
    assert kb.facts("day").arrow().schema == pa.schema({"at": pa.date32(), "hot": pa.bool_()})


def test_declarations_are_kept(tmp_path: Path) -> None:
    with everlog.open(tmp_path / "kb") as kb:
        kb.add_rules(STAFF)
        kb.insert("employee", [{"salary": 41, "name": "ann", "boss": "bob"}])
    with everlog.open(tmp_path / "kb") as kb:
        assert kb.facts("employee").names == ("name", "boss", "salary")
        kb.compact()
    with everlog.open(tmp_path / "kb") as kb:
        assert kb.facts("employee").names == ("name", "boss", "salary")
        kb.export(tmp_path / "text")
    other = everlog.open()
    other.import_from(tmp_path / "text")
    assert other.facts("employee").names == ("name", "boss", "salary")


def test_a_declaration_is_printed_as_it_is_read() -> None:
    program = parse_program("@relation p(name, Big decimal, ?in) .  @relation q(x any) .")
    assert print_program(program) == "@relation p(name, ?Big decimal, ?in) .\n@relation q(x any) .\n"
    assert parse_program(print_program(program)) == program


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@relation p(a, a) .", "two columns are called a"),
        ("@relation p(a strng) .", "`strng` is not a column type"),
        ("@relation p(a, b) .  p(1).", "relation p is used with 1 argument, but it has 2"),
        ("@relation p(a, b) .  q(?x) :- p(?x).", "relation p is used with 1 argument, but it has 2"),
        ("@relation p() .", "R104|expected"),
    ],
)
def test_declarations_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        everlog.open(engine="reference").add_rules(text)


def test_a_declaration_keeps_to_the_facts_that_are_there() -> None:
    kb = everlog.open(engine="reference")
    kb.insert("p", [(1, 2)])
    with pytest.raises(ProgramError, match="relation p is used with 1 argument, but it has 2"):
        kb.add_rules("@relation p(a) .")
    kb.add_rules("@relation p(a, b) .")
    kb.add_rules("@relation p(x, y) .")  # another name for the same
    assert kb.facts("p").names == ("x", "y")


def test_the_arrow_stream_of_facts_answers_and_changes() -> None:
    kb = everlog.open(engine="reference")
    kb.add_rules(STAFF)
    view = kb.view("all", "SELECT ?s { ?s ?p ?o }")
    change = kb.insert("employee", [("ann", "bob", 41)])
    assert pl.DataFrame(kb.facts("employee")).rows() == [("ann", "bob", 41)]
    assert pa.table(kb.query("employee(?who, _, ?n)")).to_pylist() == [{"who": "ann", "n": 41}]
    assert pa.table(kb.query("SELECT ?s { ?s ?p ?o }")).column_names == ["s"]
    expected = {"relation": "employee", "weight": 1, "terms": ["ann", "bob", "41"]}
    assert pa.table(change).to_pylist() == [expected]
    assert pl.DataFrame(kb.delete("employee", kb.facts("employee"))).rows() == [("employee", -1, ["ann", "bob", "41"])]
    a, b = everlog.IRI("http://ex.org/a"), everlog.IRI("http://ex.org/b")
    kb.insert("triple", [(a, b, 1)])
    (last,) = view.changes(since=3)
    assert pa.table(last).to_pylist() == [{"s": "http://ex.org/a", "weight": 1}]

"""Are CSV, TSV, Parquet and Arrow files read exactly, and what is wrong with them said with its place?"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from tests.unit.formats.written import written

from everlog.dictionary.columns import encode_block
from everlog.dictionary.dictionary import Dictionary
from everlog.errors import DataError, EverlogError, FormatError, UsageError
from everlog.facts.missing import MissingValues
from everlog.facts.terms import IRI, Term
from everlog.formats import csv as csv_files
from everlog.formats.reading import read_facts


def rows(path: Path, **options: object) -> list[tuple[Term, ...]]:
    dictionary = Dictionary()
    found: list[tuple[Term, ...]] = []
    for block in read_facts(path, **options):  # type: ignore[arg-type]
        columns = [dictionary.decode_many(ids) for ids in encode_block(dictionary, block)]
        found += zip(*columns, strict=True) if columns else [()]
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n\n\r\n", []),
        ("a,b", [("a", "b")]),
        ("a,b\r\nc,d\r\n", [("a", "b"), ("c", "d")]),
        ("a,b\n\nc,d\n\n", [("a", "b"), ("c", "d")]),
        ('"a,b","say ""hi"""\n', [("a,b", 'say "hi"')]),
        ('"two\nlines",x\n', [("two\nlines", "x")]),
        ('5" disk,x\n', [('5" disk', "x")]),
        (" a , b\n", [(" a ", " b")]),
        ("1,NULL\n", [(1, "NULL")]),
        ("\ufeffa,b\n", [("a", "b")]),
        ("()\n", [()]),
        ('"()"\n', [("()",)]),
        ("()\n()\n", [("()",), ("()",)]),
        ("#a,b\n", [("#a", "b")]),
    ],
)
def test_csv(tmp_path: Path, text: str, expected: list[tuple[str, ...]]) -> None:
    assert rows(written(tmp_path, "r.csv", text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ('a\t"b\n"c"\td\n', [("a", '"b'), ('"c"', "d")]),
        ("a,b\t7\n", [("a,b", 7)]),
        ("a\\tb\tc\n", [("a\\tb", "c")]),
        ("a\tb\r\n\nc\td", [("a", "b"), ("c", "d")]),
    ],
)
def test_tsv_fields_are_raw(tmp_path: Path, text: str, expected: list[tuple[str, ...]]) -> None:
    assert rows(written(tmp_path, "r.tsv", text)) == expected


def test_the_relation_is_the_stem_unless_said(tmp_path: Path) -> None:
    path = written(tmp_path, "my.edge.csv", "a,b\n")
    assert [block.relation for block in read_facts(path)] == ["my.edge"]
    assert [block.relation for block in read_facts(path, relation="edge")] == ["edge"]


def test_a_header_may_have_several_lines(tmp_path: Path) -> None:
    path = written(tmp_path, "r.csv", '\n"from\nhere",to\na,b\n')
    assert rows(path, header=True) == [("a", "b")]
    assert rows(written(tmp_path, "h.csv", "from,to\n"), header=True) == []


def test_types(tmp_path: Path) -> None:
    path = written(tmp_path, "r.csv", "007,2.50,1e3,1,2024-05-31,2024-05-31T12:30:00.50Z,12:30:00,http://ex.org/a,x\n")
    types = ["integer", "decimal", "double", "boolean", "date", "dateTime", "time", "iri", "string"]
    when = dt.datetime(2024, 5, 31, 12, 30, 0, 500_000, dt.UTC)
    assert rows(path, types=types) == [
        (7, Decimal("2.5"), 1000.0, True, dt.date(2024, 5, 31), when, dt.time(12, 30), IRI("http://ex.org/a"), "x")
    ]


def test_integers_of_any_size(tmp_path: Path) -> None:
    path = written(tmp_path, "r.csv", f"a,{2**80}\nb,-5\nc,+6\n")
    assert rows(path, types=["string", "integer"]) == [("a", 2**80), ("b", -5), ("c", 6)]
    assert rows(written(tmp_path, "s.csv", "1\n-2\n"), types=["integer"]) == [(1,), (-2,)]


LOOKS: dict[str, Term] = {
    "1": 1,
    "-7": -7,
    str(2**80): 2**80,
    "-2.5": Decimal("-2.5"),
    "1.50": Decimal("1.5"),
    ".5": Decimal("0.5"),
    "1e3": 1000.0,
    "true": True,
    "False": False,
    "2024-05-31": dt.date(2024, 5, 31),
    "2024-05-31T12:30:00Z": dt.datetime(2024, 5, 31, 12, 30, tzinfo=dt.UTC),
    "2024-05-31 12:30:00": dt.datetime(2024, 5, 31, 12, 30),
    "12:30:00": dt.time(12, 30),
    "<http://ex.org/a>": IRI("http://ex.org/a"),
}
STRINGS = [
    "http://ex.org/a",
    "1.",
    "<a>",
    "007",
    "+49",
    "1e999",
    "2024-02-30",
    "0x10",
    "12:30",
    "NaN",
    "yes",
    "-",
    " 1",
]


@pytest.mark.parametrize("options", [{}, {"types": ["any"]}])
def test_values_are_what_they_look_like(tmp_path: Path, options: dict[str, list[str]]) -> None:
    path = written(tmp_path, "r.csv", "\n".join([*LOOKS, *STRINGS]) + "\n")
    found = [row[0] for row in rows(path, **options)]
    assert found == [*LOOKS.values(), *STRINGS]
    assert [type(term) for term in found] == [type(term) for term in (*LOOKS.values(), *STRINGS)]


@pytest.mark.parametrize(("text", "term"), [*LOOKS.items(), *((text, text) for text in STRINGS)])
def test_a_column_alone_is_no_other(tmp_path: Path, text: str, term: Term) -> None:
    """Whole columns of integers and of strings go another way, to the same end."""
    assert [(type(row[0]), row[0]) for row in rows(written(tmp_path, "r.csv", f"{text}\n"))] == [(type(term), term)]


def test_strings_for_those_who_want_them(tmp_path: Path) -> None:
    path = written(tmp_path, "r.csv", "1,true\n")
    assert rows(path, types=["string", "string"]) == [("1", "true")]
    assert rows(path, types=["string", "any"]) == [("1", True)]


EMPTY_CELLS = 'n,name\n1,"x\ny"\n2,\n,z\n"",""\n3,w\n'


def test_an_empty_cell_is_no_value(tmp_path: Path) -> None:
    path = written(tmp_path, "r.csv", EMPTY_CELLS)
    for types in (None, ["string", "string"], ["integer", "string"]):
        with pytest.raises(DataError, match=r"r.csv:4: column 'name' has no value\n.*nulls=\"skip\"") as caught:
            rows(path, header=True, types=types)
        assert caught.value.line == 4
    with pytest.raises(DataError, match="r.tsv:2: column 1 has no value"):
        rows(written(tmp_path, "r.tsv", "a\tb\n\tc\n"))


def test_rows_without_a_value_are_skipped_and_counted(tmp_path: Path) -> None:
    missing = MissingValues("skip")
    assert rows(written(tmp_path, "r.csv", EMPTY_CELLS), header=True, missing=missing) == [(1, "x\ny"), (3, "w")]
    assert missing.skipped == 3


def test_the_line_of_a_wrong_value_after_skipped_rows(tmp_path: Path) -> None:
    path = written(tmp_path, "r.csv", ",x\n1,y\noops,z\n")
    with pytest.raises(DataError, match="r.csv:3: column 1: 'oops' is not an integer"):
        rows(path, types=["integer", "string"], missing=MissingValues("skip"))


@pytest.mark.parametrize("types", [None, ["integer", "string"]])
def test_empty_cells_as_empty_strings(tmp_path: Path, types: list[str] | None) -> None:
    path = written(tmp_path, "r.csv", EMPTY_CELLS)
    expected = [(1, "x\ny"), (2, ""), ("", "z"), ("", ""), (3, "w")]
    assert rows(path, header=True, types=types, missing=MissingValues("empty")) == expected


def test_nulls_of_parquet_files(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table({"n": pa.array([1, None, 3]), "d": pa.array([dt.date(2024, 5, 31), None, None])}), path)
    missing = MissingValues("skip")
    assert rows(path, missing=missing) == [(1, dt.date(2024, 5, 31))]
    assert missing.skipped == 2
    empty = [(1, dt.date(2024, 5, 31)), ("", ""), (3, "")]
    assert rows(path, missing=MissingValues("empty")) == empty


def test_nulls_of_json_lines(tmp_path: Path) -> None:
    path = written(tmp_path, "r.jsonl", '["p", 1, "a"]\n["p", null, "b"]\n')
    with pytest.raises(DataError, match="r.jsonl:2: argument 1 has no value"):
        rows(path)
    missing = MissingValues("skip")
    assert rows(path, missing=missing) == [(1, "a")]
    assert missing.skipped == 1
    assert rows(path, missing=MissingValues("empty")) == [(1, "a"), ("", "b")]


def test_a_way_to_treat_nulls_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'drop' is no way to treat nulls; there are refuse, skip, empty"):
        MissingValues("drop")
    with pytest.raises(UsageError, match="a nt file has no rows without a value"):
        rows(written(tmp_path, "r.nt", ""), missing=MissingValues("skip"))


@pytest.mark.parametrize("type_", ["integer", "decimal", "double", "boolean", "date", "dateTime", "time", "iri"])
def test_a_value_that_is_not_of_its_type(tmp_path: Path, type_: str) -> None:
    path = written(tmp_path, "r.csv", '"x\ny",good\n\nz,two words\n')
    with pytest.raises(DataError, match=r"r.csv:1: column 2: 'good' is not an? .*\n.*help") as caught:
        rows(path, types=["string", type_])
    assert caught.value.line == 1


def test_the_line_of_a_wrong_value_counts_lines_not_rows(tmp_path: Path) -> None:
    path = written(tmp_path, "r.csv", 'n,name\n1,"x\ny"\n\n0x10,two words\n')
    with pytest.raises(DataError, match="r.csv:5: column 1: '0x10' is not an integer"):
        rows(path, types=["integer", "string"], header=True)


def test_the_line_of_a_wrong_value_in_a_later_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 1 << 12)
    path = written(tmp_path, "r.tsv", "".join(f"{n}\tx\n" for n in range(5000)) + "oops\tx\n")
    with pytest.raises(DataError, match="r.tsv:5001: column 1: 'oops'"):
        rows(path, types=["integer", "string"])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("r.csv", "a,b\nc\n", "r.csv:2: this row has 1 column, the first has 2 columns"),
        ("r.csv", 'a,b\n"x\ny",z\n\nc,d,e\n', "r.csv:5: this row has 3 columns, the first has 2 columns"),
        ("r.csv", 'a,b\n""\n', "r.csv:2: this row has 1 column"),
        ("r.tsv", "a\nb\n\nc\td\n", "r.tsv:4: this row has 2 columns, the first has 1 column"),
        ("r.csv", 'a,b\nc,"d\n', "r.csv:2: a quote is opened in this row and never closed"),
        ("r.csv", 'a,b\n"c,d\ne,f\ng,h\n', "r.csv:2: a quote is opened in this row and never closed"),
        ("r.csv", b"a,b\nc,\xff\n", r"r.csv:2: this line is not UTF-8 \(byte 3\)"),
        ("r.tsv", b"\xff\n", r"r.tsv:1: this line is not UTF-8"),
        ("r.csv", b"\x1f\x8b\x08\x00", "looks compressed: add .gz"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, name: str, text: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        rows(written(tmp_path, name, text))


def test_a_ragged_row_in_a_later_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 1 << 12)
    text = "".join(f"{n},x\n" for n in range(5000))
    path = written(tmp_path, "r.csv", text + "oops\n")
    with pytest.raises(DataError, match="r.csv:5001: this row has 1 column"):
        rows(path)
    assert len(rows(written(tmp_path, "s.csv", text))) == 5000
    with pytest.raises(FormatError, match="longer than"):
        rows(written(tmp_path, "t.csv", text + "x" * 9000 + ",y\n"))


def test_fields_longer_than_the_csv_module_allows(tmp_path: Path) -> None:
    long = "x" * 300_000
    assert rows(written(tmp_path, "r.csv", f'"{long}",y\n')) == [(long, "y")]


def test_types_and_columns_must_fit(tmp_path: Path) -> None:
    path = written(tmp_path, "r.csv", "a,b\n")
    with pytest.raises(DataError, match="1 types are given, but the file has 2 columns"):
        rows(path, types=["string"])
    with pytest.raises(UsageError, match="there is no column type 'int'.*\n.*did you mean 'integer'"):
        rows(path, types=["string", "int"])


WHEN = dt.datetime(2024, 5, 31, 12, 30, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1, 2], pa.int8()), [1, 2]),
        (pa.array([2**64 - 1, 0], pa.uint64()), [2**64 - 1, 0]),
        (pa.array([2**40, -(2**40)]), [2**40, -(2**40)]),
        (pa.array([0.5, 1.0], pa.float32()), [0.5, 1.0]),
        (pa.array(["a", ""], pa.large_string()), ["a", ""]),
        (pa.array(["a", "a"]).dictionary_encode(), ["a", "a"]),
        (pa.array([7, 7]).dictionary_encode(), [7, 7]),
        (pa.array([True, False]), [True, False]),
        (pa.array([Decimal("1.50"), Decimal("2.00")]), [Decimal("1.5"), Decimal("2.0")]),
        (pa.array([dt.date(2024, 5, 31)] * 2, pa.date64()), [dt.date(2024, 5, 31)] * 2),
        (pa.array([WHEN, WHEN], pa.timestamp("ns", "UTC")), [WHEN, WHEN]),
        (pa.array([dt.time(1, 2), dt.time(3)], pa.time32("s")), [dt.time(1, 2), dt.time(3)]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_parquet_and_arrow_keep_their_types(tmp_path: Path, column: pa.Array, expected: list[Term]) -> None:
    table = pa.table({"x": column})
    pq.write_table(table, tmp_path / "r.parquet")
    pyarrow.feather.write_feather(table, tmp_path / "r.feather")
    with pa.ipc.new_stream(tmp_path / "r.arrow", table.schema) as writer:
        writer.write_table(table)
    for name in ("r.parquet", "r.feather", "r.arrow"):
        found = [row[0] for row in rows(tmp_path / name)]
        assert found == expected
        assert [type(term) for term in found] == [type(term) for term in expected]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([["a"]]), "column 'x' holds list.*, which is no type of term"),
        (pa.array([{"a": 1}]), "column 'x' holds struct"),
        (pa.array([b"a"]), "column 'x' holds binary"),
        (pa.array(["a", None]), "column 'x' in row 2 has no value"),
        (pa.array([1], pa.timestamp("ns")), "times are kept to the microsecond"),
    ],
)
def test_columns_that_are_refused(tmp_path: Path, column: pa.Array, message: str) -> None:
    pq.write_table(pa.table({"x": column}), tmp_path / "r.parquet")
    with pytest.raises(DataError, match=message):
        rows(tmp_path / "r.parquet")


@pytest.mark.parametrize("name", ["r.parquet", "r.arrow", "r.parquet.gz"])
def test_a_damaged_columnar_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(FormatError, match=f"{name}: this is not"):
        rows(written(tmp_path, name, "certainly not" * 10))


def test_an_empty_columnar_file_holds_nothing(tmp_path: Path) -> None:
    assert rows(written(tmp_path, "r.parquet", "")) == []


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("r.jsonl", {"relation": "r"}),
        ("r.parquet", {"types": ["string"]}),
        ("r.nt", {"header": True}),
        ("r.csv", {"graph": "http://ex.org/g"}),
        ("r.nt", {"graph": "g"}),
    ],
)
def test_options_that_do_not_fit(tmp_path: Path, name: str, options: dict[str, object]) -> None:
    with pytest.raises(EverlogError) as caught:
        rows(written(tmp_path, name, ""), **options)
    assert isinstance(caught.value, UsageError)
    assert caught.value.hint

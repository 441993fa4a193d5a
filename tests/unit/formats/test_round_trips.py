"""Are facts that are written and read again the same facts?"""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from everlog.dictionary.columns import encode_block, keys_of
from everlog.dictionary.dictionary import Dictionary
from everlog.errors import OutputError
from everlog.facts.arrays import text_of_key
from everlog.facts.missing import MissingValues
from everlog.facts.terms import IRI, XSD, BlankNode, Literal, key_of
from everlog.formats.reading import read_facts
from everlog.formats.writing import write_facts

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    [
        "",
        " ",
        "()",
        '"',
        '""',
        "a,b",
        "a\tb",
        "a\nb",
        "a\r\nb",
        "\r",
        "\ufeff",
        "\\",
        "\\n",
        "#",
        "NULL",
        "\u2028",
        "\x85",
        "\0",
    ]
)
iris = st.sampled_from(["http://ex.org/a", "http://ex.org/é?q=1#f", "urn:x:y", "http://ex.org/"]).map(IRI)
blanks = st.sampled_from(["b0", "f1_x", "a.b-c"]).map(BlankNode)
zones = st.sampled_from([None, dt.UTC, dt.timezone(dt.timedelta(hours=5, minutes=30))])
homogeneous = (
    texts,
    st.integers(),
    st.integers(-(2**31), 2**31),
    st.floats(),
    st.booleans(),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9),
    st.dates(),
    st.datetimes(timezones=zones),
    st.times(),
)
literals = st.one_of(
    *homogeneous,
    st.decimals(allow_nan=False, allow_infinity=False),
    st.builds(Literal, texts, st.sampled_from([XSD + "integer", XSD + "token", "http://ex.org/t"])),
    st.builds(Literal, texts, st.just(XSD + "string"), st.sampled_from(["en", "de-at"])),
)
terms = literals | iris | blanks


def rows_of(*columns: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(st.tuples(*[column.map(key_of) for column in columns]), max_size=6)


any_rows = st.integers(1, 3).flatmap(lambda width: rows_of(*[terms] * width))
text_rows = st.integers(1, 3).flatmap(lambda width: rows_of(*[texts] * width))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


def write(path: Path, relation: str, rows: list[tuple[str, ...]], width: int = 1) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[]] * width
    write_facts(path, relation, columns)


def read(path: Path, **options: object) -> list[tuple[str, ...]]:
    """All facts as keys, by way of the dictionary."""
    dictionary = Dictionary()
    rows: list[tuple[str, ...]] = []
    for block in read_facts(path, **options):  # type: ignore[arg-type]
        columns = [keys_of(dictionary, ids) for ids in encode_block(dictionary, block)]
        rows += zip(*columns, strict=True) if columns else [()]
    return rows


def read_strings(path: Path, rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The fields of a CSV or TSV file, as many as the rows have, as strings."""
    return read(path, types=["string"] * len(rows[0]) if rows else None, missing=MissingValues("empty"))


@given(any_rows)
@pytest.mark.parametrize("name", ["r.jsonl", "r.ndjson.gz"])
def test_json_lines_keep_everything(folder: Path, name: str, rows: list[tuple[str, ...]]) -> None:
    write(folder / name, "r", rows)
    assert read(folder / name) == rows


@given(text_rows)
@pytest.mark.parametrize("name", ["r.csv", "r.csv.gz", "r.csv.bz2", "r.csv.xz"])
def test_csv_keeps_strings(folder: Path, name: str, rows: list[tuple[str, ...]]) -> None:
    write(folder / name, "r", rows)
    assert read_strings(folder / name, rows) == rows


@given(text_rows)
def test_tsv_keeps_strings_or_refuses(folder: Path, rows: list[tuple[str, ...]]) -> None:
    try:
        write(folder / "r.tsv", "r", rows)
    except OutputError:
        assume(False)
    assert read_strings(folder / "r.tsv", rows) == rows


@given(any_rows)
def test_csv_holds_the_texts_of_terms(folder: Path, rows: list[tuple[str, ...]]) -> None:
    write(folder / "r.csv", "r", rows)
    assert read_strings(folder / "r.csv", rows) == [tuple('"' + text_of_key(key) for key in row) for row in rows]


@given(rows_of(st.integers(), st.floats(), st.datetimes(timezones=zones)))
def test_csv_with_types(folder: Path, rows: list[tuple[str, ...]]) -> None:
    write(folder / "r.csv", "r", rows)
    assert read(folder / "r.csv", types=["integer", "double", "dateTime"]) == rows


@given(st.lists(st.sampled_from(homogeneous), min_size=1, max_size=3).flatmap(lambda kinds: rows_of(*kinds)))
@pytest.mark.parametrize("name", ["r.parquet", "r.arrow", "r.feather.gz"])
def test_parquet_and_arrow_keep_types(folder: Path, name: str, rows: list[tuple[str, ...]]) -> None:
    write(folder / name, "r", rows)
    found = read(folder / name)
    for written, column in zip(zip(*rows, strict=True), zip(*found, strict=True), strict=True):
        # What Arrow has no type for (integers beyond 64 bits, times in several zones) is there as text.
        assert column in (written, tuple('"' + text_of_key(key) for key in written))


@given(rows_of(st.integers(-(2**63), 2**63 - 1), st.floats(), st.booleans(), st.dates(), st.times()))
def test_parquet_has_types_for_these(folder: Path, rows: list[tuple[str, ...]]) -> None:
    write(folder / "r.parquet", "r", rows)
    assert read(folder / "r.parquet") == rows


@given(rows_of(iris | blanks, iris, terms))
@pytest.mark.parametrize("name", ["r.nt", "r.nt.gz", "r.nq", "r.ttl", "r.trig"])
def test_rdf_keeps_triples(folder: Path, name: str, rows: list[tuple[str, ...]]) -> None:
    write(folder / name, "triple", rows, 3)
    assert read(folder / name, scope="s") == [scoped(row) for row in rows]


@given(rows_of(iris | blanks, iris, terms, iris | blanks))
@pytest.mark.parametrize("name", ["r.nq", "r.trig.gz"])
def test_rdf_keeps_quads(folder: Path, name: str, rows: list[tuple[str, ...]]) -> None:
    write(folder / name, "quad", rows, 4)
    assert read(folder / name, scope="s") == [scoped(row) for row in rows]


@pytest.mark.parametrize("name", ["alarm.csv", "alarm.tsv", "alarm.jsonl"])
@pytest.mark.parametrize("rows", [0, 1])
def test_a_relation_without_arguments(folder: Path, name: str, rows: int) -> None:
    write_facts(folder / name, "alarm", [], rows=rows)
    assert read(folder / name) == [()] * rows


def scoped(row: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("_s_" + key[1:] if key[0] == "_" else key for key in row)

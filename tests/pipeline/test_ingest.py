"""Does the pipeline read the facts that the formats' readers give, and name what it cannot read?"""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import lzma
import random
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyoxigraph as ox
import pytest
from pyspark.sql import SparkSession
from tests.unit.formats.test_tables import LOOKS, STRINGS

from everlog.errors import DataError, FormatError, NotFoundError, UsageError
from everlog.facts.missing import MissingValues
from everlog.facts.terms import key_of
from everlog.formats.rdf import FORMATS
from everlog.formats.reading import read_facts
from everlog.pipeline.ingest import Ingested, ingest
from everlog.pipeline.parsing import keys_of_block
from everlog.pipeline.source_files import scope_of
from everlog.pipeline.sources import InputSource

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

Facts = dict[str, Counter[tuple[str, ...]]]


def facts(ingested: Ingested) -> Facts:
    found: Facts = {relation: Counter(map(tuple, frame.collect())) for relation, frame in ingested.facts.items()}
    assert {relation: rows.total() for relation, rows in found.items()} == ingested.counts
    return found


def in_process(path: Path, **options: Any) -> Facts:
    found: Facts = {}
    missing = MissingValues(options.pop("nulls", "refuse"))
    for block in read_facts(path, scope=scope_of(str(path), path.name), missing=missing, **options):
        columns = [column.to_pylist() for column in keys_of_block(block)]
        rows = list(zip(*columns, strict=True)) if columns else [()]
        found.setdefault(block.relation, Counter()).update(rows)
    return found


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


TRIPLES = r"""<http://ex.org/a> <http://ex.org/p> <http://ex.org/b> .
# a comment
<http://ex.org/a> <http://ex.org/p> "plain" .

<http://ex.org/a> <http://ex.org/p> "with spaces, <brackets> . and # signs" .
<http://ex.org/a> <http://ex.org/p> "" .
<http://ex.org/a> <http://ex.org/p> "escaped \"quotes\" and \u00e9\n" .
<http://ex.org/a> <http://ex.org/p> "a	tab, ünïcödé 日本 🙂" .
<http://ex.org/a> <http://ex.org/p> "colour"@en-GB .
<http://ex.org/a> <http://ex.org/p> "s"^^<http://www.w3.org/2001/XMLSchema#string> .
<http://ex.org/a> <http://ex.org/p> "42"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://ex.org/a> <http://ex.org/p> "042"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://ex.org/a> <http://ex.org/p> "x"^^<http://ex.org/type> .
<http://ex.org/a> <http://ex.org/p> "<x/>"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral> .
_:b0 <http://ex.org/p> _:b1-x .
_:b.2 <http://ex.org/p> _:ü .
<http://ex.org:80/ä/%20b?q=1/?&x=[]#f> <http://ex.org/p> <http://u@ex.org/> .
<http://ex.org:80/ä/%20b?q=1/?&x=1#f/?> <http://ex.org/p> <urn:isbn:1-2;3> .
<http://ex.org/\u00e9> <x:> <mailto:a@b.c> .
<http://[::1]/a>	<x:p>   <file:///a/b>.
  <x:a><x:b>"tight".# so
<http://ex.org/a> <http://ex.org/p> <http://ex.org/b> .
""".replace("&x=[]", "&x=")

QUADS = r"""<x:a> <x:p> <x:b> .
<x:a> <x:p> <x:b> <x:g> .
<x:a> <x:p> "a b c" .
<x:a> <x:p> "a b c" <x:g> .
<x:a> <x:p> "a <x:g> . b"@en _:g .
_:a <x:p> "7"^^<http://www.w3.org/2001/XMLSchema#integer> <x:g> .
<x:a> <x:p> _:a <x:g> .
<x:a> <x:p> "back\\slash" <x:g> .
"""


@pytest.mark.parametrize("pack", [None, gzip, bz2, lzma])
@pytest.mark.parametrize("format", ["nt", "nq"])
def test_lines_of_rdf(spark: SparkSession, tmp_path: Path, format: str, pack: Any) -> None:
    suffix = {None: "", gzip: ".gz", bz2: ".bz2", lzma: ".xz"}[pack]
    text = (TRIPLES if format == "nt" else QUADS).encode()
    path = tmp_path / f"data.{format}{suffix}"
    path.write_bytes(text if pack is None else pack.compress(text))
    read = ingest(spark, [InputSource(path)])
    assert facts(read) == in_process(path)
    assert set(read.facts) == ({"triple"} if format == "nt" else {"triple", "quad"})
    read.release()


@pytest.mark.parametrize("format", ["nt", "nq"])
def test_every_line_is_judged_as_the_parser_judges_it(spark: SparkSession, tmp_path: Path, format: str) -> None:
    draw = random.Random(format)
    # Without languages: which tags are allowed is a matter of its own.
    seeds = [line for line in (TRIPLES if format == "nt" else QUADS).split("\n") if line and "@en" not in line]
    odd = '<>"\\ .:_@^#%?/[]{}|`~\t\x01\x7f\x85\u2028é日\ue000\ufffd🙂aZ0-+'
    lines = ["<x:" + "%20é" * 20000 + '> <x:p> "' + "x " * 500000 + '" .']  # long, and no stack overflows
    while len(lines) < 3000:
        line = list(draw.choice(seeds))
        for _ in range(draw.choice((0, 1, 1, 1, 2, 3))):
            place = draw.randrange(len(line) + 1)
            line[place : place + draw.randrange(2)] = draw.choice(odd) * draw.randrange(2)
        if line:
            lines.append("".join(line))
    good, bad = [], []
    for line in lines:
        try:
            list(ox.parse(line, format=FORMATS[format]))
            good.append(line)
        except SyntaxError:
            bad.append(line)
    assert len(good) > 500 and len(bad) > 500
    path = write(tmp_path / f"a.{format}", "".join(line + "\n" for line in lines))
    read = ingest(spark, [InputSource(path)], max_rejects=1.0, samples=100)
    assert read.rejected == len(bad)
    assert {text for _, _, text in rejected(read)} <= set(bad)
    found = facts(read)
    write(path, "".join(line + "\n" for line in good))
    wanted = in_process(path)
    for relation in wanted:
        assert found[relation] - wanted[relation] == wanted[relation] - found[relation] == Counter()


def test_triples_go_into_the_graph_that_is_asked_for(spark: SparkSession, tmp_path: Path) -> None:
    for name, text in (("a.nt", TRIPLES), ("b.nq", QUADS), ("c.ttl", "<x:a> <x:p> 4 .")):
        path = write(tmp_path / name, text)
        assert facts(ingest(spark, [InputSource(path, graph="x:graph")])) == in_process(path, graph="x:graph")


def test_windows_line_ends_and_a_last_line_without_one(spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "a.nt", '<x:a> <x:p> <x:b> .\r\n<x:a> <x:p> "c" .')
    assert facts(ingest(spark, [InputSource(path)])) == in_process(path)


DOCUMENTS = {
    "a.ttl": "@prefix : <http://ex.org/> . :a :p [ :q 1, 2.5, true, 'x'@de ] ; :r ( :b :c ) .",
    "a.trig": "@prefix : <http://ex.org/> . :a :p :b . :g { :a :p [ :q :c ] }",
    "a.rdf": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://ex.org/">'
    '<rdf:Description rdf:about="http://ex.org/a"><e:p>text</e:p></rdf:Description></rdf:RDF>',
    "a.jsonld": '{"@id": "http://ex.org/a", "http://ex.org/p": [{"@id": "http://ex.org/b"}, 3, true]}',
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents(spark: SparkSession, tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, DOCUMENTS[name])
    assert facts(ingest(spark, [InputSource(path)])) == in_process(path)


CSVS = {
    "plain": "a,b\nc,d\na,b\n",
    "empty fields and blank lines": "a,\n\n,\n ,b\n\n",
    "one column": "a\n\nb\n \n",
    "quotes": 'a,"b, ""c"""\n"x",y\n"",z\n',
    "mid-field quotes": 'a"b,c\nd,e"f"\n',
    "fields over lines": 'a,"b\nc"\n"d\n\ne, f",g\nh,i\n',
    "carriage returns": "a,b\r\nc,d\r\n",
    "not ascii": "ä,日本\n🙂,\u2028\n",
    "byte order mark": "\ufeffa,b\nc,d\n",
    "no rows": "",
    "no arguments": "()\n",
    "brackets": "()\n()\n",
    "no last line end": "a,b\nc,d",
}


@pytest.mark.parametrize("text", CSVS.values(), ids=CSVS.keys())
def test_csv(spark: SparkSession, tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "edge.csv", text)
    assert facts(ingest(spark, [InputSource(path, nulls="empty")])) == in_process(path, nulls="empty")
    tabs = write(tmp_path / "edge.tsv", text.replace(",", "\t"))
    if '"b' not in text:  # TSV has no quotes
        read = ingest(spark, [InputSource(tabs, relation="e", nulls="empty")])
        assert facts(read) == in_process(tabs, relation="e", nulls="empty")


def test_cells_are_what_they_look_like(spark: SparkSession, tmp_path: Path) -> None:
    texts = [*LOOKS, *STRINGS, '"7"', '"x, 1"', "0", "-0", "1" * 18, "1" * 19, "1" * 30, "trueish", "true "]
    path = write(tmp_path / "edge.csv", "".join(f"{text},{number}\n" for number, text in enumerate(texts)))
    for types in (None, ["any", "string"], ["string", "any"]):
        assert facts(ingest(spark, [InputSource(path, types=types)])) == in_process(path, types=types)
    spanning = write(tmp_path / "spanning.csv", path.read_text() + '"two\nlines",1\n')
    assert facts(ingest(spark, [InputSource(spanning)])) == in_process(spanning)


def test_an_empty_cell_is_no_value(spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "edge.csv", 'a,1\nb,\n"",2\nc,3\n')
    with pytest.raises(DataError, match="has no value") as raised:
        ingest(spark, [InputSource(path)])
    assert (raised.value.path, raised.value.line) == (str(path), 2)
    read = ingest(spark, [InputSource(path, nulls="skip")])
    assert facts(read) == in_process(path, nulls="skip") and read.skipped == {str(path): 2}


@pytest.mark.parametrize("text", ["x,y\na,b\nx,z\n", "x,y\na,b\nx,y\n", '"x\n1",y\na,b\n', 'x,"y"\na,b\n"c",d\n'])
def test_csv_with_a_header(spark: SparkSession, tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "edge.csv", text)
    assert facts(ingest(spark, [InputSource(path, header=True)])) == in_process(path, header=True)


@pytest.mark.parametrize(
    ("types", "text"),
    [
        (["string", "integer"], "a,1\nb,+07\nc,-0\nd,123456789012345678901234567890\n"),
        (["integer", "any"], "1,x\n2,3\n3,2.5\n4,<http://ex.org/a>\n5,true\n"),
        (["double", "decimal"], "1,1.50\n2.5e3,-0\nINF,3\n"),
        (["boolean", "iri"], "1,http://ex.org/a\ntrue,<http://ex.org/b>\n"),
        (["date", "dateTime"], "2024-05-31,2024-05-31T10:00:00Z\n2024-01-01,2024-05-31 10:00:00.500\n"),
    ],
)
def test_csv_with_types(spark: SparkSession, tmp_path: Path, types: list[str], text: str) -> None:
    path = write(tmp_path / "edge.csv", text)
    assert facts(ingest(spark, [InputSource(path, types=types)])) == in_process(path, types=types)


def test_json_lines(spark: SparkSession, tmp_path: Path) -> None:
    text = (
        '["edge", "a", 3]\n\n["edge", "ü", {"@id": "http://ex.org/a"}]\n["done"]\n'
        '["p", 2.5, true, {"@value": "1", "@type": "xsd:decimal"}]\n'
    )
    path = write(tmp_path / "facts.jsonl", text)
    assert facts(ingest(spark, [InputSource(path)])) == in_process(path)


def table() -> pa.Table:
    return pa.table(
        {
            "text": ["a", ""],
            "small": pa.array([1, -1], pa.int8()),
            "long": [2**62, -(2**62)],
            "unsigned": pa.array([2**64 - 1, 0], pa.uint64()),
            "double": [0.1, float("-inf")],
            "tiny": pa.array([2.0**-44, 1e23]),
            "single": pa.array([0.1, 2.5], pa.float32()),
            "yes": [True, False],
            "decimal": pa.array([Decimal("1.50"), Decimal("-0.00")], pa.decimal128(10, 2)),
            "whole": pa.array([Decimal("25"), Decimal("0")], pa.decimal128(38, 0)),
            "fine": pa.array([Decimal("0.0000000001"), Decimal("12345678.9")], pa.decimal128(38, 12)),
            "date": [dt.date(2024, 5, 31), dt.date(1, 1, 1)],
            "at": pa.array(
                [dt.datetime(2024, 5, 31, 12, 0, 0, 500000), dt.datetime(1900, 1, 1)], pa.timestamp("us", "UTC")
            ),
            "local": pa.array(
                [dt.datetime(2024, 5, 31, 12), dt.datetime(1969, 12, 31, 23, 59, 59, 1)], pa.timestamp("us")
            ),
        }
    )


def test_parquet(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "row [1].parquet"  # Spark would take the brackets for a pattern
    pq.write_table(table(), path)
    assert facts(ingest(spark, [InputSource(path, relation="row")])) == in_process(path, relation="row")
    chosen = ingest(spark, [InputSource(path, relation="row", columns=["yes", "text"])])
    assert facts(chosen) == {"row": Counter([("^boolean true", '"a'), ("^boolean false", '"')])}


def test_times_do_not_depend_on_the_sessions_time_zone(spark: SparkSession) -> None:
    frame = spark.sql("select timestamp '2024-10-27 00:30:00 UTC' as at, timestamp_ntz '2024-10-27 02:30:00' as local")
    zone = spark.conf.get("spark.sql.session.timeZone")
    try:
        spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")  # where that hour came twice
        read = facts(ingest(spark, [InputSource(frame, relation="t")]))
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    assert read == {"t": Counter([("^dateTime 2024-10-27T00:30:00Z", "^dateTime 2024-10-27T02:30:00")])}


def test_a_dataframe(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("a", 1), ("b", 2)], "name string, `odd ``name.` int")
    read = ingest(spark, [InputSource(frame, relation="r")])
    assert facts(read) == {"r": Counter([('"a', "^integer 1"), ('"b', "^integer 2")])}


def test_sources_of_one_relation_come_together(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "edge.csv", "a,b\n")
    write(tmp_path / "more" / "edge.jsonl", '["edge", "c", "d"]\n')
    write(tmp_path / "more" / "_notes.txt", "not data")
    frame = spark.createDataFrame([("e", "f")], "x string, y string")
    sources = [InputSource(tmp_path / "*.csv"), InputSource(tmp_path / "more"), InputSource(frame, relation="edge")]
    rows = [('"a', '"b'), ('"c', '"d'), ('"e', '"f')]
    assert facts(ingest(spark, sources)) == {"edge": Counter(rows)}


# Blank nodes


def blank_nodes(ingested: Ingested) -> set[str]:
    return {row["c1"] for row in ingested.facts["triple"].collect()}


def test_blank_nodes_of_two_files_are_two_and_stay_the_same(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("a b+c.nt", "ü/a.nt", "d.ttl"):
        write(tmp_path / name, '_:x <x:p> <x:b> .\n_:x <x:p> "esc\\taped" .\n')
    first = blank_nodes(ingest(spark, [InputSource(tmp_path, name="data")]))
    assert first == {f"_{scope_of('data', name)}_x" for name in ("a b+c.nt", "ü/a.nt", "d.ttl")}
    write(tmp_path / "another.nt", "<x:a> <x:p> <x:b> .\n")
    assert blank_nodes(ingest(spark, [InputSource(tmp_path, name="data")])) == {*first, "<x:a"}
    assert len(blank_nodes(ingest(spark, [InputSource(tmp_path / "a b+c.nt"), InputSource(tmp_path / "ü/a.nt")]))) == 2


# What cannot be read


def rejected(ingested: Ingested) -> list[tuple[str, int | None, str]]:
    return [(Path(row["file"]).name, row["line"], row["text"]) for row in ingested.rejects.collect()]


def test_malformed_lines_are_sampled_with_file_and_line(spark: SparkSession, tmp_path: Path) -> None:
    good = "<x:a> <x:p> <x:b> .\n"
    a = tmp_path / "a.nt"
    a.write_bytes(
        (good * 3 + "<x:a> <x:p> .\n" + good + "nonsense\n").encode() + b'<x:a> <x:p> "\xff" .\n' + good.encode()
    )
    (tmp_path / "b.nt.gz").write_bytes(gzip.compress((good + "nonsense\n" + good + "nonsense\n").encode()))
    read = ingest(spark, [InputSource(tmp_path)], max_rejects=0.5)
    assert read.counts == {"triple": 7} and read.rejected == 5
    assert rejected(read) == [
        ("a.nt", 4, "<x:a> <x:p> ."),
        ("a.nt", 6, "nonsense"),
        ("a.nt", 7, '<x:a> <x:p> "\ufffd" .'),
        ("b.nt.gz", 2, "nonsense"),
        ("b.nt.gz", 4, "nonsense"),
    ]
    with pytest.raises(DataError) as raised:
        ingest(spark, [InputSource(tmp_path)], max_rejects=0.1)
    assert raised.value.path == str(a) and raised.value.line == 4
    assert "a.nt:6: " in raised.value.message and "nonsense" in raised.value.message
    assert "5 of 12 lines (41.67%)" in (raised.value.hint or "")
    few = ingest(spark, [InputSource(a)], max_rejects=0.5, samples=1)
    assert few.rejected == 3 and few.rejects.count() == 1


def test_nothing_malformed_is_allowed_unless_said(spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "a.nt", "<x:a> <x:p> <x:b> .\n" * 500 + "<x:a> <x:p> <x:b>\n")
    with pytest.raises(DataError, match=r"a\.nt:501: ") as raised:
        ingest(spark, [InputSource(path)])
    assert raised.value.line == 501


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("e.csv", "a,b\nc\nd,e\nf,g,h\n", [2, 4]),
        ("e.csv", 'a,"b\n1"\nc\nd,e\n', [3]),
        ("e.csv", 'a,"b"\nc,"d",e\n', [2]),
        ("e.tsv", "a\tb\nc\n", [2]),
        ("f.jsonl", '["e", 1]\n{"no": 1}\n["e", null]\nnonsense\n["e", 2]\n', [2, 3, 4]),
        ("g.nq", "<x:a> <x:p> <x:b> <x:g> .\n<x:a> <x:p> <x:b> <x:g> <x:h> .\n", [2]),
    ],
)
def test_rows_that_say_no_fact(spark: SparkSession, tmp_path: Path, name: str, text: str, lines: list[int]) -> None:
    path = write(tmp_path / name, text)
    read = ingest(spark, [InputSource(path)], max_rejects=0.9)
    assert [line for _, line, _ in rejected(read)] == lines
    assert read.rejected == len(lines)
    assert sum(read.counts.values()) == sum(frame.count() for frame in read.facts.values())
    with pytest.raises(DataError) as raised:
        ingest(spark, [InputSource(path)])
    assert raised.value.line == lines[0] and raised.value.path == str(path)


def test_values_that_are_not_of_their_type(spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", "a,1\nb,two\nc,3\nd,4x\n")
    read = ingest(spark, [InputSource(path, types=["string", "integer"])], max_rejects=0.5)
    assert rejected(read) == [("e.csv", 2, "b,two"), ("e.csv", 4, "d,4x")]
    assert "is not an integer" in read.rejects.first()["reason"]  # type: ignore[index]
    assert facts(read) == {"e": Counter([('"a', "^integer 1"), ('"c', "^integer 3")])}


def test_a_file_system_that_spark_has_no_jars_for(spark: SparkSession) -> None:
    with pytest.raises(DataError, match="Spark has no file system for this") as caught:
        ingest(spark, [InputSource("s3a://bucket/a.nt")])
    assert "s3a://bucket/a.nt" in str(caught.value) and "spark.jars.packages" in str(caught.value)


@pytest.mark.parametrize("name", ["a.nt.gz", "a.csv.gz", "a.jsonl.gz", "a.ttl.gz", "a.nt.bz2"])
@pytest.mark.parametrize("damage", ["cut", "not packed"])
def test_a_broken_archive_names_its_file(spark: SparkSession, tmp_path: Path, name: str, damage: str) -> None:
    text = "".join(f"<x:{number**9}> <x:p> <x:b> .\n" for number in range(5000)).encode()
    packed = (gzip if name.endswith("gz") else bz2).compress(text)
    (tmp_path / name).write_bytes(packed[: len(packed) // 2] if damage == "cut" else text)
    with pytest.raises(DataError) as raised:
        ingest(spark, [InputSource(tmp_path / name)])
    assert raised.value.path == str(tmp_path / name)
    assert raised.value.hint


def test_a_broken_document_stops_the_run_whatever_the_share(spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "a.ttl", "<x:a> <x:p> <x:b> .\n<x:a> <x:p> oops .\n")
    with pytest.raises(FormatError) as raised:
        ingest(spark, [InputSource(path)], max_rejects=1.0)
    assert raised.value.path == str(path) and raised.value.line == 2
    quote = write(tmp_path / "e.csv", 'a,b\nc,"d\ne,f\n')
    with pytest.raises(FormatError, match="never closed") as raised:
        ingest(spark, [InputSource(quote)], max_rejects=1.0)
    assert raised.value.line == 2


def test_a_missing_file(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "data.nt", "")
    with pytest.raises(NotFoundError, match="there is no such file") as raised:
        ingest(spark, [InputSource(tmp_path / "date.nt")])
    assert "data.nt" in (raised.value.hint or "")
    with pytest.raises(NotFoundError, match="there are no files here"):
        ingest(spark, [InputSource(tmp_path / "*.csv")])


def test_a_missing_column(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["x"], "b": [1]}), tmp_path / "e1.parquet")
    with pytest.raises(DataError, match="there is no column 'c'; there are a, b"):
        ingest(spark, [InputSource(tmp_path / "e1.parquet", columns=["a", "c"])])
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "e2.parquet")
    with pytest.raises(DataError, match="there is no column 'b' here, but there is in") as raised:
        ingest(spark, [InputSource(tmp_path / "*.parquet", relation="e")])
    assert raised.value.path == str(tmp_path / "e2.parquet")


def test_schemas_that_do_not_fit(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["x"], "b": [1]}), tmp_path / "e1.parquet")
    pq.write_table(pa.table({"a": ["x"], "b": ["y"]}), tmp_path / "e2.parquet")
    with pytest.raises(DataError, match="column 'b' holds string here, but int64 in"):
        ingest(spark, [InputSource(tmp_path / "*.parquet", relation="e")])
    write(tmp_path / "e.csv", "a,b,c\n")
    with pytest.raises(DataError, match="e has 3 columns here, but 2 columns in"):
        ingest(spark, [InputSource(tmp_path / "e1.parquet", relation="e"), InputSource(tmp_path / "e.csv")])
    with pytest.raises(DataError, match="2 types are given, but the file has 3 columns"):
        ingest(spark, [InputSource(tmp_path / "e.csv", types=["string", "integer"])])
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "e1.parquet").read_bytes()[:-20])
    with pytest.raises(FormatError, match="not a whole Parquet file") as raised:
        ingest(spark, [InputSource(tmp_path / "cut.parquet")])
    assert raised.value.path == str(tmp_path / "cut.parquet")


def test_options_that_make_no_sense(spark: SparkSession, tmp_path: Path) -> None:
    nt, csv = write(tmp_path / "a.nt", ""), write(tmp_path / "a.csv", "a\n")
    frame = spark.sql("select array(1) as a")
    for source in (
        InputSource(nt, relation="e"),
        InputSource(nt, header=True),
        InputSource(csv, graph="x:g"),
        InputSource(csv, types=["strin"]),
        InputSource(nt, columns=["a"]),
        InputSource(nt, graph="g"),
        InputSource(nt, format="n3"),
        InputSource(frame),
    ):
        with pytest.raises(UsageError):
            ingest(spark, [source])
    with pytest.raises(DataError, match="holds array<int>, which is no type of term"):
        ingest(spark, [InputSource(frame, relation="r")])


def test_keys_are_those_of_terms(spark: SparkSession) -> None:
    frame = spark.sql("select 1.5d as a, cast(2 as decimal(3,1)) as b")
    expected = tuple(key_of(term) for term in (1.5, Decimal(2)))
    assert facts(ingest(spark, [InputSource(frame, relation="r")])) == {"r": Counter([expected])}

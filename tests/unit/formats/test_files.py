"""Does a file that cannot be opened, unpacked or recognised give a clear error?"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from pathlib import Path

import pytest

from everlog.errors import DataError, FormatError, NotFoundError, OutputError, UsageError
from everlog.formats.reading import read_facts
from everlog.formats.writing import write_facts

LINES = "".join(f"node{n},node{n * 7 % 1000}\n" for n in range(20_000)).encode()
PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
# The same facts' worth of bytes for each reader that streams.
SOURCES = {
    "csv": LINES,
    "jsonl": b'["edge", "a", "b"]\n' * 20_000,
    "nt": b"".join(b"<x:a%d> <x:p> <x:b> .\n" % n for n in range(20_000)),
    "ttl": b"".join(b"<x:a%d> <x:p> <x:b> .\n" % n for n in range(20_000)),
    "nq": b"".join(b"<x:a%d> <x:p> <x:b> <x:g> .\n" % n for n in range(20_000)),
}


def test_a_missing_file_names_near_ones(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").touch()
    with pytest.raises(NotFoundError, match="edge.csv: there is no such file\n.*did you mean .*edges.csv"):
        read_facts(tmp_path / "edge.csv")
    with pytest.raises(NotFoundError, match="nothing in .* has a similar name"):
        read_facts(tmp_path / "zzz.parquet")
    with pytest.raises(NotFoundError, match="there is no folder .*gone either"):
        read_facts(tmp_path / "gone" / "edge.csv")


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "data.csv").mkdir()
    with pytest.raises(DataError, match="data.csv: this is a folder, not a file"):
        read_facts(tmp_path / "data.csv")


def test_an_unknown_extension(tmp_path: Path) -> None:
    for name in ("edge.xls", "edge", "edge.gz"):
        (tmp_path / name).touch()
        with pytest.raises(UsageError, match=r"known are \.csv .*\.gz"):
            read_facts(tmp_path / name)
    (tmp_path / "edge.txt").write_text("a,b\n")
    assert [len(block) for block in read_facts(tmp_path / "edge.txt", format="csv")] == [1]
    with pytest.raises(UsageError, match="there is no format 'cvs'.*\n.*did you mean 'csv'"):
        read_facts(tmp_path / "edge.txt", format="cvs")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "edge.csv"
    path.write_text("a,b\n")
    path.chmod(0)
    with pytest.raises(DataError, match="not permitted"):
        list(read_facts(path))


@pytest.mark.parametrize("packed", PACKERS)
@pytest.mark.parametrize("extension", SOURCES)
def test_packed_files(tmp_path: Path, extension: str, packed: str) -> None:
    data = PACKERS[packed](SOURCES[extension])
    path = tmp_path / f"edge.{extension}{packed}"
    path.write_bytes(data)
    assert sum(len(block) for block in read_facts(path)) == 20_000

    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(FormatError, match=f"edge.{extension}{packed}: the .* data ends too early\n.*cut short"):
        list(read_facts(path))

    path.write_bytes(SOURCES[extension])
    with pytest.raises(FormatError, match=f"edge.{extension}{packed}: this is not valid .*\n.*take {packed} off"):
        list(read_facts(path))

    path.write_bytes(data[:-20] + bytes(20))
    with pytest.raises(FormatError):
        list(read_facts(path))


def test_an_empty_file_holds_no_facts(tmp_path: Path) -> None:
    for extension in ("csv", "tsv", "jsonl", "parquet", "arrow", "nt", "nq", "ttl", "trig", "rdf", "jsonld"):
        (tmp_path / f"r.{extension}").touch()
        (tmp_path / f"r.{extension}.gz").write_bytes(gzip.compress(b""))
        assert list(read_facts(tmp_path / f"r.{extension}")) == []
        assert list(read_facts(tmp_path / f"r.{extension}.gz")) == []


# --- writing ----------------------------------------------------------------------------------------------------------


def test_an_unwritable_place(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="gone.r.csv: cannot be written .*\n.*mkdir -p"):
        write_facts(tmp_path / "gone" / "r.csv", "r", [['"a']])
    (tmp_path / "r.csv").mkdir()
    with pytest.raises(OutputError, match="name a file, not a folder"):
        write_facts(tmp_path / "r.csv", "r", [['"a']])
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk(tmp_path: Path) -> None:
    target = tmp_path / "r.jsonl"
    (tmp_path / f".r.jsonl.{os.getpid()}.tmp").symlink_to("/dev/full")
    with pytest.raises(OutputError, match="r.jsonl: cannot be written .*No space.*\n.*nothing was left half-written"):
        write_facts(target, "r", [['"a']])
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "r.tsv"
    path.write_text("old\n")
    with pytest.raises(OutputError, match="r.tsv: 'a.tb' holds a tab.*\n.*csv or .jsonl"):
        write_facts(path, "r", [['"good', '"a\tb']])
    assert path.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [path]


def test_links_and_modes_stay(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old\n")
    (tmp_path / "real.csv").chmod(0o600)
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_facts(tmp_path / "link.csv", "r", [['"new']])
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "new\n"
    assert (tmp_path / "real.csv").stat().st_mode & 0o777 == 0o600


def test_a_device_is_written_to_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "null.csv").symlink_to(os.devnull)
    write_facts(tmp_path / "null.csv", "r", [['"a']])
    assert Path(os.devnull).is_char_device()
    assert [path.name for path in tmp_path.iterdir()] == ["null.csv"]


@pytest.mark.parametrize(
    ("name", "relation", "columns", "message"),
    [
        ("r.nt", "edge", [['"a'], ['"b']], "edge/2 holds no RDF"),
        ("r.nt", "quad", [["<x:a"], ["<x:p"], ["<x:b"], ["<x:g"]], "no named graphs\n.*nq"),
        ("r.ttl", "triple", [['"a'], ["<x:p"], ["<x:b"]], '"a" cannot be the subject'),
        ("r.nq", "triple", [["<x:a"], ["_b"], ["<x:b"]], "_:b cannot be the predicate"),
        ("r.ttl", "triple", [["<x:a"], ["<x:p"], ["<not an iri"]], "cannot be written as RDF"),
        ("r.rdf", "triple", [["<x:a"], ["<x:p"], ["<x:b"]], "can be read but not written"),
        ("r.parquet", "alarm", [], "has no columns"),
        ("r.tsv", "r", [['"']], "would not be read as a string"),
        ("r.csv", "r", [['"\ud800']], "not valid Unicode"),
    ],
)
def test_facts_that_a_format_cannot_say(
    tmp_path: Path, name: str, relation: str, columns: list[list[str]], message: str
) -> None:
    with pytest.raises(OutputError, match=f"{name}: .*{message}"):
        write_facts(tmp_path / name, relation, columns)
    assert list(tmp_path.iterdir()) == []


def test_equal_facts_give_equal_files(tmp_path: Path) -> None:
    write_facts(tmp_path / "a.csv.gz", "r", [['"a']])
    write_facts(tmp_path / "b.csv.gz", "r", [['"a']])
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


def test_what_is_written(tmp_path: Path) -> None:
    columns = [["<x:a", "_b", '"say "hi"'], ["^integer 7", "@en colour", "^decimal 2.5"]]
    write_facts(tmp_path / "r.csv", "r", columns, header=["one", "two"])
    assert (tmp_path / "r.csv").read_text() == 'one,two\nx:a,7\n_:b,colour\n"say ""hi""",2.5\n'
    write_facts(tmp_path / "r.jsonl", "r", columns)
    assert (tmp_path / "r.jsonl").read_text().splitlines() == [
        '["r", {"@id": "x:a"}, 7]',
        '["r", {"@id": "_:b"}, {"@value": "colour", "@language": "en"}]',
        '["r", "say \\"hi\\"", {"@value": "2.5", "@type": "xsd:decimal"}]',
    ]
    triples = [["<x:a", "<x:a"], ["<x:p", "<x:q"], ["^integer 7", "_odd label"]]
    write_facts(tmp_path / "r.nt", "triple", triples)
    assert (tmp_path / "r.nt").read_text().splitlines() == [
        '<x:a> <x:p> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .',
        "<x:a> <x:q> _:x_6f6464206c6162656c .",
    ]
    with pytest.raises(UsageError, match="1 names are given for 2 columns"):
        write_facts(tmp_path / "r.csv", "r", columns, header=["one"])

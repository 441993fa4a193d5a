"""Are facts in JSON lines read as the terms they say, and mistakes in them named with their line?"""

from __future__ import annotations

from pathlib import Path

import pytest

from everlog.errors import DataError, FormatError
from everlog.facts.blocks import FactBlock
from everlog.formats.reading import read_facts


def blocks(folder: Path, text: str | bytes) -> list[FactBlock]:
    path = folder / "facts.jsonl"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(read_facts(path))


def test_a_block_for_each_relation_and_arity(tmp_path: Path) -> None:
    found = blocks(tmp_path, '\ufeff["e", "a", 1]\n\n["alarm"]\n["e", "b", 2]\r\n["e", "c"]')
    assert [(block.relation, [column.to_pylist() for column in block.columns]) for block in found] == [
        ("e", [['"a', '"b'], ["^integer 1", "^integer 2"]]),
        ("alarm", []),
        ("e", [['"c']]),
    ]


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ('"a"', '"a'),
        ("3", "^integer 3"),
        ("3.0", "^double 3.0E0"),
        ("1e400", "^double INF"),
        ("123456789012345678901234567890", "^integer 123456789012345678901234567890"),
        ("true", "^boolean true"),
        ('{"@id": "http://ex.org/a"}', "<http://ex.org/a"),
        ('{"@id": "_:b0"}', "_b0"),
        ('{"@value": "a"}', '"a'),
        ('{"@value": "a", "@type": "http://www.w3.org/2001/XMLSchema#string"}', '"a'),
        ('{"@value": "2.5", "@type": "http://www.w3.org/2001/XMLSchema#decimal"}', "^decimal 2.5"),
        ('{"@value": "2.5", "@type": "xsd:decimal"}', "^decimal 2.5"),
        ('{"@value": "x", "@type": "http://ex.org/t"}', "^http://ex.org/t x"),
        ('{"@value": "colour", "@language": "en-GB"}', "@en-gb colour"),
        ('"\\ud83d\\ude00"', '"😀'),
    ],
)
def test_terms(tmp_path: Path, value: str, key: str) -> None:
    [block] = blocks(tmp_path, f'["r", {value}]')
    assert block.columns[0].to_pylist() == [key]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('["e", "a"', "this is not JSON .*\n.*a fact is a list"),
        ('["e", NaN]', "NaN is not JSON"),
        ('{"e": 1}', "not a fact"),
        ("[]", "not a fact"),
        ('[1, "a"]', "not a fact"),
        ('["", "a"]', "not a fact"),
        ('["e", "a", null]', "argument 2 has no value"),
        ('["e", ["a"]]', "argument 1: a list is no term"),
        ('["e", {"@id": "a"}]', "'a' is not an absolute IRI"),
        ('["e", {"@id": "http://a b"}]', "is not an absolute IRI"),
        ('["e", {"@id": 1}]', "no string"),
        ('["e", {"@value": 1, "@type": "xsd:integer"}]', "write numbers in it as strings"),
        ('["e", {"@value": "a", "@type": "integer"}]', "is no term"),
        ('["e", {"value": "a"}]', "is no term"),
        ('["e", "\\ud800"]', "half a surrogate pair"),
        ('["\\ud800", "a"]', "half a surrogate pair"),
        (b'["e", "\xff"]', "not UTF-8"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_mistakes(tmp_path: Path, line: str | bytes, message: str) -> None:
    data = line.encode() if isinstance(line, str) else line
    with pytest.raises(DataError, match=message) as caught:
        blocks(tmp_path, b'["e", "a"]\n\n' + data + b"\n")
    assert caught.value.line == 3
    assert "facts.jsonl:3: " in str(caught.value)


def test_a_packed_file_without_the_extension(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="looks compressed: add .gz"):
        blocks(tmp_path, b"\x1f\x8b\x08\x00")

"""Are RDF documents read as the facts they say, by the fast way and by the full parser alike?"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.formats.written import written

from everlog.dictionary.columns import encode_block, keys_of
from everlog.dictionary.dictionary import Dictionary
from everlog.errors import DataError, FormatError
from everlog.facts.terms import RDF
from everlog.formats import ntriples
from everlog.formats.reading import read_facts

RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def facts(path: Path, **options: object) -> list[tuple[str, ...]]:
    """Relation and keys of every fact."""
    dictionary = Dictionary()
    found: list[tuple[str, ...]] = []
    for block in read_facts(path, **options):  # type: ignore[arg-type]
        columns = [keys_of(dictionary, ids) for ids in encode_block(dictionary, block)]
        found += [(block.relation, *row) for row in zip(*columns, strict=True)]
    return found


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("d.nt", '<x:a> <x:p> "b"@EN .\n', [("triple", "<x:a", "<x:p", "@en b")]),
        ("d.nt", '# c\n\n<x:a>\t<x:p>\t"\\u0041" . # c', [("triple", "<x:a", "<x:p", '"A')]),
        ("d.nt", '<x:a> <x:p> "A" .\n<x:a> <x:p> "\\u0041" .\n', [("triple", "<x:a", "<x:p", '"A')] * 2),
        ("d.nt", '\n# c\n\n<x:a> <x:p> "a # b ." .\r\n', [("triple", "<x:a", "<x:p", '"a # b .')]),
        ("d.nq", "<x:a> <x:p> <x:b> <x:g> .\n<x:a> <x:p> 1 .\n"[:26], [("quad", "<x:a", "<x:p", "<x:b", "<x:g")]),
        ("d.ttl", "@base <http://e/> . <a> a <C> .", [("triple", "<http://e/a", RDF_TYPE, "<http://e/C")]),
        (
            "d.ttl",
            "<x:a> <x:p> 7, 2.5, true .",
            [("triple", "<x:a", "<x:p", k) for k in ("^integer 7", "^decimal 2.5", "^boolean true")],
        ),
        ("d.trig", "<x:g> { <x:a> <x:p> 007 }", [("quad", "<x:a", "<x:p", "^integer 007", "<x:g")]),
        (
            "d.owl",
            '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Description r:about="x:a">'
            '<p xmlns="x:">b</p></r:Description></r:RDF>',
            [("triple", "<x:a", "<x:p", '"b')],
        ),
        ("d.jsonld", '{"@id": "x:a", "x:p": {"@id": "x:b"}}', [("triple", "<x:a", "<x:p", "<x:b")]),
    ],
)
def test_documents(tmp_path: Path, name: str, text: str, expected: list[tuple[str, ...]]) -> None:
    assert facts(written(tmp_path, name, text)) == expected


def test_relative_iris_are_relative_to_the_file_or_to_what_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, "d.ttl", "<#a> <x:p> <> .")
    assert facts(path, base="http://e/d") == [("triple", "<http://e/d#a", "<x:p", "<http://e/d")]
    assert facts(path) == [("triple", f"<{path.as_uri()}#a", "<x:p", f"<{path.as_uri()}")]


def test_the_graph_of_what_names_none(tmp_path: Path) -> None:
    expected = [("quad", "<x:a", "<x:p", "<x:b", "<x:g")]
    for name in ("d.nt", "d.ttl", "d.nq"):
        assert facts(written(tmp_path, name, "<x:a> <x:p> <x:b> .\n"), graph="x:g") == expected
    named = written(tmp_path, "d.trig", "<x:h> { <x:a> <x:p> <x:b> }")
    assert facts(named, graph="x:g") == [("quad", "<x:a", "<x:p", "<x:b", "<x:h")]


def test_blank_nodes_of_two_files_never_meet(tmp_path: Path) -> None:
    for name, text in (("d.nt", "_:x <x:p> _:y .\n"), ("d.ttl", "[] <x:p> [ <x:q> _:x ] .")):
        path = written(tmp_path, name, text)
        one, other = facts(path), facts(path)
        blank = [{key for fact in found for key in fact if key.startswith("_")} for found in (one, other)]
        assert blank[0] and not blank[0] & blank[1]


def test_blank_nodes_are_the_same_in_the_same_scope(tmp_path: Path) -> None:
    path = written(tmp_path, "d.ttl", "[] <x:p> [ <x:q> _:x ] .")
    assert facts(path, scope="s") == facts(path, scope="s")
    assert {key for fact in facts(path, scope="s") for key in fact if key[0] == "_"} == {"_s-0", "_s-1", "_s_x"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("d.nt", "<x:a> <x:p> <x:b> .\n<x:a> <x:p> .\n", "d.nt:2: .*column"),
        ("d.nt", "<x:a> <x:p> <b> .\n", "d.nt:1: No scheme"),
        ("d.nt", '"a" <x:p> <x:b> .\n', "d.nt:1: "),
        ("d.ttl", "<x:a> <x:p>\n<x:b> .\n<x:a> x:p 1 .", "d.ttl:3: .*prefix"),
        ("d.rdf", "<a", "d.rdf"),
        ("d.jsonld", "{", "d.jsonld"),
        ("d.ttl", b'<x:a> <x:p> "\xff" .', "d.ttl:1: .*"),
        ("d.nt", b'<x:a> <x:p> "\xff" .\n', "d.nt:1: .*"),
        ("d.nt", b"\x1f\x8b\x08", "add .gz"),
    ],
)
def test_wrong_syntax_is_named_with_its_line(tmp_path: Path, name: str, text: str | bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        facts(written(tmp_path, name, text))


def test_lines_are_counted_across_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ntriples, "CHUNK_BYTES", 100)
    lines = [f"<x:a{n}> <x:p> <x:b> .\n" for n in range(50)]
    assert len(facts(written(tmp_path, "d.nt", "".join(lines)))) == 50
    assert len(facts(written(tmp_path, "d.nt", "".join(lines).rstrip()))) == 50
    lines[40] = "oops\n"
    with pytest.raises(FormatError, match="d.nt:41: "):
        facts(written(tmp_path, "d.nt", "".join(lines)))


@pytest.mark.parametrize(
    ("tail", "right"),
    [
        *((f"@{tag}", True) for tag in ("en", "EN-gb", "de-1996", "x-f", "i-klingon", "en-a-bb", "zh-min-nan")),
        *((f"@{tag}", False) for tag in ("e", "e-GB", "en-G", "en-a", "en-x", "i-foo", "abcdefghi", "de-DE-DE")),
        (f"^^<{RDF}HTML>", True),
        (f"^^<{RDF}langString>", False),
        (f"^^<{RDF}dirLangString>", False),
    ],
)
def test_a_line_is_not_judged_by_its_neighbours(tmp_path: Path, tail: str, right: bool) -> None:
    """A tab in the next line sends both of them to the parser; alone, a plain line is read the fast way."""
    line = f'<x:a> <x:p> "a"{tail} .\n'
    for name, text in (("alone.nt", line), ("beside.nt", f"{line}<x:a>\t<x:p> <x:b> .\n")):
        path = written(tmp_path, name, text)
        if right:
            assert facts(path)[0][3][1:].endswith(" a")
        else:
            with pytest.raises(FormatError, match=f"{name}:1: "):
                facts(path)


def test_what_everlog_does_not_know(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a triple inside a triple"):
        facts(written(tmp_path, "d.nt", "<x:a> <x:p> <<( <x:a> <x:p> <x:b> )>> .\n"))
    with pytest.raises(DataError, match="base direction"):
        facts(written(tmp_path, "d.nt", '<x:a> <x:p> "a"@en--ltr .\n'))


tokens = st.sampled_from(
    [
        "<x:a>",
        "<x:b>",
        "<x:%20>",
        "<x:%zz>",
        "<a>",
        "<x:a b>",
        "<x:\\u0041>",
        "<>",
        "_:b",
        "_:b.",
        "_:b.c",
        "_:",
        "_:é",
        "a",
    ]
    + ['"a"', '"a b"', '"a\\tb"', '"\\u00e9"', '"\\x"', '"a"b"', '"a', '""', '"a"@en', '"a"@en-GB', '"a"@e_n', '"a"@']
    + ['"1"^^<x:t>', '"1"^^<t>', '"1"^^x', '"a"@en--ltr', '"." .', "#", '"<x:a> <x:b> ."', '"\\"']
)
separators = st.sampled_from([" "] * 8 + ["  ", "\t", ""])
ends = st.sampled_from([" .\n"] * 8 + [".\n", " . \n", " .\r\n", " . # c\n", "\n", " .", "  .\n"])
lines = st.builds(
    lambda s, a, p, b, o, end: s + a + p + b + o + end, tokens, separators, tokens, separators, tokens, ends
)
good = st.sampled_from(
    ["<x:a> <x:p> <x:b> .\n", '_:b <x:p> "a . b" .\n', "# comment\n", "\n", '<x:a> <x:p> "1"^^<x:t> .\n']
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@given(st.lists(good | lines, max_size=4).map("".join))
def test_differential_the_fast_way_and_the_parser_agree(folder: Path, text: str) -> None:
    """N-Quads without graphs are N-Triples, and have no fast way."""
    found: list[object] = []
    for name in ("d.nt", "d.nq"):
        try:
            found.append(sorted(facts(written(folder, name, text), scope="s")))
        except DataError as error:
            found.append((error.line, error.message.replace("d.nq", "d.nt")))
    if isinstance(found[1], list) and any(fact[0] == "quad" for fact in found[1]):
        return
    assert found[0] == found[1]

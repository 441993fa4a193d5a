"""Are updates read from JSON lines and RDF Patch as they are written, and mistakes named with their line?"""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pytest

from everlog import IRI, BlankNode, DataError, FormatError, Literal, NotFoundError, UsageError
from everlog.store.updates import Place, Update, read_updates


def read(folder: Path, text: str | bytes, name: str = "updates.jsonl") -> list[Update]:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(read_updates(path))


# --- JSON lines -----------------------------------------------------------------------------------------------------


def test_an_update_a_line(tmp_path: Path) -> None:
    first, second = read(
        tmp_path,
        '{"insert": [["edge", "a", 3], ["p"]], "delete": [["edge", "b", 2.0]]}\n\n'
        '{"add_rules": "q(?x) :- p(?x).", "remove_rules": ["r1"]}\n',
    )
    assert first == Update({"edge": [("a", 3)], "p": [()]}, {"edge": [("b", 2.0)]})
    assert second == Update(add_rules="q(?x) :- p(?x).", remove_rules=("r1",))
    assert (first.place, second.place) == (Place(str(tmp_path / "updates.jsonl"), 1), Place(second.place.path, 3))


def test_terms_that_are_objects(tmp_path: Path) -> None:
    line = '{"insert": [["t", {"@id": "http://e/a"}, {"@id": "_:b"}, {"@value": "x", "@language": "en"}]]}'
    [update] = read(tmp_path, line)
    langs = Literal("x", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "en")
    assert update.insert == {"t": [(IRI("http://e/a"), BlankNode("b"), langs)]}


def test_packed_files(tmp_path: Path) -> None:
    [update] = read(tmp_path, gzip.compress(b'{"delete": [["p", true]]}\n'), "u.jsonl.gz")
    assert update.delete == {"p": [(True,)]}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"insert": [', "this is not JSON"),
        ("edge(a, b).", "this is not JSON"),
        ('["edge", "a", "b"]', "not an update"),
        ('{"inserts": []}', "'inserts' is no part of an update"),
        ('{"insert": "edge"}', "insert is a list of facts"),
        ('{"insert": [["edge", "a"], "edge"]}', "insert, fact 2: not a fact"),
        ('{"delete": [[3, "a"]]}', "delete, fact 1: not a fact"),
        ('{"insert": [["edge", null]]}', "insert, fact 1, argument 1: null is no term"),
        ('{"insert": [["edge", {"@id": "a b"}]]}', "'a b' is not an absolute IRI"),
        ('{"insert": [["edge", "\\ud800"]]}', "half a surrogate pair"),
        ('{"add_rules": ["p(a)."]}', "add_rules is a text"),
        ('{"remove_rules": "r1"}', "remove_rules is a list"),
        ('{"insert": [["edge", NaN]]}', "NaN is not JSON"),
    ],
)
def test_a_bad_line_is_named_after_the_good_ones(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "u.jsonl"
    path.write_text('{"insert": [["p", 1]]}\n\n' + line + "\n")
    updates = read_updates(path)
    assert next(updates).insert == {"p": [(1,)]}
    with pytest.raises(DataError, match="u.jsonl:3: ") as caught:
        next(updates)
    assert says in str(caught.value) and caught.value.line == 3


def test_a_name_that_says_no_format(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.csv is not one of updates"):
        read(tmp_path, "a,b\n", "u.csv")
    with pytest.raises(NotFoundError):
        list(read_updates(tmp_path / "none.jsonl"))


def test_a_pipe_hands_out_what_has_come(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    os.mkfifo(path)
    go_on = threading.Event()

    def write() -> None:
        with open(path, "wb", buffering=0) as pipe:
            pipe.write(b'{"insert": [["p", 1]]}\n')
            go_on.wait(10)
            pipe.write(b'{"insert": [["p", 2]]}\n')

    thread = threading.Thread(target=write)
    thread.start()
    updates = read_updates(path)
    assert next(updates).insert == {"p": [(1,)]}  # the second line is not written yet
    go_on.set()
    assert next(updates).insert == {"p": [(2,)]}
    assert list(updates) == []
    thread.join()


# --- RDF Patch ------------------------------------------------------------------------------------------------------

PATCH = r"""
H id <uuid:0686c69d-8f89-4496-acb5-744f0157a8db> .
# two transactions
TX .
PA ex <http://e/> .
PA "" <http://d/> .
A <http://e/a> ex:p "caf\u00E9"@FR .
A _:b0 ex:p "1"^^<http://www.w3.org/2001/XMLSchema#integer> .
D <_:b0> :q "x. y"^^ex:t ex:g.
TC .
TX .
A ex:a ex:p ex:o .
D ex:a ex:p ex:o .
D ex:b ex:p ex:o .
A ex:b ex:p ex:o .
TC .
"""


def test_rdf_patch(tmp_path: Path) -> None:
    first, second = read(tmp_path, PATCH, "u.rdfp")
    p = IRI("http://e/p")
    french = Literal("café", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "fr")
    assert first.insert == {"triple": [(IRI("http://e/a"), p, french), (BlankNode("b0"), p, 1)]}
    quad = (BlankNode("b0"), IRI("http://d/q"), Literal("x. y", "http://e/t"), IRI("http://e/g"))
    assert first.delete == {"quad": [quad]}
    # The last word on a triple counts.
    assert second.insert == {"triple": [(IRI("http://e/b"), p, IRI("http://e/o"))]}
    assert second.delete == {"triple": [(IRI("http://e/a"), p, IRI("http://e/o"))]}
    assert [update.place.line for update in (first, second) if update.place] == [4, 11]


def test_lines_outside_of_transactions_are_one_update_and_aborted_ones_none(tmp_path: Path) -> None:
    text = "A <x:a> <x:p> <x:b> .\nA <x:a> <x:p> <x:c> .\nTX .\nA <x:no> <x:p> <x:b> .\nTA .\nTX .\nTC .\n"
    first, empty = read(tmp_path, text, "u.patch")
    assert len(first.insert["triple"]) == 2  # type: ignore[call-overload]
    assert empty == Update()


@pytest.mark.parametrize(
    ("lines", "line", "says"),
    [
        ("TX .\nA <x:a> <x:p> .\nTC .", 2, "here are 2"),
        ("TX .\nA <x:a> <x:p> <x:b>\nTC .", 2, "dot"),
        ("TX .\nB <x:a> <x:p> <x:b> .\nTC .", 2, "'B' is no operation"),
        ("TX .\nA <x:a> ex:p <x:b> .\nTC .", 2, "the prefix ex: is not declared"),
        ('TX .\nA <x:a> <x:p> <x:b> .\nA "s" <x:p> <x:b> .\nTC .', 3, "subject"),
        ("TX .\nA <x:a> <x:p> <x:b> .", 1, "ends inside a transaction"),
        ("TX .\nTX .", 2, "begins inside that of line 1"),
        ("TC .", 1, "TX never began"),
        ("PA ex http://e/ .", 1, "needs an IRI"),
        ("A <x:a> <x:p> 42 .", 1, "no term of RDF: 42"),
    ],
)
def test_a_bad_patch(tmp_path: Path, lines: str, line: int, says: str) -> None:
    with pytest.raises(FormatError, match=f"u.rdfp:{line}: ") as caught:
        read(tmp_path, lines + "\n", "u.rdfp")
    assert says in str(caught.value)

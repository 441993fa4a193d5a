"""What is refused at the door."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import everlog
from everlog import IRI
from everlog.errors import DataError, EverlogError, ProgramError
from everlog.rules.parser import parse_program
from everlog.store.doors import is_relation_name

A, P = IRI("http://ex.org/a"), IRI("http://ex.org/p")
NAMES = ["p", "_p", "In", "SUM", "größe", "on", "exists", "true", "prefix", "p2", "not", "Bind", "p-q", "2p", "p q", ""]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_those_that_rules_can_write(name: str) -> None:
    try:
        facts = parse_program(f"{name}(a, b).  {name}(X, Y) :- {name}(Y, X).").facts
        writable = len(facts) == 1 and facts[0].relation == name
    except ProgramError:
        writable = False
    assert is_relation_name(name) == writable


def inserted(kb: everlog.KnowledgeBase, relation: str) -> None:
    kb.insert(relation, [("a", "b")])


def tabled(kb: everlog.KnowledgeBase, relation: str) -> None:
    kb.insert(relation, pa.table({"a": ["x"], "b": ["y"]}))


def streamed(kb: everlog.KnowledgeBase, relation: str) -> None:
    list(kb.stream([{"insert": [[relation, "a", "b"]]}]))


@pytest.mark.parametrize("door", [inserted, tabled, streamed])
@pytest.mark.parametrize("relation", ["my-file", "http://ex.org/p", "not", "a~b"])
def test_relations_that_rules_cannot_write(door: Callable[..., None], relation: str) -> None:
    kb = everlog.open()
    with pytest.raises(DataError, match="no name for a relation"):
        door(kb, relation)
    assert kb.version == 0 and not kb.relations()


def test_the_name_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "my-file.csv").write_text("a,b\n")
    kb = everlog.open()
    with pytest.raises(DataError, match="my_file=FILE"):
        kb.load(tmp_path / "my-file.csv")
    kb.load(tmp_path / "my-file.csv", relation="my_file")
    assert list(kb.facts("my_file")) == [("a", "b")]


@pytest.mark.parametrize("row", [("a", P, 1), (1, P, A), (A, "p", A), (A, True, A), (A, 3, A)])
@pytest.mark.parametrize("relation", ["triple", "quad"])
def test_triples_with_literals_in_the_wrong_place(relation: str, row: tuple[object, ...]) -> None:
    kb = everlog.open()
    with pytest.raises(DataError, match="of a triple is an IRI") as raised:
        kb.insert(relation, [(A, P, A, A)[: 3 + (relation == "quad")], (*row, A)[: 3 + (relation == "quad")]])
    assert raised.value.hint is not None and kb.version == 0
    kb.delete(relation, [(*row, A)[: 3 + (relation == "quad")]])  # there is no such fact, and that is all


def test_tables_of_strings_are_no_triples(tmp_path: Path) -> None:
    kb = everlog.open()
    (tmp_path / "triple.csv").write_text("a,p,b\n")
    (tmp_path / "facts.jsonl").write_text('["triple", "a", "p", "b"]\n')
    for name in ("triple.csv", "facts.jsonl"):
        with pytest.raises(DataError, match="the subject of a triple"):
            kb.load(tmp_path / name)
    (tmp_path / "data.nt").write_text('<http://ex.org/a> <http://ex.org/p> "b" .\n')
    kb.load(tmp_path / "data.nt")
    assert list(kb.facts("triple")) == [(A, P, "b")]


@pytest.mark.parametrize("term", ["a\ud800", IRI("http://ex.org/\udfff"), everlog.Literal("\ud800", "http://ex.org/t")])
def test_half_a_surrogate_pair_is_no_character(term: object) -> None:
    kb = everlog.open()
    with pytest.raises(DataError, match="half a surrogate pair"):
        kb.insert("p", [("fine",), (term,)])
    assert kb.version == 0


@pytest.mark.parametrize("text", ['p("\ud800").', 'p(X) :- q(X, "\udc00").'])
def test_half_a_surrogate_pair_in_rules(text: str) -> None:
    kb = everlog.open()
    with pytest.raises(EverlogError, match="half a surrogate pair"):
        kb.add_rules(text)
    with pytest.raises(EverlogError, match="half a surrogate pair"):
        kb.query('p("\ud800")')

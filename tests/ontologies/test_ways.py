"""Do the ways to hold axioms agree, whatever comes and goes?"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ontologies.random_ontologies import (
    CLASSES,
    PREFIXES,
    PROPERTIES,
    THINGS,
    Triple,
    assertions,
    axioms,
    identifying_axioms,
)
from tests.properties.following import QUICK

import everlog
from everlog import IRI, KnowledgeBase
from everlog.facts.terms import RDF_TYPE, Term

FEW = 15 if QUICK else 500
NAMED = {IRI("http://e/" + name[1:]) for name in (*CLASSES, *PROPERTIES, *THINGS)}
KNOWN = {*NAMED, IRI(RDF_TYPE), IRI("http://www.w3.org/2002/07/owl#sameAs")}


def term(name: str) -> IRI:
    return IRI(RDF_TYPE) if name == "rdf:type" else IRI("http://e/" + name[1:])


def rows(triples: list[Triple]) -> list[tuple[IRI, ...]]:
    return [tuple(map(term, triple)) for triple in triples]


def document(said: list[str]) -> str:
    return PREFIXES + "\n".join(said) + "\n"


def about_things(kb: KnowledgeBase, relation: str = "triple") -> set[tuple[Term, ...]]:
    """What is said of things: axioms are said of classes, and the generic way gives types without a name."""
    if relation not in {each.name for each in kb.relations()}:
        return set()
    things = set(map(term, THINGS))
    return {
        row
        for row in kb.facts(relation)
        if row[-3] in things and set(row[-3:]) <= KNOWN and not (row[-3] == row[-1] and "sameAs" in str(row[-2]))
    }


def contradicts(kb: KnowledgeBase) -> bool:
    return "inconsistency" in {each.name for each in kb.relations()} and len(kb.facts("inconsistency")) > 0


def made(said: list[str], data: list[Triple], way: str) -> KnowledgeBase:
    kb = everlog.open(progress=False)
    kb.insert("triple", rows(data))
    kb.add_ontology(document(said), name="o", way=way)
    return kb


def agree(one: KnowledgeBase, other: KnowledgeBase) -> None:
    assert about_things(one) == about_things(other)
    assert contradicts(one) == contradicts(other)


@settings(max_examples=2 * FEW)
@given(st.one_of(axioms, identifying_axioms), assertions)
def test_from_scratch(said: list[str], data: list[Triple]) -> None:
    """Whether or not things turn out to be one."""
    generic = made(said, data, "generic")
    for way in ("tables", "compiled"):
        agree(made(said, data, way), generic)


@settings(max_examples=FEW)
@given(
    st.sampled_from(["tables", "compiled", "generic"]),
    axioms,
    st.lists(st.tuples(axioms, assertions, assertions), min_size=1, max_size=3),
)
def test_updates(way: str, said: list[str], steps: list[tuple[list[str], list[Triple], list[Triple]]]) -> None:
    kb = made(said, [], way)
    data: set[Triple] = set()
    for other, inserted, deleted in steps:
        kb.update(insert={"triple": rows(inserted)}, delete={"triple": rows(deleted)})
        data = (data - set(deleted)) | set(inserted)
        kb.replace_ontology("o", document(other))
        fresh = made(other, sorted(data), way)
        assert set(kb.facts("triple").sorted()) >= set(rows(sorted(data)))
        agree(kb, fresh)
        assert kb.verify()
    kb.remove_ontology("o")
    assert not kb.ontologies() and not kb.program.rules
    assert set(kb.facts("triple")) == set(rows(sorted(data)))

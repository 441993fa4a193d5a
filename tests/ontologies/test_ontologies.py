"""Do ontologies come, change and go as their documents say?"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.ontologies.random_ontologies import PREFIXES

import everlog
from everlog import IRI, FactLimitError, KnowledgeBase, Limits, NotFoundError, UsageError
from everlog.facts.terms import RDF_TYPE, Term

WAYS = ("tables", "compiled", "generic", "choose")


def e(name: str) -> IRI:
    return IRI(RDF_TYPE) if name == "a" else IRI("http://e/" + name)


def triples(text: str) -> list[tuple[Term, ...]]:
    return [tuple(e(word) for word in line.split()) for line in text.split(";") if line.strip()]


def with_data(text: str, axioms: str, way: str = "choose") -> KnowledgeBase:
    kb = everlog.open(progress=False)
    kb.insert("triple", triples(text))
    kb.add_ontology(PREFIXES + axioms + "\n", name="o", way=way)
    return kb


def says(kb: KnowledgeBase, text: str) -> bool:
    return set(triples(text)) <= set(kb.facts("triple"))


def contradicts(kb: KnowledgeBase) -> bool:
    return any(each.name == "inconsistency" and each.facts for each in kb.relations())


# Data, axioms, what follows.
CONCLUSIONS = {
    "sub class": ("x a A", ":A rdfs:subClassOf :B .", "x a B"),
    "equivalent classes": ("x a B", ":A owl:equivalentClass :B .", "x a A"),
    "domain": ("x p y", ":p rdfs:domain :A .", "x a A"),
    "range": ("x p y", ":p rdfs:range :A .", "y a A"),
    "sub property": ("x p y", ":p rdfs:subPropertyOf :q .", "x q y"),
    "equivalent properties": ("x q y", ":p owl:equivalentProperty :q .", "x p y"),
    "inverse": ("x p y", ":p owl:inverseOf :q .", "y q x"),
    "inverse, the other way": ("x q y", ":p owl:inverseOf :q .", "y p x"),
    "symmetric": ("x p y", ":p a owl:SymmetricProperty .", "y p x"),
    "transitive": ("x p y; y p z", ":p a owl:TransitiveProperty .", "x p z"),
    "chain": ("x p y; y q z", ":r owl:propertyChainAxiom ( :p :q ) .", "x r z"),
    "some values": (
        "x p y; y a A",
        "[ owl:onProperty :p ; owl:someValuesFrom :A ] rdfs:subClassOf :B .",
        "x a B",
    ),
    "all values": (
        "x p y; x a A",
        ":A rdfs:subClassOf [ owl:onProperty :p ; owl:allValuesFrom :B ] .",
        "y a B",
    ),
    "has value": ("x a A", ":A rdfs:subClassOf [ owl:onProperty :p ; owl:hasValue :v ] .", "x p v"),
    "of who has a value": ("x p v", "[ owl:onProperty :p ; owl:hasValue :v ] rdfs:subClassOf :A .", "x a A"),
    "intersection": ("x a A; x a B", ":C owl:intersectionOf ( :A :B ) .", "x a C"),
    "in an intersection": ("x a C", ":C owl:intersectionOf ( :A :B ) .", "x a A; x a B"),
    "union": ("x a B", ":C owl:unionOf ( :A :B ) .", "x a C"),
    "one of": ("x p y", ":C owl:oneOf ( :x :y ) .", "x a C; y a C"),
    "functional": ("x p y; x p z; y q w", ":p a owl:FunctionalProperty .", "z q w"),
    "inverse functional": ("x p z; y p z; x q w", ":p a owl:InverseFunctionalProperty .", "y q w"),
    "key": ("x a A; y a A; x p z; y p z; x q w", ":A owl:hasKey ( :p ) .", "y q w"),
    "at most one": (
        "x a A; x p y; x p z; y q w",
        ':A rdfs:subClassOf [ owl:onProperty :p ; owl:maxCardinality "1"^^<http://www.w3.org/2001/XMLSchema#int> ] .',
        "z q w",
    ),
}
CONTRADICTIONS = {
    "disjoint classes": ("x a A; x a B", ":A owl:disjointWith :B ."),
    "all disjoint classes": ("x a A; x a C", "[] a owl:AllDisjointClasses ; owl:members ( :A :B :C ) ."),
    "complement": ("x a A; x a B", ":A owl:complementOf :B ."),
    "nothing": ("x a A", ":A rdfs:subClassOf owl:Nothing ."),
    "asymmetric": ("x p y; y p x", ":p a owl:AsymmetricProperty ."),
    "irreflexive": ("x p x", ":p a owl:IrreflexiveProperty ."),
    "disjoint properties": ("x p y; x q y", ":p owl:propertyDisjointWith :q ."),
    "all disjoint properties": ("x p y; x r y", "[] a owl:AllDisjointProperties ; owl:members ( :p :q :r ) ."),
    "none": (
        "x a A; x p y",
        ':A rdfs:subClassOf [ owl:onProperty :p ; owl:maxCardinality "0"^^<http://www.w3.org/2001/XMLSchema#int> ] .',
    ),
    "negative assertion": (
        "x p y",
        "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual :x ; owl:assertionProperty :p ; "
        "owl:targetIndividual :y .",
    ),
    "different and the same": (
        "x p y; x p z",
        ":p a owl:FunctionalProperty . [] a owl:AllDifferent ; owl:members ( :y :z ) .",
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", CONCLUSIONS)
def test_what_follows(kind: str, way: str) -> None:
    data, axioms, follows = CONCLUSIONS[kind]
    kb = with_data(data, axioms, way)
    assert says(kb, follows) and not contradicts(kb)
    for triple in triples(data):
        kb.delete("triple", [triple])
    assert not says(kb, follows) or kind == "one of"
    assert kb.verify()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", CONTRADICTIONS)
def test_contradictions(kind: str, way: str) -> None:
    data, axioms = CONTRADICTIONS[kind]
    kb = with_data(data, axioms, way)
    assert contradicts(kb)
    assert all(row[1:] in set(kb.facts("triple")) for row in kb.facts("inconsistency"))
    kb.delete("triple", triples(data)[-1:])
    assert not contradicts(kb)


@pytest.mark.parametrize(
    ("axiom", "reason"),
    [
        (":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B ] .", "something exists that has no name"),
        (":A rdfs:subClassOf [ owl:unionOf ( :B :C ) ] .", "one of several classes"),
        ("[ owl:onProperty :p ; owl:allValuesFrom :B ] rdfs:subClassOf :A .", "never known"),
        (":p a owl:ReflexiveProperty .", "related to itself"),
        (":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ] .", "restricts nothing"),
        (":A owl:intersectionOf :b .", "without a list"),
        ("owl:Thing rdfs:subClassOf :A .", "everything there is"),
        (
            ":A rdfs:subClassOf [ owl:intersectionOf ( :B _:loop ) ] . _:loop owl:complementOf _:loop .",
            "contains itself",
        ),
    ],
)
def test_what_is_not_used_is_told(axiom: str, reason: str) -> None:
    kb = everlog.open()
    change = kb.add_ontology(PREFIXES + axiom + "\n", name="o")
    assert any(reason in each.reason for each in change.report.unused), change.report.unused


def test_no_literal_becomes_a_subject() -> None:
    kb = everlog.open()
    kb.insert("triple", [(e("x"), e("p"), "text")])
    kb.add_ontology(PREFIXES + ":p rdfs:range :A ; owl:inverseOf :q ; a owl:SymmetricProperty .\n", name="o")
    assert len(kb.facts("triple")) == 1


def test_values_that_differ_contradict_each_other() -> None:
    kb = everlog.open()
    kb.add_ontology(PREFIXES + ":p a owl:FunctionalProperty .\n", name="o")
    kb.insert("triple", [(e("x"), e("p"), 1), (e("x"), e("p"), 1.0)])  # of equal value
    assert not contradicts(kb)
    kb.insert("triple", [(e("x"), e("p"), 2)])
    assert contradicts(kb)


def test_axioms_come_and_go() -> None:
    kb = with_data("x a A", ":A rdfs:subClassOf :B .")
    kb.add_axioms(PREFIXES + ":B rdfs:subClassOf :C .\n", ontology="o")
    assert says(kb, "x a B; x a C")
    kb.remove_axioms(PREFIXES + ":A rdfs:subClassOf :B .\n", ontology="o")
    assert not says(kb, "x a B") and kb.verify()
    kb.replace_ontology("o", PREFIXES + ":A rdfs:subClassOf :D .\n")
    assert says(kb, "x a D") and not says(kb, "x a C")
    kb.remove_ontology("o")
    assert set(kb.facts("triple")) == set(triples("x a A")) and not kb.program.rules


@pytest.mark.parametrize("way", WAYS)
def test_values_that_python_takes_for_one(way: str) -> None:
    values = ("1", "true", '"1.0E0"^^<http://www.w3.org/2001/XMLSchema#double>')
    axioms = [f"[ owl:onProperty :p ; owl:hasValue {v} ] rdfs:subClassOf :A ." for v in values]
    kb = with_data("", "\n".join(axioms), way)
    kb.insert("triple", [(e("x"), e("p"), 1), (e("y"), e("p"), True), (e("z"), e("p"), 1.0)])
    assert says(kb, "x a A; y a A; z a A")


@pytest.mark.parametrize("way", WAYS)
def test_an_axiom_that_is_not_there_takes_nothing_away(way: str) -> None:
    kb = with_data("x a A", ":A rdfs:subClassOf :B .", way)
    kb.remove_axioms(PREFIXES + ":A rdfs:subClassOf :C .\n", ontology="o")
    assert says(kb, "x a B") and kb.program.rules
    kb.insert("triple", triples("y a A"))
    assert says(kb, "y a B")


def test_limits_hold_and_leave_nothing_behind() -> None:
    kb = everlog.open(progress=False)
    kb.insert("triple", [(e(f"x{n}"), e("p"), e(f"x{n + 1}")) for n in range(200)])
    axiom = PREFIXES + ":p a owl:TransitiveProperty .\n"
    with pytest.raises(FactLimitError):
        kb.add_ontology(axiom, name="o", limits=Limits(facts=1_000))
    assert not kb.ontologies() and len(kb.facts("triple")) == 200
    kb.add_ontology(axiom, name="o")
    assert len(kb.facts("triple")) == 200 * 201 // 2


def test_two_ontologies_that_say_the_same() -> None:
    for way in WAYS:
        kb = with_data("x a A", ":A rdfs:subClassOf :B .", way)
        kb.add_ontology(PREFIXES + ":A rdfs:subClassOf :B .\n", name="other", way=way)
        assert [each.name for each in kb.ontologies()] == ["o", "other"]
        kb.remove_ontology("o")
        assert says(kb, "x a B")
        kb.remove_ontology("other")
        assert not says(kb, "x a B")


def test_names() -> None:
    kb = with_data("x a A", ":A rdfs:subClassOf :B .")
    with pytest.raises(UsageError, match="already"):
        kb.add_ontology(PREFIXES + ":A rdfs:subClassOf :B .\n", name="o")
    with pytest.raises(NotFoundError, match="did you mean"):
        kb.remove_ontology("oo")
    with pytest.raises(UsageError, match="no name"):
        kb.add_ontology(PREFIXES + ":A rdfs:subClassOf :B .\n", name="1 2")
    with pytest.raises(UsageError, match="no way"):
        kb.add_ontology(PREFIXES + ":A rdfs:subClassOf :B .\n", name="other", way="magic")
    with pytest.raises(UsageError, match="no RDF file"):
        kb.add_ontology("rules.csv")


@pytest.mark.parametrize("way", WAYS)
def test_ontologies_are_kept(way: str, tmp_path: Path) -> None:
    (tmp_path / "my onto.ttl").write_text(PREFIXES + ":A rdfs:subClassOf :B . :p a owl:TransitiveProperty .\n")
    with everlog.open(tmp_path / "kb") as kb:
        kb.add_ontology(tmp_path / "my onto.ttl", way=way)
        kb.insert("triple", triples("x a A; x p y; y p z"))
    with everlog.open(tmp_path / "kb") as kb:
        assert [(each.name, each.way) for each in kb.ontologies()] == [("my-onto", way)]
        assert says(kb, "x a B; x p z")
        kb.sync_rules("p(?x) :- q(?x).")  # its rules come and go with it
        assert says(kb, "x a B; x p z") and len(kb.program.rules) > 1
        kb.remove_ontology("my-onto")
        assert [rule.heads[0].relation for rule in kb.program.rules] == ["p"]

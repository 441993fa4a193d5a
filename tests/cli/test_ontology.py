"""Do the commands on ontologies do what their help says?"""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Everlog

ONTOLOGY = """\
@prefix : <http://e/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:Wheel rdfs:subClassOf :Part .
:Car rdfs:subClassOf [ owl:onProperty :has ; owl:someValuesFrom :Wheel ] .
"""
DATA = "<http://e/w> a <http://e/Wheel> .\n"


def test_an_ontology_comes_changes_and_goes(everlog: Everlog, folder: Path) -> None:
    (folder / "cars.ttl").write_text(ONTOLOGY)
    (folder / "next.ttl").write_text(ONTOLOGY.replace(":Wheel rdfs:subClassOf :Part", ":Wheel rdfs:subClassOf :Round"))
    (folder / "data.ttl").write_text(DATA)
    assert everlog("load", "kb", "data.ttl").code == 0
    added = everlog("rules", "add", "kb", "cars.ttl")
    assert "not used: <http://e/Car> rdfs:subClassOf […]: something exists that has no name" in added.out
    assert "triple\t+1" in added.out
    listed = everlog("ontology", "list", "kb")
    assert listed.out.startswith("cars\tchoose\t")
    replaced = json.loads(everlog("ontology", "replace", "kb", "cars", "next.ttl", "--json").out)
    assert replaced["relations"]["triple"] == {"gained": 1, "lost": 1} and len(replaced["unused"]) == 1
    assert "<http://e/Round>" in everlog("facts", "kb", "triple").out
    assert everlog("ontology", "remove", "kb", "cars").code == 0
    assert everlog("rules", "list", "kb").out == ""
    assert "there is no ontology" in everlog("ontology", "remove", "kb", "cars").err
    assert everlog("ontology", "add", "kb", "cars.ttl", "--name", "c", "--way", "tables").code == 0
    assert "one of choose" in everlog("ontology", "add", "kb", "next.ttl", "--way", "quick").err
    assert "then the others" in everlog("rules", "add", "kb", "next.ttl", "--text", "p(?x) :- q(?x).").err

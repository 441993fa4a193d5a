"""Do the rules of the library conclude what the W3C's test cases of OWL 2 RL ask for?

The cases are read from the shared data sets (owl2-rl; its README says where they come from). A positive case passes
when its conclusion is found with blank nodes as "some"; an inconsistency case when there is a contradiction, and a
consistency case when there is none.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from benchmarks.datasets.shared_data import shared_data

import everlog
from everlog.errors import NotFoundError
from everlog.rules.library import library_program

KNOWN_FAILURES = tomllib.loads((Path(__file__).parent / "known_failures.toml").read_text())
_BLANK = re.compile(r"_:(\w+)")


@cache
def cases() -> dict[str, str]:
    """The kinds of each case."""
    try:
        lines = shared_data("owl2-rl", "manifest.tsv").read_text().splitlines()[1:]
    except NotFoundError:
        return {}
    return {name: kinds for name, kinds, *_ in (line.split("\t") for line in lines)}


def reason(name: str) -> str | None:
    return next((why for why, names in KNOWN_FAILURES.items() if name in names), None)


@pytest.mark.parametrize("name", cases() or ["none"])
def test_case(name: str) -> None:
    if name == "none":
        pytest.skip("the test cases of OWL 2 RL are not there: owl2-rl of the shared data sets")
    folder, kinds = shared_data("owl2-rl") / "tests" / name, cases()[name].split("+")
    kb = everlog.open(progress=False)
    kb.add_rules(library_program("owl2-rl"))
    kb.add_rules(library_program("owl2-rl-reflexive"))
    kb.load(folder / "premise.nt")
    contradicts = len(kb.facts("inconsistency")) > 0
    passed = contradicts == ("InconsistencyTest" in kinds)
    if "PositiveEntailmentTest" in kinds:
        passed = passed and concludes(kb, (folder / "conclusion.nt").read_text())
    if "NegativeEntailmentTest" in kinds:
        passed = passed and not concludes(kb, (folder / "nonconclusion.nt").read_text())
    assert passed == (reason(name) is None), "known to fail, and passes" if passed else "fails"


def concludes(kb: everlog.KnowledgeBase, document: str) -> bool:
    lines = [line for line in document.splitlines() if line.strip() and "owl#Ontology>" not in line]
    return not lines or bool(kb.query("ASK {" + "\n".join(_BLANK.sub(r"?\1", line) for line in lines) + "}"))


def test_known_failures_are_cases() -> None:
    if not cases():
        pytest.skip("the test cases of OWL 2 RL are not there")
    assert {name for names in KNOWN_FAILURES.values() for name in names} <= cases().keys()


def test_all_cases_of_the_rdf_based_semantics_pass() -> None:
    assert not [name for names in KNOWN_FAILURES.values() for name in names if name.startswith("rdfbased-sem")]

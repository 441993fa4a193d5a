"""Is the program of LUBM what its ontology says?"""

from __future__ import annotations

from pathlib import Path

from benchmarks.datasets.shared_data import shared_data
from benchmarks.programs.ontology_rules import ontology_rules
from tests.shared_files import skipped_without_data

from everlog.rules.parser import parse_program, read_program

PROGRAM = Path(__file__).parents[3] / "benchmarks" / "programs" / "lubm.dl"


def test_lubm() -> None:
    with skipped_without_data():
        ontology = shared_data("lubm", "univ-bench.ttl")
    assert read_program(PROGRAM).rules == parse_program(ontology_rules(ontology)).rules

"""Do the benchmarks ask every system the same question? Tiny sizes: generators repeat, and counts agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks import compare, table
from benchmarks.datasets.shared_data import DataMissing
from benchmarks.run import summary
from benchmarks.systems import Unsupported, start
from benchmarks.workload import PROGRAMS, Workload, as_asp
from benchmarks.workloads import ALL, BY_NAME, zodiac
from benchmarks.write_data import write_data

GENERATED = [workload for workload in ALL if workload.tiny is not None]
SMALL_FILES: list[Callable[[], Workload]] = [lambda: zodiac.rs1(50), lambda: zodiac.rs2(50), lambda: zodiac.rs3(50)]


def counts(system_name: str, workload: Workload) -> dict[str, int]:
    try:
        tables = workload.data(workload.tiny or 1.0)
        system = start(system_name)
        system.prepare(workload, tables)
    except (Unsupported, DataMissing) as reason:
        pytest.skip(str(reason))
    system.load()
    system.reason()
    found = system.count(workload.counts)
    system.report()
    return found


@pytest.mark.parametrize("workload", GENERATED, ids=lambda w: w.name)
def test_a_generator_gives_the_same_facts_every_time(workload: Workload) -> None:
    assert workload.tiny is not None
    first, second = workload.data(workload.tiny), workload.data(workload.tiny)
    assert first == second
    for rows in first.values():
        assert rows.group_by(rows.column_names).aggregate([]).num_rows == rows.num_rows, "given facts are distinct"


@pytest.mark.parametrize("workload", GENERATED, ids=lambda w: w.name)
@pytest.mark.parametrize("system", ["everlog", "clingo"])
def test_systems_agree_with_duckdb(system: str, workload: Workload) -> None:
    assert counts(system, workload) == counts("duckdb:1", workload)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["chain", "closure"])  # nested loops: the others take too long even when tiny
def test_the_reference_engine_is_a_system_too(name: str) -> None:
    assert counts("everlog:reference", BY_NAME[name]) == counts("duckdb:1", BY_NAME[name])


@pytest.mark.parametrize("system", ["everlog", "duckdb:1", "clingo"])
@pytest.mark.parametrize("make", SMALL_FILES, ids=["rs1", "rs2", "rs3"])
def test_zodiac_counts_are_the_papers(system: str, make: Callable[[], Workload]) -> None:
    workload = make()
    assert counts(system, workload) == dict(workload.counts)


def test_totals_are_those_of_the_readme() -> None:
    assert sum(zodiac.rs1(400).counts.values()) == 160_800
    assert [sum(zodiac.rs2(w).counts.values()) for w in (50, 200)] == [27_325, 424_300]
    assert [sum(zodiac.rs3(w).counts.values()) for w in (50, 200)] == [27_026, 423_101]


@pytest.mark.parametrize("workload", ALL, ids=lambda w: w.name)
def test_every_workload_has_rules_and_says_why_a_system_is_missing(workload: Workload) -> None:
    assert ":-" in workload.rules and "@import" not in workload.rules
    assert workload.sql or workload.why_no_sql
    assert workload.asp or workload.why_no_asp
    assert workload.counts


def test_every_program_belongs_to_a_workload() -> None:
    only_by_hand = {"wordnet", "lubm", "lubm_ontology"}
    assert {path.stem for path in PROGRAMS.glob("*.dl")} == {w.program or w.name for w in ALL} | only_by_hand


def test_asp_has_one_head_a_rule_and_no_names() -> None:
    assert as_asp("r1: p(X), q(X) :-\n  r(X, Y).\n") == "p(X) :- r(X, Y).\nq(X) :- r(X, Y)."


def test_generated_data_can_be_written_for_the_command_line(tmp_path: Path) -> None:
    files = write_data("closure", tmp_path, 0.05) + write_data("hierarchy", tmp_path, 0.005)
    assert [path.name for path in files] == ["edge.csv", "triple.nt"]
    assert len(files[0].read_text().splitlines()) == 200
    assert files[1].read_text().splitlines()[0].endswith(" .")


def test_missing_data_is_a_reason_not_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVERLOG_DATA", str(tmp_path))
    with pytest.raises(DataMissing, match="EVERLOG_DATA"):
        zodiac.rs2(50).data(1.0)


def test_tables_and_comparisons_are_markdown(tmp_path: Path) -> None:
    run = {"start_up": 0.1, "load": 0.1, "reason": 0.5, "before": 10, "peak": 20, "grown": 5, "bytes_per_fact": 40.0,
           "counts": {"path": 2_550_470}, "given": {"edge": 4000}, "version": "1"}  # fmt: skip
    closure = BY_NAME["closure"]
    slow, fast = (run | {"reason": seconds} for seconds in (1.0, 0.25))
    records = [
        summary(closure, "everlog", 1.0, [run, slow]),
        summary(closure, "duckdb:2", 1.0, [slow]),
        summary(closure, "everlog", 10.0, [slow | {"reason": 5.5}]),
        summary(closure, "clingo", 1.0, [{"skipped": "not installed"}]),
    ]
    assert records[0]["best"] == 0.5 and records[0]["median"] == 0.75 and records[0]["right"]
    machine = {"cpu": "x", "cores": 2, "memory": 2**34, "system": "Linux", "python": "3.11"}
    document = {"machine": machine, "versions": {"everlog": "1"}, "repeat": 2, "records": records}
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text(json.dumps(document))
    page = table.page([before])
    assert "| 0.50 | 10.0 |" in page and "| 11.0 |" in page and "clingo on closure (not installed)" in page
    after.write_text(json.dumps(document | {"records": [summary(closure, "everlog", 1.0, [fast])]}))
    assert "| closure | everlog | 0.500 | 0.250 | 2.00× |" in compare.compare(before, after)

"""How is the W3C suite reported? `--earl=FILE` writes each outcome in W3C's Evaluation and Report Language (EARL).

A test that is run in several ways has passed if it passed in all of them.
"""

from __future__ import annotations

from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

HEAD = """@prefix earl: <http://www.w3.org/ns/earl#> .
@prefix doap: <http://usefulinc.com/ns/doap#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

<urn:everlog> a doap:Project, earl:Software, earl:TestSubject, earl:Assertor ; doap:name "Everlog" .
"""
ASSERTION = """
[] a earl:Assertion ;
   earl:assertedBy <urn:everlog> ; earl:subject <urn:everlog> ; earl:mode earl:automatic ;
   earl:test <{iri}> ;
   earl:result [ a earl:TestResult ; earl:outcome earl:{outcome} ; dct:date "{date}"^^xsd:dateTime ] .
"""
OUTCOMES: dict[str, bool] = {}  # whether a test has passed in all ways so far, by its IRI


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--earl", metavar="FILE", help="write outcomes of the W3C suite as EARL")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Reports say which test of the suite they are about, also those that come from another process."""
    report = yield
    test = item.callspec.params.get("test") if hasattr(item, "callspec") else None
    if report.when == "call" and test is not None:
        report.user_properties.append(("w3c", test.iri))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    iri: Any = dict(report.user_properties).get("w3c")
    if iri is not None and (not report.skipped or hasattr(report, "wasxfail")):
        OUTCOMES[iri] = OUTCOMES.get(iri, True) and report.passed


def pytest_sessionfinish(session: pytest.Session) -> None:
    file = session.config.getoption("earl", None)
    if file is None or hasattr(session.config, "workerinput"):
        return
    date = datetime.now(UTC).isoformat(timespec="seconds")
    assertions = (
        ASSERTION.format(iri=iri, outcome="passed" if passed else "failed", date=date)
        for iri, passed in sorted(OUTCOMES.items())
    )
    Path(file).write_text(HEAD + "".join(assertions), encoding="utf-8")

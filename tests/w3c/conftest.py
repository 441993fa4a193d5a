"""How is the W3C suite reported? `--earl=FILE` writes each outcome in W3C's Evaluation and Report Language (EARL).

A test that is run in several ways has passed if it passed in all of them. The same outcomes give the same file: it has
no date, and the history of docs/conformance/sparql-earl.ttl says when what was true.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

HEAD = """@prefix earl: <http://www.w3.org/ns/earl#> .
@prefix doap: <http://usefulinc.com/ns/doap#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#> .

<urn:everlog> a doap:Project, earl:Software, earl:TestSubject, earl:Assertor ; doap:name "Everlog" .
"""
ASSERTION = """
<{iri}> a earl:TestCase, mf:{kind} ; dct:title "{name}" .
[] a earl:Assertion ;
   earl:assertedBy <urn:everlog> ; earl:subject <urn:everlog> ; earl:mode earl:automatic ;
   earl:test <{iri}> ;
   earl:result [ a earl:TestResult ; earl:outcome earl:{outcome} ] .
"""


class Reported(NamedTuple):
    """A test of the suite, as a report names it."""

    name: str
    iri: str
    kind: str


OUTCOMES: dict[Reported, bool] = {}  # whether a test has passed in all ways so far


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--earl", metavar="FILE", help="write outcomes of the W3C suite as EARL")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Reports say which test of the suite they are about, also those that come from another process."""
    report = yield
    test = item.callspec.params.get("test") if hasattr(item, "callspec") else None
    if report.when == "call" and test is not None:
        report.user_properties.append(("w3c", (test.name, test.iri, test.kind)))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    found: Any = dict(report.user_properties).get("w3c")
    if found is not None and (not report.skipped or hasattr(report, "wasxfail")):
        test = Reported(*found)
        OUTCOMES[test] = OUTCOMES.get(test, True) and report.passed


def pytest_sessionfinish(session: pytest.Session) -> None:
    file = session.config.getoption("earl", None)
    if file is None or hasattr(session.config, "workerinput"):
        return
    assertions = (
        ASSERTION.format(**test._asdict(), outcome="passed" if passed else "failed")
        for test, passed in sorted(OUTCOMES.items())
    )
    Path(file).write_text(HEAD + "".join(assertions), encoding="utf-8")

"""Does docs/conformance say what its report says, and why each test that fails does?"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pyoxigraph as ox

ROOT = Path(__file__).parents[2]
PAGE, REPORT = ROOT / "docs" / "conformance" / "README.md", ROOT / "docs" / "conformance" / "sparql-earl.ttl"
KNOWN_FAILURES = ROOT / "tests" / "w3c" / "known_failures.toml"

OUTCOMES = """
    PREFIX earl: <http://www.w3.org/ns/earl#>
    PREFIX dct: <http://purl.org/dc/terms/>
    SELECT ?name ?kind ?outcome {
        ?test a ?kind ; dct:title ?name FILTER(?kind != earl:TestCase)
        [] earl:test ?test ; earl:result/earl:outcome ?outcome
    }
"""


@cache
def outcomes() -> list[tuple[str, str, bool]]:
    """The name of each test, its kind, and whether it passed."""
    store = ox.Store()
    store.load(path=REPORT)
    found = store.query(OUTCOMES)
    assert isinstance(found, ox.QuerySolutions)
    return [(name.value, _local(kind), _local(outcome) == "passed") for name, kind, outcome in found]


def test_counts() -> None:
    table = re.findall(
        r"^\| SPARQL (1\.[01]) \| `(\w+)` \|.*\| (\d+) \| (\d+) \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    passed, all_ = Counter(), Counter()
    for name, kind, good in outcomes():
        suite = name.partition("/")[0]
        all_[suite, kind] += 1
        passed[suite, kind] += good
    told = {("sparql" + version.replace(".", ""), kind): (int(good), int(of)) for version, kind, good, of in table}
    assert told == {each: (passed[each], all_[each]) for each in all_}
    assert f"{passed.total()} of the W3C's {all_.total()} tests pass" in (ROOT / "README.md").read_text("utf-8")


def test_failures_have_their_reasons() -> None:
    failures = tomllib.loads(KNOWN_FAILURES.read_text("utf-8"))
    reasons = {f"{folder}/{test}": reason for folder, tests in failures.items() for test, reason in tests.items()}
    assert {name for name, _, passed in outcomes() if not passed} == reasons.keys()
    assert dict(re.findall(r"^\| `(sparql\S+)` \| (.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE)) == reasons


def _local(node: ox.NamedNode) -> str:
    return node.value.split("#")[-1]

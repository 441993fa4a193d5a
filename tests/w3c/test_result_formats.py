"""Are the answers to queries of the W3C suite written as its files have them?"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from tests.w3c.comparison import same
from tests.w3c.expected import expected_result
from tests.w3c.suite import W3CTest, suite_tests
from tests.w3c.ways import asked_once

from everlog.sparql.solutions import Solutions, Truth

pytestmark = pytest.mark.slow

# csv-tsv-res and json-res ask for a format each; every other result in XML is one that we should write too.
_FORMATS = {".csv": "csv", ".tsv": "tsv", ".srj": "json", ".srx": "xml"}


@pytest.mark.parametrize("test", suite_tests("CSVResultFormatTest"))
def test_csv(test: W3CTest) -> None:
    """CSV keeps no types, so its texts are compared; labels of blank nodes are anybody's."""
    assert test.result is not None
    found = _table(asked_once(test).serialize("csv"))
    assert found == _table(test.result.read_text(encoding="utf-8"))


@pytest.mark.parametrize("test", suite_tests("QueryEvaluationTest", folders=("csv-tsv-res", "json-res", "ask")))
def test_written_and_read_again(test: W3CTest, tmp_path: Path) -> None:
    assert test.result is not None
    answer = asked_once(test)
    assert isinstance(answer, Solutions | Truth)
    written = tmp_path / f"answer{test.result.suffix}"
    written.write_text(answer.serialize(_FORMATS[test.result.suffix]), encoding="utf-8", newline="")
    found, expected = expected_result(written), expected_result(test.result)
    assert same(found, expected, ordered=False)


def _table(text: str) -> list[list[str]]:
    names, *rows = csv.reader(io.StringIO(text, newline=""))
    return [names, *sorted([["_:" if field.startswith("_:") else field for field in row] for row in rows])]

"""Does each bad program print what its .err file says?

A `.dl` file here is read and checked; all that is wrong with it is expected in the `.err` file of the same name. After
a wanted change, write them anew with EVERLOG_UPDATE_GOLDEN=1 and look at the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from everlog.errors import ProgramError
from everlog.rules import diagnostics
from everlog.rules.checks import check_program
from everlog.rules.parser import parse_program

HERE = Path(__file__).parent
LANGUAGE = HERE.parents[1] / "docs" / "language.md"
CODE = re.compile(r"\bR[1-3]\d\d\b")


def report(path: Path) -> str:
    try:
        found = check_program(parse_program(path.read_text(encoding="utf-8"), path.name), {"city": 2})
    except ProgramError as error:
        found = list(error.diagnostics)
    return "\n\n".join(problem.render() for problem in found) + "\n"


@pytest.mark.parametrize("path", sorted(HERE.glob("*.dl")), ids=lambda path: path.stem)
def test_report(path: Path) -> None:
    expected = path.with_suffix(".err")
    found = report(path)
    if os.environ.get("EVERLOG_UPDATE_GOLDEN") == "1":
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text(encoding="utf-8")


def test_every_code_is_shown_once_and_documented() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in Path(diagnostics.__file__).parent.glob("*.py"))
    used = set(re.findall(r'"(R[1-3]\d\d)"', source))
    shown = set(CODE.findall("".join(path.read_text(encoding="utf-8") for path in HERE.glob("*.err"))))
    documented = set(re.findall(r"^\| (R[1-3]\d\d) \|", LANGUAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert used == documented
    assert shown == used - {"R100", "R113"}  # a hundred problems, and bytes that are not UTF-8

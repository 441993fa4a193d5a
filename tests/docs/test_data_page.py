"""Does every example of docs/data.md do what the page says?"""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "data.md"


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed, run = doctest.testfile(str(PAGE), module_relative=False)
    assert run > 10
    assert not failed

"""Does every session shown in the pages, `>>>` and what follows, go as it is shown?

A page is one session, in a folder of its own: what one block defines, the next may use.
"""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if ">>> " in page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_session(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed, run = doctest.testfile(str(page), module_relative=False, optionflags=doctest.REPORT_NDIFF)
    assert run
    assert not failed


def test_every_page_with_a_session_is_found() -> None:
    assert {"data.md", "tutorial.md"} <= {page.name for page in PAGES}
    assert {page.stem for page in (DOCS / "how-it-works").glob("*.md")} <= {page.stem for page in PAGES}

"""Does the notebook of the first hour run, and show what is stored in it?"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Jupyter's own are not ours to mend

NOTEBOOK = Path(__file__).parents[2] / "examples" / "first_hour.ipynb"
_TIMES = re.compile(r"[\d.,]+ (ms|s)\b|(?<=>)[\d.,]+(?=</td></tr>)")  # the last column of a report is a time


class Balanced(HTMLParser):
    """Checks that every element that is opened is closed, in order."""

    EMPTY = frozenset({"br", "col", "hr", "img", "meta", "path", "rect", "line"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: Any) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.EMPTY:
            assert self.open.pop() == tag


def outputs(notebook: Any) -> list[dict[str, str]]:
    """What each code cell shows, by kind, without times."""
    found = []
    for cell in notebook.cells:
        shown: dict[str, str] = {}
        for output in cell.get("outputs", ()):
            assert output.output_type != "error", output
            said = {"stdout": output.text} if "text" in output else {}
            for kind, text in {**output.get("data", {}), **said}.items():
                shown[kind] = _TIMES.sub("…", shown.get(kind, "") + text)
        if cell.cell_type == "code":
            found.append(shown)
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    notebook = nbformat.read(NOTEBOOK, 4)
    folder = tmp_path_factory.mktemp("notebook")
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}})
    return client.execute()


def test_it_shows_what_is_stored(run: Any) -> None:
    assert outputs(run) == outputs(nbformat.read(NOTEBOOK, 4))


def test_tables_and_pictures(run: Any) -> None:
    pages = [shown["text/html"] for shown in outputs(run) if "text/html" in shown]
    assert len(pages) > 12
    for page in pages:
        checked = Balanced()
        checked.feed(page)
        assert not checked.open
    assert sum("<svg" in page for page in pages) == 2
    assert any("Acme &lt;&amp; Sons&gt;" in page for page in pages)
    assert not any("Acme <" in page for page in pages)

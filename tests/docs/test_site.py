"""Do the pages build without a warning, lead where they say, and need no network to be read?

The pages are built once, as `make docs` does; links and assets are then looked at in the HTML.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

import everlog
import everlog.errors
import everlog.pipeline

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings")

ROOT = Path(__file__).parents[2]
ERRORS = [
    name
    for name, value in vars(everlog.errors).items()
    if inspect.isclass(value) and value.__module__ == everlog.errors.__name__
]
PUBLIC = [
    *(f"everlog.{name}" for name in everlog.__all__ if name not in ERRORS),
    *(f"everlog.pipeline.{name}" for name in everlog.pipeline.__all__),
    *(f"everlog.errors.{name}" for name in ERRORS),
]
_LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}  # what a page fetches
_FETCHED_BY_STYLES = re.compile(r"(?:url\(|@import)\s*['\"]?(https?:)?//")


class Looked(HTMLParser):
    """The anchors of a page, where its links lead, and what it loads."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in _LOADED and _LOADED[tag] in found:
            self.loaded.append(found[_LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    ended = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Looked]:
    return {page: Looked(page) for page in sorted(site.rglob("*.html"))}


@pytest.mark.slow
def test_links_lead_somewhere(pages: dict[Path, Looked]) -> None:
    broken = []
    for page, looked in pages.items():
        for link in looked.links:
            path, anchor = urldefrag(link)
            if re.match(r"[a-z]+:", path) or page.name == "404.html":
                continue
            target = (page.parent / unquote(path)).resolve() if path else page
            if not target.exists() or (anchor and target in pages and unquote(anchor) not in pages[target].anchors):
                broken.append(f"{page.name}: {link}")
    assert len(pages) > 50
    assert not broken


@pytest.mark.slow
def test_nothing_is_fetched(site: Path, pages: dict[Path, Looked]) -> None:
    fetched = [(page.name, what) for page, looked in pages.items() for what in looked.loaded if "//" in what]
    styles = [sheet.name for sheet in site.rglob("*.css") if _FETCHED_BY_STYLES.search(sheet.read_text("utf-8"))]
    assert not fetched
    assert not styles
    assert (site / "search" / "search_index.js").exists()  # what a page opened from a file system searches in
    assert any("iframe-worker.js" in what for what in pages[site / "index.html"].loaded)


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_its_place(pages: dict[Path, Looked], name: str) -> None:
    assert any(name in looked.anchors for page, looked in pages.items() if page.parent.name == "python")


@pytest.mark.slow
def test_every_command_is_there(site: Path) -> None:
    page = (site / "command-reference.html").read_text(encoding="utf-8")
    for command in commands():
        assert f'id="{command.replace(" ", "-")}"' in page, command


def test_the_guide_names_every_command() -> None:
    guide = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    assert not [command for command in commands() if command.split()[-1] not in guide and "bench" not in command]


def commands() -> list[str]:
    """Every command, found in the help of the one above it."""
    from typer.testing import CliRunner

    from everlog.cli.main import app

    found, todo = [], [["everlog"]]
    while todo:
        command = todo.pop()
        found.append(" ".join(command))
        said = CliRunner().invoke(app, [*command[1:], "--help"]).stdout
        below = said.partition("\nCommands:\n")[2]
        todo += [[*command, name] for name in re.findall(r"^  (\S+)", below, re.MULTILINE)]
    assert len(found) > 20
    return found


def public_members() -> list[tuple[str, object]]:
    """Public names, and what classes among them offer."""
    found: list[tuple[str, object]] = []
    for module, names in (
        (everlog, everlog.__all__),
        (everlog.pipeline, everlog.pipeline.__all__),
        (everlog.errors, ERRORS),
    ):
        for name in names:
            value = getattr(module, name)
            found.append((f"{module.__name__}.{name}", value))
            if inspect.isclass(value):
                own = {key: each for kind in value.__mro__ for key, each in vars(kind).items() if _is_ours(kind)}
                found += [
                    (f"{module.__name__}.{name}.{key}", each)
                    for key, each in own.items()
                    if not key.startswith("_") and (inspect.isfunction(each) or isinstance(each, property))
                ]
    return found


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "everlog"


def test_every_public_name_says_what_it_is() -> None:
    silent = [name for name, value in public_members() if not (inspect.getdoc(value) or "").strip()]
    assert not silent


def test_every_token_of_the_grammar_is_explained() -> None:
    grammar = (ROOT / "src/everlog/rules/grammar.lark").read_text(encoding="utf-8")
    tokens = {token for line in re.findall(r"^%declare (.*)$", grammar, re.MULTILINE) for token in line.split()}
    page = (ROOT / "docs/grammar.md").read_text(encoding="utf-8")
    assert "src/everlog/rules/grammar.lark" in page
    assert tokens and {token for token in tokens if f"`{token}`" not in page} == set()

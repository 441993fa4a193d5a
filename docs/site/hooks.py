"""What does building the pages need beyond MkDocs? Pages made from other files, and links that lead out of docs/.

- The command reference is made from the commands themselves, so that it says what `--help` says.
- ARCHITECTURE.md, CHANGELOG.md and CONTRIBUTING.md stand at the top of the repository and get a page each.
- A link to code or to an example has no page to lead to; its text stays, with the path. A link that is called like a
  file gets the title of its page.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
COMMANDS = "command-reference.md"
PROJECT_PAGES = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
}
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\[\]]+)\]\((?P<target>[^()\s#]+)(?P<anchor>#[^()\s]*)?\)")
_ANOTHER_SITE = re.compile(r"[a-z]+:")
_INTRODUCTION = """# Commands

What `--help` says of each command. [The command line](commands.md) shows them at work; limits, errors and exit codes
are described there too.
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from other files."""
    files.append(File.generated(config, COMMANDS, content=command_reference()))
    for source, page in PROJECT_PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Mend links to what is no page; a page that stands alone needs no list of pages beside it."""
    if page.parent is None:
        page.meta["hide"] = ["navigation"]
    pages = {name: source for source, name in PROJECT_PAGES.items()}
    source = pages.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    folder = PurePosixPath(page.file.src_uri).parent

    def mended(link: re.Match[str]) -> str:
        if _ANOTHER_SITE.match(link["target"]):
            return link[0]
        path = os.path.normpath(PurePosixPath(source).parent / link["target"])
        inside = PROJECT_PAGES.get(path, os.path.relpath(path, "docs"))
        found = files.get_file_from_path(inside)
        if found is not None and found.inclusion.is_included():
            text = _title(found) if link["text"].endswith(".md") else link["text"]
            return f"[{text}]({os.path.relpath(inside, folder)}{link['anchor'] or ''})"
        if not (ROOT / path).exists():
            return link[0]  # MkDocs tells of it
        return f"`{path}`" if path.endswith(link["text"].strip("`")) else f"{link['text']} (`{path}`)"

    return _LINK.sub(mended, markdown)


def _title(file: File) -> str:
    """What a page calls itself."""
    return file.content_string.partition("\n")[0].removeprefix("# ")


def command_reference() -> str:
    """Every command, with what `--help` prints for it."""
    parts = [_INTRODUCTION]
    for name, text in commands():
        parts.append(f"## {name}\n\n```text\n{text.rstrip()}\n```\n")
    return "\n".join(parts)


def commands() -> Iterator[tuple[str, str]]:
    """Names and help of all commands, those of groups behind their group."""
    import typer.main

    from everlog.cli.main import app

    def visit(command: Any, context: Any) -> Iterator[tuple[str, str]]:
        yield context.command_path, command.get_help(context)
        for name, inner in getattr(command, "commands", {}).items():
            yield from visit(inner, type(context)(inner, info_name=name, parent=context, **_WIDTH))

    root = typer.main.get_command(app)
    yield from visit(root, root.context_class(root, info_name="everlog", **_WIDTH))


_WIDTH = {"terminal_width": 100, "max_content_width": 100}

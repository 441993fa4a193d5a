"""What does a graph of rules look like as a page to move around in? One file; nothing is fetched."""

from __future__ import annotations

from importlib.resources import files
from xml.sax.saxutils import escape

from everlog.rules.picture.graph import RuleGraph
from everlog.rules.picture.svg import to_svg


def to_html(graph: RuleGraph, *, title: str) -> str:
    """The drawing in a page that zooms, moves, and shows what lies up and down from a box."""
    page = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    before, rest = page.split("{{drawing}}")
    return before.replace("{{title}}", escape(title)) + to_svg(graph) + rest

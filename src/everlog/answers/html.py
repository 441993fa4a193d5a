"""How does a notebook show a table? As HTML that needs nothing else, short where there is much, all text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from html import escape

from everlog.answers.showing import shown
from everlog.facts.terms import Term

MOST_ROWS = 20
LONGEST = 200  # characters of a cell


def html_table(titles: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str = "", below: str = "") -> str:
    """A table; numbers stand at the right."""
    head = "".join(f'<th style="text-align:left">{escape(title)}</th>' for title in titles)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    above = f"<caption style='text-align:left'>{escape(caption)}</caption>" if caption else ""
    note = f"<p>{escape(below)}</p>" if below else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def html_rows(
    titles: Sequence[str],
    first: Iterable[Sequence[Term | None]],
    total: int,
    *,
    caption: str = "",
    prefixes: Mapping[str, str] | None = None,
) -> str:
    """The first of many rows of terms."""
    cells = [["" if term is None else _term(term, prefixes) for term in row] for row in first]
    more = f"… {total - len(cells):,} more" if total > len(cells) else ""
    return html_table(titles, cells, caption=caption, below=more)


def html_text(text: str) -> str:
    """Text as it stands."""
    return f"<pre>{escape(text)}</pre>"


class _Number(str):
    """The text of a term that is a number: as it was written, and at the right."""


def _term(term: Term, prefixes: Mapping[str, str] | None) -> str:
    text = shown(term, prefixes)
    return _Number(text) if isinstance(term, int | float | Decimal) and not isinstance(term, bool) else text


def _cell(value: object) -> str:
    if isinstance(value, int | float):
        value = _Number(f"{value:,}" if isinstance(value, int) else f"{value:,.2f}")
    side = "right" if isinstance(value, _Number) else "left;white-space:pre-wrap"
    text = str(value)
    if len(text) > LONGEST:
        text = text[:LONGEST] + "…"
    return f'<td style="text-align:{side}">{escape(text)}</td>'

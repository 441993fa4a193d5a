"""Where in a TOML text does a key stand?

`tomllib` gives values without places. This reads the text once more, line by line, for headers and keys only: good
enough to underline what is written the usual way; for the rest (keys inside inline tables) it points at the nearest
thing it knows.
"""

from __future__ import annotations

import re

from everlog.rules.diagnostics import SourceText, Span

_HEADER = re.compile(r"\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=\s*(.*?)\s*$""")

Place = tuple[str, int, str]  # the header's name, which of those with that name, the key; "" for what has no header


class Places:
    """The keys, values and headers of a text."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self._keys: dict[Place, Span] = {}
        self._values: dict[Place, Span] = {}
        self._headers: dict[tuple[str, int], Span] = {}
        section, number = "", 0
        counts: dict[str, int] = {}
        for index, start in enumerate(source.line_starts):
            line = source.line(index + 1)
            if header := _HEADER.match(line):
                section = header[1]
                number = counts.get(section, 0)
                counts[section] = number + 1
                begin = start + len(line) - len(line.lstrip())
                self._headers[section, number] = Span(source, begin, start + len(line.rstrip()))
            elif found := _KEY.match(line):
                place = (section, number, re.sub(r"[\"'\s]", "", found[1]))
                self._keys.setdefault(place, Span(source, start + found.start(1), start + found.end(1)))
                value = _without_comment(found[2])
                self._values.setdefault(
                    place, Span(source, start + found.start(2), start + found.start(2) + max(1, len(value)))
                )

    def key(self, section: str, number: int, key: str) -> Span | None:
        return self._keys.get((section, number, key)) or self.header(section, number)

    def value(self, section: str, number: int, key: str) -> Span | None:
        return self._values.get((section, number, key)) or self.header(section, number)

    def header(self, section: str, number: int) -> Span | None:
        return self._headers.get((section, number)) or self._keys.get(("", 0, section))


def _without_comment(value: str) -> str:
    """A value without the comment behind it; a # inside quotes is none.

    >>> _without_comment('"a # b"  # c')
    '"a # b"'
    """
    quote = ""
    for index, character in enumerate(value):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "#":
            return value[:index].rstrip()
    return value

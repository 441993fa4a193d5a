"""How is a problem in a text shown: its place, the text underlined, why, and what to do?

A diagnostic is data first (code, message, span, notes, help); `render` prints it for people, `as_data` for programs.
Codes: `R1xx` the text cannot be read, `R2xx` a rule is unsafe or ill-formed, `R3xx` rules do not fit together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal


@dataclass(frozen=True)
class SourceText:
    """A text, and its name for error messages."""

    name: str
    text: str

    @cached_property
    def line_starts(self) -> list[int]:
        starts = [0]
        for index, character in enumerate(self.text):
            if character == "\n":
                starts.append(index + 1)
        return starts

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of an offset into the text."""
        from bisect import bisect_right

        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        start = self.line_starts[number - 1]
        end = self.line_starts[number] - 1 if number < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r")


@dataclass(frozen=True)
class Span:
    """A range of a source text; the end is exclusive."""

    source: SourceText
    start: int
    end: int

    def to(self, other: Span) -> Span:
        return Span(self.source, self.start, other.end)


# Longer lines are cut to this width, which fits a terminal.
WIDTH = 120


@dataclass(frozen=True)
class Diagnostic:
    """One problem."""

    code: str
    message: str
    span: Span | None = None
    notes: tuple[str, ...] = ()
    help: str | None = None
    related: tuple[tuple[Span, str], ...] = field(default=())  # other places, each with what is there
    level: Literal["error", "warning"] = "error"

    def render(self) -> str:
        lines = [f"{self.level}[{self.code}]: {self.message}"]
        if self.span is not None:
            lines += _excerpt(self.span)
        for span, label in self.related:
            lines += [f"   = note: {label}", *_excerpt(span)]
        lines += [f"   = note: {note}" for note in self.notes]
        if self.help:
            lines.append(f"   = help: {self.help}")
        return "\n".join(lines)

    def as_data(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "message": self.message,
            "place": _place_data(self.span),
            "notes": list(self.notes),
            "help": self.help,
            "related": [{"place": _place_data(span), "message": label} for span, label in self.related],
        }


def _place_data(span: Span | None) -> dict[str, Any] | None:
    if span is None:
        return None
    line, column = span.source.place(span.start)
    end_line, end_column = span.source.place(max(span.start, span.end))
    return {
        "file": span.source.name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    }


def _excerpt(span: Span) -> list[str]:
    """The line of a span with the span underlined, cut to a window when the line is very long."""
    number, column = span.source.place(span.start)
    text = span.source.line(number).replace("\t", " ")
    start = column - 1
    length = max(1, min(span.end - span.start, len(text) - start))
    offset = max(0, start - WIDTH // 2) if len(text) > WIDTH else 0
    shown = text[offset : offset + WIDTH]
    length = max(1, min(length, WIDTH - (start - offset)))
    gutter = " " * len(str(number))
    return [
        f"{gutter} --> {span.source.name}:{number}:{column}",
        f"{number} | {'…' if offset else ''}{shown}{'…' if offset + WIDTH < len(text) else ''}",
        f"{gutter} | {' ' * (start - offset + (1 if offset else 0))}{'^' * length}",
    ]

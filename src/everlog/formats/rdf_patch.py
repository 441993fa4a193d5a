"""Which updates does an RDF Patch hold?

    H id <uuid:0686c69d-…> .            a header, of no meaning here
    TX .                                a transaction begins; one that ends with TC is an update, with TA it is void
    PA ex <http://example.org/> .       a prefix; PD takes it back
    A ex:a ex:p "text"@en .             add a triple, or a quad with its graph as fourth
    D _:b0 ex:p ex:o ex:g .             delete one
    TC .

Lines outside of any transaction are one update. Where a transaction adds and deletes the same triple, the last line
counts. Blank nodes are named by the labels they have in the knowledge base, as the format asks (`_:b0` or `<_:b0>`). A
file that ends inside a transaction is an error: what was not committed must not be applied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

import pyoxigraph as ox

from everlog.errors import FormatError
from everlog.facts.terms import Term, term_of
from everlog.formats.compression import packed_by_mistake
from everlog.formats.rdf import term_keys
from everlog.formats.update_files import WrittenUpdate

_TERM = re.compile(
    r"""\s*(?:
        (?P<iri><[^<>\s]*>)
      | (?P<literal>"[^"\\\n]*(?:\\.[^"\\\n]*)*")
        (?: @[A-Za-z0-9-]+ | \^\^(?P<datatype><[^<>\s]*>|[^\s<>"]*:[^\s<>"]*) )?
      | (?P<blank>_:[^\s<>"]+)
      | (?P<prefixed>[^\s<>":]*:[^\s<>"]*)
    )(?=\s)""",
    re.VERBOSE,
)
_HINT = "lines are such as: A <http://example.org/s> <http://example.org/p> <http://example.org/o> ."
_OPERATIONS = ("A", "D", "H", "TX", "TC", "TA", "PA", "PD")


@dataclass
class _Transaction:
    """The additions and deletions read so far, as lines of N-Quads."""

    line: int
    begun: bool
    adds: list[bool] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    quads: list[str] = field(default_factory=list)


def read_rdf_patch(stream: BinaryIO, *, path: str) -> Iterator[WrittenUpdate]:
    """An update for each transaction that is committed."""
    return _Reader(path).updates(stream)


class _Reader:
    def __init__(self, path: str) -> None:
        self._path = path
        self._prefixes: dict[str, str] = {}
        self._key = term_keys(lambda label: "_" + label, path)

    def updates(self, stream: BinaryIO) -> Iterator[WrittenUpdate]:
        current = _Transaction(1, begun=False)
        for number, line in enumerate(stream, 1):
            operation, rest = self._split(line, number)
            if operation in ("A", "D"):
                if not current.quads and not current.begun:
                    current.line = number
                current.adds.append(operation == "A")
                current.lines.append(number)
                current.quads.append(self._quad(rest, number))
            elif operation == "TX":
                if current.begun:
                    raise self._error(f"a transaction begins inside that of line {current.line}", number)
                yield from self._update(current)
                current = _Transaction(number, begun=True)
            elif operation in ("TC", "TA"):
                if not current.begun:
                    raise self._error(f"{operation} ends a transaction that TX never began", number)
                if operation == "TC":
                    yield from self._update(current, also_empty=True)
                current = _Transaction(number, begun=False)
            elif operation in ("PA", "PD"):
                self._prefix(operation, rest, number)
        if current.begun:
            raise self._error("the file ends inside a transaction, which is not applied", current.line)
        yield from self._update(current)

    def _split(self, line: bytes, number: int) -> tuple[str, str]:
        """The operation of a line and the rest up to its dot; no operation where there is nothing but a comment."""
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            hint = packed_by_mistake(line) if number == 1 else None
            raise FormatError(f"this is not UTF-8 ({error.reason})", path=self._path, line=number, hint=hint) from error
        text = text.strip()
        if not text or text.startswith("#"):
            return "", ""
        operation, *rest = text.removesuffix(".").split(None, 1) or [text]
        if operation not in _OPERATIONS:
            raise self._error(f"{operation[:20]!r} is no operation of RDF Patch", number)
        if operation != "H" and not text.endswith("."):
            raise self._error("the line does not end with a dot", number)
        return operation, "".join(rest) + " "

    def _quad(self, rest: str, number: int) -> str:
        terms, position = [], 0
        while found := _TERM.match(rest, position):
            terms.append(self._term(found, number))
            position = found.end()
        if rest[position:].strip():
            raise self._error(f"no term of RDF: {rest[position:].strip()[:60]}", number)
        if len(terms) not in (3, 4):
            raise self._error(f"a triple has 3 terms and a quad 4, but here are {len(terms)}", number)
        return " ".join(terms)

    def _term(self, found: re.Match[str], number: int) -> str:
        """The term as N-Quads write it."""
        if found["iri"]:
            return found["iri"][1:-1] if found["iri"].startswith("<_:") else found["iri"]
        if found["prefixed"] is not None:
            return self._expanded(found["prefixed"], number)
        if found["datatype"] and not found["datatype"].startswith("<"):
            return f"{found['literal']}^^{self._expanded(found['datatype'], number)}"
        return found[0].strip()

    def _expanded(self, name: str, number: int) -> str:
        prefix, _, local = name.partition(":")
        if prefix not in self._prefixes:
            raise self._error(
                f"the prefix {prefix}: is not declared", number, f"write before: PA {prefix} <http://…> ."
            )
        return f"<{self._prefixes[prefix]}{local}>"

    def _prefix(self, operation: str, rest: str, number: int) -> None:
        name, _, iri = rest.strip().partition(" ")
        name, iri = name.strip('"').removesuffix(":"), iri.strip()
        if operation == "PD":
            self._prefixes.pop(name, None)
        elif iri.startswith("<") and iri.endswith(">"):
            self._prefixes[name] = iri[1:-1]
        else:
            raise self._error("a prefix needs an IRI", number, "write: PA ex <http://example.org/> .")

    def _update(self, transaction: _Transaction, *, also_empty: bool = False) -> Iterator[WrittenUpdate]:
        if not transaction.quads:
            if also_empty:
                yield WrittenUpdate(transaction.line)
            return
        last: dict[tuple[Term, ...], tuple[tuple[Term, ...], bool]] = {}
        for quad, adds in zip(self._parse(transaction), transaction.adds, strict=True):
            keys = [self._key(quad.subject), "<" + quad.predicate.value, self._key(quad.object)]
            if not isinstance(quad.graph_name, ox.DefaultGraph):
                keys.append(self._key(quad.graph_name))
            last[tuple(keys)] = tuple(map(term_of, keys)), adds
        insert: dict[str, list[tuple[Term, ...]]] = {}
        delete: dict[str, list[tuple[Term, ...]]] = {}
        for terms, adds in last.values():
            (insert if adds else delete).setdefault("triple" if len(terms) == 3 else "quad", []).append(terms)
        yield WrittenUpdate(transaction.line, insert, delete)

    def _parse(self, transaction: _Transaction) -> list[ox.Quad]:
        text = "".join(f"{quad} .\n" for quad in transaction.quads)
        try:
            return list(ox.parse(text, format=ox.RdfFormat.N_QUADS))
        except SyntaxError as error:
            line = transaction.lines[(error.lineno or 1) - 1]
            message = re.sub(r"^Parser error[^:]*: ", "", error.msg or str(error))
            raise self._error(message, line) from error

    def _error(self, message: str, line: int, hint: str = _HINT) -> FormatError:
        return FormatError(message, path=self._path, line=line, hint=hint)

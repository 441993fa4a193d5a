"""How is SPARQL parsed? rdflib reads it and gives the algebra of SPARQL 1.1 (section 18).

Parsing takes longer than most queries, so results are cached by text.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import lru_cache, partial
from typing import Any, NamedTuple

from everlog.errors import SparqlError
from everlog.sparql.abbreviations import name_aggregates, write_out
from everlog.sparql.checks import check
from everlog.sparql.grammar import mend_grammar
from everlog.sparql.scope import Tree

_REMEMBERED = 512
_CLOSERS = {"{": "}", "(": ")", "[": "]"}
_BRACKET = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|<[^\s<>]*>|\#[^\n]*|(?P<bracket>[{}()\[\]])",
    re.DOTALL,
)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\U0000[dD][89a-fA-F][0-9a-fA-F]{2}|[\ud800-\udfff]")
_lock = threading.Lock()

Algebra = Any  # rdflib's CompValue, which has no types


class ParsedQuery(NamedTuple):
    """A query; the root of its algebra is a SelectQuery, AskQuery, ConstructQuery or DescribeQuery."""

    algebra: Algebra
    base: str | None  # against which IRI() resolves relative IRIs


def parse_query(text: str, base: str | None = None, prefixes: Mapping[str, str] | None = None) -> ParsedQuery:
    """The algebra of a query; an error where it is not valid."""
    return _query(text, base, tuple(sorted((prefixes or {}).items())))


def parse_update(text: str, base: str | None = None, prefixes: Mapping[str, str] | None = None) -> list[ParsedQuery]:
    """The operations of an update request, in order."""
    return _update(text, base, tuple(sorted((prefixes or {}).items())))


@lru_cache(_REMEMBERED)
def _query(text: str, base: str | None, prefixes: tuple[tuple[str, str], ...]) -> ParsedQuery:
    from rdflib.plugins.sparql.algebra import translatePrologue, translateQuery
    from rdflib.plugins.sparql.parser import parseQuery

    with _errors(text):
        tree = parseQuery(text)
        prologue = translatePrologue(tree[0], base, dict(prefixes))
        tree[1] = _named(tree[1], prologue)
        check(tree[1])
        write_out(tree[1])
        algebra = translateQuery(tree, base, dict(prefixes)).algebra
        return ParsedQuery(algebra, str(prologue.base) if prologue.base else None)


@lru_cache(_REMEMBERED)
def _update(text: str, base: str | None, prefixes: tuple[tuple[str, str], ...]) -> list[ParsedQuery]:
    from rdflib.plugins.sparql.algebra import translatePrologue, translateUpdate
    from rdflib.plugins.sparql.parser import parseUpdate

    with _errors(text):
        tree = parseUpdate(text)
        if not tree.request:
            return []
        prologue, bases = None, []
        for number, operation in enumerate(tree.request):
            prologue = translatePrologue(tree.prologue[number], base, dict(prefixes), prologue)
            tree.request[number] = _named(operation, prologue)
            bases.append(str(prologue.base) if prologue.base else None)
        check(tree.request)
        write_out(tree.request)
        operations = translateUpdate(tree, base, dict(prefixes)).algebra
        return [ParsedQuery(algebra, own) for algebra, own in zip(operations, bases, strict=True)]


def _named(tree: Tree, prologue: Any) -> Tree:
    """A parse tree with prefixes and relative IRIs resolved, and aggregates recognised."""
    from rdflib.plugins.sparql.algebra import translatePName, traverse

    named = traverse(tree, visitPost=partial(translatePName, prologue=prologue))
    name_aggregates(named)
    return named


@contextmanager
def _errors(text: str) -> Iterator[None]:
    """Leave literals as they are written, and turn rdflib's exceptions into our errors."""
    import rdflib
    from pyparsing import ParseBaseException

    if _SURROGATE.search(text):
        raise SparqlError("half of a surrogate pair is no character", hint="write the character itself")
    with _lock:
        mend_grammar()
        normalises, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
        try:
            yield
        except SparqlError:
            raise
        except ParseBaseException as error:
            raise _syntax_error(text, error) from None
        except RecursionError:
            raise SparqlError("the query is nested too deeply", hint="split it into smaller ones") from None
        except Exception as error:  # rdflib raises plain exceptions for some invalid queries
            raise _other_error(text, error) from None
        finally:
            rdflib.NORMALIZE_LITERALS = normalises


def _syntax_error(text: str, error: Any) -> SparqlError:
    line, column = error.lineno, error.column
    found = text.splitlines()[line - 1][column - 1 :].split() if line <= len(text.splitlines()) else []
    expected = re.sub(r"^Expected ", "", error.msg).removeprefix("end of text")
    message = f"line {line}, column {column}: " + (f"{found[0]!r} is not expected here" if found else "the text ends")
    unclosed = _unclosed(text)
    if unclosed is not None:
        opened, place = unclosed
        return SparqlError(message, hint=f"close the {opened} of {_place(text, place)[:-2]} with {_CLOSERS[opened]}")
    return SparqlError(message, hint=f"expected: {expected}" if expected and len(expected) < 200 else None)


def _unclosed(text: str) -> tuple[str, int] | None:
    """The last bracket that is never closed, and where it stands; those in strings, IRIs and comments do not count."""
    still_open: list[tuple[str, int]] = []
    for match in _BRACKET.finditer(text):
        bracket = match["bracket"]
        if bracket in _CLOSERS:
            still_open.append((bracket, match.start()))
        elif bracket and still_open and _CLOSERS[still_open[-1][0]] == bracket:
            still_open.pop()
    return still_open[-1] if still_open else None


def _other_error(text: str, error: Exception) -> SparqlError:
    unknown = re.search(r"Unknown namespace prefix\s*:\s*(\S*)", str(error))
    if unknown:
        prefix = unknown.group(1).rstrip(":")
        prefix = "" if prefix == "None" else prefix  # rdflib's word for none
        declared = re.findall(r"(?i)\bPREFIX\s+([^\s:]*):", text)
        place = re.search(rf"(?<![\w:]){re.escape(prefix)}:", text)
        where = _place(text, place.start()) if place else ""
        near = get_close_matches(prefix, declared, 1)
        hint = f"did you mean {near[0]}:?" if near else f"declare it: PREFIX {prefix}: <…>"
        return SparqlError(f"{where}the prefix {prefix}: is not declared", hint=hint)
    return SparqlError(str(error) or type(error).__name__)


def _place(text: str, position: int) -> str:
    before = text[:position]
    return f"line {before.count(chr(10)) + 1}, column {position - before.rfind(chr(10))}: "

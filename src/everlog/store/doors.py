"""What is refused at the door, because nothing behind it could use it?

- A relation that rules cannot write: its facts would be there, and no rule or Datalog query could read them.
- Half a surrogate pair, which is no character: it could be kept in memory, but not be written.
- A triple whose subject is a literal or whose predicate is no IRI: rules and SPARQL refuse it too (R217).

Facts that are there already may always be deleted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from everlog.errors import DataError
from everlog.facts.blocks import FactBlock
from everlog.facts.terms import IRI, BlankNode, Literal, term_of
from everlog.rules.statements import LITERAL_WORDS
from everlog.rules.syntax import QUAD, TRIPLE

if TYPE_CHECKING:
    import pyarrow as pa

_NAME = re.compile(r"[^\W\d]\w*")
_TEXTS: dict[type, Callable[[Any], str]] = {
    IRI: attrgetter("value"),
    Literal: attrgetter("lexical"),
    BlankNode: attrgetter("label"),
}
_PLACES = (("subject", "an IRI or a blank node", ("<", "_")), ("predicate", "an IRI", ("<",)))


def is_relation_name(name: str) -> bool:
    """Can rules write a relation of this name?

    >>> [is_relation_name(name) for name in ("edge", "In", "größe", "my-file", "2020", "not", "_")]
    [True, True, True, False, False, False, False]
    """
    return _NAME.fullmatch(name) is not None and name != "_" and name.lower() not in LITERAL_WORDS


def check_relation_name(name: object) -> None:
    if isinstance(name, str) and is_relation_name(name):
        return
    near = re.sub(r"\W+", "_", str(name)).strip("_")
    near = near if is_relation_name(near) else f"r_{near}".rstrip("_")
    raise DataError(
        f"{name!r} is no name for a relation: rules could not write it",
        hint=f"letters, digits and _, such as {near}; a file's relation is named by relation={near!r} or {near}=FILE",
    )


def check_rows(relation: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Are these terms that can be kept, and triples that can be told?"""
    for number, row in enumerate(rows, start=1):
        for term in row:
            kind = type(term)
            if kind is not str and kind not in _TEXTS:
                continue
            text = term if kind is str else _TEXTS[kind](term)
            if not text.isascii() and _has_half_a_pair(text):
                raise DataError(f"row {number} of {relation}: {text!r:.80} has half a surrogate pair, no character")
    arity = {TRIPLE: 3, QUAD: 4}.get(relation)
    if arity is not None:
        for number, row in enumerate(rows, start=1):
            if len(row) != arity:
                continue  # which is a mistake of its own, told where all relations' rows are counted
            for (place, wanted, _), types, term in zip(_PLACES, ((IRI, BlankNode), (IRI,)), row, strict=False):
                if not isinstance(term, types):
                    raise _no_triple(place, wanted, term, f"row {number}: ")


def check_block(block: FactBlock) -> None:
    """The same for columns, whose texts have been checked when they were read."""
    if block.relation not in (TRIPLE, QUAD):
        return
    for (place, wanted, kinds), column in zip(_PLACES, block.columns, strict=False):
        if not len(column):
            continue
        if block.form != "keys":
            raise _no_triple(place, wanted, column[0].as_py())
        bad = next((key for key in _distinct(column) if not key.startswith(kinds)), None)
        if bad is not None:
            raise _no_triple(place, wanted, term_of(bad))


def _distinct(column: pa.Array | pa.ChunkedArray) -> Iterable[str]:
    """The first characters of keys, which say what kind of terms they are; or the keys, if some are literals."""
    import pyarrow.compute as pc

    keys = getattr(column, "dictionary", column)
    kinds: list[str] = pc.unique(pc.utf8_slice_codeunits(keys, 0, 1)).to_pylist()
    found: list[str] = kinds if set(kinds) <= {"<", "_"} else pc.unique(keys).to_pylist()
    return found


def _no_triple(place: str, wanted: str, term: object, where: str = "") -> DataError:
    shown = repr(term) if len(repr(term)) <= 80 else repr(term)[:77] + "…"
    return DataError(
        f"{where}the {place} of a triple is {wanted}, and {shown} is not",
        hint='write IRI("http://example.org/…"), or use a relation of another name',
    )


def _has_half_a_pair(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False

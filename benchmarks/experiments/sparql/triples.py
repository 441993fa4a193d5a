"""In which forms do the systems of the SPARQL benchmark take triples?

Data is made as columns of term keys (facts/terms.py), which Everlog takes as they are. pyoxigraph reads N-Triples;
DuckDB gets the text of a term without what tells its kind, as the paper stores it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.datasets.ntriples import joined
from everlog.facts.blocks import FactBlock
from everlog.facts.terms import XSD, Term, term_of

Triple = tuple[str, str, str]  # term keys
_KIND = re.compile(r'<|"|\^\S* |@\S* ')


@dataclass(frozen=True)
class Edit:
    """One update: what goes and what comes."""

    name: str
    delete: Sequence[Triple]
    insert: Sequence[Triple]


def block(subjects: pa.Array, predicate: str, objects: pa.Array) -> FactBlock:
    """Triples of one predicate; its objects are all of one kind."""
    return FactBlock("triple", (subjects, pa.array([f"<{predicate}"]).take(_zeros(len(subjects))), objects), "keys")


def block_of_triples(triples: Sequence[Triple]) -> FactBlock:
    """Triples of any predicates."""
    columns = zip(*triples, strict=True) if triples else ((), (), ())
    return FactBlock("triple", tuple(pa.array(column, pa.string()) for column in columns), "keys")


def _zeros(count: int) -> pa.Array:
    return pa.nulls(count, pa.int32()).fill_null(0)


def terms(triples: Iterable[Triple]) -> list[tuple[Term, ...]]:
    """Triples as users give them."""
    return [tuple(map(term_of, triple)) for triple in triples]


def plain(key: str) -> str:
    """The text of a term alone.

    >>> plain("^integer 42"), plain("<http://ex.org/a"), plain('"New York')
    ('42', 'http://ex.org/a', 'New York')
    """
    return _KIND.sub("", key, count=1)


def plain_columns(facts: FactBlock) -> list[pa.Array]:
    """The same of whole columns."""
    return [pc.replace_substring_regex(column, f"^({_KIND.pattern})", "") for column in facts.columns]


def ntriples(facts: FactBlock) -> bytes:
    """A block made by `block`, as lines."""
    subject, predicate, object_ = facts.columns
    written = joined(_iri(subject), " ", _iri(predicate), " ", _objects(object_), " .")
    return "\n".join(written.to_pylist()).encode() + b"\n"


def _iri(keys: pa.Array) -> Any:
    return joined(keys, ">")


def _objects(keys: pa.Array) -> Any:
    first = keys[0].as_py() if len(keys) else "<"
    if first[0] == "<":
        return _iri(keys)
    kind = _KIND.match(first)
    assert kind
    texts, sort = pc.utf8_slice_codeunits(keys, len(kind[0])), kind[0].strip()
    if sort == '"':
        return joined('"', texts, '"')
    if sort[0] == "@":
        return joined('"', texts, f'"{sort}')
    datatype = sort[1:] if ":" in sort else XSD + sort[1:]
    return joined('"', texts, f'"^^<{datatype}>')

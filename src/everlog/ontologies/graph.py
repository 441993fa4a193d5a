"""Which triples of a document speak of an ontology, and how are they looked up?

Most triples of a real ontology are labels, comments and annotations; they are sorted out column by column, before any
of them becomes a Python object.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from everlog.facts.blocks import FactBlock
from everlog.ontologies.vocabulary import FIRST, NIL, PREDICATES, REST, TYPE, TYPES

if TYPE_CHECKING:
    import pyarrow as pa

Key = str  # of a term, see facts/terms.py
MOST_MEMBERS = 1_000_000  # of a list; whoever has more has a list that bites its tail


class OntologyGraph:
    """Triples about classes, properties and axioms, by predicate and by subject."""

    def __init__(self) -> None:
        self.by_predicate: dict[Key, list[tuple[Key, Key]]] = defaultdict(list)
        self._objects: dict[tuple[Key, Key], list[Key]] = defaultdict(list)
        self.types: dict[Key, set[Key]] = defaultdict(set)

    @classmethod
    def of_blocks(cls, blocks: Iterable[FactBlock]) -> OntologyGraph:
        """From the blocks that an RDF document is read in; graphs count as one."""
        graph = cls()
        for block in blocks:
            graph._take(block)
        return graph

    def _take(self, block: FactBlock) -> None:
        import pyarrow.compute as pc

        subjects, predicates, objects = (_keys(column) for column in block.columns[:3])
        about = pc.is_in(predicates, value_set=_set_of(PREDICATES))
        typed = pc.and_(pc.equal(predicates, TYPE), pc.is_in(objects, value_set=_set_of(TYPES)))
        chosen = pc.or_(about, typed)
        columns = (column.filter(chosen).to_pylist() for column in (subjects, predicates, objects))
        for triple in zip(*columns, strict=True):
            self.add(*triple)

    def add(self, subject: Key, predicate: Key, object_: Key) -> None:
        """One more triple."""
        self.by_predicate[predicate].append((subject, object_))
        if predicate == TYPE:
            self.types[subject].add(object_)
        else:
            self._objects[subject, predicate].append(object_)

    def pairs(self, predicate: Key) -> list[tuple[Key, Key]]:
        """Subjects and objects of a predicate."""
        return self.by_predicate.get(predicate, [])

    def instances(self, class_: Key) -> Iterator[Key]:
        """What is of a type."""
        return (subject for subject, object_ in self.pairs(TYPE) if object_ == class_)

    def objects(self, subject: Key, predicate: Key) -> list[Key]:
        return self._objects.get((subject, predicate), [])

    def object(self, subject: Key, predicate: Key) -> Key | None:
        """The object of a predicate that has one value; the first if a document says several."""
        found = self._objects.get((subject, predicate))
        return found[0] if found else None

    def list(self, head: Key) -> list[Key] | None:
        """The members of an RDF list, None if it is none or has no end."""
        members: list[Key] = []
        while head != NIL:
            first, rest = self.object(head, FIRST), self.object(head, REST)
            if first is None or rest is None or len(members) == MOST_MEMBERS:
                return None
            members.append(first)
            head = rest
        return members


def _keys(column: pa.Array) -> pa.Array:
    import pyarrow as pa

    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


@cache
def _set_of(keys: frozenset[str]) -> pa.Array:
    import pyarrow as pa

    return pa.array(sorted(keys))

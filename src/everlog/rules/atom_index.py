"""Which of many atoms could match a fact that a given atom matches?

Rules of an ontology are as many as its axioms, and nearly all of their atoms have constants: `[?x, a, :Person]`. So
atoms are kept by relation, by the columns in which they have constants, and by these constants. Two atoms unify only if
their constants are equal where both have some: one look for each set of columns finds the candidates, however many
other atoms there are. An index is never changed in place: `changed` makes another one, which shares what has stayed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from everlog.rules.syntax import Argument, Atom, Constant

K = TypeVar("K")
Columns = tuple[int, ...]
Shape = tuple[int, Columns]  # how many columns there are, and those with constants
Keys = tuple[str, ...]  # the keys of the constants in some columns
Entry = tuple[K, Atom]


class AtomIndex(Generic[K]):
    """Atoms, each with a key that says whose it is."""

    def __init__(self, atoms: Iterable[Entry[K]] = ()) -> None:
        self._relations: dict[str, dict[Shape, AtomsByConstants[K]]] = {}
        for entry in atoms:
            self._group(entry[1]).add(entry)

    def changed(self, remove: Iterable[Entry[K]], add: Iterable[Entry[K]]) -> AtomIndex[K]:
        """The index without some entries and with others."""
        other: AtomIndex[K] = AtomIndex()
        other._relations = self._relations.copy()
        own: set[str] = set()
        fresh: set[tuple[str, Shape]] = set()

        def group(atom: Atom) -> AtomsByConstants[K]:
            """Its group in the other index, copied when it is first asked for."""
            relation, shape = atom.relation, _shape(atom)
            if relation not in own:
                own.add(relation)
                other._relations[relation] = other._relations.get(relation, {}).copy()
            found = other._group(atom)
            if (relation, shape) not in fresh:
                fresh.add((relation, shape))
                found = other._relations[relation][shape] = found.copy()
            return found

        for entry in remove:
            group(entry[1]).remove(entry)
        for entry in add:
            group(entry[1]).add(entry)
        return other

    def _group(self, atom: Atom) -> AtomsByConstants[K]:
        groups, shape = self._relations.setdefault(atom.relation, {}), _shape(atom)
        if shape not in groups:
            groups[shape] = AtomsByConstants(shape[1])
        return groups[shape]

    def unifying(self, atom: Atom) -> Iterator[K]:
        """The keys of the atoms that unify with this one; a key may occur more than once."""
        for bucket in self._buckets(atom):
            for key, other in bucket:
                if unify(other, atom):
                    yield key

    def representatives(self, atom: Atom) -> Iterator[K]:
        """The same, but only one of those whose atoms match the same facts."""
        for bucket in self._buckets(atom):
            general = False
            for key, other in bucket:
                plain = not _repeats(other)
                if not (plain and general) and unify(other, atom):
                    general = general or plain
                    yield key

    def _buckets(self, atom: Atom) -> Iterator[Iterable[Entry[K]]]:
        groups = self._relations.get(atom.relation)
        if groups:
            constants = {column: arg.key for column, arg in enumerate(atom.args) if isinstance(arg, Constant)}
            for (width, _), group in list(groups.items()):
                if width == len(atom.args):
                    yield from group.agreeing(constants)

    def groups(self, relation: str) -> Iterator[AtomsByConstants[K]]:
        """All atoms of a relation, by the columns in which they have constants."""
        yield from self._relations.get(relation, {}).values()


class AtomsByConstants(Generic[K]):
    """Atoms of one relation that have constants in the same columns."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self._by_keys: dict[Keys, list[Entry[K]]] = {}
        self._own: set[Keys] = set()  # whose lists no other index shares
        self._by_part: dict[Columns, dict[Keys, dict[Keys, None]]] = {}  # made when first asked for

    def copy(self) -> AtomsByConstants[K]:
        other: AtomsByConstants[K] = AtomsByConstants(self.columns)
        other._by_keys = self._by_keys.copy()
        return other

    def add(self, entry: Entry[K]) -> None:
        keys = self._keys(entry[1])
        if keys not in self._by_keys:
            for part, known in self._by_part.items():
                known.setdefault(self._part(keys, part), {})[keys] = None
        self._entries(keys).append(entry)

    def remove(self, entry: Entry[K]) -> None:
        keys = self._keys(entry[1])
        left = self._entries(keys)
        left.remove(entry)
        if not left:
            del self._by_keys[keys]
            for part, known in self._by_part.items():
                del known[self._part(keys, part)][keys]

    def _entries(self, keys: Keys) -> list[Entry[K]]:
        """The list of these constants, to be changed."""
        if keys not in self._own:
            self._own.add(keys)
            self._by_keys[keys] = self._by_keys.get(keys, []).copy()
        return self._by_keys.setdefault(keys, [])

    def having(self, keys: Keys) -> Sequence[Entry[K]]:
        """The atoms with exactly these constants, in the order of the columns."""
        return self._by_keys.get(keys, ())

    def agreeing(self, constants: dict[int, str]) -> Iterator[Sequence[Entry[K]]]:
        """The atoms whose constants are these, in the columns that have one in both."""
        common = tuple(column for column in self.columns if column in constants)
        wanted = tuple(constants[column] for column in common)
        if len(common) == len(self.columns):
            found = self._by_keys.get(wanted)
            return iter((found,) if found else ())
        if not common:
            return iter(list(self._by_keys.values()))
        if common not in self._by_part:
            parts: dict[Keys, dict[Keys, None]] = {}
            for keys in self._by_keys:
                parts.setdefault(self._part(keys, common), {})[keys] = None
            self._by_part[common] = parts
        return iter([self._by_keys[keys] for keys in self._by_part[common].get(wanted, ())])

    def _part(self, keys: Keys, columns: Columns) -> Keys:
        return tuple(key for column, key in zip(self.columns, keys, strict=True) if column in columns)

    def _keys(self, atom: Atom) -> Keys:
        return tuple(arg.key for arg in atom.args if isinstance(arg, Constant))


def _shape(atom: Atom) -> Shape:
    return len(atom.args), tuple(column for column, arg in enumerate(atom.args) if isinstance(arg, Constant))


def unify(one: Atom, other: Atom) -> bool:
    """Could one fact match both atoms? Their variables are unrelated even when they share names.

    >>> from everlog.rules.syntax import Variable
    >>> x, y, a, b = Variable("x"), Variable("y"), Constant("a"), Constant("b")
    >>> unify(Atom("p", (x, x)), Atom("p", (a, b))), unify(Atom("p", (x, y)), Atom("p", (a, x)))
    (False, True)
    """
    if one.relation != other.relation or len(one.args) != len(other.args):
        return False
    for left, right in zip(one.args, other.args, strict=True):  # the usual reason not to unify, and quickly checked
        if isinstance(left, Constant) and isinstance(right, Constant) and left.key != right.key:
            return False
    if not (_repeats(one) or _repeats(other)):
        return True  # nothing else can be in the way
    parent: dict[object, object] = {}

    def find(node: object) -> object:
        while node in parent:
            node = parent[node]
        return node

    def node_of(side: int, arg: Argument) -> object:
        return arg if isinstance(arg, Constant) else (side, arg.name)

    for left, right in zip(one.args, other.args, strict=True):
        a, b = find(node_of(0, left)), find(node_of(1, right))
        if a == b:
            continue
        if isinstance(a, Constant):
            if isinstance(b, Constant):
                return False
            a, b = b, a  # a constant is always the representative of its class
        parent[a] = b
    return True


def _repeats(atom: Atom) -> bool:
    """Does a variable stand in two columns?"""
    names = [arg.name for arg in atom.args if not isinstance(arg, Constant)]
    return len(names) > 1 and len(set(names)) < len(names)

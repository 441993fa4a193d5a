"""How many facts do the relations, classes and properties of rules have (rules/extents.py)?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from everlog.dictionary.dictionary import Ids
from everlog.rules.syntax import Atom, Constant
from everlog.store.state import State

if TYPE_CHECKING:
    from everlog.store.reading import ReadOnlyKnowledgeBase


def extent_sizes(kb: ReadOnlyKnowledgeBase, extents: Iterable[Atom]) -> dict[Atom, int]:
    """The number of facts, explicit and derived, that each extent has."""
    wanted = dict.fromkeys(extents)
    snapshot = kb.snapshot()
    state, facts = snapshot.state(), {relation.name: relation.facts for relation in snapshot.relations()}
    sizes = {each: facts.get(each.relation, 0) for each in wanted}
    for relation in {each.relation for each in wanted if _selects(each) and sizes[each]}:
        found = state.facts.reader().collect(relation)
        for each in wanted:
            if each.relation == relation and _selects(each):
                sizes[each] = _matching(state, each, found.columns, found.rows)
    return sizes


def _selects(extent: Atom) -> bool:
    return any(isinstance(arg, Constant) for arg in extent.args)


def _matching(state: State, extent: Atom, columns: Sequence[Ids], rows: int) -> int:
    found = np.ones(rows, bool)
    for column, arg in zip(columns, extent.args, strict=True):
        if isinstance(arg, Constant):
            id_ = state.dictionary.find(arg.term)
            if id_ is None:
                return 0
            found &= column == id_
    return int(found.sum())

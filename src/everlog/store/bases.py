"""How do the user's own facts reach the base of a closure? See plans/rewrites.py.

They stay where the user put them and stand a second time, as explicit facts too, in the auxiliary relation of the base:
so what is explicit, how many facts there are and what a deletion means is asked of the relation that the user knows.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from everlog.dictionary.dictionary import Dictionary
from everlog.engines.interface import Engine, Shape
from everlog.facts.weighted import WeightedFacts
from everlog.plans.rewrites import Closure


def load_bases(engine: Engine, closures: Iterable[Closure]) -> None:
    """Put the explicit facts of every split relation into its base."""
    for closure in closures:
        engine.declare(Shape(closure.base, len(closure.part.args)))
        facts = in_part(closure, engine.collect(closure.part.relation, explicit=True), engine.dictionary)
        if facts.rows:
            engine.load(closure.base, facts.columns, facts.rows)


def in_part(closure: Closure, facts: WeightedFacts, dictionary: Dictionary) -> WeightedFacts:
    """Those facts of the relation that are in the part which is split."""
    if not closure.constants:
        return facts
    chosen = np.ones(facts.rows, bool)
    for column, constant in closure.constants:
        chosen &= np.asarray(facts.columns[column]) == dictionary.encode(constant.term)
    return facts.chosen(chosen)

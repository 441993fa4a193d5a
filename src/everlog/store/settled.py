"""Which relations must keep their arity? Those that rules mention, and those with explicit facts."""

from __future__ import annotations

from collections.abc import Mapping

from everlog.store.applying import Workings
from everlog.store.encoding import layered
from everlog.store.state import Definitions


def settled_arities(workings: Workings, before: Definitions, in_rules: Mapping[str, int]) -> Mapping[str, int]:
    """Relations whose arity an update must keep to, given those of the rules that it leads to."""
    engine, defined = workings.engine, workings.maintenance.defined
    others = before.given if in_rules is before.rule_arities else before.arities
    # Facts of a relation that no rule mentions are explicit, so that counting all of them, which is quick, will do;
    # but where its rules are about to go, derived ones are among them.
    with_facts = {
        name: arity
        for name, arity in others.items()
        if name not in in_rules and engine.count(name, explicit=name in defined)
    }
    return layered(with_facts, in_rules)


def settled_for(workings: Workings, before: Definitions, wanted: Mapping[str, int]) -> dict[str, int]:
    """Relations with their arities, but for those that are wanted with another one and have no explicit facts."""
    return {
        name: arity
        for name, arity in before.arities.items()
        if wanted.get(name, arity) == arity or workings.engine.count(name, explicit=True)
    }

"""How is the state of an older version found again? By taking back what has changed since."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from everlog.engines.interface import Shape
from everlog.facts.weighted import WeightedFacts, consolidated
from everlog.maintenance.materialise import shapes
from everlog.store.engines import make_engine
from everlog.store.history import Entry
from everlog.store.state import FactsAtVersion, State
from everlog.store.windows import Windows


def state_at(state: State, entries: Sequence[Entry], version: int) -> State:
    """The state at a version, given a later one and all that has changed between them, oldest first."""
    definitions = entries[0].before if entries else state.definitions
    reader, engine = state.facts.reader(), make_engine(state.facts.engine.name, state.dictionary)
    bags = {shape.name: shape for shape in shapes(definitions.program.components)}
    wanted = {name: Shape(name, arity) for name, arity in definitions.arities.items()}
    wanted |= {view.relation: bags[view.relation] for view in definitions.views.values()}
    for name, shape in wanted.items():
        engine.declare(shape)
        now = state.arities.get(name, shape.arity) == shape.arity and _has(state, name)
        facts = [reader.collect(name)] if now else []
        facts += _taken_back(entries, shape, "changes", "reshaped")
        explicit = [reader.collect(name, explicit=True)] if now else []
        explicit += _taken_back(entries, shape, "explicit", "reshaped_explicit")
        engine.restore(name, consolidated(facts), consolidated(explicit))
    windows = Windows(state.dictionary)
    windows.fill(definitions.views, engine)
    capture = engine.capture(latest=True)
    facts_then = FactsAtVersion(engine, engine.tick, capture, whole=False)
    return State(version, state.dictionary, definitions, facts_then, dict(windows.shown({})), state.limits, {})


def _has(state: State, name: str) -> bool:
    return name in state.arities or any(view.relation == name for view in state.views.values())


def _taken_back(entries: Sequence[Entry], shape: Shape, *parts: str) -> Iterator[WeightedFacts]:
    """What undoes the changes of a relation, but for those from when it had another arity."""
    for entry in entries:
        for part in parts:
            facts = getattr(entry, part).get(shape.name)
            if facts is not None and facts.arity == shape.arity:
                yield facts.negated()

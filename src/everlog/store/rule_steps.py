"""How does a knowledge base go from one program to the next within an update?

The components know what to do with rules that come and go (maintenance/rule_changes.py). Around that: relations which
only evaluation knows of come before and go after, and the user's own facts stand in the bases of closures that come,
and no longer in those that go.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from everlog.dictionary.dictionary import Dictionary
from everlog.engines.interface import MaintainingEngine
from everlog.maintenance.program import EvaluatedProgram, ProgramChange
from everlog.maintenance.rule_changes import Transition
from everlog.maintenance.update import Maintenance
from everlog.plans.flat_rules import is_auxiliary
from everlog.rules.constraints import is_constraint
from everlog.rules.dependencies import body_atoms
from everlog.rules.syntax import Rule
from everlog.store.bases import in_part


@dataclass(frozen=True)
class RuleStep:
    """A change of rules, and the way there; None: everything is derived again."""

    change: ProgramChange
    way: Transition | None
    rebuilt: str = ""  # why everything must be derived again, where that is so
    new_auxiliaries: tuple[str, ...] = ()
    old_auxiliaries: tuple[str, ...] = ()

    def begin(self, engine: MaintainingEngine) -> None:
        """Declare what the new rules need, and bring ranks into order; before anything else is changed."""
        assert self.way is not None
        known = self.change.before.shapes
        for name, shape in self.change.after.shapes.items():
            if known.get(name) != shape:
                engine.declare(shape)
        self.way.lifts.apply(engine)

    def edit_bases(self, engine: MaintainingEngine, dictionary: Dictionary) -> list[str]:
        """Bring the bases of closures in line with what is explicit; says which have changed."""
        before, after = (program.rewriting.closures for program in (self.change.before, self.change.after))
        edited = []
        for closure in before:
            if closure not in after:
                explicit = engine.collect(closure.base, explicit=True)
                engine.edit(closure.base, explicit.columns, explicit.rows, explicit=False)
                edited.append(closure.base)
        for closure in after:
            if closure not in before:
                explicit = engine.collect(closure.part.relation, explicit=True)
                part = in_part(closure, explicit, dictionary)
                engine.edit(closure.base, part.columns, part.rows, explicit=True)
                edited.append(closure.base)
        return edited

    def finish(self, engine: MaintainingEngine, before: Maintenance) -> Maintenance:
        """After the update counts: let go of what only the old rules needed."""
        assert self.way is not None
        after = before.after(self.way, engine)
        for relation in self.old_auxiliaries:
            engine.drop(relation)
        return after


def rule_step(maintenance: Maintenance, change: ProgramChange) -> RuleStep:
    """How to get to a changed program."""
    way = maintenance.transition(change)
    if isinstance(way, str):
        return RuleStep(change, None, way)
    before, after = _auxiliaries(change.before), _auxiliaries(change.after)
    new = tuple(name for name in after if name not in before)
    return RuleStep(change, way, "", new, tuple(name for name in before if name not in after))


def _auxiliaries(program: EvaluatedProgram) -> dict[str, None]:
    return {name: None for name in program.shapes if is_auxiliary(name)}


def rule_arities(rules: Iterable[Rule]) -> dict[str, int]:
    """The relations that rules mention, heads first; the matches of constraints are nobody's relation."""
    heads, read = {}, {}
    for rule in rules:
        if not is_constraint(rule):
            heads.update({head.relation: len(head.args) for head in rule.heads})
        read.update({atom.relation: len(atom.args) for atom, _ in body_atoms(rule)})
    return heads | read

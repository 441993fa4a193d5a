"""What does one part of divided facts evaluate, and which facts must it have?

Rules with a pivot (pivots.py) are evaluated part by part. A relation may play several *roles* in that: its facts
divided by their first argument, the same facts divided by their third, or known whole in every part. Each role is a
relation of its own inside of a part, so that an atom never meets facts that another role brought:

    [?x, a, :C] :- [?y, :p, ?x].                 triple@1(?x, a, :C) :- triple@3(?y, :p, ?x).
    [?x, a, ?d] :- [?x, a, ?c], [?c, :s, ?d].    triple@1(?x, a, ?d) :- triple@1(?x, a, ?c), triple@all(?c, :s, ?d).

A role needs only the facts that match one of its atoms, and the facts that heads may conclude come out of one role, so
that each comes out once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from everlog.plans.flat_rules import EvaluatedRule, FlatRule, GroupRule
from everlog.plans.pivots import Pivot, waits_for
from everlog.rules.atom_index import AtomIndex
from everlog.rules.components import Component
from everlog.rules.syntax import Atom, Variable


@dataclass(frozen=True)
class Role:
    """Facts of a relation, divided by an argument; or all of them in every part."""

    relation: str
    position: int | None

    @property
    def name(self) -> str:
        return f"{self.relation}@{'all' if self.position is None else self.position + 1}"


@dataclass(frozen=True)
class Partitioned:
    """Components as a part evaluates them."""

    components: tuple[Component[EvaluatedRule], ...]
    needs: dict[Role, tuple[Atom, ...]]  # the atoms whose facts a part must have
    gives: dict[Role, tuple[Atom, ...]]  # the heads whose facts come out


def partition_rules(components: Sequence[Component[EvaluatedRule]], pivot: Pivot) -> Partitioned:
    """Components with relations renamed to their roles; exit rules outside of the pivot are left out."""
    renaming = _Renaming(pivot)
    renamed = []
    for component in components:
        rules = tuple(new for rule in component.rules for new in renaming.rules(rule))
        if rules:
            renamed.append(replace(component, rules=rules))
    return Partitioned(
        tuple(renamed),
        {role: tuple(dict.fromkeys(atoms)) for role, atoms in renaming.needs.items()},
        {role: tuple(dict.fromkeys(heads)) for role, heads in renaming.gives.items()},
    )


class _Renaming:
    def __init__(self, pivot: Pivot) -> None:
        self._position_of = dict(pivot.heads)
        self._own = AtomIndex((position, head) for head, position in pivot.heads)
        self._outside = set(map(id, pivot.outside))
        self._unless = set(pivot.unless)
        self.needs: dict[Role, list[Atom]] = {}
        self.gives: dict[Role, list[Atom]] = {}
        for head, position in pivot.heads:
            self._need(Role(head.relation, position), head)
            self.gives.setdefault(Role(head.relation, position), []).append(head)

    def rules(self, rule: EvaluatedRule) -> list[EvaluatedRule]:
        """The rule in its roles: one for each variable that heads are divided by."""
        if id(rule) in self._outside or self._unless & set(waits_for(rule)):
            return []
        if not isinstance(rule, FlatRule):
            assert isinstance(rule, GroupRule), "a window has no pivot"
            position = self._position_of[rule.head]
            source = self._role(rule.source, position)
            return [replace(rule, head=self._in_role(rule.head), source=_renamed(rule.source, source))]
        by_variable: dict[Variable, list[Atom]] = {}
        for head in rule.heads:
            variable = head.args[self._position_of[head]]
            assert isinstance(variable, Variable), "the pivot of a rule inside is bound by its body"
            by_variable.setdefault(variable, []).append(head)
        return [
            replace(
                rule,
                heads=tuple(map(self._in_role, heads)),
                atoms=tuple(self._read(atom, variable) for atom in rule.atoms),
                absent=tuple(self._read(atom, variable) for atom in rule.absent),
            )
            for variable, heads in by_variable.items()
        ]

    def _in_role(self, head: Atom) -> Atom:
        return _renamed(head, Role(head.relation, self._position_of[head]))

    def _read(self, atom: Atom, pivot: Variable) -> Atom:
        places = [place for place, arg in enumerate(atom.args) if arg == pivot]
        own = next(iter(self._own.unifying(atom)), None)
        if own is not None:
            assert own in places, "an own atom has the pivot at the position of its class"
            return _renamed(atom, self._role(atom, own))
        if not places:
            return _renamed(atom, self._role(atom, None))
        known = (place for place in places if Role(atom.relation, place) in self.needs)
        return _renamed(atom, self._role(atom, next(known, places[0])))

    def _role(self, atom: Atom, position: int | None) -> Role:
        role = Role(atom.relation, position)
        self._need(role, atom)
        return role

    def _need(self, role: Role, atom: Atom) -> None:
        self.needs.setdefault(role, []).append(atom)


def _renamed(atom: Atom, role: Role) -> Atom:
    return replace(atom, relation=role.name)

"""Which rules can be replaced by others that take less work?

A transitive rule `p(x, z) :- p(x, y), p(y, z)` joins all of p with all of p: n³ instances for a chain of n. Here p is
split into its *base*, which is what every other rule and the user put into p, and the closure of the base:

    r: p(x, z) :- p(x, y), p(y, z).                r: p(x, y) :- r~base(x, y).
                                                   r: p(x, z) :- p(x, y), r~base(y, z).
    s: p(x, y) :- p(y, x).                         s: r~base(x, y) :- r~base(y, x).
    t: p(x, y) :- anything.                        t: r~base(x, y) :- anything.

Rules that read p still do, whether they define p or not. The user's own facts of p stay there and stand in the base too
(`Closure.part` says which facts of the relation those are). Why the result is the same:

- *Nothing more.* Every new rule is an instance of the rule in whose place it stands, once the base is read as p.
- *Nothing less.* The new facts obey each of the old rules. The transitive one: let p(x, y) and p(y, z). If base(y, z),
  one step gives p(x, z). Otherwise p(y, z) came from p(y, w) and base(w, z); by induction p(x, w), then p(x, z). The
  symmetric one: a chain of base facts read backwards is one too. The others: what they conclude is in the base, and
  so in p.

With a guard `x != z` the induction needs p(x, w) to pass it. If `!=` fails only between a term and itself, it does: for
x = w there is base(x, z) at once. But `!=` compares values: it also fails between 1 and 1.0, and gives no answer for
datatypes that it does not know. With base(1, 2), base(2, 1.0) and base(1.0, 3) the rule as written has p(1, 3), from
p(1, 2) and p(2, 3), and the linear one alone would stop at 1.0. So a guarded rule keeps its old form too, which waits
for a base fact with a term whose value another term may share:

    r: r~shared() :- r~base(x, y), shares_value(x).             the same for y
    r: p(x, z) :- r~shared(), p(x, y), p(y, z), x != z.

Symmetry survives the guard because `x != z` is symmetric itself; other guards are left alone. The relation may have
more arguments that are carried along, `p(g, x, z) :- p(g, x, y), p(g, y, z)`, and constants, as in
`[?x, :partOf, ?z] :- [?x, :partOf, ?y], [?y, :partOf, ?z]`: then only that part of the relation is split, and a rule
whose head may or may not fall into the part, such as `[?x, ?p, ?y] :- …`, forbids it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from everlog.plans.expressions import SHARES_VALUE
from everlog.plans.flat_rules import AUXILIARY
from everlog.rules.atom_index import AtomIndex, unify
from everlog.rules.syntax import Argument, Atom, Call, Constant, Filter, Rule, Variable

SHARED = f"{AUXILIARY}shared"  # how the relation is called that says whether values are shared


@dataclass(frozen=True)
class Closure:
    """A transitive rule, evaluated linearly over the base of what it concludes."""

    rule: Rule
    first: Atom  # p(x, y) of its body
    second: Atom  # p(y, z)
    ends: tuple[int, int]  # the columns of x and z
    guard: Filter | None

    @property
    def part(self) -> Atom:
        """The facts that are split: all of a relation, or those with certain constants."""
        return self.rule.heads[0]

    @property
    def constants(self) -> list[tuple[int, Constant]]:
        """The columns in which all facts of the part have the same constant."""
        return [(column, arg) for column, arg in enumerate(self.part.args) if isinstance(arg, Constant)]

    @property
    def base(self) -> str:
        """The auxiliary relation with the base, of the same columns."""
        return f"{self.rule.name}{AUXILIARY}base"

    def in_base(self, atom: Atom) -> Atom:
        return replace(atom, relation=self.base)

    def rules(self) -> Iterator[Rule]:
        """The rules that replace the transitive rule."""
        head, guards = self.rule.heads, () if self.guard is None else (self.guard,)
        yield replace(self.rule, heads=(self.first,), body=(self.in_base(self.first),))
        yield replace(self.rule, heads=head, body=(self.first, self.in_base(self.second), *guards))
        if self.guard is None:
            return
        shared = Atom(f"{self.rule.name}{SHARED}", ())
        for end in self.ends:
            condition = Filter(Call(SHARES_VALUE, (self.first.args[end],)))
            yield replace(self.rule, heads=(shared,), body=(self.in_base(self.first), condition))
        yield replace(self.rule, heads=head, body=(shared, self.first, self.second, self.guard))


@dataclass(frozen=True)
class Rewriting:
    """Rules in the form in which they are evaluated."""

    rules: tuple[Rule, ...] = ()
    closures: tuple[Closure, ...] = ()

    def instead_of(self, rule: Rule) -> list[Rule]:
        """What is evaluated in place of a rule."""
        return list(_in_place(rule, self.closures, _parts(self.closures)))


def rewrite_rules(rules: Iterable[Rule], *, enabled: bool = True) -> Rewriting:
    """Named rules, with each transitive one made linear; unchanged unless `enabled`."""
    written = tuple(rules)
    transitive = [closure for rule in written if (closure := _closure(rule)) is not None] if enabled else []
    if not transitive:
        return Rewriting(written, ())
    heads = AtomIndex((head, head) for rule in written for head in rule.heads)
    closures: list[Closure] = []
    for closure in transitive:
        if _can_be_split(closure, heads, closures):
            closures.append(closure)
    parts = _parts(closures)
    return Rewriting(tuple(new for rule in written for new in _in_place(rule, closures, parts)), tuple(closures))


def _parts(closures: Iterable[Closure]) -> AtomIndex[int]:
    """What closures split, by their numbers."""
    return AtomIndex((number, closure.part) for number, closure in enumerate(closures))


def _in_place(rule: Rule, every: Sequence[Closure], parts: AtomIndex[int]) -> Iterator[Rule]:
    near = sorted({number for head in rule.heads for number in parts.unifying(head)})
    closures = [every[number] for number in near]  # no other one has to do with what the rule concludes
    for closure in closures:
        if rule is closure.rule:
            yield from closure.rules()
            return
        turned = _turned(rule, closure)
        if turned is not None:
            yield replace(rule, heads=(closure.in_base(rule.heads[0]),), body=(closure.in_base(turned),))
            return
    yield replace(rule, heads=tuple(_conclusion(head, closures) for head in rule.heads)) if closures else rule


def _conclusion(head: Atom, closures: Sequence[Closure]) -> Atom:
    """The head, in terms of the base if it falls into a part that is split."""
    return next((closure.in_base(head) for closure in closures if unify(head, closure.part)), head)


def _can_be_split(closure: Closure, heads: AtomIndex[Atom], others: Sequence[Closure]) -> bool:
    """Does every head lie wholly inside or wholly outside the part, and is the part not split already?"""
    if any(unify(closure.part, other.part) for other in others):
        return False
    inside = heads.unifying(closure.part)
    return all(head.args[column] == constant for head in inside for column, constant in closure.constants)


# --- the shapes that are looked for ---------------------------------------------------------------------------------


def _closure(rule: Rule) -> Closure | None:
    """The closure that the rule computes, if it is a transitive rule."""
    atoms = [literal for literal in rule.body if isinstance(literal, Atom)]
    guards = [literal for literal in rule.body if not isinstance(literal, Atom)]
    if len(rule.heads) != 1 or len(atoms) != 2 or len(guards) > 1:
        return None
    for first, second in (atoms, reversed(atoms)):
        ends = _ends(first, second)
        if ends is None or rule.heads[0] != _joined(first, second, ends):
            continue
        outer = (first.args[ends[0]], second.args[ends[1]])
        if not guards:
            return Closure(rule, first, second, ends, None)
        if isinstance(guards[0], Filter) and guards[0].expression in (Call("!=", outer), Call("!=", outer[::-1])):
            return Closure(rule, first, second, ends, guards[0])
    return None


def _ends(first: Atom, second: Atom) -> tuple[int, int] | None:
    """The columns of x and z in p(x, y), p(y, z), if that is what two atoms look like; the others must be the same."""
    if first.relation != second.relation or len(first.args) != len(second.args):
        return None
    differing = [column for column, (a, b) in enumerate(zip(first.args, second.args, strict=True)) if a != b]
    if len(differing) != 2:
        return None
    start, end = differing
    chained = first.args[end] == second.args[start] and isinstance(first.args[end], Variable)
    free = isinstance(first.args[start], Variable) and isinstance(second.args[end], Variable)
    return (start, end) if chained and free and _all_different((*first.args, second.args[end])) else None


def _joined(first: Atom, second: Atom, ends: tuple[int, int]) -> Atom:
    """p(x, z) of p(x, y) and p(y, z)."""
    _, end = ends
    return replace(first, args=(*first.args[:end], second.args[end], *first.args[end + 1 :]))


def _turned(rule: Rule, closure: Closure) -> Atom | None:
    """The atom that a symmetric rule reads, if it turns round the ends of every fact of the part and does no more."""
    if len(rule.heads) != 1 or len(rule.body) != 1:
        return None
    head, atom, (start, end) = rule.heads[0], rule.body[0], closure.ends
    if not isinstance(atom, Atom) or atom.relation != closure.part.relation or not _all_different(atom.args):
        return None
    turned = list(atom.args)
    turned[start], turned[end] = turned[end], turned[start]
    constants = [(column, arg) for column, arg in enumerate(atom.args) if isinstance(arg, Constant)]
    return atom if head == replace(atom, args=tuple(turned)) and constants == closure.constants else None


def _all_different(args: Iterable[Argument]) -> bool:
    """Does every variable occur once?"""
    names = [arg.name for arg in args if isinstance(arg, Variable)]
    return len(names) == len(set(names))

"""Which rule feeds which?

Rule s feeds rule t when a head of s and a body atom of t *unify*: some fact could match both. Names alone do not
decide, so `[?x, :p, ?y]` and `[?x, :q, ?y]`, both atoms of the relation `triple`, keep their rules apart. A
dependency is negative when the atom stands under NOT or inside AGGREGATE: s must then be complete before t is
evaluated.

This is the rule dependency graph of Xu and Curé (ZodiacEdge, section 2.1); its strongly connected components are the
paper's hyper-nodes (section 4.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

from everlog.rules.atom_index import AtomIndex
from everlog.rules.syntax import Aggregate, Atom, Literal, Negation, Rule


class Dependency(NamedTuple):
    """A head of rule `source` can match `atom` in the body of rule `target`."""

    source: int
    target: int
    negative: bool
    atom: Atom


class HasHeads(Protocol):
    """Anything with heads: a rule as written, or flattened for evaluation."""

    @property
    def heads(self) -> tuple[Atom, ...]: ...


R = TypeVar("R", bound=HasHeads)


def body_atoms(rule: Rule) -> Iterator[tuple[Atom, bool]]:
    """Every atom that a rule reads, and whether it reads it under NOT or AGGREGATE."""
    return _atoms(rule.body, negative=False)


def _atoms(body: Iterable[Literal], *, negative: bool) -> Iterator[tuple[Atom, bool]]:
    for literal in body:
        if isinstance(literal, Atom):
            yield literal, negative
        elif isinstance(literal, Negation | Aggregate):
            yield from _atoms(literal.body, negative=True)


def dependencies(rules: Sequence[Rule]) -> list[Dependency]:
    """Every dependency between rules, by rule index."""
    return dependencies_between(rules, body_atoms)


def dependencies_between(rules: Sequence[R], reads: Callable[[R], Iterable[tuple[Atom, bool]]]) -> list[Dependency]:
    """The same for any kind of rule, given how to list the atoms that one reads."""
    heads = heads_of(rules)
    found: dict[tuple[int, int, bool], Dependency] = {}
    for target, rule in enumerate(rules):
        for atom, negative in reads(rule):
            for source in heads.unifying(atom):
                found.setdefault((source, target, negative), Dependency(source, target, negative, atom))
    return list(found.values())


def heads_of(rules: Iterable[HasHeads]) -> AtomIndex[int]:
    """The heads of rules, by the index of the rule."""
    return AtomIndex((index, head) for index, rule in enumerate(rules) for head in rule.heads)


def strongly_connected(count: int, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Strongly connected components of nodes 0 … count-1, sources first (Tarjan, without recursion).

    >>> strongly_connected(4, [(0, 1), (1, 2), (2, 1), (2, 3)])
    [[0], [1, 2], [3]]
    """
    successors: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        successors[source].append(target)
    order, low = [-1] * count, [0] * count
    on_stack = [False] * count
    stack: list[int] = []
    components: list[list[int]] = []
    clock = 0
    # Roots in reverse: components come out sinks first, and the reversal at the end restores the order of the nodes.
    for root in reversed(range(count)):
        if order[root] >= 0:
            continue
        work = [(root, 0)]
        while work:
            node, position = work.pop()
            if position == 0:
                order[node] = low[node] = clock
                clock += 1
                stack.append(node)
                on_stack[node] = True
            descended = False
            for next_position in range(position, len(successors[node])):
                successor = successors[node][next_position]
                if order[successor] < 0:
                    work.append((node, next_position + 1))
                    work.append((successor, 0))
                    descended = True
                    break
                if on_stack[successor]:
                    low[node] = min(low[node], order[successor])
            if descended:
                continue
            if low[node] == order[node]:
                component = []
                while True:
                    member = stack.pop()
                    on_stack[member] = False
                    component.append(member)
                    if member == node:
                        break
                components.append(sorted(component))
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
    components.reverse()
    return components

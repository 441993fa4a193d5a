"""Is there a cycle of rules through negation or aggregation?

A rule that reads a relation under NOT or in AGGREGATE must wait until that relation is complete; on a cycle of rules it
would wait for itself. The cycle is reported rule by rule.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from everlog.rules.dependencies import Dependency, dependencies, strongly_connected
from everlog.rules.diagnostics import Diagnostic, Span
from everlog.rules.extents import print_extent
from everlog.rules.syntax import Aggregate, Atom, Literal, Negation, Program, Rule


def check_cycles(program: Program, arities: Mapping[str, int]) -> Iterator[Diagnostic]:
    """No cycle may go through negation or aggregation; one problem is reported per component that has such cycles."""
    if not any(isinstance(literal, Negation | Aggregate) for rule in program.rules for literal in rule.body):
        return
    edges = dependencies(program.rules)
    component_of = [0] * len(program.rules)
    components = strongly_connected(len(program.rules), [(edge.source, edge.target) for edge in edges])
    for number, members in enumerate(components):
        for member in members:
            component_of[member] = number
    inside = [edge for edge in edges if component_of[edge.source] == component_of[edge.target]]
    for number in sorted({component_of[edge.target] for edge in inside if edge.negative}):
        own = [edge for edge in inside if component_of[edge.target] == number]
        cycles = [_cycle(edge, own) for edge in own if edge.negative]
        yield _report(program, min(cycles, key=len))


def _cycle(negative: Dependency, edges: Sequence[Dependency]) -> list[Dependency]:
    """A shortest cycle through a negative dependency, each edge followed by one into its source."""
    into: dict[int, list[Dependency]] = {}
    for edge in edges:
        into.setdefault(edge.target, []).append(edge)
    back: dict[int, Dependency | None] = {negative.source: None}
    queue = deque([negative.source])
    while queue and negative.target not in back:
        rule = queue.popleft()
        for edge in into.get(rule, ()):
            if edge.source not in back:
                back[edge.source] = edge
                queue.append(edge.source)
    path: list[Dependency] = []
    step = back[negative.target]
    while step is not None:
        path.append(step)
        step = back[step.target]
    return [negative, *reversed(path)]


def _report(program: Program, cycle: list[Dependency]) -> Diagnostic:
    first = program.rules[cycle[0].target]
    names = [print_extent(_head(first, cycle[-1].atom), program.prefixes)]
    related: list[tuple[Span, str]] = []
    for edge in cycle:
        rule = program.rules[edge.target]
        word = _word(rule.body, edge.atom)
        read = word + print_extent(edge.atom, program.prefixes)
        names.append(read)
        if edge is not cycle[0] and rule.span is not None:
            related.append((rule.span, f"{names[-2].split()[-1]} needs {read} in {_called(rule)}"))
    kind = "aggregation" if "aggregate" in names[1] else "negation"
    return Diagnostic(
        "R303",
        f"{kind} goes round a cycle: {' -> '.join(names)}",
        cycle[0].atom.span or first.span,
        ("what NOT or AGGREGATE reads must be complete before the rule is used",),
        "break the cycle: let one of these rules conclude another relation",
        tuple(related),
    )


def _head(rule: Rule, atom: Atom) -> Atom:
    """The head of a rule that feeds an atom."""
    return next((head for head in rule.heads if head.relation == atom.relation), rule.heads[0])


def _called(rule: Rule) -> str:
    if rule.name:
        return f"rule {rule.name}"
    return f"the rule in line {rule.span.source.place(rule.span.start)[0]}" if rule.span else "an unnamed rule"


def _word(body: Sequence[Literal], atom: Atom) -> str:
    for literal in body:
        if isinstance(literal, Negation | Aggregate) and _contains(literal.body, atom):
            return "not " if isinstance(literal, Negation) else "aggregate "
    return ""


def _contains(body: Sequence[Literal], atom: Atom) -> bool:
    return any(
        literal is atom or (isinstance(literal, Negation | Aggregate) and _contains(literal.body, atom))
        for literal in body
    )

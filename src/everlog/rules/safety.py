"""Does every variable of a rule get its values from somewhere?

Positive atoms, the group and results of AGGREGATE, and BIND give values; heads, conditions and expressions use them.
Where several give values to one variable, they must be the same.
NOT gives none: a variable that stands under one NOT and nowhere else is read as "no such". AGGREGATE sees its own body
only, and shows its group and results. The order of literals does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from everlog.rules.dependencies import strongly_connected
from everlog.rules.diagnostics import Diagnostic
from everlog.rules.syntax import (
    Aggregate,
    Atom,
    Bind,
    Call,
    Expression,
    Filter,
    Literal,
    Negation,
    Program,
    Rule,
    Variable,
    expression_variables,
)


def check_facts(program: Program, arities: Mapping[str, int]) -> Iterator[Diagnostic]:
    """Facts have no variables."""
    for fact in program.facts:
        for variable in fact.variables():
            yield Diagnostic(
                "R201",
                f"a fact cannot have a variable, and {_shown(variable)} is one",
                variable.span or fact.span,
                ("words that begin with a capital are variables",) if _is_capital(variable) else (),
                f'write "{variable.name}" for the string' if _is_capital(variable) else "add a body that binds it",
            )


def check_rules(program: Program, arities: Mapping[str, int]) -> Iterator[Diagnostic]:
    """The variables of each rule."""
    for rule in program.rules:
        yield from _rule(rule)


@dataclass
class _Scope:
    """A body, with what is bound around it."""

    body: tuple[Literal, ...]
    outer: frozenset[str] = frozenset()
    inside: str = ""  # "NOT" or "AGGREGATE"
    in_heads: frozenset[str] = frozenset()
    bound: set[str] = field(default_factory=set)
    problems: list[Diagnostic] = field(default_factory=list)


def _rule(rule: Rule) -> Iterator[Diagnostic]:
    in_heads = _first_of_each(variable for head in rule.heads for variable in head.variables())
    scope = _Scope(rule.body, in_heads=frozenset(variable.name for variable in in_heads))
    _bind(scope)
    for variable in in_heads:
        if variable.name not in scope.bound:
            yield _unbound("R202", variable, "in the head is not bound by the body", scope)
    yield from scope.problems
    yield from _uses(scope)


def _bind(scope: _Scope) -> None:
    """Fill in what a body binds; report BINDs that cannot get a value."""
    scope.bound |= scope.outer
    waiting: list[Bind] = []
    for literal in scope.body:
        if isinstance(literal, Atom):
            scope.bound.update(variable.name for variable in literal.variables())
        elif isinstance(literal, Aggregate):
            scope.bound.update(variable.name for variable in _results(literal))
        elif isinstance(literal, Bind):
            waiting.append(literal)
    progress = True
    while progress:
        ready = [bind for bind in waiting if _names(bind.expression) <= scope.bound]
        scope.bound.update(bind.variable.name for bind in ready)
        waiting = [bind for bind in waiting if bind not in ready]
        progress = bool(ready)
    _unready(scope, waiting)
    scope.bound.update(bind.variable.name for bind in waiting)  # these are reported; what depends on them is not


def _unready(scope: _Scope, waiting: Sequence[Bind]) -> None:
    """BINDs without a value: some variable is bound nowhere, or they wait for each other."""
    targets = {bind.variable.name: bind for bind in waiting}
    for bind in waiting:
        for variable in _first_of_each(expression_variables(bind.expression)):
            if variable.name not in scope.bound and variable.name not in targets:
                problem = _unbound("R203", variable, f"in {_place(bind)} is not bound", scope)
                if problem.help is None and bind.variable.name in scope.bound and not bind.variable.computed:
                    turned = f"{_shown(variable)} = …, computed from {_shown(bind.variable)}"
                    problem = replace(problem, help=f"an expression is not solved for its variables: write {turned}")
                scope.problems.append(problem)
    circle = _circle(targets)
    if circle:
        bind = targets[circle[0]]
        chain = " -> ".join(f"?{name}" for name in (*circle, circle[0]))
        related = tuple((targets[name].span, f"?{name} is computed here") for name in circle[1:])
        scope.problems.append(
            Diagnostic(
                "R205",
                f"BINDs wait for each other: {chain}",
                bind.span,
                ("each needs the value of the next one first",),
                "bind one of them by an atom",
                tuple((span, label) for span, label in related if span is not None),
            )
        )


def _place(bind: Bind) -> str:
    """What a BIND was written as."""
    if bind.variable.computed:
        return "an argument"
    text = "" if bind.span is None else bind.span.source.text[bind.span.start : bind.span.end]
    return "BIND" if text[:4].lower() in ("", "bind") else "this equation"


def _circle(targets: Mapping[str, Bind]) -> list[str]:
    """Names of BIND variables that depend on each other in a circle, or nothing."""
    needs = {name: sorted(_names(bind.expression) & targets.keys()) for name, bind in targets.items()}
    names = list(needs)
    edges = [(names.index(name), names.index(other)) for name in names for other in needs[name]]
    for members in strongly_connected(len(names), edges):
        inside = {names[member] for member in members}
        path = [names[members[0]]]
        while following := [name for name in needs[path[-1]] if name in inside]:
            if following[0] in path:
                return path[path.index(following[0]) :]
            path.append(following[0])
    return []


def _uses(scope: _Scope) -> Iterator[Diagnostic]:
    """Conditions, negations and aggregates of a body whose bound variables are known."""
    for index, literal in enumerate(scope.body):
        match literal:
            case Filter():
                what = "in this comparison" if _is_comparison(literal.expression) else "in FILTER"
                for variable in _first_of_each(expression_variables(literal.expression)):
                    if variable.name not in scope.bound:
                        yield _unbound("R203", variable, f"{what} is not bound", scope)
            case Negation():
                others = _shown_by(scope.body, index) | scope.outer | scope.in_heads
                yield from _negation(literal, scope, others)
            case Aggregate():
                others = (_shown_by(scope.body, index) | scope.in_heads) & scope.bound | scope.outer
                yield from _aggregate(literal, others)
            case _:
                pass


def _negation(negation: Negation, around: _Scope, others: set[str]) -> Iterator[Diagnostic]:
    if all(isinstance(literal, Filter | Bind) for literal in negation.body):
        yield Diagnostic(
            "R207",
            "NOT has no atom in it",
            negation.span,
            ("NOT says that there is no such fact",),
            "negate a condition with FILTER(!(…)) or the opposite comparison",
        )
        return
    inner_names = _all_names(negation.body)
    for variable in negation.exists:
        if variable.name in others:
            yield Diagnostic(
                "R208",
                f"{_shown(variable)} after NOT EXISTS stands outside of it too",
                variable.span or negation.span,
                ("a variable after EXISTS is another one than that of the same name outside",),
                f"rename it inside NOT, or remove it from EXISTS to mean the outer {_shown(variable)}",
            )
        elif variable.name not in inner_names:
            yield Diagnostic(
                "R208",
                f"{_shown(variable)} after NOT EXISTS does not occur under it",
                variable.span or negation.span,
                (),
                _did_you_mean(variable, inner_names),
            )
    local = {variable.name for variable in negation.exists}
    scope = _Scope(negation.body, frozenset(around.bound - local), "NOT")
    _bind(scope)
    yield from scope.problems
    yield from _uses(scope)


def _aggregate(aggregate: Aggregate, others: set[str]) -> Iterator[Diagnostic]:
    if all(isinstance(literal, Filter | Bind | Negation) for literal in aggregate.body):
        yield Diagnostic("R213", "AGGREGATE has no atom in it", aggregate.span, (), "name the facts to count or sum")
        return
    scope = _Scope(aggregate.body, inside="AGGREGATE")
    _bind(scope)
    yield from scope.problems
    yield from _uses(scope)
    taken: set[str] = set()
    for variable in aggregate.group:
        if variable.name in taken:
            yield Diagnostic("R210", f"{_shown(variable)} is listed twice after ON", variable.span or aggregate.span)
        elif variable.name not in scope.bound:
            yield Diagnostic(
                "R209",
                f"{_shown(variable)} after ON is not bound in the body of AGGREGATE",
                variable.span or aggregate.span,
                ("groups are made by the variables of the aggregate's body",),
                _did_you_mean(variable, scope.bound),
            )
        taken.add(variable.name)
    inner = _all_names(aggregate.body)
    for binding in aggregate.bindings:
        result = binding.variable
        if result.name in inner or result.name in taken:
            why = "occurs in the body of AGGREGATE" if result.name in inner else "has a value already"
            yield Diagnostic(
                "R210",
                f"the result {_shown(result)} {why}",
                result.span or binding.span,
                (),
                "give the result a variable of its own",
            )
        taken.add(result.name)
        for variable in expression_variables(binding.argument):
            if variable.name not in scope.bound:
                yield Diagnostic(
                    "R211",
                    f"variable {_shown(variable)} in {binding.function} is not bound in the body of AGGREGATE",
                    variable.span or binding.span,
                    (),
                    _did_you_mean(variable, scope.bound),
                )
    for variable in _first_of_each(_all_variables(aggregate.body)):
        if variable.name in others & scope.bound and variable.name not in taken:
            yield Diagnostic(
                "R212",
                f"{_shown(variable)} stands inside AGGREGATE and outside, but not after ON",
                variable.span or aggregate.span,
                ("a variable of the aggregate's body that is not after ON is its own, whatever stands outside",),
                f"add it to ON, or rename one of the two {_shown(variable)}",
            )


def _shown_by(body: Sequence[Literal], but: int) -> set[str]:
    """Names that other literals use, except those local to NOT and AGGREGATE."""
    names: set[str] = set()
    for index, literal in enumerate(body):
        if index == but or isinstance(literal, Negation):
            continue
        if isinstance(literal, Aggregate):
            names.update(variable.name for variable in _results(literal))
        else:
            names |= _all_names((literal,))
    return names


def _results(aggregate: Aggregate) -> Iterator[Variable]:
    yield from aggregate.group
    yield from (binding.variable for binding in aggregate.bindings)


def _all_variables(body: Iterable[Literal]) -> Iterator[Variable]:
    """Every variable written in a body, those inside NOT and AGGREGATE too."""
    for literal in body:
        match literal:
            case Atom():
                yield from literal.variables()
            case Filter():
                yield from expression_variables(literal.expression)
            case Bind():
                yield from expression_variables(literal.expression)
                yield literal.variable
            case Negation():
                yield from _all_variables(literal.body)
            case Aggregate():
                yield from _results(literal)


def _all_names(body: Iterable[Literal]) -> set[str]:
    return {variable.name for variable in _all_variables(body)}


def _names(expression: Expression) -> set[str]:
    return {variable.name for variable in expression_variables(expression)}


def _first_of_each(variables: Iterable[Variable]) -> list[Variable]:
    first: dict[str, Variable] = {}
    for variable in variables:
        first.setdefault(variable.name, variable)
    return list(first.values())


def _is_comparison(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function in ("=", "!=", "<", "<=", ">", ">=")


def _unbound(code: str, variable: Variable, what: str, scope: _Scope) -> Diagnostic:
    """A variable without values: what would bind it, or what hides it."""
    name, body = variable.name, scope.body
    note = "every head variable must occur in a positive body atom, a BIND or the result of an AGGREGATE"
    if code != "R202":
        note = "conditions and expressions give no values: an atom, a BIND or an AGGREGATE must"
    help = _did_you_mean(variable, scope.bound) or _idle(variable, scope)
    if any(isinstance(literal, Negation) and name in _all_names(literal.body) for literal in body):
        note, help = "it stands under NOT, which gives no values", None
    elif any(isinstance(literal, Aggregate) and name in _all_names(literal.body) for literal in body):
        note, help = "it is local to AGGREGATE, which shows its group and results only", "add it to ON"
    elif any(isinstance(literal, Filter) and _equates(literal.expression, name) for literal in body):
        help = f"{_shown(variable)} = … without FILTER gives it a value; inside FILTER, = only compares"
    elif scope.inside == "AGGREGATE":
        note, help = "AGGREGATE sees its own body only", "repeat the atom that binds it inside AGGREGATE"
    return Diagnostic(code, f"variable {_shown(variable)} {what}", variable.span, (note,), help)


def _idle(variable: Variable, scope: _Scope) -> str | None:
    """A hint at the only bound variable that is used once, and so may be a misspelling."""
    names = [other.name for other in _all_variables(scope.body) if not other.anonymous]
    idle = [name for name in dict.fromkeys(names) if names.count(name) == 1 and name in scope.bound - scope.in_heads]
    return f"did you mean {_spelled_like(variable, idle[-1])}?" if len(idle) == 1 else None


def _equates(expression: Expression, name: str) -> bool:
    return (
        isinstance(expression, Call) and expression.function == "="
        and any(isinstance(arg, Variable) and arg.name == name for arg in expression.args)
    )  # fmt: skip


def _did_you_mean(variable: Variable, among: Iterable[str]) -> str | None:
    candidates = sorted(other for other in among if other != variable.name and not other.startswith("_"))
    close = get_close_matches(variable.name, candidates, n=1)
    if not close:
        close = [other for other in candidates if other.lower() == variable.name.lower()]
    return f"did you mean {_spelled_like(variable, close[0])}?" if close else None


def _shown(variable: Variable) -> str:
    """A variable as it was written."""
    if variable.span is None:
        return f"?{variable.name}"
    return variable.span.source.text[variable.span.start : variable.span.end]


def _spelled_like(variable: Variable, name: str) -> str:
    """Another variable, written as this one was."""
    return name if _is_capital(variable) and name[0].isupper() else f"?{name}"


def _is_capital(variable: Variable) -> bool:
    return _shown(variable)[0].isupper()

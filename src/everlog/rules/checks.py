"""Does a program make sense? Every problem that can be seen without running it.

`OF_ONE_RULE` and `OF_ALL_RULES` list the checks; each looks at a program, given the arities of relations known from
data, and yields diagnostics. The parser has already reported what cannot be read (R1xx):

    safety.py              R2xx  variables: bound where they are used, local where they are local
    expression_checks.py   R2xx  functions, their arguments, terms that cannot work where they stand
    here, stratification   R3xx  arities, names of rules, cycles through NOT and AGGREGATE
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from everlog.rules.constraints import is_constraint
from everlog.rules.diagnostics import Diagnostic, Span
from everlog.rules.expression_checks import check_expressions, check_triples
from everlog.rules.safety import check_facts, check_rules
from everlog.rules.stratification import check_cycles
from everlog.rules.syntax import QUAD, TRIPLE, Aggregate, Atom, Literal, Negation, Program, Rule

Check = Callable[[Program, Mapping[str, int]], Iterator[Diagnostic]]


def check_program(
    program: Program, arities: Mapping[str, int] | None = None, *, passed: Collection[Rule] = ()
) -> list[Diagnostic]:
    """All problems of a program; `arities` has the relations that data or an earlier program brought.

    Rules that have `passed` before are checked only in relation to the others.

    >>> from everlog.rules.parser import parse_program
    >>> [problem.message for problem in check_program(parse_program("p(?x, ?y) :- q(?x)."))]
    ['variable ?y in the head is not bound by the body']
    """
    known = {TRIPLE: 3, QUAD: 4, **(arities or {})}
    before = {id(rule) for rule in passed}
    new = replace(program, rules=tuple(rule for rule in program.rules if id(rule) not in before))
    problems = [problem for check in OF_ONE_RULE for problem in check(new, known)]
    if new.rules or program.facts or program.imports or program.declarations:
        problems += [problem for check in OF_ALL_RULES for problem in check(program, known)]
    return problems


def check_arities(program: Program, arities: Mapping[str, int]) -> Iterator[Diagnostic]:
    """A relation has one arity."""
    first: dict[str, tuple[int, Span | None]] = {relation: (arity, None) for relation, arity in arities.items()}
    reported: set[tuple[str, int]] = set()
    for relation, arity, span in _uses(program):
        known, place = first.setdefault(relation, (arity, span))
        if arity == known or (relation, arity) in reported:
            continue
        reported.add((relation, arity))
        notes: tuple[str, ...] = ()
        if place is None:
            notes = (
                "a triple is subject, predicate, object; a quad has a graph as well"
                if relation in (TRIPLE, QUAD)
                else f"{relation} is there already, with {_arguments(known)}",
            )
        yield Diagnostic(
            "R301",
            f"relation {relation} is used with {_arguments(arity)}, but it has {known}",
            span,
            notes,
            f"give it {_arguments(known)}, or another name",
            ((place, "it was first used here"),) if place is not None else (),
        )


def _arguments(count: int) -> str:
    return f"{count} argument{'' if count == 1 else 's'}"


def _uses(program: Program) -> Iterator[tuple[str, int, Span | None]]:
    for declaration in program.declarations:
        yield declaration.relation, len(declaration.columns), declaration.span
    for item in program.imports:
        if item.relation is not None and item.types is not None:
            yield item.relation, len(item.types), item.span
    for fact in program.facts:
        yield fact.relation, len(fact.args), fact.span
    for rule in program.rules:
        for atom in (*(() if is_constraint(rule) else rule.heads), *_atoms(rule.body)):
            yield atom.relation, len(atom.args), atom.span


def _atoms(body: tuple[Literal, ...]) -> Iterator[Atom]:
    for literal in body:
        if isinstance(literal, Atom):
            yield literal
        elif isinstance(literal, Negation | Aggregate):
            yield from _atoms(literal.body)


def check_names(program: Program, arities: Mapping[str, int]) -> Iterator[Diagnostic]:
    """No two rules have the same name."""
    first: dict[str, Rule] = {}
    for rule in program.rules:
        if rule.name is None:
            continue
        if rule.name not in first:
            first[rule.name] = rule
            continue
        other = first[rule.name]
        constraints = [is_constraint(each) for each in (other, rule)]
        what = "two constraints" if all(constraints) else "a rule and a constraint" if any(constraints) else "two rules"
        yield Diagnostic(
            "R302",
            f"{what} are called {rule.name}",
            rule.span,
            (),
            "give one of them another name" + ("" if any(constraints) else ", or none"),
            ((other.span, "the first one is here"),) if other.span is not None else (),
        )


OF_ONE_RULE: tuple[Check, ...] = (check_facts, check_rules, check_expressions, check_triples)
OF_ALL_RULES: tuple[Check, ...] = (check_arities, check_names, check_cycles)

"""How is a program evaluated, in words a person can check?

`explain_program` lists the components in their order, the rules of each, and every variant with its steps: which atom
is read first, through which bound columns, and where comparisons and negations come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import escape
from typing import Any

from everlog.plans.delta_variants import Variant, delta_variants, full_variant
from everlog.plans.flat_rules import EvaluatedRule, FlatRule, GroupRule, flatten_rules, rule_reads
from everlog.plans.join_order import NoStatistics, Statistics, plan_variant
from everlog.plans.labels import Label
from everlog.plans.operators import Compute, Conclude, Read, Refute, Select, Shorter, Step, Without
from everlog.plans.rewrites import rewrite_rules
from everlog.rules.components import Component, hyper_nodes, maintenance_components
from everlog.rules.constraints import constraint_name, is_constraint_relation
from everlog.rules.dependencies import body_atoms
from everlog.rules.names import name_rules
from everlog.rules.printer import print_atom, print_expression, print_rule
from everlog.rules.syntax import Atom, Program


class CountedStatistics:
    """Statistics from sizes of relations alone: with f of its n columns free, an atom matches size ** (f / n) facts."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._counts = counts

    def matches(self, atom: Atom, bound: frozenset[int]) -> float:
        size = float(self._counts.get(atom.relation, 1000))
        free = len(atom.args) - len(bound)
        return float(size ** (free / max(1, len(atom.args))))


class Plan(str):
    """How a program is evaluated, as text that is shown as it stands."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


def explain_program(program: Program, counts: Mapping[str, int] | None = None, *, rewrites: bool = True) -> Plan:
    """Components, rules, delta variants and join orders, as text."""
    return Plan("\n".join(_lines(program, _statistics(counts), rewrites)))


def explain_rewrites(program: Program) -> dict[str, list[str]]:
    """For each rule that is rewritten, by name: the rules that are evaluated in its place."""
    rules = name_rules(program.rules)
    rewriting = rewrite_rules(rules)
    return {
        rule.name or "": [print_rule(replace(new, name=None), program.prefixes) for new in instead]
        for rule in rules
        if (instead := rewriting.instead_of(rule)) != [rule]
    }


def explain_as_data(
    program: Program, counts: Mapping[str, int] | None = None, *, rewrites: bool = True
) -> list[dict[str, Any]]:
    """The components as data: what `everlog plan --json` prints."""
    statistics = _statistics(counts)
    rewriting = rewrite_rules(name_rules(program.rules), enabled=rewrites)
    components = maintenance_components(flatten_rules(rewriting.rules), rule_reads)
    return [
        {
            "component": component.number + 1,
            "stratum": component.stratum,
            "recursive": component.recursive,
            "defines": _defines(component),
            "rules": list(dict.fromkeys(rule.name for rule in component.rules)),
            "variants": [
                {"rule": rule.name, "steps": [_step_text(step) for step in plan_variant(variant, statistics).steps]}
                for rule, variant in _variants(component)
            ],
        }
        for component in components
    ]


def _statistics(counts: Mapping[str, int] | None) -> Statistics:
    return NoStatistics() if counts is None else CountedStatistics(counts)


def _lines(program: Program, statistics: Statistics, rewrites: bool) -> Iterator[str]:
    rules = name_rules(program.rules)
    texts = {rule.name: print_rule(rule, program.prefixes) for rule in rules}
    components = maintenance_components(flatten_rules(rewrite_rules(rules, enabled=rewrites).rules), rule_reads)
    nodes = hyper_nodes(rules, body_atoms)
    evaluated = f"{len(components)} component" + "s" * (len(components) != 1)
    yield f"{len(rules)} rules in {len(nodes)} hyper-nodes, evaluated as {evaluated}"
    for name, instead in (explain_rewrites(program) if rewrites else {}).items():
        yield ""
        yield f"{name} is evaluated as"
        yield from (f"  {text}" for text in instead)
    for component in components:
        kind = "recursive, " if component.recursive else ""
        yield ""
        defines = ", ".join(_defines(component))
        yield f"component {component.number + 1} ({kind}stratum {component.stratum}): {defines}"
        for name in dict.fromkeys(rule.name for rule in component.rules):
            text = texts[name]
            yield f"  {text if text.startswith((f'{name}:', '@constraint')) else f'{name}: {text}'}"
        for rule, variant in _variants(component):
            yield f"    {rule.name}, {_variant_text(variant)}"
            yield from (f"      {_step_text(step)}" for step in plan_variant(variant, statistics).steps)
        for group in component.rules:
            if isinstance(group, GroupRule):
                yield f"    {group.name}: group {print_atom(group.source)} into {print_atom(group.head)}"


def _defines(component: Component[EvaluatedRule]) -> list[str]:
    """What a component concludes, in the words of its program."""
    return [
        f"constraint {constraint_name(name)}" if is_constraint_relation(name) else name
        for name in component.relations()
    ]


def _variants(component: Component[EvaluatedRule]) -> Iterator[tuple[FlatRule, Variant]]:
    flat = [rule for rule in component.rules if isinstance(rule, FlatRule)]
    heads = [head for rule in flat for head in rule.heads]
    for rule in flat:
        yield rule, full_variant(rule)
        if component.recursive:
            yield from ((rule, variant) for variant in delta_variants(rule, heads))


def _variant_text(variant: Variant) -> str:
    if variant.seed is None:
        return "over what is there"
    return f"from new facts of {print_atom(variant.rule.atoms[variant.seed])}"


def _step_text(step: Step) -> str:
    match step:
        case Shorter():
            return f"where {print_atom(step.read.atom)} gives fewer than {print_atom(step.other.atom)}"
        case Read():
            label = "" if step.label is Label.ALL else f"{step.label.value[0]} "
            atom = print_atom(step.atom)
            if len(step.key) == len(step.atom.args):
                return f"look up {label}{atom}"
            if not step.key:
                return f"scan {label}{atom}"
            return f"probe {label}{atom} on column {', '.join(str(column + 1) for column, _ in step.key)}"
        case Without():
            return f"without {print_atom(step.atom)}"
        case Refute():
            return f"without any {', '.join(print_atom(atom) for atom in step.refuted.body.atoms[1:])} …"
        case Select():
            return f"keep if {print_expression(step.expression)}"
        case Compute():
            return f"compute ?{step.variable} = {print_expression(step.expression)}"
        case Conclude():
            if is_constraint_relation(step.head.relation):
                return f"broken for ({', '.join(f'?{variable.name}' for variable in step.head.variables())})"
            return f"conclude {print_atom(step.head)}"

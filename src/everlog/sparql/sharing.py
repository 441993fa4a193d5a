"""Which relations of two queries are the same?

An auxiliary relation is determined by its rules, so its name is a hash of them: variables are numbered in order of
first mention, and the relations that the rules read have such names already. Two views that negate the same pattern, or
follow the same path, thus use the same relation, and a program has each rule once.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from everlog.plans.flat_rules import (
    AUXILIARY,
    Attempt,
    Computation,
    EvaluatedRule,
    FlatRule,
    is_auxiliary,
    rule_reads,
)
from everlog.rules.dependencies import strongly_connected
from everlog.rules.syntax import Argument, Atom, Bind, Call, Expression, Filter, Variable

_PREFIX = "sparql"
_LENGTH = 16  # digits of a name's hash


def shared_names(rules: Sequence[EvaluatedRule], answer: str) -> list[EvaluatedRule]:
    """The rules, with auxiliary relations named after their contents.

    The answer keeps its name, by which the view is read.
    """
    relations = list(dict.fromkeys(head.relation for rule in rules for head in rule.heads))
    place = {relation: number for number, relation in enumerate(relations)}
    edges = [
        (place[atom.relation], place[head.relation])
        for rule in rules
        for head in rule.heads
        for atom, _ in rule_reads(rule)
        if atom.relation in place
    ]
    names: dict[str, str] = {}
    found: list[EvaluatedRule] = []
    for group in strongly_connected(len(relations), edges):
        members = [relations[number] for number in group]
        own = [rule for rule in rules if rule.heads[0].relation in members]
        if answer in members:
            names[answer] = answer
        else:
            # While their names are not known yet, members are identified by their position in the group.
            placeholders = {member: f"{AUXILIARY}{number}" for number, member in enumerate(members)}
            text = repr(sorted(repr(_canonical(rule, names | placeholders, "")) for rule in own))
            digest = hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]
            names |= {member: f"{_PREFIX}{AUXILIARY}{digest}{n}" for n, member in enumerate(members)}
        found += _told_apart(
            _canonical(rule, names, answer if answer in members else names[members[0]]) for rule in own
        )
    return list(dict.fromkeys(found))


def _told_apart(rules: Iterable[EvaluatedRule]) -> Iterator[EvaluatedRule]:
    """Give equal rules different names: both branches of a UNION count, even if they are the same."""
    copies: Counter[EvaluatedRule] = Counter()
    for rule in rules:
        copies[rule] += 1
        yield rule if copies[rule] == 1 else replace(rule, name=f"{rule.name}{AUXILIARY}{copies[rule]}")


def _canonical(rule: EvaluatedRule, names: Mapping[str, str], called: str) -> EvaluatedRule:
    """A rule with other names of relations, its variables numbered, and a name of its own."""
    numbers: dict[str, str] = {}

    def argument(given: Argument) -> Argument:
        if isinstance(given, Variable):
            return Variable(numbers.setdefault(given.name, f"v{len(numbers)}"))
        return given

    def atom(given: Atom) -> Atom:
        return Atom(names.get(given.relation, given.relation), tuple(map(argument, given.args)))

    def expression(given: Expression) -> Expression:
        return Call(given.function, tuple(map(expression, given.args))) if isinstance(given, Call) else argument(given)

    def computation(given: Computation) -> Computation:
        if isinstance(given, Filter):
            return Filter(expression(given.expression))
        variable = argument(given.variable)
        assert isinstance(variable, Variable) and isinstance(given, Bind | Attempt)
        return replace(given, expression=expression(given.expression), variable=variable)

    if not isinstance(rule, FlatRule):
        return replace(rule, name=called, head=atom(rule.head), source=atom(rule.source))
    assert isinstance(rule, FlatRule) and not rule.refuted and all(is_auxiliary(head.relation) for head in rule.heads)
    body = tuple(map(atom, rule.atoms))
    return FlatRule(
        called,
        tuple(map(atom, rule.heads)),
        body,
        tuple(map(atom, rule.absent)),
        tuple(map(computation, rule.computations)),
        rule.bag,
    )

"""How do many knowledge bases share the rules of a view?

As in rules/keyed.py, for flat rules: the key is put before every atom, and a group is a group of its key. A relation
that is the same for every key, such as the rows of VALUES, stays as it is and is there once. Over no rows a group
without group columns has results too, in every knowledge base that there is: those of nothing.

What an ordering shows of a relation (LIMIT inside a query) would have to be kept for each key apart; there is no such
rule, so it is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from everlog.errors import SparqlError
from everlog.expressions.aggregates import aggregate
from everlog.expressions.values import ExpressionError
from everlog.plans.flat_rules import (
    AUXILIARY,
    Attempt,
    EvaluatedRule,
    FlatRule,
    GroupRule,
    WindowRule,
    is_auxiliary,
    rule_reads,
)
from everlog.rules.keyed import KEY, KEYS, keyed_atom
from everlog.rules.syntax import Argument, Atom, Call, Constant, Variable

_FAILS = Call("coalesce", ())  # of nothing: an expression without a value


def keyed_view_rules(rules: Sequence[EvaluatedRule], answer: str) -> list[EvaluatedRule]:
    """The rules of a view over keyed relations; its answer has the key before its columns."""
    keying = _Keying(_same_for_all(rules, answer))
    return [keyed for rule in rules for keyed in keying.rules(rule)]


def _same_for_all(rules: Sequence[EvaluatedRule], answer: str) -> frozenset[str]:
    """The relations that do not depend on facts, and so not on the key."""
    found = {head.relation for rule in rules for head in rule.heads} - {answer}
    while True:
        differ = {
            head.relation
            for rule in rules
            for head in rule.heads
            if head.relation in found and any(atom.relation not in found for atom, _ in rule_reads(rule))
        }
        if not differ:
            return frozenset(found)
        found -= differ


class _Keying:
    def __init__(self, same: frozenset[str]) -> None:
        self._same = same

    def rules(self, rule: EvaluatedRule) -> Iterator[EvaluatedRule]:
        if rule.heads[0].relation in self._same:
            yield rule
        elif isinstance(rule, FlatRule):
            yield self._flat(rule)
        elif isinstance(rule, GroupRule):
            yield from self._group(rule)
        else:
            assert isinstance(rule, WindowRule)
            raise SparqlError(
                "LIMIT and OFFSET inside a subquery cannot be kept for many keys in one engine",
                hint="take them out of the subquery, or keep the view in a knowledge base of its own",
            )

    def _atom(self, atom: Atom) -> Atom:
        if atom.relation in self._same:
            return atom
        return replace(atom, args=(KEY, *atom.args)) if is_auxiliary(atom.relation) else keyed_atom(atom)

    def _flat(self, rule: FlatRule) -> FlatRule:
        assert not rule.refuted, "views have none"
        heads, atoms, absent = (tuple(map(self._atom, each)) for each in (rule.heads, rule.atoms, rule.absent))
        if all(atom.relation in self._same for atom in atoms):
            atoms = (Atom(KEYS, (KEY,)), *atoms)
        return replace(rule, heads=heads, atoms=atoms, absent=absent)

    def _group(self, rule: GroupRule) -> Iterator[EvaluatedRule]:
        source = self._atom(rule.source)
        functions = tuple(
            each if each.column is None else replace(each, column=each.column + 1) for each in rule.functions
        )
        keyed = replace(rule, head=self._atom(rule.head), source=source, group=rule.group + 1, functions=functions)
        if rule.group:
            yield keyed
            return
        # A rule that concludes from groups and one that concludes from their absence need relations of their own.
        head = keyed.head
        groups, some = (f"{head.relation}{AUXILIARY}{what}" for what in ("groups", "some"))
        yield replace(keyed, head=replace(head, relation=groups))
        yield FlatRule(rule.name, (head,), (replace(head, relation=groups),))
        yield FlatRule(rule.name, (Atom(some, (KEY,)),), (source,))
        yield from _of_nothing(rule, head, some)


def _of_nothing(rule: GroupRule, head: Atom, some: str) -> Iterator[FlatRule]:
    """What a group without rows has for results, if there is such a group."""
    results: list[Argument] = []
    attempts: list[Attempt] = []
    for each in rule.functions:
        try:
            results.append(Constant(aggregate(each.function, each.distinct, [], each.separator)))
        except ExpressionError:
            if not rule.keep_failed:
                return
            missing = Variable(f"{AUXILIARY}{len(attempts)}")
            attempts.append(Attempt(_FAILS, missing))
            results.append(missing)
    nothing = Atom(head.relation, (KEY, *results))
    yield FlatRule(rule.name, (nothing,), (Atom(KEYS, (KEY,)),), (Atom(some, (KEY,)),), tuple(attempts))

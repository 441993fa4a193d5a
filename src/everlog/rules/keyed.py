"""How do many knowledge bases share the rules of one?

Each has a key, and the key is put before the arguments of every atom: `path(?x, ?y)` becomes `path/2(key, ?x, ?y)`. All
atoms of a rule have the same key, so facts of two keys never meet, and each key has what a knowledge base of its own
would have. Names say how many arguments there were, so that `p(a)` of one key and `p(a, b)` of another are no conflict;
triples are a relation with four columns, `triple/3`, and constants as predicates keep components apart there too.

Two things need to know which keys there are, a relation of its own (`KEYS`): rules whose body has no atom, and
aggregates without ON, which have a result over nothing too:

    few(?n) :- AGGREGATE(p(?x) BIND COUNT(?x) AS ?n), ?n < 3.

    few/1(key, ?n)     :- r1/group1(key, ?n), ?n < 3.
    r1/group1(key, ?n) :- AGGREGATE(p/1(key, ?x) ON key BIND COUNT(?x) AS ?n).
    r1/group1(key, 0)  :- /keys(key), NOT r1/some1(key).
    r1/some1(key)      :- p/1(key, ?x).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from everlog.rules.constraints import is_constraint_relation
from everlog.rules.syntax import Aggregate, Argument, Atom, Constant, Literal, Negation, Rule, Variable

KEY = Variable("~key")  # no variable of a user has a ~
KEYS = "/keys"  # nobody else's relation: all others have a name before the slash
_OF_NOTHING = {"COUNT": 0, "SUM": 0}  # the other functions fail over nothing, so that there is no fact


def keyed_relation(relation: str, arity: int) -> str:
    """The name of the relation that has a key before these arguments."""
    return f"{relation}/{arity}"


def keyed_atom(atom: Atom) -> Atom:
    """An atom of any knowledge base as an atom of that with a key.

    >>> keyed_atom(Atom("p", (Constant("a"),)))
    Atom(relation='p/1', args=(Variable(name='~key'), Constant(term='a')))
    """
    same = is_constraint_relation(atom.relation)  # which is named after its rule
    relation = atom.relation if same else keyed_relation(atom.relation, len(atom.args))
    return replace(atom, relation=relation, args=(KEY, *atom.args))


def keyed_rules(rule: Rule) -> list[Rule]:
    """A named rule with the key before every atom, and the rules of the auxiliary relations that it needs then.

    >>> from everlog.rules.parser import parse_program
    >>> from everlog.rules.printer import print_rule
    >>> [rule] = parse_program("r1: p(?x) :- q(?x, ?y), NOT r(?y).").rules
    >>> print_rule(keyed_rules(rule)[0])
    'r1: p/1(?~key, ?x) :- q/2(?~key, ?x, ?y), NOT r/1(?~key, ?y).'
    """
    assert rule.name is not None, "rules are named before they get a key"
    keying = _Keying(rule.name)
    body = keying.body(rule.body)
    return [replace(rule, heads=tuple(map(keyed_atom, rule.heads)), body=body), *keying.rules]


class _Keying:
    """The auxiliary relations of one rule, numbered as they come."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._made = 0
        self.rules: list[Rule] = []

    def body(self, body: Sequence[Literal]) -> tuple[Literal, ...]:
        """A body that binds the key."""
        literals = self._literals(body)
        if any(isinstance(literal, Atom | Aggregate) for literal in literals):
            return literals
        return (Atom(KEYS, (KEY,)), *literals)

    def _literals(self, body: Sequence[Literal]) -> tuple[Literal, ...]:
        return tuple(map(self._literal, body))

    def _literal(self, literal: Literal) -> Literal:
        match literal:
            case Atom():
                return keyed_atom(literal)
            case Negation():
                return replace(literal, body=self._literals(literal.body))  # the key is bound around it
            case Aggregate() if literal.group or not _counts_nothing(literal):
                return replace(literal, body=self.body(literal.body), group=(KEY, *literal.group))
            case Aggregate():
                return self._group_of_all(literal)
        return literal

    def _group_of_all(self, aggregate: Aggregate) -> Atom:
        """The atom of an aggregate whose one group is there even when it is empty."""
        self._made += 1
        group, some = (f"{self._name}/{what}{self._made}" for what in ("group", "some"))
        body = self.body(aggregate.body)
        results: list[Argument] = [binding.variable for binding in aggregate.bindings]
        nothing = [Constant(_OF_NOTHING[binding.function]) for binding in aggregate.bindings]
        in_groups = replace(aggregate, body=body, group=(KEY,))
        absent = Negation((Atom(some, (KEY,)),))
        self.rules += [
            Rule((Atom(group, (KEY, *results)),), (in_groups,), group),
            Rule((Atom(group, (KEY, *nothing)),), (Atom(KEYS, (KEY,)), absent), f"{group}/nothing"),
            Rule((Atom(some, (KEY,)),), body, some),
        ]
        return Atom(group, (KEY, *results))


def _counts_nothing(aggregate: Aggregate) -> bool:
    """Has the aggregate results where its body has no match?"""
    return all(binding.function in _OF_NOTHING for binding in aggregate.bindings)

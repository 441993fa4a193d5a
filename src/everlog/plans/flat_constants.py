"""Which terms do flat rules mention?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from everlog.facts.terms import Term
from everlog.plans.flat_rules import EvaluatedRule, FlatRule
from everlog.rules.constants import expression_constants
from everlog.rules.syntax import Constant


def flat_constants(rules: Iterable[EvaluatedRule]) -> Iterator[Term]:
    """The constants of rules; one may come more than once."""
    for rule in rules:
        body = (*rule.atoms, *rule.absent) if isinstance(rule, FlatRule) else (rule.source,)
        for atom in (*rule.heads, *body):
            yield from (arg.term for arg in atom.args if isinstance(arg, Constant))
        if isinstance(rule, FlatRule):
            for computation in rule.computations:
                yield from expression_constants(computation.expression)
            yield from flat_constants(refuted.body for refuted in rule.refuted)

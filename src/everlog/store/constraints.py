"""Which constraints would an update break?

A constraint is a rule whose matches are not to be: `@constraint name : body.` They are relations like others, kept by
updates, and are empty in every state. So an update breaks one exactly if it adds to its relation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from everlog.dictionary.dictionary import Dictionary
from everlog.errors import ConstraintError
from everlog.facts.terms import Term
from everlog.facts.weighted import WeightedFacts
from everlog.rules.constraints import constraint_name, is_constraint, is_constraint_relation
from everlog.rules.printer import print_term
from everlog.rules.syntax import Rule
from everlog.store.rows import Rows, column_names

_MOST_MATCHES = 10


def check_constraints(rules: Sequence[Rule], changes: Mapping[str, WeightedFacts], dictionary: Dictionary) -> None:
    """Raise an error that names the constraints which a change breaks, with the first matches of each."""
    broken = {
        name: gained
        for name, facts in changes.items()
        if is_constraint_relation(name) and (gained := facts.gained()).rows
    }
    if not broken:
        return
    variables = {
        rule.heads[0].relation: [f"?{variable.name}" for variable in rule.heads[0].variables()]
        for rule in rules
        if is_constraint(rule)
    }
    lines, violations = [], {}
    for relation, facts in broken.items():
        matches = Rows(dictionary, column_names(facts.arity), facts.columns, facts.rows).sorted()
        violations[constraint_name(relation)] = matches[:_MOST_MATCHES]
        shown = [f"    {_shown(variables[relation], match)}" for match in matches[:_MOST_MATCHES]]
        more = [f"    … {len(matches) - _MOST_MATCHES:,} more"] if len(matches) > _MOST_MATCHES else []
        lines.append("\n".join([f"the constraint {constraint_name(relation)} would be broken by:", *shown, *more]))
    raise ConstraintError(
        "\n".join(lines), violations=violations, hint="nothing was changed; change the facts, or remove the constraint"
    )


def _shown(names: Sequence[str], match: Sequence[Term]) -> str:
    values = (f"{name} = {print_term(term)}" for name, term in zip(names, match, strict=True))
    return ", ".join(values) or "its body holds"

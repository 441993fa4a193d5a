"""Which constraints would an update break?

A constraint is a rule whose matches are not to be: `@constraint name : body.` They are relations like others, kept by
updates, and are empty in every state. So an update breaks one exactly if it adds to its relation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from everlog.dictionary.dictionary import Dictionary
from everlog.errors import ConstraintError
from everlog.facts.weighted import WeightedFacts
from everlog.rules.constraints import constraint_name, is_constraint_relation
from everlog.rules.printer import print_term
from everlog.rules.syntax import Rule
from everlog.store.rows import Rows, column_names

_MOST_MATCHES = 10


def check_constraints(rules: Sequence[Rule], changes: Mapping[str, WeightedFacts], dictionary: Dictionary) -> None:
    """Raise an error that names the constraints which a change breaks, with the first matches of each."""
    broken = {
        name: facts for name, facts in changes.items() if is_constraint_relation(name) and (facts.weights > 0).any()
    }
    if not broken:
        return
    variables = {rule.heads[0].relation: [str(arg) for arg in rule.heads[0].args] for rule in rules if rule.heads}
    lines, violations = [], {}
    for relation, facts in broken.items():
        gained = facts.gained()
        matches = Rows(dictionary, column_names(facts.arity), gained.columns, gained.rows).sorted()
        violations[constraint_name(relation)] = matches[:_MOST_MATCHES]
        names = variables.get(relation, [])
        shown = [
            "    "
            + (", ".join(f"{name} = {print_term(term)}" for name, term in zip(names, match, strict=False)) or "holds")
            for match in matches[:_MOST_MATCHES]
        ]
        more = [f"    … {len(matches) - _MOST_MATCHES:,} more"] if len(matches) > _MOST_MATCHES else []
        lines.append("\n".join([f"the constraint {constraint_name(relation)} would be broken by:", *shown, *more]))
    raise ConstraintError(
        "\n".join(lines), violations=violations, hint="nothing was changed; change the facts, or remove the constraint"
    )

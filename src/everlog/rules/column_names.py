"""What are the columns of a relation called?

As `@relation` declares; else like the variables in the heads of its rules, where all of them agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from everlog.rules.syntax import Argument, Atom, Declaration, Program, Variable


def head_names(heads: Iterable[Atom]) -> tuple[str, ...] | None:
    """The names of the variables in heads of one relation, where all of them agree and no two are the same."""
    found = {tuple(_name(arg) for arg in head.args) for head in heads}
    if len(found) != 1:
        return None
    (names,) = found
    lower = {name.lower() for name in names}  # readers of tables take `a` and `A` for one name
    return None if not names or "" in lower or len(lower) < len(names) else names


def _name(argument: Argument) -> str:
    return argument.name if isinstance(argument, Variable) and not argument.anonymous else ""


def relation_columns(program: Program, relation: str) -> tuple[str, ...] | None:
    """The names that a program gives to the columns of a relation; None where it gives none."""
    for declaration in program.declarations:
        if declaration.relation == relation:
            return declaration.columns
    return head_names(head for rule in program.rules for head in rule.heads if head.relation == relation)


def declared_types(declarations: Mapping[str, Declaration], relation: str | None) -> tuple[str, ...] | None:
    """The types to read text columns of a relation as; None where no type is declared."""
    declared = declarations.get(relation or "")
    if declared is None or not any(declared.types):
        return None
    return tuple(type_ or "any" for type_ in declared.types)

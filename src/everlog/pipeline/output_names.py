"""What are the columns of an output called?

As its `columns` say; else as `@relation` declares; else like the variables in the heads of the relation's rules, where
all of them agree; else like the columns that its sources name, where they do; else c1, c2, …
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from everlog.pipeline.sources import InputSource, renamed
from everlog.rules.column_names import relation_columns
from everlog.rules.syntax import Program

_NOT_IN_DELTA = " ,;{}()\n\t="


def column_names(program: Program, sources: Iterable[InputSource], relation: str) -> tuple[str, ...] | None:
    """The names that rules or sources give to the arguments of a relation, or None where they give none."""
    declared = any(each.relation == relation for each in program.declarations)
    if declared or any(head.relation == relation for rule in program.rules for head in rule.heads):
        return relation_columns(program, relation)
    named = named_by_sources(source for source in sources if source.relation == relation)
    return tuple(named[relation]) if relation in named else None


def named_by_sources(sources: Iterable[InputSource]) -> dict[str, list[str]]:
    """The names that sources give to the columns of relations, where all sources of a relation agree."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for source in sources:
        if source.relation is not None:
            found.setdefault(source.relation, set()).add(_named(source))
    return {name: list(names) for name, said in found.items() if (names := _agreed(said)) is not None}


def _agreed(found: set[tuple[str, ...]]) -> tuple[str, ...] | None:
    if len(found) != 1:
        return None
    (names,) = found
    return names if names and names_problem(names, "csv") is None else None


def _named(source: InputSource) -> tuple[str, ...]:
    columns = [column for column in source.columns or () if column != source.change_column]
    return tuple(renamed(column)[1] for column in columns)


def names_problem(names: Sequence[str], format: str) -> str | None:
    """Why these cannot be the names of columns, or None. Readers of tables take `a` and `A` for one name."""
    if "" in names:
        return "a column has an empty name"
    lower = [name.lower() for name in names]
    if len(set(lower)) < len(lower):
        return f"two columns have one name among {', '.join(names)}"
    if format == "delta":
        for name in names:
            odd = [character for character in name if character in _NOT_IN_DELTA]
            if odd:
                return f"a Delta table has no column named {name!r}: {odd[0]!r} is not allowed in it"
    return None

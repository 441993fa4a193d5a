"""How are facts and answers shown: as tables for people, as lines for other programs, as JSON?"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from everlog.answers.showing import shown
from everlog.facts.terms import Term, key_of

if TYPE_CHECKING:
    from everlog.sparql.graphs import Graph
    from everlog.sparql.solutions import Solutions, Truth
    from everlog.store.rows import Rows
    from everlog.store.store import KnowledgeBase

    Answer = Rows | Solutions | Truth | Graph

FIRST = 5  # facts of each relation that a summary shows


def as_data(
    kb: KnowledgeBase, defined: Sequence[str], queries: Sequence[str], written: Sequence[str], seconds: float
) -> dict[str, Any]:
    """What `--json` prints: every relation with its counts, the answers, the files."""
    order = {name: index for index, name in enumerate(defined)}
    relations = sorted(kb.relations(), key=lambda relation: (order.get(relation.name, len(order)), relation.name))
    return {
        "relations": [
            {
                "name": relation.name,
                "arity": relation.arity,
                "facts": relation.facts,
                "explicit": relation.explicit,
                "defined": relation.defined,
            }
            for relation in relations
        ],
        "queries": [answer_as_data(text, kb.query(text)) for text in queries],
        "written": list(written),
        "seconds": round(seconds, 6),
    }


def answer_as_data(text: str, answer: Answer) -> dict[str, Any]:
    """The answer to a query, as JSON data."""
    from everlog.sparql.graphs import Graph
    from everlog.sparql.solutions import Truth

    if isinstance(answer, Truth):
        return {"query": text, "boolean": bool(answer)}
    if isinstance(answer, Graph):
        return {"query": text, "triples": rows_as_data(answer.sorted())}
    return {"query": text, "variables": list(answer.names), "rows": rows_as_data(_listed(answer))}


def rows_as_data(rows: Iterable[Sequence[Term | None]]) -> list[list[Any]]:
    """Rows of terms as JSON (formats/jsonl.py); null for an unbound variable."""
    from everlog.formats.jsonl import json_of_key

    return [[None if term is None else json_of_key(key_of(term)) for term in row] for row in rows]


def print_answer(text: str, answer: Answer, *, prefixes: Mapping[str, str], titled: bool) -> None:
    """A table on a terminal; elsewhere a line per row, its terms separated by tabs. No variables: true or false."""
    from everlog.sparql.graphs import Graph
    from everlog.sparql.solutions import Truth

    if titled:
        print(f"# {text}")
    if isinstance(answer, Graph):
        print(answer.serialize("ttl"), end="")
    elif isinstance(answer, Truth) or not answer.names:
        print("true" if answer else "false")
    else:
        print_rows(_listed(answer), [f"?{name}" for name in answer.names], prefixes=prefixes)


def _listed(answer: Rows | Solutions) -> Iterable[Sequence[Term | None]]:
    """The rows of an answer: in the order that the query asks for, or else in that of terms."""
    from everlog.sparql.solutions import Solutions

    return answer.listed() if isinstance(answer, Solutions) else answer.sorted()


def print_rows(rows: Iterable[Sequence[Term | None]], titles: Sequence[str], *, prefixes: Mapping[str, str]) -> None:
    """A table on a terminal; elsewhere a line per row, its terms separated by tabs."""
    if sys.stdout.isatty():
        table = _table(*titles)
        for row in rows:
            table.add_row(*("" if term is None else shown(term, prefixes) for term in row))
        _print(table)
    else:
        for row in rows:
            texts = ("" if term is None else shown(term) for term in row)
            print("\t".join(text.replace("\t", "\\t").replace("\n", "\\n") for text in texts))


def print_summary(kb: KnowledgeBase, defined: Sequence[str], *, prefixes: Mapping[str, str], seconds: float) -> None:
    """Every relation with its counts, and the first facts of those that rules define."""
    relations = {relation.name: relation for relation in kb.relations()}
    names = [*defined, *sorted(name for name in relations if name not in defined)]
    table = _table("relation", "facts", "explicit", "the first ones", right=(1, 2))
    for name in names:
        relation = relations.get(name)
        facts, explicit = (relation.facts, relation.explicit) if relation else (0, 0)
        rows: Iterable[tuple[Term, ...]] = islice(kb.facts(name), FIRST) if name in defined and facts else ()
        lines = ["(" + ", ".join(shown(term, prefixes) for term in row) + ")" for row in rows]
        if lines and facts > FIRST:
            lines.append(f"… {facts - FIRST:,} more")
        table.add_row(name, f"{facts:,}", f"{explicit:,}", "\n".join(lines))
    _print(table)
    print(f"materialised in {seconds:.2f} s")


def _table(*columns: str, right: Sequence[int] = ()) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index in right else "left", overflow="fold")
    return table


def _print(table: Any) -> None:
    from rich.console import Console

    # Without a terminal there is no width to fit: 120 columns read well in a log.
    Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else 120).print(table)

"""How do ontologies come into a knowledge base, change there, and leave?

All that a knowledge base knows of an ontology is rules and facts like others: rows of axiom tables, which begin with
the name of the ontology, and rules whose names begin with it. The rule of a table is there while the table has rows.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from everlog.errors import NotFoundError, UsageError
from everlog.facts.terms import keys_of
from everlog.formats.compression import split_name
from everlog.formats.reading import RDF_FORMATS, format_of, read_facts
from everlog.ontologies import same_as
from everlog.ontologies.ontology import CHOOSE, REGISTER, Content, Ontology, Row, content
from everlog.ontologies.shapes import SEPARATOR, TABLE_PREFIX
from everlog.rules.syntax import Program, Rule
from everlog.store.rows import Rows, column_names
from everlog.store.state import State
from everlog.store.updates import Update

_NAME = re.compile(r"[^\W\d][\w-]*")


@dataclass(frozen=True)
class OntologyInfo:
    """An ontology, as `kb.ontologies()` lists it."""

    name: str
    way: str
    rows: int  # axioms in tables
    rules: int  # axioms as rules of their own


def read_ontology(source: str | Path) -> Ontology:
    """The axioms of an RDF file, or of a text in Turtle, which has a line break or a full stop at its end."""
    text = str(source)
    if isinstance(source, str) and ("\n" in text or text.rstrip().endswith(".")):
        from everlog.formats.rdf import read_rdf

        return Ontology.of_blocks(
            read_rdf(io.BytesIO(text.encode()), "ttl", path="<axioms>", base="urn:everlog:axioms")
        )
    path = Path(source)
    if format_of(path, None) not in RDF_FORMATS:
        raise UsageError(f"{path} is no RDF file", hint="ontologies are RDF: .ttl, .owl, .rdf, .nt, …")
    return Ontology.of_blocks(read_facts(path))


def ontology_name(source: str | Path, name: str | None) -> str:
    """What an ontology is called: as said, or like its file."""
    chosen = name if name is not None else re.sub(r"\W+", "-", split_name(Path(source))[0]).strip("-")
    if not _NAME.fullmatch(chosen):
        raise UsageError(f"{chosen!r} is no name for an ontology", hint="letters, digits, _ and -; say name='…'")
    return chosen


def ontologies(state: State) -> list[OntologyInfo]:
    """The ontologies of a state, by name."""
    ways = _ways(state)
    rows, rules = Counter[str](), Counter(filter(None, map(_owner, state.rules)))
    for table in _tables(state):
        if ways and table != REGISTER:
            rows.update(str(row[0]) for row in _facts(state, table))
    return [OntologyInfo(name, way, rows[name], rules[name]) for name, way in sorted(ways.items())]


def without_ontologies(state: State) -> tuple[Rule, ...]:
    """The rules that are of no ontology."""
    if REGISTER not in state.arities:
        return state.rules
    names = _ways(state)
    own = (rule for rule in state.rules if not (rule.name or "").startswith(TABLE_PREFIX))
    return tuple(rule for rule in own if _owner(rule) not in names)


def arriving(state: State, name: str, ontology: Ontology, way: str) -> Update:
    """The update by which an ontology comes."""
    if name in _ways(state):
        raise UsageError(f"there is an ontology {name!r} already", hint="replace it, or give the other a name")
    return difference(state, Content(), content(ontology, name, way))


def becoming(state: State, name: str, ontology: Ontology) -> Update:
    """The update by which an ontology becomes what another document says."""
    before = current(state, name)
    return difference(state, before, content(ontology, name, _ways(state)[name], before.rows))


def leaving(state: State, name: str) -> Update:
    """The update by which an ontology goes."""
    return difference(state, current(state, name), Content())


def current(state: State, name: str) -> Content:
    """What an ontology has in a state.

    Raises:
        NotFoundError: there is none of that name.
    """
    if name not in _ways(state):
        raise NotFoundError.among("ontology", name, _ways(state))
    rows = {table: found for table in _tables(state) if (found := _rows(state, table, name))}
    return Content(rows, {rule.name or "": rule for rule in state.rules if _owner(rule) == name})


def difference(state: State, before: Content, after: Content, *, whole: bool = True) -> Update:
    """The update that makes an ontology of what it was what it is to be; if not `whole`, the rest of it stays."""
    inserted = {table: _without(rows, before.rows.get(table, ())) for table, rows in after.rows.items()}
    deleted = {table: _without(rows, after.rows.get(table, ())) for table, rows in before.rows.items()}
    added = [rule for name, rule in after.rules.items() if name not in before.rules]
    removed = [name for name in before.rules if name not in after.rules] if whole else []
    known = {rule.name for rule in state.rules}
    for rules in after.shared.values():
        added += [rule for rule in rules if rule.name not in known]
    for table, rows in deleted.items():
        if rows and not after.rows.get(table) and _are_all(state, table, rows):
            removed += [rule.name or "" for rule in state.rules if _is_of_table(rule, table)]
    return Update(
        {table: list(rows) for table, rows in inserted.items() if rows},
        {table: list(rows) for table, rows in deleted.items() if rows},
        Program(rules=tuple(added)) if added else None,
        removed,
    )


def gaining(state: State, name: str, ontology: Ontology) -> Update:
    """The update by which an ontology gains some axioms."""
    tables = [table for table in _tables(state) if _count(state, table)]
    wanted = content(ontology, name, _ways(state).get(name, CHOOSE), tables)
    return difference(state, Content(rules={rule.name or "": rule for rule in state.rules}), wanted, whole=False)


def losing(state: State, name: str, ontology: Ontology) -> Update:
    """The update by which an ontology loses some axioms, however they are held."""
    way = _ways(state).get(name)
    if way is None:
        raise NotFoundError.among("ontology", name, _ways(state))
    rules = content(ontology, name, "compiled").rules
    rows = dict(content(ontology, name, "generic" if way == "generic" else "tables").rows)
    for table in (REGISTER, same_as.TABLE):  # the axioms that stay may need them
        rows.pop(table, None)
    known = {rule.name for rule in state.rules}
    held = {table: found for table, found in rows.items() if table in state.arities}
    return difference(state, Content(held, {each: rule for each, rule in rules.items() if each in known}), Content())


def _without(rows: Iterable[Row], others: Iterable[Row]) -> list[Row]:
    """Rows that are not among others; 1 and True are two."""
    there = {keys_of(row) for row in others}
    return [row for row in rows if keys_of(row) not in there]


def _tables(state: State) -> list[str]:
    return [name for name in state.arities if name.startswith(TABLE_PREFIX)]


def _is_of_table(rule: Rule, table: str) -> bool:
    name = rule.name or ""
    return name == table or name.startswith(table + SEPARATOR)


def _owner(rule: Rule) -> str | None:
    """The ontology that a rule is of alone."""
    owner, dot, _ = (rule.name or "").rpartition(SEPARATOR)
    return owner if dot and not owner.startswith(TABLE_PREFIX) else None


def _facts(state: State, table: str) -> Rows:
    facts = state.facts.reader().collect(table)
    return Rows(state.dictionary, column_names(state.arities[table]), facts.columns, facts.rows)


def _rows(state: State, table: str, name: str) -> list[Row]:
    return [row for row in _facts(state, table) if row[0] == name]


def _ways(state: State) -> dict[str, str]:
    """The ontologies there are, and the way that was asked for."""
    if REGISTER not in state.arities:
        return {}
    return {str(name): str(way) for name, way in _facts(state, REGISTER)}


def _are_all(state: State, table: str, rows: Sequence[Row]) -> bool:
    """Are these all rows of a table?"""
    return _count(state, table) == len(rows) and not _without(_facts(state, table), rows)


def _count(state: State, table: str) -> int:
    return state.facts.reader().count(table)

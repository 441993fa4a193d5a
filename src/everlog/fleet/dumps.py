"""How is a fleet written down, so that another process can go on with it?

As lines of JSON: the definitions first, then a line for each knowledge base with its version, its definition and its
explicit facts, terms by their keys. What follows from them is derived when the lines are read. Updates are written the
same way, so that a log of them can follow.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from everlog.fleet.definitions import Definition
from everlog.fleet.edits import Facts, as_data, edits_of, from_data
from everlog.fleet.views import FleetView
from everlog.rules.parser import parse_program
from everlog.rules.printer import print_program
from everlog.rules.syntax import Program, Rule
from everlog.store.updates import Update


def definition_data(definition: Definition) -> dict[str, Any]:
    return {
        "rules": _rules_text(definition.rules),
        "prefixes": dict(definition.prefixes),
        "views": {name: [view.text, dict(view.single.prefixes)] for name, view in definition.views.items()},
    }


def definition_from(data: Mapping[str, Any]) -> Definition:
    views = {name: FleetView.of(name, text, prefixes) for name, (text, prefixes) in data["views"].items()}
    return Definition(parse_program(data["rules"]).rules, views, data["prefixes"])


def _rules_text(rules: Sequence[Rule]) -> str:
    return print_program(Program(rules=tuple(rules)))


def update_data(update: Update) -> dict[str, Any]:
    """An update as JSON can hold it."""
    edits = edits_of(update)
    said: dict[str, Any] = {"insert": as_data(edits.insert), "delete": as_data(edits.delete)}
    if update.add_rules is not None:
        rules = update.add_rules
        said["add"] = rules if isinstance(rules, str) else _program_text(rules)
    if update.remove_rules:
        said["remove"] = list(update.remove_rules)
    return {part: value for part, value in said.items() if value}


def _program_text(rules: Program | Sequence[Rule]) -> str:
    return print_program(rules if isinstance(rules, Program) else Program(rules=tuple(rules)))


def update_from(data: Mapping[str, Any]) -> Update:
    """The update that `update_data` was given."""
    return Update(
        _by_name(from_data(data.get("insert", {}))),
        _by_name(from_data(data.get("delete", {}))),
        data.get("add"),
        tuple(data.get("remove", ())),
    )


def _by_name(facts: Facts) -> dict[str, list[tuple[Any, ...]]]:
    found: dict[str, list[tuple[Any, ...]]] = {}
    for (relation, _), rows in facts.items():
        found.setdefault(relation, []).extend(rows)
    return found


def lines(
    shared: Definition,
    initial: Facts,
    homes: Iterable[tuple[Definition, Mapping[str, Facts]]],
    versions: Mapping[str, int],
) -> Iterator[str]:
    """A fleet as text: knowledge bases by the definition that they have."""
    groups = [(definition, facts) for definition, facts in homes if facts]
    known = [definition_data(each) for each in (shared, *(definition for definition, _ in groups))]
    yield json.dumps({"definitions": known, "initial": as_data(initial)})
    for number, (_, by_key) in enumerate(groups, start=1):
        for key, facts in by_key.items():
            yield json.dumps({"key": key, "version": versions[key], "definition": number, "facts": as_data(facts)})


class Written:
    """A fleet that was written down."""

    def __init__(self, texts: Iterable[str]) -> None:
        rest = iter(texts)
        head = json.loads(next(rest))
        self.shared, *self.definitions = map(definition_from, head["definitions"])
        self.initial = from_data(head["initial"])
        self.versions: dict[str, int] = {}
        self.groups: list[dict[str, Facts]] = [{} for _ in self.definitions]
        for text in rest:
            said = json.loads(text)
            self.versions[said["key"]] = said["version"]
            self.groups[said["definition"] - 1][said["key"]] = from_data(said["facts"])

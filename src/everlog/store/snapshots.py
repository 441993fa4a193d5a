"""How does a state get to a file, and how does a knowledge base go on from there without deriving anything?

A snapshot has what a state has: program and views as texts, the dictionary, and each relation of the engine as arrays,
auxiliary ones too; and what maintenance knows of the components. Opening it maps the arrays. Where it was written by an
Everlog that names auxiliary relations in another way, only the explicit facts are taken, and the rest is derived.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from everlog.dictionary.dictionary import Dictionary
from everlog.dictionary.stored_terms import StoredTerms
from everlog.engines.dumps import RelationDump
from everlog.engines.interface import Engine, Shape
from everlog.limits import Limits
from everlog.maintenance.component import Known
from everlog.maintenance.materialise import shapes
from everlog.maintenance.program import EvaluatedProgram
from everlog.maintenance.update import Maintenance
from everlog.rules.parser import parse_program
from everlog.rules.printer import print_declaration, print_rule
from everlog.rules.syntax import Declaration, Rule
from everlog.store.applying import derive_from_explicit
from everlog.store.engines import make_engine
from everlog.store.snapshot_files import read_arrays, write_arrays
from everlog.store.state import Definitions, State
from everlog.store.view_queries import ViewQuery, view_query, view_rules

KnownByRules = Sequence[tuple[Sequence[str], Mapping[str, Any]]]


def write_snapshot(path: Path, state: State, known: KnownByRules) -> int:
    """Write a state; `known` is what maintenance knew of the components then. Gives the size of the file."""
    arrays: dict[str, Any] = {f"terms/{name}": array for name, array in state.dictionary.stored().arrays.items()}
    relations = []
    for number, dump in enumerate(state.facts.capture.dump()):
        parts = {"facts": dump.facts, "explicit": dump.explicit, "weights": dump.weights, "ranks": dump.ranks}
        parts |= {f"own.{name}": array for name, array in dump.own.items()}
        arrays |= {f"{number}/{name}": array for name, array in parts.items() if array is not None}
        relations.append({**asdict(dump.shape), "about": dump.about})
    about = {
        "version": state.version,
        "engine": state.facts.engine.name,
        **definitions_as_data(state.definitions),
        "known": list(known),
        "relations": relations,
    }
    return write_arrays(path, about, arrays)


class Defined(Protocol):
    """Rules, views and relations: of a state, or where an update leads."""

    @property
    def rules(self) -> tuple[Rule, ...]: ...
    @property
    def prefixes(self) -> Mapping[str, str]: ...
    @property
    def views(self) -> Mapping[str, ViewQuery]: ...
    @property
    def arities(self) -> Mapping[str, int]: ...
    @property
    def declared(self) -> Mapping[str, Declaration]: ...


def definitions_as_data(defined: Defined) -> dict[str, Any]:
    """Program and views as texts."""
    return {
        "rules": [print_rule(rule) for rule in defined.rules],
        "prefixes": dict(defined.prefixes),
        "views": [
            [view.name, view.text, view.since, changed_prefixes(view.prefixes, defined.prefixes)]
            for view in defined.views.values()
        ],
        "arities": dict(defined.arities),
        "declarations": [print_declaration(each) for each in defined.declared.values()],
    }


def definitions_from_data(about: Mapping[str, Any], *, rewrites: bool) -> Definitions:
    """Program and views, from their texts."""
    from everlog.store.rule_steps import rule_arities

    read = parse_program("\n".join([*about.get("declarations", ()), *about["rules"]]), "<snapshot>", about["prefixes"])
    rules, declared = read.rules, {each.relation: each for each in read.declarations}
    views = views_from_data(about)
    program = EvaluatedProgram().changed(rules, rewrites=rewrites, views=view_rules(views)).after
    return Definitions(rules, about["prefixes"], views, about["arities"], rule_arities(rules), program, declared)


def views_from_data(about: Mapping[str, Any]) -> dict[str, ViewQuery]:
    """The views among them."""
    return {
        name: view_query(name, text, {**about["prefixes"], **prefixes}, since)
        for name, text, since, prefixes in about["views"]
    }


def maintenance_knowing(program: EvaluatedProgram, known: KnownByRules) -> Maintenance:
    """The components, with what was known of them."""
    maintenance = Maintenance(program)
    by_rules = {tuple(names): Known(**said) for names, said in known}
    nothing = Known(ranks=False, counts=False, weights=False)
    for component in maintenance.components:
        component.known = by_rules.get(tuple(_rule_names(component)), nothing)
    return maintenance


def has_all(program: EvaluatedProgram, known: Mapping[str, tuple[int, bool]]) -> bool:
    """Are all relations there that the program needs, in the same shape: arity, and whether it is a bag?"""
    return all(known.get(shape.name) == (shape.arity, shape.bag) for shape in shapes(program.components))


def changed_prefixes(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """The prefixes that meant something else before."""
    return {name: iri for name, iri in before.items() if now.get(name) != iri}


def known_of(maintenance: Maintenance) -> KnownByRules:
    """What maintenance knows of each component, by the names of its rules."""
    return [(_rule_names(component), asdict(component.known)) for component in maintenance.components]


def _rule_names(component: Any) -> list[str]:
    return sorted(f"{rule.name}/{head.relation}" for rule in component.component.rules for head in rule.heads)


class StateToBeginWith(Protocol):
    """Where a knowledge base goes on from: a snapshot, or tables."""

    version: int

    def dictionary(self) -> Dictionary: ...
    def definitions(self, *, rewrites: bool) -> Definitions: ...
    def engine(
        self, name: str, dictionary: Dictionary, definitions: Definitions, limits: Limits
    ) -> tuple[Engine, Maintenance]:
        """An engine of that name with the facts, and what maintenance knows of the components."""


class Dumped(Protocol):
    """Facts that were dumped, and what was known of them."""

    def dumps(self) -> list[RelationDump]: ...
    def maintenance(self, program: EvaluatedProgram) -> Maintenance: ...
    def has_all(self, program: EvaluatedProgram) -> bool: ...


def loaded_engine(
    dumped: Dumped, name: str, dictionary: Dictionary, definitions: Definitions, limits: Limits
) -> tuple[Engine, Maintenance]:
    """An engine that goes on from facts that were dumped; where not all is there that it needs, it is derived."""
    engine = make_engine(name, dictionary)
    if not dumped.has_all(definitions.program):
        derive_from_explicit(engine, dumped.dumps(), definitions, limits)
        return engine, Maintenance(definitions.program)
    for dump in dumped.dumps():
        engine.load_dump(dump)
    return engine, dumped.maintenance(definitions.program)


class OpenedSnapshot:
    """A snapshot that was read: what a knowledge base begins with."""

    def __init__(self, path: Path) -> None:
        self._about, self._arrays = read_arrays(path)
        self.path = path
        self.version: int = self._about["version"]

    def dictionary(self) -> Dictionary:
        terms = {
            name.removeprefix("terms/"): array for name, array in self._arrays.items() if name.startswith("terms/")
        }
        return Dictionary(StoredTerms(terms))

    def definitions(self, *, rewrites: bool) -> Definitions:
        """Program and views."""
        return definitions_from_data(self._about, rewrites=rewrites)

    def engine(
        self, name: str, dictionary: Dictionary, definitions: Definitions, limits: Limits
    ) -> tuple[Engine, Maintenance]:
        return loaded_engine(self, name, dictionary, definitions, limits)

    def dumps(self) -> list[RelationDump]:
        """The relations as they were."""
        found = []
        for number, said in enumerate(self._about["relations"]):
            place = f"{number}/"
            parts = {name.removeprefix(place): array for name, array in self._arrays.items() if name.startswith(place)}
            shape = Shape(*(said[part] for part in ("name", "arity", "bag", "weighted", "ranked")))
            own = {name.removeprefix("own."): array for name, array in parts.items() if name.startswith("own.")}
            explicit = np.asarray(parts["explicit"], bool)
            found.append(
                RelationDump(
                    shape, parts["facts"], explicit, parts.get("weights"), parts.get("ranks"), own, said["about"]
                )
            )
        return found

    def maintenance(self, program: EvaluatedProgram) -> Maintenance:
        """The components, with what was known of them."""
        return maintenance_knowing(program, self._about["known"])

    def has_all(self, program: EvaluatedProgram) -> bool:
        """Are all relations there that the program needs, in the same shape?"""
        return has_all(program, {said["name"]: (said["arity"], said["bag"]) for said in self._about["relations"]})

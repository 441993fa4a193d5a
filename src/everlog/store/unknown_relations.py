"""How is somebody told of a relation that nothing knows? By a warning; or, where it is to be strict, by an error."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from everlog.errors import ProgramError, UnknownRelationWarning
from everlog.plans.flat_rules import is_auxiliary, rule_reads
from everlog.rules.atom_index import AtomIndex
from everlog.rules.constraints import is_constraint
from everlog.rules.dependencies import body_atoms
from everlog.rules.diagnostics import Diagnostic
from everlog.rules.extents import extent, print_extent
from everlog.rules.syntax import QUAD, TRIPLE, Atom, Program, Rule
from everlog.rules.unknown_relations import CODE, nearest, unknown_relations

if TYPE_CHECKING:
    from everlog.engines.interface import Engine
    from everlog.store.state import Definitions
    from everlog.store.store import KnowledgeBase


def point_out(problems: Sequence[Diagnostic], *, strict: bool) -> None:
    """Warn of each problem, at the line outside of this package that led here."""
    if problems and strict:
        raise ProgramError(problems)
    for problem in problems:
        warnings.warn(UnknownRelationWarning(problem), stacklevel=_outside())


def _outside() -> int:
    """How many frames above the caller the first one stands that is not of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "everlog":
        level, frame = level + 1, frame.f_back
    return level


def unknown_to(
    before: Definitions,
    engine: Engine,
    rules: Sequence[Rule],
    new: Sequence[Rule],
    program: Program,
    inserted: Collection[str],
) -> list[Diagnostic]:
    """What the new ones of these rules read, and neither they nor the facts before and of this update know."""
    heads = {head.relation for rule in rules for head in rule.heads}
    declared = {each.relation for each in program.imports if each.relation is not None}
    with_facts = {name for name in before.arities if name not in before.rule_arities and not is_auxiliary(name)}
    known = {TRIPLE, QUAD, *heads, *declared, *inserted, *with_facts}
    doubtful = {atom.relation for rule in new for atom, _ in body_atoms(rule)} - known
    known |= {name for name in doubtful & before.arities.keys() if engine.count(name)}
    return unknown_relations(new, known, only_near=not with_facts and not inserted)


def unknown_in_query(rule: Rule, arities: Mapping[str, int]) -> list[Diagnostic]:
    """What a query reads and nothing knows."""
    return unknown_relations([rule], {TRIPLE, QUAD, *(name for name in arities if not is_auxiliary(name))})


def unknown_in(kb: KnowledgeBase) -> list[Diagnostic]:
    """What the rules and views of a knowledge base read and nobody has: relations, classes and properties."""
    from everlog.store.sizes import extent_sizes

    state = kb.state()
    heads = AtomIndex((0, head) for rule in state.rules for head in rule.heads)
    read = [(who, atom) for who, atom in _reads(kb) if not any(True for _ in heads.unifying(atom))]
    sizes = extent_sizes(kb, (extent(atom) for _, atom in read))
    known = {name for name, arity in state.arities.items() if not is_auxiliary(name)}
    found: dict[tuple[str, str], Diagnostic] = {}
    for who, atom in read:
        name = print_extent(extent(atom), state.prefixes)
        if sizes[extent(atom)] or (who, name) in found:
            continue
        near = nearest(name, known - {name})
        help = f"did you mean {near}?" if near else None
        message = f"{who} reads {name}, of which there is no fact and which no rule concludes"
        found[who, name] = Diagnostic(CODE, message, atom.span, help=help, level="warning")
    return list(found.values())


def _reads(kb: KnowledgeBase) -> Iterator[tuple[str, Atom]]:
    """Who reads what: rules and views."""
    state = kb.state()
    for rule in state.rules:
        who = f"{'constraint' if is_constraint(rule) else 'rule'} {rule.name}"
        yield from ((who, atom) for atom, _ in body_atoms(rule))
    for name, view in state.views.items():
        for flat in view.query.rules:
            yield from ((f"view {name}", atom) for atom, _ in rule_reads(flat) if not is_auxiliary(atom.relation))

"""How do explicit facts move to a fresh engine, and what differs once it has derived again?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from everlog.engines.interface import Engine, Shape
from everlog.facts.weighted import WeightedFacts
from everlog.store.changes import Report
from everlog.store.encoding import Batch
from everlog.store.engines import make_engine


def load(engine: Engine, inserted: Mapping[str, Batch], report: Report) -> None:
    """Add the facts of an update."""
    for batch in inserted.values():
        explicit = engine.count(batch.relation, explicit=True)
        engine.load(batch.relation, batch.columns(), batch.rows)
        new = engine.count(batch.relation, explicit=True) - explicit
        report.inserted += new
        report.already_there += batch.rows - new


def load_remaining(
    before: Engine, after: Engine, relations: Iterable[str], deleted: Mapping[str, Batch], report: Report
) -> None:
    """Move the explicit facts that an update does not delete."""
    for relation in relations:
        facts = before.collect(relation, explicit=True)
        batch = deleted.get(relation)
        if batch is not None:
            going = make_engine(before.name, before.dictionary)
            going.declare(Shape(relation, batch.arity))
            distinct = going.load(relation, batch.columns(), batch.rows)
            stays = ~np.asarray(going.contains(relation, facts.columns, facts.rows), bool)
            kept = int(stays.sum())
            report.deleted += facts.rows - kept
            report.not_there += distinct - (facts.rows - kept)
            facts = facts.chosen(stays)
        if facts.rows:
            after.load(relation, facts.columns, facts.rows)
    report.not_there += sum(batch.rows for name, batch in deleted.items() if name not in set(relations))


def difference(engine: Engine, other: Engine | None, relation: str, *, explicit: bool = False) -> WeightedFacts:
    """The facts that one engine has and the other has not; all of them where there is no other."""
    facts = engine.collect(relation, explicit=explicit)
    if other is None or not other.count(relation, explicit=explicit):
        return facts
    return facts.chosen(~np.asarray(other.contains(relation, facts.columns, facts.rows, explicit=explicit), bool))

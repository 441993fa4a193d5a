"""Everlog keeps derived data true: facts, Datalog rules, and all that follows, brought up to date as they change."""

from typing import TYPE_CHECKING, Any

from everlog.errors import (
    ConstraintError,
    DamagedLogError,
    DamagedSnapshotError,
    DataError,
    EngineError,
    EverlogError,
    EverlogWarning,
    FactLimitError,
    FormatError,
    HistoryError,
    LimitError,
    MemoryLimitError,
    MissingExtraError,
    NotFoundError,
    OutputError,
    ProgramError,
    RoundLimitError,
    StoreInUseError,
    TimeLimitError,
    UnknownRelationWarning,
    UsageError,
)
from everlog.facts.terms import IRI, BlankNode, Literal, Term
from everlog.limits import Limits
from everlog.store.changes import Change
from everlog.store.history import HistoryLimits
from everlog.store.opening import open
from everlog.store.reading import Snapshot
from everlog.store.rows import Rows
from everlog.store.store import KnowledgeBase
from everlog.store.transactions import Transaction
from everlog.store.updates import Update

if TYPE_CHECKING:
    from everlog.fleet.changes import FleetChange
    from everlog.fleet.fleet import Fleet

__all__ = [
    "IRI",
    "BlankNode",
    "Change",
    "ConstraintError",
    "DamagedLogError",
    "DamagedSnapshotError",
    "DataError",
    "EngineError",
    "EverlogError",
    "EverlogWarning",
    "FactLimitError",
    "Fleet",
    "FleetChange",
    "FormatError",
    "HistoryError",
    "HistoryLimits",
    "KnowledgeBase",
    "LimitError",
    "Limits",
    "Literal",
    "MemoryLimitError",
    "MissingExtraError",
    "NotFoundError",
    "OutputError",
    "ProgramError",
    "RoundLimitError",
    "Rows",
    "Snapshot",
    "StoreInUseError",
    "Term",
    "TimeLimitError",
    "Transaction",
    "Update",
    "UnknownRelationWarning",
    "UsageError",
    "open",
]


def __getattr__(name: str) -> Any:
    """Fleets are loaded when somebody asks for them: every program starts sooner for it."""
    if name == "Fleet":
        from everlog.fleet.fleet import Fleet

        return Fleet
    if name == "FleetChange":
        from everlog.fleet.changes import FleetChange

        return FleetChange
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

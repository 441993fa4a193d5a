"""Everlog keeps derived data true: facts, Datalog rules, and all that follows, brought up to date as they change."""

from everlog.errors import (
    ConstraintError,
    DamagedLogError,
    DataError,
    EngineError,
    EverlogError,
    FactLimitError,
    FormatError,
    LimitError,
    MemoryLimitError,
    NotFoundError,
    OutputError,
    ProgramError,
    RoundLimitError,
    StoreInUseError,
    TimeLimitError,
    UsageError,
)
from everlog.facts.terms import IRI, BlankNode, Literal, Term
from everlog.limits import Limits
from everlog.store.changes import Change
from everlog.store.opening import open
from everlog.store.rows import Rows
from everlog.store.store import KnowledgeBase
from everlog.store.updates import Update

__all__ = [
    "IRI",
    "BlankNode",
    "Change",
    "ConstraintError",
    "DamagedLogError",
    "DataError",
    "EngineError",
    "EverlogError",
    "FactLimitError",
    "FormatError",
    "KnowledgeBase",
    "LimitError",
    "Limits",
    "Literal",
    "MemoryLimitError",
    "NotFoundError",
    "OutputError",
    "ProgramError",
    "RoundLimitError",
    "Rows",
    "StoreInUseError",
    "Term",
    "TimeLimitError",
    "Update",
    "UsageError",
    "open",
]

"""Which engine goes by which name? Engines are imported when asked for, so that `import everlog` stays light."""

from __future__ import annotations

from everlog.dictionary.dictionary import Dictionary
from everlog.engines.interface import Engine
from everlog.errors import UsageError

ENGINES = ("columnar", "reference")


def make_dictionary(name: str) -> Dictionary:
    """The dictionary that an engine's ids come from."""
    return Dictionary()


def make_engine(name: str, dictionary: Dictionary) -> Engine:
    """An empty engine."""
    if name == "reference":
        from everlog.engines.reference import ReferenceEngine

        return ReferenceEngine(dictionary)
    if name == "columnar":
        from everlog.engines.columnar.engine import ColumnarEngine

        return ColumnarEngine(dictionary)
    raise UsageError(f"there is no engine {name!r}", hint=f"engines: {', '.join(ENGINES)}")

"""How is what is hashed often and never changes hashed once?

Rules are compared with those before them whenever a program changes, and atoms stand in many dictionaries. Their hashes
are made of those of all their parts, so they are remembered. They are not pickled: another process has others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

C = TypeVar("C")
_HASH = "_hash"


def hashed_once(of: type[C]) -> type[C]:
    """A class of values that remember their hashes; for frozen dataclasses."""
    from_parts = cast(Callable[[Any], int], of.__hash__)

    def hash_(self: Any) -> int:
        known: int | None = self.__dict__.get(_HASH)
        if known is None:
            known = self.__dict__[_HASH] = from_parts(self)
        return known

    def state(self: Any) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != _HASH}

    setattr(of, "__hash__", hash_)  # noqa: B010 (an assignment would be one of another type to type checkers)
    setattr(of, "__getstate__", state)  # noqa: B010
    return of

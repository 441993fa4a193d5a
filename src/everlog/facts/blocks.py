"""In what shape do facts travel between files, the dictionary and engines?

A block holds facts of one relation as columns. `keys` columns hold term keys (see terms.py), the way RDF is read;
`values` columns hold Arrow strings, integers, doubles, booleans, decimals or dates, the way tables are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class FactBlock:
    """Facts of one relation, a column per argument."""

    relation: str
    columns: tuple[pa.Array, ...]
    form: Literal["values", "keys"] = "values"

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 1

    @property
    def arity(self) -> int:
        return len(self.columns)

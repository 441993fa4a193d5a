"""How is made-up data written as N-Triples, fast enough that ten million lines are no wait?

Generators give columns of numbers; Arrow joins them with constant texts into whole lines, a chunk at a time, so that
neither a Python string for each term nor the whole data is ever in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Numbers = npt.NDArray[np.int64]
Piece = Any  # a constant text, numbers, or an array of texts; Arrow has no types


def joined(*pieces: Piece) -> pa.Array:
    """A text for each row: constants, numbers and texts put together.

    >>> joined("<x:", np.array([7, 8]), ">").to_pylist()
    ['<x:7>', '<x:8>']
    """
    columns = [pa.array(piece).cast(pa.string()) if isinstance(piece, np.ndarray) else piece for piece in pieces]
    return pc.binary_join_element_wise(*columns, "")


def lines(subject: Piece, predicate: str, object_: Piece) -> pa.Array:
    """The triples of a subject and an object for each row, as lines; the three are terms as N-Triples writes them."""
    return joined(subject, f" {predicate} ", object_, " .\n")


def write_lines(path: Path, chunks: Iterable[pa.Array], most: int) -> int:
    """Write lines to a file until there are so many; returns how many bytes they are."""
    with open(path, "wb") as file:
        for chunk in _first(chunks, most):
            offsets, texts = chunk.buffers()[1:]
            start, end = np.frombuffer(offsets, np.int32)[[chunk.offset, chunk.offset + len(chunk)]]
            file.write(memoryview(texts)[start:end])
        return file.tell()


def _first(chunks: Iterable[pa.Array], most: int) -> Iterator[pa.Array]:
    for chunk in chunks:
        yield chunk[:most]
        most -= len(chunk)
        if most <= 0:
            return

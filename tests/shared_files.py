"""What does a test do where the data sets that it reads are not there? It is skipped, and says what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from everlog.errors import NotFoundError


@contextmanager
def skipped_without_data() -> Iterator[None]:
    """Around whatever looks for shared data (benchmarks/datasets/shared_data.py)."""
    try:
        yield
    except NotFoundError as missing:
        pytest.skip(str(missing))

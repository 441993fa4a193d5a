"""What do the tests of object stores share? A store, a place in it for each test, and the one Spark session."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.object_store import BUCKET, ObjectStore, running_store
from tests.spark_session import spark

__all__ = ["spark"]


@pytest.fixture(scope="session")
def object_store() -> Iterator[ObjectStore]:
    with running_store() as store:
        yield store


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A place that nobody else uses, with a space in its name; what is beside it goes with the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return f"s3://{BUCKET}/some tables/{uuid.uuid4().hex}"

"""Is an open file a source of updates, and is marking that has no effect told?"""

from __future__ import annotations

import gzip
import io
import os
import threading
import warnings
from pathlib import Path

import pytest

import everlog
from everlog import EverlogWarning, FormatError, UsageError

LINES = '{"insert": [["edge", "a", "b"], ["edge", "é", "c"]]}\n{"delete": [["edge", "a", "b"]]}\n'


def versions(source: object) -> list[int]:
    kb = everlog.open(engine="reference")
    found = [change.version for change in kb.stream(source)]  # type: ignore[arg-type]
    assert list(kb.facts("edge")) == [("é", "c")]
    return found


def test_open_files(tmp_path: Path) -> None:
    path = tmp_path / "updates.jsonl"
    path.write_text(LINES, encoding="utf-8")
    with open(path, encoding="utf-8") as text, open(path, "rb") as data:
        assert versions(text) == versions(data) == [1, 2]
    with gzip.open(tmp_path / "updates.jsonl.gz", "wt", encoding="utf-8") as packed:
        packed.write(LINES)
    with gzip.open(tmp_path / "updates.jsonl.gz") as packed_data:
        assert versions(packed_data) == [1, 2]
    assert versions(io.StringIO(LINES)) == versions(io.BytesIO(LINES.encode())) == [1, 2]
    with open(path, encoding="utf-8") as text:
        text.readline()  # from where it stands
        assert [change.version for change in everlog.open(engine="reference").stream(text)] == [1]


def test_rdf_patch_by_the_name_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "updates.rdfp"
    path.write_text("TX .\nA <http://e/a> <http://e/b> <http://e/c> .\nTC .\n")
    kb = everlog.open(engine="reference")
    with open(path) as file:
        assert len(list(kb.stream(file))) == 1
    assert len(kb.facts("triple")) == 1


def test_a_pipe_is_read_as_it_fills() -> None:
    read, write = os.pipe()
    kb = everlog.open(engine="reference")
    with open(read, encoding="utf-8") as file, open(write, "w", encoding="utf-8") as other:
        stream = kb.stream(file)
        print('{"insert": [["p", 1]]}', file=other, flush=True)
        assert next(stream).version == 1
        threading.Timer(0.1, lambda: print('{"insert": [["p", 2]]}', file=other, flush=True)).start()
        assert next(stream).version == 2
        other.close()
        assert list(stream) == []


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "updates.jsonl"
    path.write_bytes(b'{"insert": [["p", "\xe9"]]}\n')
    kb = everlog.open(engine="reference")
    with open(path, encoding="utf-8") as file, pytest.raises(FormatError, match=r"updates\.jsonl:1"):
        list(kb.stream(file))
    with pytest.raises(UsageError, match="not open to be read"):
        kb.stream(file)
    with open(tmp_path / "out.jsonl", "w") as file, pytest.raises(UsageError, match="not open to be read"):
        kb.stream(file)


@pytest.mark.parametrize("strategy", ["choose", "counting", "ranked", "rematerialise"])
def test_marking_without_effect(strategy: str) -> None:
    kb = everlog.open(engine="reference")
    with pytest.warns(EverlogWarning, match=f"no effect with the strategy '{strategy}'; it has with bf") as told:
        assert len(list(kb.stream([{"insert": [["p", 1]]}], strategy=strategy, marking=True))) == 1
    assert told[0].filename == __file__


@pytest.mark.parametrize("strategy", ["bf", "dred"])
def test_marking_with_effect(strategy: str) -> None:
    kb = everlog.open(engine="reference")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(kb.stream([{"insert": [["p", 1]]}], strategy=strategy, marking=True))
        list(kb.stream([{"insert": [["p", 1]]}]))

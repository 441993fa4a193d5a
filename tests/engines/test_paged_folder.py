"""Does a folder of runs follow versions, and is damage to it noticed or harmless?"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.test_laws import columns_of, facts_of
from tests.engines.test_update_laws import EDITED, Edits, Kept, after, edits, from_scratch, number

from everlog.dictionary.dictionary import Dictionary
from everlog.engines.interface import Shape
from everlog.engines.paged.engine import PagedEngine
from everlog.engines.paged.folder import RunFolder
from everlog.engines.paged.sizes import Sizes
from everlog.errors import DamagedRunsError
from everlog.maintenance.strategies import NAMES as STRATEGIES

TINY = Sizes(page=3, run=20, held=10, runs=2)
SIZES = st.builds(Sizes, page=st.integers(1, 4), run=st.sampled_from([5, 50]), held=st.integers(0, 30))


def opened(path: Path, version: int, sizes: Sizes = TINY) -> PagedEngine:
    folder = RunFolder.open(path, version, sizes)
    assert folder is not None
    return PagedEngine(Dictionary(), folder)


def kept_in(path: Path, facts: Edits, sizes: Sizes = TINY) -> Kept:
    """An engine whose facts are saved in a folder."""
    kept = Kept("paged", facts)
    assert isinstance(kept.engine, PagedEngine)
    folder = RunFolder(path, np.int32, sizes)
    path.mkdir()
    for dump in kept.engine.capture().dump():
        columns = list(dump.facts.T[: dump.shape.arity])
        known = {"explicit": dump.explicit, "derivations": dump.weights, "ranks": dump.ranks}
        folder.add(dump.shape, columns, rows=len(dump.facts), **known)
    folder.finish(version=1)
    kept.engine = opened(path, 1, sizes)
    return kept


@settings(max_examples=15)
@given(
    facts=edits(),
    stream=st.lists(st.tuples(edits(), edits(), st.sampled_from(STRATEGIES)), min_size=1, max_size=4),
    sizes=SIZES,
)
def test_what_is_saved_is_opened_again(
    tmp_path_factory: pytest.TempPathFactory, facts: Edits, stream: list[tuple[Edits, Edits, str]], sizes: Sizes
) -> None:
    path = tmp_path_factory.mktemp("paged") / "runs"
    kept = kept_in(path, facts, sizes)
    explicit: dict[str, set[tuple[int, int]]] = {name: set(facts[name]) for name in EDITED}
    for version, (delete, insert, strategy) in enumerate(stream, 2):
        kept.update(delete, insert, strategy)
        kept.engine.commit()
        kept.engine.save(version)
        known = kept.known()
        explicit = after({name: sorted(rows) for name, rows in explicit.items()}, delete, insert)
        kept.engine = opened(path, version, sizes)
        assert kept.known() == known
        assert kept.facts() == from_scratch("reference", explicit)
        for name in known:
            assert kept.engine.count(name) == len(known[name])
            assert kept.engine.count(name, explicit=True) == sum(state[0] for state in known[name].values())
    shutil.rmtree(path)


def test_another_version_or_no_folder_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "runs"
    kept_in(path, {"edge": [(number(1), number(2))]})
    assert RunFolder.open(path, version=2) is None
    assert RunFolder.open(tmp_path / "nothing") is None
    assert RunFolder.open(path) is not None


def test_an_unsaved_update_is_not_in_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "runs"
    kept = kept_in(path, {"edge": [(number(1), number(2))]})
    kept.update({}, {"edge": [(number(2), number(3))]})
    kept.engine.commit()
    assert facts_of(opened(path, 1).collect("edge")) == {(number(1), number(2))}


@pytest.mark.parametrize("sizes", [TINY, Sizes(page=3, held=1000)])
@pytest.mark.parametrize("at_call", range(4))
def test_what_could_not_be_written_is_written_the_next_time(tmp_path: Path, sizes: Sizes, at_call: int) -> None:
    path, calls, replace = tmp_path / "runs", iter(range(at_call)), os.replace
    kept = kept_in(path, {"edge": [(number(place), number(place + 1)) for place in range(6)]}, sizes)

    def full(*args: object) -> None:
        if next(calls, None) is None:
            raise OSError("no space left on device")
        replace(*args)

    for version, edge in enumerate([(number(2), number(3)), (number(4), number(5))], 2):
        kept.update({"edge": [edge]}, {"edge": [(number(9), edge[0])]})
        kept.engine.commit()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "replace", full)
            with suppress(OSError):
                kept.engine.save(version)
    kept.engine.save(4)
    known = kept.known()
    kept.engine = opened(path, 4, sizes)
    assert kept.known() == known


def damaged_folder(path: Path) -> tuple[int, dict[str, set[tuple[int, ...]]]]:
    """A folder with runs, orders and a log, its version and its facts."""
    chain = [(number(place), number(place + 1)) for place in range(8)]
    kept = kept_in(path, {"edge": chain})
    for version, edge in enumerate(chain[2:5], 2):
        kept.update({"edge": [edge]}, {"edge": [(edge[1], edge[0])]})
        kept.engine.commit()
        kept.engine.save(version)
    return 4, kept.facts()


def facts_in(path: Path, version: int) -> dict[str, set[tuple[int, ...]]] | None:
    """All that is in a folder, read in several ways; None if damage is noticed."""
    try:
        folder = RunFolder.open(path, version, TINY)
        if folder is None:
            return None
        kept = Kept("paged", {})
        kept.engine = engine = PagedEngine(Dictionary(), folder)
        facts = kept.facts()
        for name, rows in facts.items():
            arity = len(next(iter(rows), ()))
            assert all(engine.contains(name, columns_of(sorted(rows), arity), len(rows)))
        kept.update({"edge": [(number(0), number(1))]}, {})
        engine.abort()
        return facts
    except DamagedRunsError:
        return None


@pytest.mark.parametrize("how", ["flip", "cut"])
def test_damage_is_noticed_or_harmless(tmp_path: Path, how: str) -> None:
    path, copy = tmp_path / "runs", tmp_path / "copy"
    version, facts = damaged_folder(path)
    assert facts_in(path, version) == facts
    noticed = 0
    random = np.random.RandomState(1)
    for file in sorted(path.iterdir()):
        data = file.read_bytes()
        for place in random.choice(len(data), min(len(data), 6), replace=False).tolist():
            shutil.copytree(path, copy)
            changed = data[:place] if how == "cut" else data[:place] + bytes([data[place] ^ 0x15]) + data[place + 1 :]
            (copy / file.name).write_bytes(changed)
            found = facts_in(copy, version)
            assert found is None or found == facts, f"{file.name}, byte {place}"
            noticed += found is None
            shutil.rmtree(copy)
    assert noticed > 10


def test_a_missing_file_is_noticed_or_made_again(tmp_path: Path) -> None:
    path, copy = tmp_path / "runs", tmp_path / "copy"
    version, facts = damaged_folder(path)
    for file in sorted(path.iterdir()):
        shutil.copytree(path, copy)
        (copy / file.name).unlink()
        assert facts_in(copy, version) in (None, facts), file.name
        shutil.rmtree(copy)


def test_what_a_dead_process_left_behind_is_cleared(tmp_path: Path) -> None:
    path = tmp_path / "runs"
    version, facts = damaged_folder(path)
    for name in ("r999.pages", "r999.1-0.pages", "r1.pages.7.half", "changes-900.log"):
        (path / name).write_bytes(b"half of it")
    assert facts_in(path, version) == facts
    assert not [file.name for file in path.iterdir() if "999" in file.name or "900" in file.name or "half" in file.name]


WRITER = """
    import sys
    import numpy as np
    from pathlib import Path
    from everlog.dictionary.dictionary import Dictionary
    from everlog.engines.paged.engine import PagedEngine
    from everlog.engines.paged.folder import RunFolder
    from everlog.engines.paged.sizes import Sizes

    engine = PagedEngine(Dictionary(), RunFolder.open(Path(sys.argv[1]), sizes=Sizes(page=3, run=40, held=10, runs=2)))
    version = engine.runs.version
    print("ready", flush=True)
    while True:  # version v has the facts v, v - 1, …, v - 19
        version += 1
        engine.edit("r", [np.array([version], np.int32)], 1, explicit=True)
        engine.edit("r", [np.array([version - 20], np.int32)], 1, explicit=False)
        engine.settle("r", ())
        engine.commit()
        engine.save(version)
"""


@pytest.mark.slow
def test_a_process_killed_at_any_moment_leaves_one_version(tmp_path: Path) -> None:
    path = tmp_path / "runs"
    path.mkdir()
    folder = RunFolder(path, np.int32, TINY)
    folder.add(Shape("r", 1), [np.arange(1, 21, dtype=np.int32)])
    folder.finish(version=20)
    random, before = np.random.RandomState(2), 20
    for _ in range(4):
        command = [sys.executable, "-c", textwrap.dedent(WRITER), str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stdout.readline() == b"ready\n"
            time.sleep(float(random.uniform(0.02, 0.3)))
            process.send_signal(signal.SIGKILL)
        kept = RunFolder.open(path, sizes=TINY)
        assert kept is not None and kept.version is not None
        version = kept.version
        assert version >= before
        assert facts_of(PagedEngine(Dictionary(), kept).collect("r")) == {
            (v,) for v in range(version - 19, version + 1)
        }
        before = version
    assert before > 20

"""Is machine code kept where the docs say, used only while it fits, and called with nothing but what it takes?"""

from __future__ import annotations

import ast
import inspect
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from everlog.engines.columnar.entries import ENTRIES, PARTS, count_visible, visible_rows
from everlog.engines.columnar.native import compiling, folders, objects, targets
from everlog.engines.columnar.native.entry import Entry

COLUMNAR = Path(folders.__file__).parent.parent
LIVES = np.array([1, 2, 3 | (5 << 32)], np.uint64)  # came at ticks 1, 2 and 3; the last went at 5


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine on which nothing is compiled yet, whose cache folder is the one that is returned."""
    (tmp_path / "occupied").touch()
    monkeypatch.setattr(folders, "_BESIDE", tmp_path / "occupied" / "beside")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    caches = (folders._places, folders.folder_for_new_code)
    for each in caches:
        each.cache_clear()
    yield tmp_path / "cache"
    for each in caches:
        each.cache_clear()


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_an_entry_takes_what_its_kernel_takes(entry: Entry) -> None:
    kernel = getattr(import_module(f"everlog.engines.columnar.{entry.module}"), entry.name)
    assert len(inspect.signature(kernel.py_func).parameters) == len(entry.signature.arguments)
    assert sum(entry in part for part in PARTS) == 1


def test_code_is_out_of_date_when_anything_changes_that_it_is_made_from() -> None:
    sources = {(COLUMNAR / name).resolve() for name in folders._SOURCES}
    kernels = {path for path in COLUMNAR.glob("*.py") if "kernel" in path.name}
    assert kernels <= sources
    package = COLUMNAR.parent.parent
    for path in kernels | {COLUMNAR / "hash_tables.py", COLUMNAR / "memory.py"}:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("everlog."):
                read = package.joinpath(*node.module.split(".")[1:])
                files = [read.with_suffix(".py")] if not read.is_dir() else [read / f"{x.name}.py" for x in node.names]
                assert set(files) <= sources, f"{path.name} reads {node.module}"


def test_arrays_are_where_compiled_code_looks_for_them() -> None:
    assert objects.are_as_expected()
    assert objects.characters("i4") == [ord("i")]


@pytest.mark.parametrize(
    "lives",
    [LIVES.astype(np.int64), LIVES.astype(np.uint32), LIVES.astype(">u8"), LIVES[::2], LIVES.reshape(1, 3)],
    ids=["signed", "narrow", "swapped", "strided", "two-dimensional"],
)
def test_arrays_of_another_kind_are_refused(lives: np.ndarray) -> None:
    with pytest.raises(TypeError, match="count_visible takes contiguous u8 in 1 dimensions as argument 1"):
        count_visible(lives, len(lives), 3)


def test_numbers_may_be_numpys() -> None:
    read_only = LIVES.view()
    read_only.flags.writeable = False
    assert count_visible(read_only, np.int32(3), np.uint64(4)) == 3
    assert count_visible(read_only, 3, 5) == 2


@pytest.mark.slow
def test_what_is_missing_is_compiled_told_and_kept(nowhere: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert compiling.compile_missing([(count_visible, visible_rows)]) == 2
    assert "compiling kernels" in capfd.readouterr().err
    files = list(nowhere.glob("everlog/*/*"))
    assert {path.name for path in files} == {"count_visible.kernel", "visible_rows.kernel"}
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o644 for path in files)  # for everybody
    assert compiling.compile_missing([(count_visible, visible_rows)]) == 0
    assert capfd.readouterr().err == ""
    fresh = Entry(count_visible.module, count_visible.name, "u8[:] i8 u8 -> i8")
    assert fresh(LIVES, 3, 4) == 3


@pytest.mark.slow
def test_without_any_folder_kernels_are_compiled_all_the_same(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(nowhere.parent / "occupied" / "cache"))
    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    assert folders.folder_for_new_code() is None
    fresh = Entry(visible_rows.module, visible_rows.name, "u8[:] i8 u8 i8[:] -> i8")
    rows = np.empty(3, np.int64)
    assert fresh(LIVES, 3, 5, rows) == 2 and rows[:2].tolist() == [0, 1]


def refuse(*_: object, **__: object) -> str:
    raise OSError("read-only")


def test_a_user_without_a_home_gets_a_folder_for_the_time_being(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    folder = folders.folder_for_new_code()
    assert folder is not None and not folders.is_kept(folder)
    folders.write(folder, "count_visible", b"code")
    assert folders.find("count_visible") == b"code"


def no_home() -> Path:
    raise RuntimeError("could not determine home directory")


def test_numbas_cache_folder_comes_first(nowhere: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    folder = folders.folder_for_new_code()
    assert folder is not None and folder.parent == tmp_path / "numba" / "everlog" and folders.is_kept(folder)


def test_what_root_compiles_everybody_may_read(nowhere: Path) -> None:
    mask = os.umask(0o077)
    try:
        folder = folders.folder_for_new_code()
        assert folder is not None
        folders.write(folder, "run", b"machine code")
    finally:
        os.umask(mask)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder.parent, folder, folder / "run.kernel")]
    assert modes == [0o755, 0o755, 0o644]


def test_damaged_code_is_none(nowhere: Path) -> None:
    folder = folders.folder_for_new_code()
    assert folder is not None and folders.find("run") is None
    folders.write(folder, "run", b"machine code")
    assert folders.find("run") == b"machine code"
    with (folder / "run.kernel").open("r+b") as file:
        file.truncate(35)
    assert folders.find("run") is None


def test_code_from_other_sources_is_removed(nowhere: Path) -> None:
    folder = folders.folder_for_new_code()
    assert folder is not None
    (old := folder.with_name(f"{targets.this_target().name}-0123456789abcdef")).mkdir()
    (other := folder.with_name("another-machine-0123456789abcdef")).mkdir()
    folders.remove_outdated(folder)
    assert folder.exists() and other.exists() and not old.exists()


def test_a_processor_below_the_baseline_gets_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    usual = targets.this_target()
    features = targets.llvm.get_host_cpu_features()
    monkeypatch.setattr(targets.llvm, "get_host_cpu_features", lambda: type(features)({**features, "popcnt": False}))
    own = targets.this_target()
    assert usual.cpu == "x86-64-v2" and usual.name != own.name and "-popcnt" in own.features


def test_compiled_kernels_run_without_numba() -> None:
    used = "import sys, everlog; kb = everlog.open(); kb.add_rules('q(?x) :- p(?x).'); kb.insert('p', [('a',)])"
    told = f"{used}; kb.delete('p', [('a',)]); print('numba' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    shown = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, env=environment, check=True)
    assert shown.stdout == "False\n"

"""After `pip install` of the wheel, where nothing can be written: do the README's first lines run, and at once?

The wheel is built from a copy of this tree and installed into a fresh virtual environment, which takes its dependencies
from the one that the tests run in. Then the environment is made read-only: mounted so for root, whom no permission
keeps from writing, and by permissions for everybody else.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import everlog
from everlog.engines.columnar.entries import PARTS
from everlog.engines.columnar.native.compiling import compile_missing
from everlog.engines.columnar.native.folders import folder_of

ROOT = Path(__file__).parent.parent.parent
COPIED = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "src")
LEFT_BEHIND = shutil.ignore_patterns("__pycache__", "*.egg-info", "machine_code")
MACHINE_CODE = Path("engines/columnar/native/machine_code")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="makes folders read-only as Linux does"),
]


def pip(*arguments: str | Path) -> None:
    options = ["--quiet", "--disable-pip-version-check", "--no-input"]
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # where this tree may be
    subprocess.run([sys.executable, "-m", "pip", *options, *map(str, arguments)], check=True, env=alone)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel as `make wheel` builds it."""
    compile_missing(PARTS)
    folder = folder_of("run")
    assert folder is not None
    tree = tmp_path_factory.mktemp("tree")
    for name in COPIED:
        source = ROOT / name
        shutil.copytree(source, tree / name, ignore=LEFT_BEHIND) if source.is_dir() else shutil.copy(source, tree)
    shutil.copytree(folder, tree / "src" / "everlog" / MACHINE_CODE / folder.name)
    made = tmp_path_factory.mktemp("dist")
    pip("wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", made, tree)
    (path,) = made.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    pip("--python", python, "install", "--no-deps", "--no-index", wheel)
    packages = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    (Path(packages) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder


def run_read_only(environment: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python of an environment that nobody can write to, without a home and a place for temporary files."""
    command = [str(environment / "bin" / "python"), *arguments]
    if os.geteuid() == 0:
        mounted = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
        command = ["unshare", "--mount", "sh", "-c", mounted, str(environment), *command]
        if subprocess.run([*command[:6], "true"], capture_output=True).returncode != 0:
            pytest.skip("no folder can be made read-only for root here")
    else:
        subprocess.run(["chmod", "-R", "a-w", environment], check=True)
    bare = {"PATH": os.environ["PATH"], "TMPDIR": "/proc", "XDG_CACHE_HOME": "/proc/nowhere"}
    try:
        return subprocess.run(command, capture_output=True, text=True, env=bare, cwd="/")
    finally:
        if os.geteuid() != 0:
            subprocess.run(["chmod", "-R", "u+w", environment], check=True)


def first_example() -> tuple[str, str]:
    """The README's first program, and what it prints."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1], found[2]


def test_the_wheel_is_for_this_platform_and_any_python(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-linux_" + os.uname().machine + ".whl")


def test_the_first_lines_run_at_once_where_nothing_can_be_written(environment: Path) -> None:
    program, printed = first_example()
    told = "\nimport sys; assert 'numba' not in sys.modules; print(everlog.__file__)"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = run_read_only(environment, "-c", program + told)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith(printed)
    place = ended.stdout.removeprefix(printed).strip()
    assert Path(place).is_relative_to(environment) and place != everlog.__file__
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 3  # of work


def test_the_command_line_runs_there_too(environment: Path) -> None:
    ended = run_read_only(environment, "-m", "everlog", "compile")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert str(environment) in ended.stdout and "none to compile" in ended.stdout

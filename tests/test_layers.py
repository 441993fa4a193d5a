"""Do imports point one way only?

    facts <- formats, expressions, rules      expressions <- dictionary      rules <- plans <- engines
    dictionary <- answers <- sparql <- store      dictionary <- tables <- store      rules <- ontologies <- store
    plans, engines.interface <- maintenance <- store <- fleet <- pipeline <- cli

`addresses`, `disk`, `errors`, `extras`, `limits`, `logs` and `progress` may be used by all. `maintenance` knows no
array library and no engine but the interface; only `engines/columnar` knows numba; `import everlog` loads nothing
heavy, so that programs start at once. Benchmarks are outside: they use public names, and only `everlog bench` loads
one, by its name, when it is called.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import everlog

ROOT = Path(everlog.__file__).parent

SHARED = {"addresses", "disk", "errors", "extras", "limits", "logs", "progress"}

_UP_TO_ENGINES = {"facts", "formats", "dictionary", "expressions", "rules", "plans", "engines"}

# Each folder, and what of everlog it may import besides itself and what is shared; a dotted name is that module alone.
ALLOWED: dict[str, set[str]] = {
    "facts": set(),
    "formats": {"facts"},
    "dictionary": {"expressions", "facts"},
    "expressions": {"facts"},
    "answers": {"dictionary", "expressions", "facts"},
    "rules": {"facts", "expressions"},
    "plans": {"rules", "expressions", "facts", "dictionary"},
    "engines": {"plans", "rules", "expressions", "facts", "dictionary"},
    "maintenance": {"plans", "rules", "expressions", "facts", "engines.interface"},
    "sparql": {"answers", "plans", "rules", "expressions", "facts", "dictionary", "formats"},
    "tables": {"dictionary"},
    "ontologies": {"facts", "rules"},
    "store": {*_UP_TO_ENGINES, "ontologies", "answers", "sparql", "maintenance", "tables"},
    "fleet": {*_UP_TO_ENGINES, "answers", "sparql", "maintenance", "store"},
    "pipeline": {*_UP_TO_ENGINES, "maintenance", "store", "fleet", "tables"},
    "__main__": {"cli"},
    "cli": {*_UP_TO_ENGINES, "answers", "sparql", "store", "pipeline", "tables"},
}

# `errors` shows diagnostics to type checkers only; nothing below may do the same without being named here.
TYPING_ONLY = {("errors", "everlog.rules.diagnostics")}

HEAVY = ("numba", "lark", "pyoxigraph", "pyarrow", "pyspark", "pandas", "polars")


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def module_name(path: Path) -> str:
    parts = list(path.relative_to(ROOT.parent).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of everything a file imports, also inside functions; `from a import b` counts as a.b."""
    package = module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")
            origin = ".".join(base[: len(base) - node.level + 1]) if node.level else ""
            full = ".".join(part for part in (origin, node.module) if part)
            yield from ((node.lineno, f"{full}.{alias.name}") for alias in node.names)


def within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def broken_arrows(path: Path) -> Iterator[str]:
    layer, _, _ = module_name(path).removeprefix("everlog").removeprefix(".").partition(".")
    if layer == "":
        return  # everlog/__init__.py re-exports from everywhere
    allowed = ALLOWED.get(layer, set()) | {layer} | SHARED
    for line, name in imports(path):
        if not within(name, "everlog") or any(within(name, f"everlog.{prefix}") for prefix in allowed):
            continue
        if not any(layer == where and within(name, what) for where, what in TYPING_ONLY):
            yield f"{path.relative_to(ROOT.parent)}:{line}: {layer} may not import {name}"


@pytest.mark.parametrize("path", modules(), ids=module_name)
def test_imports_point_one_way(path: Path) -> None:
    assert not list(broken_arrows(path))


def test_every_folder_has_a_place() -> None:
    folders = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    assert folders <= ALLOWED.keys(), "say in ALLOWED what the new folder may import"


def users(*libraries: str) -> list[str]:
    return sorted(
        module_name(path)
        for path in modules()
        if any(within(name, library) for _, name in imports(path) for library in libraries)
    )


def test_maintenance_knows_no_array_library() -> None:
    known = [name for name in users("numpy", "numba", "pyspark", "pyarrow") if within(name, "everlog.maintenance")]
    assert not known


def test_only_the_columnar_engine_knows_numba() -> None:
    assert not [name for name in users("numba") if not within(name, "everlog.engines.columnar")]


def test_only_the_spark_engine_and_pipeline_know_pyspark() -> None:
    places = ("everlog.engines.spark", "everlog.pipeline")
    assert not [name for name in users("pyspark") if not any(within(name, place) for place in places)]


def test_the_package_imports_nothing_of_the_repository_around_it() -> None:
    assert not users("benchmarks", "tests", "examples")


# Private names of others that benchmarks read, for want of a public one; the file says why.
READ_BY_BENCHMARKS = {("benchmarks/experiments/sparql/systems/everlog.py", "_columns")}


def private_names_of_others(path: Path) -> Iterator[str]:
    """What a file reads as `thing._name`, where the thing is neither `self` nor `cls`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("__"):
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                yield node.attr


def test_benchmarks_use_public_names_only() -> None:
    home = Path(__file__).parents[1]
    found = {
        (path.relative_to(home).as_posix(), name)
        for path in (home / "benchmarks").rglob("*.py")
        for name in private_names_of_others(path)
    }
    assert found == READ_BY_BENCHMARKS


def test_nobody_reaches_into_a_knowledge_base() -> None:
    """Private names of the classes that users hold are read in `store/` alone, by tests too."""
    from everlog.store.reading import Snapshot
    from everlog.store.timeline import Timeline

    kb = everlog.open(engine="reference")
    timeline = next(each for each in vars(kb).values() if isinstance(each, Timeline))
    held = (kb, kb.snapshot(), timeline, Snapshot, everlog.Transaction, type(kb))
    private = {name for each in held for name in dir(each) if name.startswith("_") and not name.startswith("__")}
    home = Path(__file__).parents[1]
    files = [*(home / "src").rglob("*.py"), *(home / "tests").rglob("*.py"), *(home / "examples").rglob("*.py")]
    holders = ("kb", "opened", "snapshot", "reader", "writer", "follower", "knowledge_base")
    found = [
        f"{path.relative_to(home)}: {node.value.id}.{node.attr}"
        for path in files
        if not path.is_relative_to(ROOT / "store")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if node.value.id in holders and node.attr in private
    ]
    assert not found


def test_import_everlog_loads_nothing_heavy() -> None:
    program = f"import sys, everlog; print(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []

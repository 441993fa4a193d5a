"""Does everything that needs an optional package say which extra brings it?"""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

import everlog
from everlog.errors import MissingExtraError
from everlog.extras import EXTRAS, check_extra

PACKAGES = {"google": "protobuf"}  # where the module is called otherwise
ROOT = Path(everlog.__file__).parents[2]


class Hidden:
    """An import system in which some packages are not installed."""

    def __init__(self, *packages: str) -> None:
        self.packages = packages

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name.partition(".")[0] in self.packages:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


@pytest.fixture
def hide(monkeypatch: pytest.MonkeyPatch) -> object:
    def hidden(*packages: str) -> None:
        for name in list(sys.modules):
            if name.partition(".")[0] in packages:
                monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(sys, "meta_path", [Hidden(*packages), *sys.meta_path])

    return hidden


@pytest.mark.parametrize("method", ["pandas", "polars"])
def test_frames(method: str, hide: object) -> None:
    kb = everlog.open(engine="reference")
    kb.insert("p", [(1,)])
    hide(method)  # type: ignore[operator]
    with pytest.raises(MissingExtraError, match=f"{method} is not installed") as raised:
        getattr(kb.facts("p"), method)()
    assert raised.value.hint == "pip install 'everlog[frames]'"


def test_spark(hide: object) -> None:
    hide("pyspark")  # type: ignore[operator]
    with pytest.raises(MissingExtraError) as raised:
        everlog.open(engine="spark").insert("p", [(1,)])
    assert raised.value.hint == "pip install 'everlog[spark]'"


def test_extras_are_those_of_the_package() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra, modules in EXTRAS.items():
        packages = {re.match(r"[\w-]+", each)[0] for each in declared[extra]}  # type: ignore[index]
        assert {PACKAGES.get(module, module) for module in modules} <= packages
    for module in ("no_such_module", "no_such.module"):
        with pytest.raises(MissingExtraError):
            check_extra(module, "this test")

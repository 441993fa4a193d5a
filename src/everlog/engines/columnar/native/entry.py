"""How does Python call a kernel?

An entry knows the kernel's name and what it takes. At its first call it gets the machine code (compiling.py) and is a
C function from then on; Numba is imported only where there is no code yet. Types of arrays are checked here, their
number of dimensions and layout in the compiled entry (building.py). The interpreter's lock is not held meanwhile.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from everlog.engines.columnar.native.signatures import read_signature


class Entry:
    """A kernel that Python calls."""

    def __init__(self, module: str, name: str, signature: str) -> None:
        self.module, self.name, self.signature = module, name, read_signature(signature)
        arguments = list(enumerate(self.signature.arguments))
        self._arrays = [(place, np.dtype(each.dtype)) for place, each in arguments if each.is_array]
        self._numbers = [place for place, each in arguments if not each.is_array]
        self._results = ctypes.c_int64 * len(self.signature.results)
        self._function: Callable[..., int] | None = None

    def __call__(self, *arguments: Any) -> Any:
        function = self._function or self._load()
        passed = list(arguments)
        for place, dtype in self._arrays:
            if passed[place].dtype is not dtype and passed[place].dtype != dtype:
                raise TypeError(f"{self.name} takes {dtype} as argument {place + 1}, not {passed[place].dtype}")
        for place in self._numbers:
            passed[place] = int(passed[place])
        results = self._results()
        if wrong := function(*passed, results):
            raise TypeError(f"{self.name} cannot use an array of this shape or layout as argument {wrong}")
        return self._given(results) if self.signature.results else None

    def _load(self) -> Callable[..., int]:
        from everlog.engines.columnar.native.compiling import code_of
        from everlog.engines.columnar.native.loading import load

        taken = [ctypes.py_object if each.is_array else ctypes.c_int64 for each in self.signature.arguments]
        function = ctypes.CFUNCTYPE(ctypes.c_int64, *taken, self._results)
        self._function = function(load(code_of(self), self.name))
        return self._function

    def _given(self, results: Any) -> Any:
        types = self.signature.results
        given = [value != 0 if type_ == "b1" else value for type_, value in zip(types, results, strict=True)]
        return given[0] if len(given) == 1 else tuple(given)

"""How does Python call a kernel?

An entry knows the kernel's name and what it takes. At its first call it gets the machine code (compiling.py) and is a
C function from then on; Numba is imported only where there is no code yet. The compiled entry looks at the types of
arrays, so that little is left to do in Python. The interpreter's lock is not held while a kernel runs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from everlog.engines.columnar.native.signatures import Argument, read_signature


class Entry:
    """A kernel that Python calls."""

    def __init__(self, module: str, name: str, signature: str) -> None:
        self.module, self.name, self.signature = module, name, read_signature(signature)
        self._types = self.signature.results
        self._results, self._gives_number = ctypes.c_int64 * len(self._types), self._types == ("i8",)
        self._function: Callable[..., int] | None = None

    def __call__(self, *arguments: Any) -> Any:
        function, results = self._function or self._load(), self._results()
        try:
            wrong = function(*arguments, results)
        except ctypes.ArgumentError:  # numbers of NumPy's types, which come seldom
            wrong = function(*map(self._plain, self.signature.arguments, arguments), results)
        if wrong:
            dtype, dimensions = (each := self.signature.arguments[wrong - 1]).dtype, each.dimensions
            raise TypeError(f"{self.name} takes contiguous {dtype} in {dimensions} dimensions as argument {wrong}")
        if self._gives_number:
            return results[0]
        given = [value != 0 if type_ == "b1" else value for type_, value in zip(self._types, results, strict=True)]
        return tuple(given) if len(given) > 1 else given[0] if given else None

    @staticmethod
    def _plain(expected: Argument, value: Any) -> Any:
        return value if expected.is_array else int(value)

    def _load(self) -> Callable[..., int]:
        from everlog.engines.columnar.native.compiling import code_of
        from everlog.engines.columnar.native.loading import load

        taken = [ctypes.py_object if each.is_array else ctypes.c_int64 for each in self.signature.arguments]
        function = ctypes.CFUNCTYPE(ctypes.c_int64, *taken, self._results)
        self._function = function(load(code_of(self), self.name))
        return self._function

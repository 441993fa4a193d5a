"""How does an object file become a function in memory? LLVM links it, which takes a millisecond or two."""

from __future__ import annotations

from functools import cache
from threading import Lock

from llvmlite import binding as llvm

from everlog.engines.columnar.native import objects
from everlog.engines.columnar.native.targets import target_machine, this_target
from everlog.errors import EngineError

_LINKED: list[llvm.ResourceTracker] = []  # what keeps code in memory
_LOCK = Lock()


def load(code: bytes, symbol: str) -> int:
    """The address of a function in an object file."""
    with _LOCK:
        library = llvm.JITLibraryBuilder().add_object_img(code).export_symbol(symbol).add_current_process()
        linked = library.link(_linker(), f"{symbol}-{len(_LINKED)}")  # a name that no other has, were it loaded twice
        _LINKED.append(linked)
        return int(linked[symbol])


@cache
def _linker() -> llvm.LLJIT:
    if not objects.are_as_expected():
        raise EngineError("this build of NumPy keeps arrays in another way than compiled kernels expect")
    return llvm.create_lljit_compiler(target_machine(this_target()), use_jit_link=False)

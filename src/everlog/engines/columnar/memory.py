"""How does a kernel reach arrays that it was not passed?

A kernel works on any number of relations, each with any number of columns and indexes; passing them all as arguments
would compile a kernel per program. Instead Python keeps the arrays alive and writes their addresses into descriptor
tables (layout.py), and kernels make array views from addresses. The views are sized generously: kernels check counts,
not bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

_VIEW = 1 << 40  # elements a view claims to have; the descriptors know how many are really there


@intrinsic
def _pointer(typing_context: Any, address: Any) -> Any:
    """An integer as a pointer."""
    signature = types.voidptr(address)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return signature, codegen


@intrinsic
def prefetch(typing_context: Any, address: Any) -> Any:
    """Ask for the cache line at an address; by the time a loop comes back to it, it is there."""
    signature = types.void(types.int64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], cgutils.voidptr_t)
        i32 = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, i32, i32, i32])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        builder.call(function, [pointer, i32(0), i32(1), i32(1)])
        return context.get_dummy_value()

    return signature, codegen


def _fence(order: str) -> Any:
    """What orders memory for threads that read meanwhile; on most processors it only binds the compiler."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.fence(order)
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def publish(typing_context: Any) -> Any:
    """What was written before is seen before what is written after."""
    return _fence("release")


@intrinsic
def acquire(typing_context: Any) -> Any:
    """What is read after is at least as new as what was read before: the other side of `publish`."""
    return _fence("acquire")


@njit(inline="always")
def int32s(address):  # type: ignore[no-untyped-def]
    return carray(_pointer(address), _VIEW, np.int32)


@njit(inline="always")
def int64s(address):  # type: ignore[no-untyped-def]
    return carray(_pointer(address), _VIEW, np.int64)


@njit(inline="always")
def uint64s(address):  # type: ignore[no-untyped-def]
    return carray(_pointer(address), _VIEW, np.uint64)


@njit(inline="always")
def uint16s(address):  # type: ignore[no-untyped-def]
    return carray(_pointer(address), _VIEW, np.uint16)

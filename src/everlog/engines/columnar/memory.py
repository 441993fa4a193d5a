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
from numba import carray, types
from numba.core import cgutils
from numba.extending import intrinsic

from everlog.engines.columnar.kernel_language import inlined

_VIEW = 1 << 40  # elements a view claims to have; the descriptors know how many are really there


@intrinsic
def pointer(typing_context: Any, address: Any) -> Any:
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


@intrinsic
def allocate(typing_context: Any, size: Any) -> Any:
    """The address of so many bytes, to be given back to `free`. Arrays that Numba allocates would need Numba to run."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function_type = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
        return builder.call(cgutils.get_or_insert_function(builder.module, function_type, "malloc"), args)

    return types.int64(types.int64), codegen


@intrinsic
def free(typing_context: Any, address: Any) -> Any:
    """Give back what `allocate` gave."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function_type = ir.FunctionType(ir.VoidType(), [ir.IntType(64)])
        builder.call(cgutils.get_or_insert_function(builder.module, function_type, "free"), args)
        return context.get_dummy_value()

    return types.void(types.int64), codegen


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


@inlined
def int32s(address):  # type: ignore[no-untyped-def]
    return carray(pointer(address), _VIEW, np.int32)


@inlined
def int64s(address):  # type: ignore[no-untyped-def]
    return carray(pointer(address), _VIEW, np.int64)


@inlined
def uint64s(address):  # type: ignore[no-untyped-def]
    return carray(pointer(address), _VIEW, np.uint64)


@inlined
def uint16s(address):  # type: ignore[no-untyped-def]
    return carray(pointer(address), _VIEW, np.uint16)

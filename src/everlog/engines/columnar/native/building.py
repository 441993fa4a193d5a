"""How does a kernel become machine code that stands alone?

Numba compiles it together with all that it calls. Around it goes an *entry*, which takes arrays as Python has them, as
the addresses of objects (objects.py), so that a call from Python is one call of a C function. Then everything but the
entry is made private, which lets LLVM drop what nobody calls, and written as an object file.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from llvmlite import binding as llvm
from numba import carray, cfunc, types

from everlog.engines.columnar.kernel_language import inlined
from everlog.engines.columnar.memory import int32s, int64s, pointer
from everlog.engines.columnar.native import objects
from everlog.engines.columnar.native.entry import Entry
from everlog.engines.columnar.native.signatures import Argument, Signature
from everlog.engines.columnar.native.targets import Target, target_machine

_KERNELS = "everlog.engines.columnar"
_DTYPES = {name: np.dtype(name).type for name in ("i8", "i4", "u8", "u1", "f8")}
_C_LIBRARY = {"malloc", "free", "memset", "memcpy", "memmove"}  # all that code may ask for


@inlined
def fits(address, dimensions, character, other_character):  # type: ignore[no-untyped-def]
    """Has an array so many dimensions, values of this type, and lies in one piece?"""
    dtype = int64s(address + objects.AT_DTYPE)[0]
    found = bytes_(dtype + objects.AT_CHARACTER)[0]
    order = bytes_(dtype + objects.AT_BYTE_ORDER)[0]
    return (
        (found == character or found == other_character)
        and (order == objects.NATIVE[0] or order == objects.NATIVE[1])
        and int32s(address + objects.AT_DIMENSIONS)[0] == dimensions
        and int32s(address + objects.AT_FLAGS)[0] & objects.CONTIGUOUS != 0
    )


@inlined
def bytes_(address):  # type: ignore[no-untyped-def]
    return carray(pointer(address), 2, np.uint8)


@inlined
def data(address):  # type: ignore[no-untyped-def]
    return pointer(int64s(address + objects.AT_DATA)[0])


@inlined
def length(address, dimension):  # type: ignore[no-untyped-def]
    return int64s(int64s(address + objects.AT_SHAPE)[0])[dimension]


def build(entry: Entry, target: Target) -> bytes:
    """The object file of an entry."""
    kernel = getattr(import_module(f"{_KERNELS}.{entry.module}"), entry.name)
    numbers = [types.int64] * (len(entry.signature.arguments) + 1)
    compiled = cfunc(types.int64(*numbers), nopython=True)(_entry_function(kernel, entry.signature))
    # The C function that Numba puts around it would report errors to Python, of which there are none.
    inner = compiled.native_name.removeprefix("cfunc.")
    return _object_file(compiled.inspect_llvm(), _c_function(entry.name, inner, len(numbers)), entry.name, target)


def _entry_function(kernel: Any, signature: Signature) -> Any:
    """`entry(a0, …, results)`: returns 0, or one more than the position of an argument that is not as it should be."""
    names = [f"a{position}" for position in range(len(signature.arguments))]
    arguments = list(zip(names, signature.arguments, strict=True))
    lines = [f"def entry({', '.join([*names, 'results'])}):"]
    for position, (name, argument) in enumerate(arguments):
        if argument.is_array:
            first, *_, last = 2 * objects.characters(argument.dtype)
            expected = f"{argument.dimensions}, {first}, {last}"
            lines += [f"    if not fits({name}, {expected}):", f"        return {position + 1}"]
    lines.append(f"    given = kernel({', '.join(_value(name, argument) for name, argument in arguments)})")
    if len(signature.results) == 1:
        lines.append("    int64s(results)[0] = given")
    else:
        lines += [f"    int64s(results)[{place}] = given[{place}]" for place in range(len(signature.results))]
    lines.append("    return 0")
    scope: dict[str, Any] = {"kernel": kernel, "carray": carray, "int64s": int64s, **_DTYPES}
    scope |= {"fits": fits, "data": data, "length": length}
    exec("\n".join(lines), scope)  # as text, since the number of arguments varies
    return scope["entry"]


def _value(name: str, argument: Argument) -> str:
    if argument.is_array:
        lengths = "".join(f"length({name}, {dimension}), " for dimension in range(argument.dimensions))
        return f"carray(data({name}), ({lengths}), {argument.dtype})"
    return {"i8": name, "u8": f"u8({name})", "b1": f"{name} != 0"}[argument.dtype]


def _c_function(name: str, inner: str, count: int) -> str:
    """A C function around one that is called as Numba does it: with places for its result and an error."""
    numbers = ", ".join(f"i64 %{position}" for position in range(count))
    return f"""
        declare i32 @"{inner}"(ptr, ptr, {", ".join(["i64"] * count)})
        define i64 @{name}({numbers}) {{
            %result = alloca i64
            %error = alloca ptr
            %failed = call i32 @"{inner}"(ptr %result, ptr %error, {numbers})
            %given = load i64, ptr %result
            ret i64 %given
        }}"""


def _object_file(code: str, outer: str, name: str, target: Target) -> bytes:
    module, machine = llvm.parse_assembly(code), target_machine(target)
    module.link_in(llvm.parse_assembly(outer))
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name != name:
            each.linkage = "internal"
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    wanted = {each.name for each in module.functions if each.is_declaration and not each.name.startswith("llvm.")}
    assert wanted <= _C_LIBRARY, f"{name} does not stand alone: it calls {', '.join(sorted(wanted - _C_LIBRARY))}"
    return bytes(machine.emit_object(module))

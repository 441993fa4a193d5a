"""Which processors is the code for?

For a baseline that nearly all have: kernels hash, compare and follow indexes, and gain nothing from what newer ones can
do (docs/decisions/0013-compiled-kernels.md). So code that came with the package fits, and one cache serves all machines
that share it. A processor below the baseline gets code of its own.
"""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass

from llvmlite import binding as llvm

_X86_64_V2 = ("cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2")


@dataclass(frozen=True)
class Target:
    """A processor as LLVM names it, with features it has or (`-`) lacks beside what the name says."""

    name: str
    cpu: str
    features: str = ""


def this_target() -> Target:
    """What code for this machine is made for."""
    machine = f"{sys.platform}-{platform.machine().lower()}"
    if platform.machine().lower() in ("x86_64", "amd64"):
        has = llvm.get_host_cpu_features()
        if all(has.get(feature) for feature in _X86_64_V2):
            return Target(f"{machine}-v2", "x86-64-v2")
        return Target(f"{machine}-{llvm.get_host_cpu_name()}", llvm.get_host_cpu_name(), has.flatten())
    return Target(machine, "generic")


def target_machine(target: Target) -> llvm.TargetMachine:
    """LLVM's description of a target, to make code for it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    made = llvm.Target.from_default_triple()
    return made.create_target_machine(cpu=target.cpu, features=target.features, opt=3, reloc="pic", codemodel="default")

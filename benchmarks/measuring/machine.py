"""Which machine do figures come from, without its name?"""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any


def machine() -> dict[str, Any]:
    """What figures depend on."""
    cpu, memory = platform.processor() or "unknown", 0
    if (cpuinfo := Path("/proc/cpuinfo")).exists():
        models = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        cpu = models[0] if models else cpu
    if hasattr(os, "sysconf"):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "memory": memory,
        "system": platform.system(),
        "python": platform.python_version(),
    }


def described(found: dict[str, Any]) -> str:
    """The same in a line."""
    memory = f"{found['memory'] / (1 << 30):.0f} GiB"
    return f"{found['cpu']}, {found['cores']} cores, {memory}, {found['system']}, Python {found['python']}"

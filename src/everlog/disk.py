"""What must be done so that a file lasts?"""

from __future__ import annotations

import os
from pathlib import Path


def write_all(file: int, data: bytes, offset: int) -> None:
    """Write all of it, however many calls that takes."""
    view = memoryview(data)
    while view:
        written = os.pwrite(file, view, offset)
        view, offset = view[written:], offset + written


def sync(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

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


def sync_folder(folder: Path) -> None:
    """A new name in a folder lasts once the folder is synced too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

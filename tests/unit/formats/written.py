"""How does a test put text into a file?"""

from __future__ import annotations

from pathlib import Path


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path

"""How do arrays get into a file from which they can be mapped, and how is damage noticed?

    header    8 bytes "EVERSNAP" · u32 format · u64 length of the text · u32 CRC-32 of the 20 bytes before and the text
    text      JSON: {"about": …, "arrays": [[name, dtype, shape, offset, CRC-32], …]}
    arrays    each at a multiple of 4096 bytes

all little-endian. A file is written beside its place, synced, and then put there, so that it is whole or not there.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from everlog.disk import sync
from everlog.errors import DamagedSnapshotError, OutputError

FORMAT = 1

_MAGIC = b"EVERSNAP"
_HEADER = struct.Struct("<8sIQ")
_CHECKSUM = struct.Struct("<I")
_PAGE = 4096
_PIECE = 1 << 24  # bytes that are written or checked at a time
Array = npt.NDArray[Any]


def write_arrays(path: Path, about: Mapping[str, Any], arrays: Mapping[str, Array]) -> int:
    """Write a file of arrays and what they are about; gives its size."""
    ready = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    listed: list[list[Any]] = []
    for name, array in ready.items():
        listed.append([name, array.dtype.str, list(array.shape), 0, zlib.crc32(_bytes(array))])
    text = _text(about, listed)
    offset = _aligned(_HEADER.size + _CHECKSUM.size + len(text) + 20 * len(listed))  # offsets make it longer
    for entry, array in zip(listed, ready.values(), strict=True):
        entry[3] = offset
        offset = _aligned(offset + array.nbytes)
    text = _text(about, listed)
    header = _HEADER.pack(_MAGIC, FORMAT, len(text))
    beside = path.with_name(path.name + ".new")
    try:
        with open(beside, "wb") as file:
            file.write(header + _CHECKSUM.pack(zlib.crc32(header + text)) + text)
            for entry, array in zip(listed, ready.values(), strict=True):
                file.seek(entry[3])
                content = _bytes(array)
                for start in range(0, len(content), _PIECE):
                    file.write(content[start : start + _PIECE])
            file.truncate(offset)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
        sync(path.parent)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise OutputError(
            f"{path}: the snapshot cannot be written ({error.strerror})", hint="nothing is lost: the log has everything"
        ) from error
    return offset


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """What a file is about, and its arrays: mapped, to be changed in memory alone; their checksums fit."""
    with open(path, "rb") as file:
        head = file.read(_HEADER.size + _CHECKSUM.size)
        if not head.startswith(_MAGIC):
            raise _damage(path, 0, "this is not a snapshot of Everlog")
        if len(head) < _HEADER.size + _CHECKSUM.size:
            raise _damage(path, 0, "the header is cut off")
        _, format, length = _HEADER.unpack_from(head)
        size = os.fstat(file.fileno()).st_size
        text = file.read(length) if length <= size else b""
        if _CHECKSUM.pack(zlib.crc32(head[: _HEADER.size] + text)) != head[_HEADER.size :]:
            raise _damage(path, 0, "the header does not fit its checksum")
        if format != FORMAT:
            raise DamagedSnapshotError(
                f"the snapshot has format {format}, and this Everlog reads format {FORMAT}",
                path=str(path),
                offset=len(_MAGIC),
                hint="use a newer Everlog",
            )
        said = json.loads(text)
        mapping = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    arrays: dict[str, Array] = {}
    for name, dtype, shape, offset, _ in said["arrays"]:
        count = int(np.prod(shape, dtype=np.int64))
        if offset + count * np.dtype(dtype).itemsize > size:
            raise _damage(path, offset, f"the file ends in the midst of {name}")
        arrays[name] = np.frombuffer(mapping, dtype, count, offset).reshape(shape)
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # the checksums of large pieces are made without Python's lock
        found = list(pool.map(lambda array: zlib.crc32(_bytes(array)), arrays.values()))
    for checksum, (name, _, _, offset, expected) in zip(found, said["arrays"], strict=True):
        if checksum != expected:
            raise _damage(path, offset, f"{name} does not fit its checksum")
    return said["about"], arrays


def _text(about: Mapping[str, Any], listed: list[list[Any]]) -> bytes:
    return json.dumps({"about": about, "arrays": listed}, separators=(",", ":")).encode()


def _bytes(array: Array) -> memoryview:
    return array.reshape(-1).data.cast("B") if array.size else memoryview(b"")


def _aligned(offset: int) -> int:
    return -(-offset // _PAGE) * _PAGE


def _damage(path: Path, offset: int, what: str) -> DamagedSnapshotError:
    return DamagedSnapshotError(f"byte {offset:,}: {what}", path=str(path), offset=offset)

"""Is a path local, or does it name another file system?

data/a.csv, /data/a.csv              local
file:///data/a.csv, file:/data/a.csv local too, and read as /data/a.csv
s3a://bucket/a.csv, hdfs:/data       another file system: Spark reads from it, we write to none
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

# Two letters at least before the colon, since `C:/` is a drive.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_BEFORE_PATH = re.compile(r"\A[A-Za-z][A-Za-z0-9+.-]+:(?://[^/]*)?")

BEFORE_PATH = _BEFORE_PATH.pattern  # for Spark's regular expressions too


def is_remote(text: str) -> bool:
    """Whether a path names a file system that is not the local one.

    >>> is_remote("s3a://bucket/a"), is_remote("hdfs:/a"), is_remote("file:///a"), is_remote("a/b.csv")
    (True, True, False, False)
    """
    found = _SCHEME.match(text)
    return found is not None and found[1].lower() != "file"


def local_text(text: str) -> str:
    """A local path as the system knows it: a `file:` address without its scheme.

    >>> local_text("file:///tmp/a%20b"), local_text("a%20b")
    ('/tmp/a b', 'a%20b')
    """
    return path_of(text) if text.lower().startswith("file:/") else text


def path_of(address: str) -> str:
    """The path of a file, given its address as Spark writes it.

    >>> path_of("file:/tmp/a%20b.nt"), path_of("file:///tmp/a"), path_of("s3a://bucket/a%20b.nt")
    ('/tmp/a b.nt', '/tmp/a', 's3a://bucket/a b.nt')
    """
    return unquote(without_scheme(address) if address.lower().startswith("file:") else address)


def without_scheme(path: str) -> str:
    """A path alone, without the scheme and host before it.

    >>> without_scheme("hdfs://host:9000/data/a.nt"), without_scheme("/data/a.nt")
    ('/data/a.nt', '/data/a.nt')
    """
    return _BEFORE_PATH.sub("", path)


def lost_scheme(path: Path) -> bool:
    """Whether a `Path` was made from an address, which it takes for a folder named `s3:`.

    >>> lost_scheme(Path("s3://bucket/a")), lost_scheme(Path("a/b"))
    (True, False)
    """
    return re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]+:", path.parts[0] if path.parts else "") is not None


def one_spelling(path: str | os.PathLike[str]) -> Path:
    """The one spelling of a local path: absolute, links followed; the last parts need not exist."""
    return Path(os.path.realpath(path))

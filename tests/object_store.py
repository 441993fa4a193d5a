"""An object store on this machine, for tests: moto's S3 in a process of its own.

In this process it would wait for itself: `deltalake` keeps others from running while it waits for an answer.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass

BUCKET = "bucket"


@dataclass(frozen=True)
class ObjectStore:
    """Where it is, and how one gets there."""

    endpoint: str

    @property
    def storage(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": "anybody",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        }


@contextlib.contextmanager
def running_store() -> Iterator[ObjectStore]:
    """A store with an empty bucket, while the block runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        store = ObjectStore(f"http://127.0.0.1:{port}")
        _wait(port, server)
        urllib.request.urlopen(urllib.request.Request(f"{store.endpoint}/{BUCKET}", method="PUT")).close()
        yield store
    finally:
        server.kill()
        server.wait()


def _wait(port: int, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("the object store of the tests does not start; is moto installed?")

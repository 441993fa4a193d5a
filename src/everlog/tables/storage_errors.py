"""What do we tell of an object store that refuses us, or does not answer?

Libraries tell it in long texts, with the XML of the store's answer. From those come the cause and what helps.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from everlog.errors import StorageError

_COLOURS = re.compile(r"\x1b\[[0-9;]*m|↳")
_KEYS = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or what your store wants"


class _Cause(NamedTuple):
    signs: tuple[str, ...]  # in the text of the error
    says: str
    hint: str


_CAUSES = (  # the first that fits
    _Cause(
        ("NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist"),
        "there is no such bucket",
        "make it, or see to its name and to the endpoint",
    ),
    _Cause(
        ("169.254.169.254", "metadata.google", "token request", "Account must be specified", "CredentialsError"),
        "no credentials were found",
        f"set them, by [storage], storage=… or the environment: {_KEYS}",
    ),
    _Cause(
        ("AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "403 ", "401 "),
        "access was denied",
        f"see to the credentials, and to what they allow: {_KEYS}",
    ),
    _Cause(
        ("builder error", "URL scheme is not allowed"),
        "the endpoint cannot be used",
        'give it as https://…, or set AWS_ALLOW_HTTP = "true"',
    ),
    _Cause(
        ("error sending request", "timed out", "dns error", "Connection refused", "operation timed out"),
        "the object store cannot be reached",
        "see to the endpoint (AWS_ENDPOINT_URL), the region and the network",
    ),
)


def storage_error(address: str, error: Exception) -> StorageError:
    """The error for a place in an object store."""
    text = _COLOURS.sub("", str(error))
    for cause in _CAUSES:
        if any(sign in text for sign in cause.signs):
            return StorageError(f"{address}: {cause.says}", hint=cause.hint)
    first = " ".join(text.partition("Debug source")[0].split())[:300]
    return StorageError(
        f"{address}: {first}", hint="see to the options of [storage]; what was committed before is still there"
    )

"""Does `everlog compile` say what it did, and where code is?"""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Everlog

from everlog.engines.columnar.entries import ENTRIES


def test_what_is_there_is_not_compiled_again(everlog: Everlog) -> None:
    assert everlog("compile").code == 0
    ended = everlog("compile", "--json")
    said = json.loads(ended.out)
    assert (said["kernels"], said["compiled"], ended.err) == (len(ENTRIES), 0, "")
    assert all(list(Path(folder).glob("*.kernel")) for folder in said["folders"])
    assert everlog("compile").out.endswith(f": {len(ENTRIES)} kernels, none to compile\n")

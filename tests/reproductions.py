"""How does a failing example become a script? Ready to paste into a file: the updates, and what was expected.

>>> print(script("reference", (Update(insert={"edge": [("a", 1)]}),), options={"strategy": "bf"}))
from decimal import Decimal
from math import inf, nan
import everlog
from everlog import IRI
<BLANKLINE>
kb = everlog.open(engine='reference')
kb.update(insert={'edge': [('a', 1)]}, strategy='bf')
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.oracle import State
from tests.subjects import Update, listing

HEADER = """\
from decimal import Decimal
from math import inf, nan
import everlog
from everlog import IRI
"""


def script(
    engine: str, updates: Sequence[Update], *, options: Mapping[str, Any], opening: Mapping[str, Any] | None = None
) -> str:
    """Python that opens a knowledge base and applies the updates, each with the options."""
    lines = [HEADER, f"kb = everlog.open({_arguments({'engine': engine, **(opening or {})})})"]
    for update in updates:
        given = {
            "insert": {relation: list(rows) for relation, rows in update.insert.items()},
            "delete": {relation: list(rows) for relation, rows in update.delete.items()},
            "remove_rules": list(update.remove_rules),
        }
        arguments = {name: value for name, value in given.items() if value} | dict(options)
        rules = [f'add_rules="""\n{update.add_rules.strip()}\n"""'] if update.add_rules else []
        lines.append(f"kb.update({', '.join([*rules, *filter(None, [_arguments(arguments)])])})")
    return "\n".join(lines)


def differences(what: str, found: State, expected: State) -> list[str]:
    """The facts too many (+) and the facts missing (-), as comments to put under a script."""
    there, wanted = listing(found), listing(expected)
    wrong = [f"#   + {line}" for line in there if line not in wanted] + [
        f"#   - {line}" for line in wanted if line not in there
    ]
    return [f"# {what}, too many (+) and missing (-):", *wrong] if wrong else []


def _arguments(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in given.items())

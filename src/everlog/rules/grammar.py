"""How does the grammar become a parser?

Working out the LALR table takes longer than everything else at a start, so it is kept beside the grammar, or comes with
the package. It is made again for another grammar or another Lark, and each time where nothing can be written.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import lark
from lark import Lark
from lark.lexer import Lexer
from lark.lexer import Token as LarkToken

from everlog.rules.statements import Token

_HERE = Path(__file__).parent
_TABLES = _HERE / "grammar_tables"


class Tokens(Lexer):
    """Our own tokens, handed to Lark."""

    def __init__(self, lexer_conf: Any) -> None:
        pass

    def lex(self, tokens: list[Token]) -> Iterator[LarkToken]:  # type: ignore[override]
        for kind, text, start, end in tokens:
            yield LarkToken(kind, text, start_pos=start, end_pos=end)


@cache
def grammar() -> Lark:
    """The parser of statements and queries."""
    text = (_HERE / "grammar.lark").read_text(encoding="utf-8")
    digest = hashlib.sha256(f"{lark.__version__}\n{text}".encode()).hexdigest()[:16]
    kept = _TABLES / f"{digest}.table"
    try:
        with kept.open("rb") as file:
            return Lark.load(file)
    except Exception:  # absent or damaged: unpickling may fail in any way
        made = Lark(text, parser="lalr", lexer=Tokens, start=["statement", "query"], keep_all_tokens=True)
    _keep(made, kept)
    return made


def _keep(made: Lark, path: Path) -> None:
    try:
        path.parent.mkdir(exist_ok=True)
        handle, new = tempfile.mkstemp(dir=path.parent)
        with open(handle, "wb") as file:
            made.save(file)
        os.chmod(new, 0o644)
        os.replace(new, path)
    except OSError:
        return  # the next start works it out again
    for other in path.parent.glob("*.table"):
        if other != path:
            other.unlink(missing_ok=True)

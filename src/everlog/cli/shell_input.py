"""Where does a statement end that was typed line by line, and what is it?

    .help                                    a command of the shell: one line
    path(?x, ?z) :- edge(?x, ?y),            rules and facts, PREFIX and @constraint: up to a full stop at the end of a
        path(?y, ?z).                        line
    path(a, ?y)                              a query in Datalog: literals without a full stop, or after `?-` with one
    SELECT ?x {                              SPARQL: up to the line that closes the last bracket, or to a semicolon or
        ?x a :Part } LIMIT 5                 an empty line; so modifiers stand behind the last bracket
    INSERT DATA { :a a :Part }               SPARQL Update likewise

Brackets and full stops within quotes, IRIs and comments do not count.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Kind(StrEnum):
    """What a statement is."""

    NOTHING = "nothing"
    COMMAND = "command"
    RULES = "rules"
    DATALOG = "datalog"
    SPARQL = "sparql"
    UPDATE = "update"


# What stands before the first word of SPARQL; the rules' language writes prefixes in the same way.
_PROLOGUE = r"(?:\s|\#[^\n]*(?:\n|$)|(?i:PREFIX)\s+[^\s:]*:\s*<[^>]*>|(?i:BASE)\s*<[^>]*>)*"
_QUERY = re.compile(_PROLOGUE + r"(?i:SELECT|ASK|CONSTRUCT|DESCRIBE)\b")
_UPDATE = re.compile(_PROLOGUE + r"(?i:INSERT|DELETE|WITH|LOAD|CLEAR|DROP|CREATE|ADD|MOVE|COPY)\b(?!\s*[(:=\[,])")
_ONLY_PROLOGUE = re.compile(_PROLOGUE)
_WITHIN = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''  # texts
    r"|<[^<>\s\"{}|^`\\]*>"  # IRIs
    r"|(?<![\w:/])[#%][^\n]*",  # comments
    re.DOTALL,
)
_RULES = re.compile(r":-|<-|^\s*(?:@|(?i:PREFIX|BASE)\b)", re.MULTILINE)


def kind_of(text: str) -> Kind:
    """What a statement is, once it is complete."""
    stripped = text.strip()
    if not stripped or _bare(stripped).strip() == "":
        return Kind.NOTHING
    if stripped.startswith("."):
        return Kind.COMMAND
    if _QUERY.match(text):
        return Kind.SPARQL
    if _UPDATE.match(text):
        return Kind.UPDATE
    if stripped.startswith("?-"):
        return Kind.DATALOG
    bare = _bare(stripped).strip()
    return Kind.RULES if bare.endswith(".") or _RULES.search(bare) else Kind.DATALOG


def is_complete(text: str) -> bool:
    """Does a statement end with these lines? (An empty line after them ends it in any case.)"""
    if text.lstrip().startswith("."):
        return True
    bare = _bare(text)
    stripped = bare.strip()
    if not stripped:
        return True
    if '"""' in bare or sum(map(bare.count, "([{")) > sum(map(bare.count, ")]}")):
        return False
    if _QUERY.match(text) or _UPDATE.match(text):
        return "}" in stripped or stripped.endswith(";")
    if _ONLY_PROLOGUE.fullmatch(text):
        return False  # SPARQL or rules may follow
    if stripped.startswith("?-") or _RULES.search(bare):
        return stripped.endswith(".")
    return not stripped.endswith((",", "!", "NOT", "not"))


def _bare(text: str) -> str:
    """The text without what stands in quotes, IRIs and comments."""
    return _WITHIN.sub(lambda found: "" if found[0][0] in "#%" else "_", text)

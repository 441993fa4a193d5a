"""Which error message does a statement get that the grammar rejects?

The parser knows the token it did not expect and those it would have accepted; this file turns that into a sentence, and
recognises common mistakes (a missing dot, a relation without brackets).
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from everlog.rules.diagnostics import Diagnostic, Span
from everlog.rules.statements import DIRECTIVES, Statement, Token

_SHOWN = {
    "ARROW": "`:-`", "COMMA": "`,`", "LPAR": "`(`", "RPAR": "`)`", "LSQB": "`[`", "RSQB": "`]`", "CMP": "a comparison",
    "NAME": "a name", "VARIABLE": "a variable", "STRING": "a string", "NUMBER": "a number", "IRIREF": "an IRI",
    "PNAME": "a prefixed name", "AS": "AS", "IN": "IN", "WITH": "WITH", "BIND": "BIND", "ON": "ON",
    "NAMESPACE": "a prefix such as `ex:`", "$END": "the end of the statement",
}  # fmt: skip
_TERM_KINDS = frozenset(("NAME", "VARIABLE", "STRING", "NUMBER", "IRIREF", "PNAME", "NAMESPACE", "BLANK"))
_STATEMENT_STARTS = frozenset(("NAME", "PNAME", "IRIREF", "LSQB", "NAMESPACE", "AT", "VARIABLE"))


def explain(statement: Statement, index: int | None, expected: Collection[str]) -> tuple[Diagnostic, int | None]:
    """The problem at a token (None: at the end), and where another statement seems to begin inside this one."""
    tokens, source = statement.tokens, statement.source
    if index is None:
        return _ends_early(statement, expected), None
    token = tokens[index]
    span = Span(source, token.start, token.end)
    if tokens[0].kind == "AT":
        return _unknown_directive(tokens[0], Span(source, tokens[0].start, tokens[0].end)), None
    if index and "$END" in expected and _begins_statement(statement, index):
        return missing_dot(statement, index - 1), token.start
    if token.kind == "ARROW":
        if tokens[0].kind == "CONSTRAINT":
            return _constraint_head(span), None
        if any(earlier.kind == "ARROW" for earlier in tokens[:index]):
            again = f"a second `{token.text}` in one rule"
            return Diagnostic("R105", again, span, (), "end the rule before this one with a dot"), None
        if not index:
            refused, hint = "a rule without a head", "say that its body must not hold: @constraint name : body."
            return Diagnostic("R104", refused, span, (), hint), None
    message, notes = f"unexpected `{_short(token.text)}`", _expectation(expected)
    return Diagnostic("R104", message, span, notes, _hint(tokens, index)), None


def constraint_problem(statement: Statement) -> Diagnostic | None:
    """What is wrong with how a constraint begins, if the statement is one without a name."""
    first, *rest = statement.tokens
    if first.kind != "CONSTRAINT" or (rest and rest[0].kind == "RULE_NAME"):
        return None
    arrow = next((token for token in rest if token.kind == "ARROW"), None)
    if arrow is not None:
        return _constraint_head(Span(statement.source, arrow.start, arrow.end))
    span = Span(statement.source, first.start, first.end)
    hint = "write @constraint name : body. with a space after the colon"
    return Diagnostic("R115", "a constraint without a name", span, (), hint)


def _constraint_head(span: Span) -> Diagnostic:
    note = "its body is what must not be; what breaks it is shown by the values of the body's variables"
    return Diagnostic("R115", "a constraint has no head", span, (note,), "write @constraint name : body.")


def missing_dot(statement: Statement, index: int) -> Diagnostic:
    """A statement that should have ended after a token."""
    token = statement.tokens[index]
    span = Span(statement.source, token.end - 1, token.end)
    return Diagnostic("R105", "a dot is missing at the end of this statement", span, (), "add `.` after it")


def _begins_statement(statement: Statement, index: int) -> bool:
    """Whether a token that does not fit looks like the start of another statement."""
    tokens, text = statement.tokens, statement.source.text
    if tokens[index].kind not in _STATEMENT_STARTS:
        return False
    if tokens[index].kind == "AT" or "\n" in text[tokens[index - 1].end : tokens[index].start]:
        return True
    return any(token.kind == "ARROW" for token in tokens[index:])


def _ends_early(statement: Statement, expected: Collection[str]) -> Diagnostic:
    last = statement.tokens[-1]
    at = statement.dot if statement.dot is not None else last.end - 1
    span = Span(statement.source, at, at + 1)
    hint = None
    if last.kind in ("COMMA", "AND"):
        hint = f"remove the `{last.text}` before the dot, or add what should follow it"
    elif last.kind == "ARROW":
        hint = f"remove `{last.text}` to state a fact, or add a body"
    elif last.kind in ("NAME", "VARIABLE") and "LPAR" in expected:
        hint = f"a relation without arguments is written {_short(last.text)}()"
    return Diagnostic("R104", "the statement ends too early", span, _expectation(expected), hint)


def _unknown_directive(token: Token, span: Span) -> Diagnostic:
    close = get_close_matches(token.text.lower(), DIRECTIVES, n=1)
    hint = f"did you mean {close[0]}?" if close else f"directives are {', '.join(DIRECTIVES)}"
    return Diagnostic("R112", f"there is no directive {_short(token.text)}", span, (), hint)


def _hint(tokens: list[Token], index: int) -> str | None:
    token, before = tokens[index], tokens[index - 1] if index else None
    if before is not None and before.kind == "CMP" and token.kind == "CMP":
        return "comparisons are = != < <= > >="
    if before is not None and before.kind == "NOT":
        return "NOT stands before an atom; negate a condition with FILTER(!(…)) or the opposite comparison"
    if token.kind in ("OR", "BOTH"):
        return "put conditions with || and && in FILTER(…)"
    if token.kind == "AT":
        return "a language tag follows its string at once"
    if token.kind == "DATATYPE":
        return 'a datatype follows a quoted string: "2024-02-29"^^xsd:date'
    if before is not None and before.kind in _TERM_KINDS and token.kind in _TERM_KINDS:
        return f"put a comma between `{_short(before.text)}` and `{_short(token.text)}`, or quotes around both"
    return None


def _expectation(expected: Collection[str]) -> tuple[str, ...]:
    names = set(expected)
    shown: list[str] = []
    if {"NAME", "FILTER", "BIND"} <= names:
        shown.append("a literal")
        names -= _TERM_KINDS | {"LPAR", "LSQB", "BIND"}
    elif {"NAME", "NUMBER", "STRING", "VARIABLE"} <= names:
        shown.append("a term or an expression")
        names -= _TERM_KINDS | {"LPAR"}
    elif {"NAME", "IRIREF", "LSQB"} <= names:
        shown.append("an atom")
        names -= _TERM_KINDS | {"LSQB"}
    shown += sorted(_SHOWN[name] for name in names if name in _SHOWN)
    if not shown or len(shown) > 8:
        return ()
    return ("expected " + (f"{', '.join(shown[:-1])} or {shown[-1]}" if len(shown) > 1 else shown[0]),)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "…"

"""Where does each statement of a rule file begin and end, and which tokens is it made of?

One regular expression knows strings, IRIs, comments, numbers and prefixed names, so that the dot which ends a statement
is told from the dots inside those. `next_statement` reads the tokens of one statement; what cannot be a token, a string
that never ends, brackets that do not match are reported here, and reading goes on after the statement's dot.

A word is a keyword only where a keyword can stand: `edge(on, with)` has two strings, `on(a, b)` is a fact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from everlog.rules.diagnostics import Diagnostic, SourceText, Span

MAX_DEPTH = 200  # levels of brackets, and of operators in an expression: functions on the tree are recursive

_ESCAPED_LOCAL = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_LOCAL = rf"(?:[\w:]|{_ESCAPED_LOCAL})(?:\.*(?:[\w:-]|{_ESCAPED_LOCAL}))*+"
PREFIXED_NAME = rf"(?:[^\W\d_][\w-]*)?:(?:{_LOCAL}|(?![-=]))"
IRI_REFERENCE = r"<(?:[^\x00-\x20<>\"{}|^`\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*+>"

_SKIP = re.compile(r"(?:[\s\ufeff]+|[%#][^\n]*|//[^\n]*)+")
_TOKEN = re.compile(
    "|".join(
        f"(?P<{kind}>{pattern})"
        for kind, pattern in (
            (
                "STRING",
                r'"""(?:[^"\\]++|\\.|"(?!""))*+"""|' + r"'''(?:[^'\\]++|\\.|'(?!''))*+'''|"
                r'"(?!"")(?:[^"\\\n\r]++|\\.)*+"|' + r"'(?!'')(?:[^'\\\n\r]++|\\.)*+'",
            ),
            ("QUOTE", r"\"\"\"|'''|\"|'"),  # a string that never ends
            ("VARIABLE", r"[?$]\w+"),
            ("IRIREF", IRI_REFERENCE),
            ("BLANK", r"_:\w(?:\.*[\w-])*+"),
            ("PNAME", PREFIXED_NAME),
            ("NUMBER", r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"),
            ("NAME", r"[^\W\d]\w*"),
            ("AT", r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*"),
            ("SYMBOL", r":-|:=|<-|←|&&|\|\||!=|<>|<=|>=|==|\^\^|[()\[\],.&∧¬!=<>+*/-]"),
        )
    ),
    re.DOTALL,
)
_CONSTRAINT_NAME = re.compile(r"[^\W\d][\w-]*\s*:(?=\s)")  # after @constraint; like the name of a rule
_DOT = re.compile(rf"(?:{_SKIP.pattern})?\.")

_SYMBOLS = {
    ":-": "ARROW", ":=": "ARROW", "<-": "ARROW", "←": "ARROW", "&&": "BOTH", "||": "OR", "^^": "DATATYPE",
    "(": "LPAR", ")": "RPAR", "[": "LSQB", "]": "RSQB", ",": "COMMA", ".": "DOT", "&": "AND", "∧": "AND",
    "¬": "BANG", "!": "BANG", "+": "PLUS", "-": "MINUS", "*": "STAR", "/": "SLASH",
    "=": "CMP", "==": "CMP", "!=": "CMP", "<>": "CMP", "<": "CMP", "<=": "CMP", ">": "CMP", ">=": "CMP",
}  # fmt: skip
_OPERAND_ENDS = frozenset(
    ("VARIABLE", "NUMBER", "STRING", "LANGUAGE", "RPAR", "RSQB", "IRIREF", "PNAME", "NAMESPACE", "BLANK", "NAME")
)
_LITERAL_STARTS = frozenset(("", "RULE_NAME", "ARROW", "COMMA", "AND", "LPAR"))
_CLOSERS = {"RPAR": "LPAR", "RSQB": "LSQB"}

KEYWORDS = frozenset(
    ("not", "exists", "in", "bind", "filter", "comp", "aggregate", "on", "with", "as", "and", "distinct")
)
LITERAL_WORDS = frozenset(("not", "bind", "filter", "comp", "aggregate"))  # these begin a literal, and name no relation
DIRECTIVES = {
    "@prefix": "PREFIX", "@base": "BASE", "@import": "IMPORT", "@export": "EXPORT", "@constraint": "CONSTRAINT",
    "@relation": "RELATION",
}  # fmt: skip


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


@dataclass(slots=True)
class Statement:
    """The tokens of one statement without its dot; `end` is where the next one may begin."""

    source: SourceText
    tokens: list[Token] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    dot: int | None = None  # where the final dot stands
    end: int = 0
    needs_dot: bool = True

    def span(self) -> Span:
        return Span(self.source, self.tokens[0].start, self.tokens[-1].end)

    def report(self, code: str, message: str, start: int, end: int, *notes: str, help: str | None = None) -> None:
        self.problems.append(Diagnostic(code, message, Span(self.source, start, end), notes, help))


def skip_space(text: str, position: int) -> int:
    """Past white space and comments (`%`, `#` and `//` to the end of the line)."""
    match = _SKIP.match(text, position)
    return match.end() if match else position


def next_statement(source: SourceText, position: int) -> Statement:
    """The statement that begins at a position where something other than space stands."""
    text = source.text
    statement = Statement(source)
    tokens = statement.tokens
    open_brackets: list[Token] = []
    arrow_seen = short = False  # short: PREFIX and BASE end with their IRI, dot or not
    while (position := skip_space(text, position)) < len(text):
        if len(tokens) == 1 and tokens[0].text.lower() == "@constraint":
            name = _CONSTRAINT_NAME.match(text, position)
            if name is not None:
                tokens.append(Token("RULE_NAME", name.group(), position, name.end()))
                position = name.end()
                continue
        match = _TOKEN.match(text, position)
        if match is None:
            position = _stray(statement, position)
            continue
        kind, found, end = str(match.lastgroup), match.group(), match.end()
        if kind == "QUOTE":
            position, ended = _unterminated(statement, found, position)
            if ended:
                break
            continue
        if kind == "IRIREF" and tokens and _ends_operand(tokens):
            kind, found = "SYMBOL", "<" + (text[position + 1] if text[position + 1] in "=>-" else "")
        if kind == "SYMBOL":
            if found == "<-" and (arrow_seen or open_brackets):
                found = "<"  # `?x<-3` compares
            kind, end = _SYMBOLS[found], position + len(found)
            arrow_seen = arrow_seen or kind == "ARROW"
        token = Token(kind, found, position, end)
        position = end
        if kind == "DOT":
            statement.dot = token.start
            break
        tokens.append(token)
        _match_brackets(statement, token, open_brackets)
        if len(tokens) == 2:
            short = _is_prefix_or_base(tokens)
        if short and kind == "IRIREF":
            statement.needs_dot = False
            if dot := _DOT.match(text, position):
                statement.dot, position = dot.end() - 1, dot.end()
            break
    statement.end = position
    if open_brackets and not statement.problems:
        opened = open_brackets[-1]
        statement.report(
            "R103",
            f"`{opened.text}` is never closed",
            opened.start,
            opened.end,
            help=f"add `{')' if opened.kind == 'LPAR' else ']'}` before the statement's end",
        )
    statement.tokens = classify(tokens)
    return statement


def _ends_operand(tokens: list[Token]) -> bool:
    """Whether a `<` after these tokens compares, rather than begins an IRI."""
    token = tokens[-1]
    if token.kind == "AT":
        return len(tokens) > 1  # a language tag, not @base
    if token.kind == "NAME":
        return token.text.lower() not in KEYWORDS and token.text.lower() not in ("base", "prefix")
    if token.kind == "PNAME":
        return not token.text.endswith(":")
    return token.kind in _OPERAND_ENDS


def _is_prefix_or_base(tokens: list[Token]) -> bool:
    first, second = tokens
    word = first.text.lower().removeprefix("@")
    return (word == "prefix" and second.kind == "PNAME") or (word == "base" and second.kind == "IRIREF")


def _match_brackets(statement: Statement, token: Token, open_brackets: list[Token]) -> None:
    if token.kind in ("LPAR", "LSQB"):
        open_brackets.append(token)
        if len(open_brackets) == MAX_DEPTH + 1:
            statement.report(
                "R106",
                f"brackets are nested more than {MAX_DEPTH} levels deep",
                token.start,
                token.end,
                help="compute parts of it in rules of their own, or with BIND",
            )
    elif token.kind in _CLOSERS:
        if open_brackets and open_brackets[-1].kind == _CLOSERS[token.kind]:
            open_brackets.pop()
            return
        if not statement.problems:
            message = f"`{token.text}` closes nothing"
            if open_brackets:
                message = f"`{token.text}` does not close `{open_brackets[-1].text}`"
            statement.report("R103", message, token.start, token.end, help="check the brackets before it")
        open_brackets.clear()


def _stray(statement: Statement, position: int) -> int:
    """Report a character that begins no token, once per statement."""
    character = statement.source.text[position]
    if not any(problem.code == "R101" for problem in statement.problems):
        shown = character if character.isprintable() else f"U+{ord(character):04X}"
        hints = {
            ";": "statements end with a dot, body literals are separated by commas",
            "|": "write `||` for or; two rules with one head are the other way to say or",
            "@": f"directives are {', '.join(DIRECTIVES)}; a language tag follows its string at once",
            "\\": "write `,` or `∧` between body literals",
            "~": "write NOT for negation",
        }
        statement.report(
            "R101",
            f"unexpected character `{shown}`",
            position,
            position + 1,
            help=hints.get(character, "put text in double quotes, and IRIs between < and >"),
        )
    return position + 1


def _unterminated(statement: Statement, quote: str, position: int) -> tuple[int, bool]:
    """Report an unterminated string; returns where to go on, and whether the statement ended meanwhile."""
    text = statement.source.text
    line_end = text.find("\n", position)
    line_end = len(text) if line_end < 0 or len(quote) == 3 else line_end
    if text[position:line_end].rstrip("\r").endswith("\\") and line_end < len(text):
        note = "a backslash does not continue a line"
    else:
        note = "a string between single quote characters ends on its line" if len(quote) == 1 else ""
    shown_end = min(line_end, position + 60) if len(quote) == 1 else position + 3
    statement.report(
        "R102",
        "the string is not closed",
        position,
        max(shown_end, position + 1),
        *filter(None, (note,)),
        help=f"add {quote} at its end" + (', or use """…""" for several lines' if len(quote) == 1 else ""),
    )
    ended = text[position:line_end].rstrip().endswith(".")
    return line_end, ended or len(quote) == 3


def classify(tokens: list[Token]) -> list[Token]:
    """Decide for each word whether it is a keyword there, and for each capitalised one whether it is a variable."""
    result: list[Token] = []
    bodies = [True]  # for each open bracket, whether literals stand in it
    exists = False  # after EXISTS and before its IN
    for index, token in enumerate(tokens):
        kind = token.kind
        before = result[-1].kind if result else ""
        after = tokens[index + 1] if index + 1 < len(tokens) else None
        starts_literal = bodies[-1] and before in _LITERAL_STARTS
        if kind == "NAME":
            kind = _word_kind(token.text, before, after, starts_literal, result)
            exists = kind == "EXISTS" or (exists and kind != "NAME")
        elif kind == "PNAME" and token.text.endswith(":") and token.text.count(":") == 1:
            starts_rule = not result and after is not None and after.start > token.end and token.text != ":"
            kind = "RULE_NAME" if starts_rule else "NAMESPACE"
        elif kind == "AT":
            if before == "STRING" and result[-1].end == token.start:
                kind = "LANGUAGE"
            elif not result:
                kind = DIRECTIVES.get(token.text.lower(), "AT")
        elif kind == "BANG" and starts_literal:
            kind = "NOT"
        elif kind in ("LPAR", "LSQB"):
            bodies.append(before in ("NOT", "AGGREGATE") or (exists and before == "IN"))
            exists = False
        elif kind in _CLOSERS and len(bodies) > 1:
            bodies.pop()
        result.append(token if kind == token.kind else token._replace(kind=kind))
    return result


def _word_kind(text: str, before: str, after: Token | None, starts_literal: bool, result: list[Token]) -> str:
    word, following = text.lower(), after.kind if after else ""
    ends_operand = before in _OPERAND_ENDS
    calls = following == "LPAR"
    match word:
        case "and" | "on" | "as":
            keyword = ends_operand
        case "with":
            keyword = ends_operand and not calls
        case "in":
            keyword = ends_operand or (before == "NOT" and len(result) > 1 and result[-2].kind in _OPERAND_ENDS)
        case "not":
            keyword = starts_literal or (ends_operand and after is not None and after.text.lower() == "in")
        case "exists":
            keyword = before == "NOT" and not calls
        case "bind":
            keyword = (starts_literal and calls) or ends_operand
        case "filter":
            keyword = starts_literal
        case "aggregate" | "comp":
            keyword = starts_literal and calls
        case "distinct":
            keyword = before == "LPAR" and not starts_literal and following not in ("COMMA", "RPAR")
        case "prefix" | "base":
            keyword = not result and following in ("PNAME", "IRIREF")
        case "header":
            keyword = before == "STRING" and result[0].kind == "IMPORT"
        case "nulls":
            keyword = before in ("STRING", "HEADER") and result[0].kind == "IMPORT"
        case _:
            keyword = False
    if keyword:
        return word.upper()
    if not calls and (text[0].isupper() or text[0] == "_") and word not in ("true", "false"):
        return "VARIABLE"
    return "NAME"

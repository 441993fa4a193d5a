"""What does a rule text say? The tree of syntax.py, or every problem in reading the text.

The text is cut into statements (statements.py); each is parsed alone by the grammar in grammar.lark and built into
rules, facts and directives (tree_builder.py), so a mistake in one does not hide those in the next. Plain ground facts
take a short way around the grammar. The grammar is loaded on the first parse that needs it.

>>> parse_program("path(?x, ?y) :- edge(?x, ?y).  edge(a, b).").facts
(Atom(relation='edge', args=(Constant(term='a'), Constant(term='b'))),)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from everlog.errors import NotFoundError, ProgramError
from everlog.rules.diagnostics import Diagnostic, SourceText, Span
from everlog.rules.statements import MAX_DEPTH, Statement, next_statement, skip_space
from everlog.rules.syntax import Atom, Declaration, Export, Import, Literal, Program, Rule
from everlog.rules.term_reader import TermReader

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
MAX_PROBLEMS = 100  # enough, even for a file that is no rule file at all


def parse_program(text: str, name: str = "<rules>", prefixes: Mapping[str, str] | None = None) -> Program:
    """Read a rule text.

    Args:
        text: rules, facts and directives.
        name: what the text is called in error messages.
        prefixes: prefixes declared before the text begins, beside rdf, rdfs, owl and xsd.

    Raises:
        ProgramError: the text cannot be read; all of its problems are in `diagnostics`.
    """
    source = _source(name, text)
    terms = TermReader(prefixes)
    rules: list[Rule] = []
    facts: list[Atom] = []
    imports: list[Import] = []
    exports: list[Export] = []
    declarations: list[Declaration] = []
    problems: list[Diagnostic] = []
    position = 0
    while (position := skip_space(text, position)) < len(text):
        plain = terms.plain_fact(source, position)
        if plain is not None:
            facts.append(plain[0])
            position = plain[1]
            continue
        built, position = _read(next_statement(source, position), terms, "statement", problems)
        match built:
            case Rule(body=()):
                facts.extend(built.heads)
            case Rule():
                rules.append(built)
            case Import():
                imports.append(built)
            case Export():
                exports.append(built)
            case Declaration():
                declarations.append(built)
            case _:
                pass
        if len(problems) > MAX_PROBLEMS:
            last = Diagnostic("R100", f"more than {MAX_PROBLEMS} problems; the rest of the text is not read")
            raise ProgramError([*problems[:MAX_PROBLEMS], last])
    if problems:
        raise ProgramError(problems)
    return Program(tuple(rules), tuple(facts), terms.declared, tuple(imports), tuple(exports), tuple(declarations))


def parse_body(text: str, name: str = "<query>", prefixes: Mapping[str, str] | None = None) -> tuple[Literal, ...]:
    """Read a Datalog query: literals separated by commas, with or without a final dot.

    >>> parse_body("path(a, ?y), ?y != b")[0]
    Atom(relation='path', args=(Constant(term='a'), Variable(name='y')))
    """
    source = _source(name, text)
    problems: list[Diagnostic] = []
    position = skip_space(text, 0)
    statement = next_statement(source, position)
    statement.needs_dot = False
    if not statement.tokens and not statement.problems:
        problems.append(Diagnostic("R104", "the query is empty", help="ask for an atom, such as path(a, ?y)"))
    rest = skip_space(text, statement.end)
    if rest < len(text) and not statement.problems:
        span = Span(source, rest, len(text))
        problems.append(Diagnostic("R104", "a query is one list of literals", span, help="end it at its first dot"))
    literals: tuple[Literal, ...] | None = None
    if not problems:
        literals, _ = _read(statement, TermReader(prefixes), "query", problems)
    if literals is None:
        raise ProgramError(problems)
    return literals


def read_program(path: str | Path, prefixes: Mapping[str, str] | None = None) -> Program:
    """Read a rule file; it may use prefixes that were declared before.

    Raises:
        NotFoundError: there is no such file.
        ProgramError: the file cannot be read as rules, or is not UTF-8.
    """
    file = Path(path)
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise NotFoundError(f"there is no rule file {file}", hint="check the path") from None
    except OSError as error:
        raise NotFoundError(f"the rule file {file} cannot be read: {error.strerror}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # Offsets in `error` are into what was decoded, which lacks the three bytes of a byte order mark.
        start = error.start + (3 if data.startswith(b"\xef\xbb\xbf") else 0)
        line = data.count(b"\n", 0, start) + 1
        before = data[data.rfind(b"\n", 0, start) + 1 : start].decode("utf-8", "replace")
        source = SourceText(str(file), "\n" * (line - 1) + before + "\N{REPLACEMENT CHARACTER}")
        place = len(source.text) - 1
        problem = Diagnostic(
            "R113",
            f"byte 0x{data[start]:02x} in line {line} (byte {start} of the file) is not UTF-8",
            Span(source, place, place + 1),
            help="save the file as UTF-8",
        )
        raise ProgramError([problem]) from None
    return parse_program(text, str(file), prefixes)


def _source(name: str, text: str) -> SourceText:
    """The text, if all of it is characters: half a surrogate pair is none, and could not be written anywhere."""
    source = SourceText(name, text)
    half = None if text.isascii() else _HALF_A_PAIR.search(text)
    if half is not None:
        shown = SourceText(name, _HALF_A_PAIR.sub("\N{REPLACEMENT CHARACTER}", text))
        message = f"U+{ord(half[0]):04X} is half a surrogate pair, no character"
        raise ProgramError([Diagnostic("R101", message, Span(shown, half.start(), half.end()))])
    return source


def _read(statement: Statement, terms: TermReader, start: str, problems: list[Diagnostic]) -> tuple[Any, int]:
    """The content of a statement (None if it has errors), and where the next one begins."""
    from lark.exceptions import UnexpectedToken

    from everlog.rules.grammar import grammar
    from everlog.rules.syntax_errors import constraint_problem, explain, missing_dot
    from everlog.rules.tree_builder import TreeBuilder, too_deep

    if statement.problems:
        problems.extend(statement.problems)
        return None, statement.end
    if not statement.tokens:
        assert statement.dot is not None, "a statement without tokens ends at its dot"
        span = Span(statement.source, statement.dot, statement.dot + 1)
        problems.append(Diagnostic("R104", "a dot that ends nothing", span, help="remove it"))
        return None, statement.end
    if start == "statement" and (problem := constraint_problem(statement)) is not None:
        problems.append(problem)
        return None, statement.end
    try:
        tree = grammar().parse(statement.tokens, start=start)
    except UnexpectedToken as error:
        place = None if error.token.type == "$END" else error.token.start_pos
        index = next((i for i, token in enumerate(statement.tokens) if token.start == place), None)
        problem, resume = explain(statement, index, error.accepts or error.expected)
        problems.append(problem)
        return None, resume or statement.end
    if statement.needs_dot and statement.dot is None:
        problems.append(missing_dot(statement, len(statement.tokens) - 1))
    names = (token.text.lstrip("?$") for token in statement.tokens if token.kind == "VARIABLE")
    builder = TreeBuilder(statement.source, terms, names)
    built = builder.build(tree)
    if not builder.problems and len(statement.tokens) > MAX_DEPTH:
        literals = built.body if isinstance(built, Rule) else built if isinstance(built, tuple) else ()
        if (deep := too_deep(literals)) is not None:
            builder.report(
                "R106",
                f"the expression has more than {MAX_DEPTH} operators above each other",
                deep,
                help="compute parts of it in rules of their own, or with BIND",
            )
    problems.extend(builder.problems)
    return (None if builder.problems else built), statement.end

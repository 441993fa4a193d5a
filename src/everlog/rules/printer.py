"""Which text corresponds to a tree? When parsed again, it gives an equal tree.

IRIs are shortened with the prefixes given; strings that look like lower-case words stand bare in atoms, quoted in
expressions. Brackets in expressions are the few that precedence asks for.

>>> from everlog.rules.parser import parse_program
>>> print(print_program(parse_program("far(X,D) :- at(X, P), BIND((abs(P)-1)*2 AS D), NOT near(X, _), D>3.")), end="")
far(?X, ?D) :- at(?X, ?P), BIND((abs(?P) - 1) * 2 AS ?D), NOT near(?X, ?_1), ?D > 3.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from everlog.facts.terms import IRI, RDF_TYPE, XSD, BlankNode, Term, decimal_text, double_text, lexical_and_datatype
from everlog.facts.terms import Literal as TypedLiteral
from everlog.rules.constraints import is_constraint
from everlog.rules.statements import KEYWORDS
from everlog.rules.syntax import (
    TRIPLE,
    Aggregate,
    AggregateBinding,
    Argument,
    Atom,
    Bind,
    Call,
    Constant,
    Declaration,
    Export,
    Expression,
    Filter,
    Import,
    Literal,
    Negation,
    Program,
    Rule,
    Variable,
    literal_variables,
)
from everlog.rules.term_reader import WELL_KNOWN_PREFIXES

Prefixes = Mapping[str, str]

_WORD = re.compile(r"[a-z][A-Za-z0-9_]*")
_LOCAL = re.compile(r"\w+(?:[.-]+\w+)*", re.ASCII)
_UNSAFE_IN_IRI = re.compile(r"[\x00-\x20<>\"{}|^`\\]")
_UNSAFE_IN_STRING = re.compile(r"[\x00-\x1f\x7f\"\\\u2028\u2029]")
_ESCAPES = {"\t": r"\t", "\b": r"\b", "\n": r"\n", "\r": r"\r", "\f": r"\f", '"': r"\"", "\\": r"\\"}
_QUOTED_WORDS = KEYWORDS | {"true", "false"}

_LEVELS = {
    "||": 1, "&&": 2, "=": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3, "in": 3, "not in": 3, "!": 4,
    "+": 5, "-": 5, "*": 6, "/": 6, "neg": 7,
}  # fmt: skip
_COMPARISONS = frozenset(("=", "!=", "<", "<=", ">", ">="))
_BARE = _COMPARISONS - {"="}  # which compares only inside FILTER; by itself it may say what a variable is
_PRIMARY = 8


def print_program(program: Program) -> str:
    """A whole program: prefixes, declarations, imports, facts, rules, exports, one a line."""
    prefixes = program.prefixes
    lines = [f"PREFIX {name}: {_iri_reference(iri)}" for name, iri in prefixes.items()]
    lines += [print_declaration(item) for item in program.declarations]
    lines += [_import(item) for item in program.imports]
    lines += [print_atom(fact, prefixes) + "." for fact in program.facts]
    lines += [print_rule(rule, prefixes) for rule in program.rules]
    lines += [_export(item) for item in program.exports]
    return "".join(line + "\n" for line in lines)


def print_rule(rule: Rule, prefixes: Prefixes | None = None) -> str:
    """A rule with its name and its final dot."""
    if is_constraint(rule):
        return f"@constraint {rule.name} : {_body(rule.body, prefixes)}."
    name = f"{rule.name}: " if rule.name and rule.body else ""
    arguments = _inlined(rule.heads, rule.body)
    heads = ", ".join(_atom(head, prefixes, arguments) for head in rule.heads)
    body = f" :- {_literals(rule.body, prefixes, arguments)}" if rule.body else ""
    return f"{name}{heads}{body}."


def print_literal(literal: Literal, prefixes: Prefixes | None = None) -> str:
    """One literal of a body."""
    match literal:
        case Atom():
            return print_atom(literal, prefixes)
        case Filter(expression=Call(function=function, args=(Variable() as left, right))) if function in _BARE:
            return f"{print_expression(left, prefixes)} {function} {_expression(right, prefixes, 5)}"
        case Filter():
            return f"FILTER({print_expression(literal.expression, prefixes)})"
        case Bind():
            return f"BIND({print_expression(literal.expression, prefixes)} AS ?{literal.variable.name})"
        case Negation():
            exists = f"EXISTS {_variables(literal.exists, ', ')} IN " if literal.exists else ""
            text, shown = _body(literal.body, prefixes), _shown(literal.body, _inlined((), literal.body))
            single = len(shown) == 1 and isinstance(shown[0], Atom) and not exists
            return f"NOT {text}" if single else f"NOT {exists}({text})"
        case Aggregate():
            on = f" ON {_variables(literal.group, ' ')}" if literal.group else ""
            bindings = "".join(f" BIND {_binding(binding, prefixes)}" for binding in literal.bindings)
            return f"AGGREGATE({_body(literal.body, prefixes)}{on}{bindings})"


def print_atom(atom: Atom, prefixes: Prefixes | None = None) -> str:
    """`edge(?x, b)`, or `[?x, <p>, ?y]` for a triple."""
    return _atom(atom, prefixes, {})


def _atom(atom: Atom, prefixes: Prefixes | None, arguments: Mapping[str, Expression]) -> str:
    args = [_argument(arg, prefixes, arguments) for arg in atom.args]
    if atom.relation == TRIPLE and len(args) == 3:
        predicate = atom.args[1]
        if isinstance(predicate, Constant) and predicate.term == IRI(RDF_TYPE):
            args[1] = "a"
        elif args[1] == "a":
            args[1] = '"a"'  # a bare `a` is rdf:type
        return f"[{', '.join(args)}]"
    return f"{atom.relation}({', '.join(args)})"


def print_expression(expression: Expression, prefixes: Prefixes | None = None) -> str:
    """An expression, with as few brackets as will do."""
    return _expression(expression, prefixes, 0)


def print_term(term: Term, prefixes: Prefixes | None = None, *, bare: bool = True) -> str:
    """A term; `bare` allows a lower-case word to stand for a string.

    >>> print_term("a"), print_term("New York"), print_term(2.5), print_term(IRI(XSD + "date"))
    ('a', '"New York"', '2.5E0', 'xsd:date')
    """
    match term:
        case bool():
            return "true" if term else "false"
        case str():
            return term if bare and _WORD.fullmatch(term) and term.lower() not in _QUOTED_WORDS else _quoted(term)
        case int():
            return str(term)
        case Decimal():
            return decimal_text(term)
        case float() if math.isfinite(term):
            return double_text(term)
        case IRI():
            return _iri(term.value, prefixes)
        case BlankNode():
            return str(term)
        case TypedLiteral(language=str() as language):
            return f"{_quoted(term.lexical)}@{language}"
        case _:
            lexical, datatype = lexical_and_datatype(term)
            return _quoted(lexical) + ("" if datatype == XSD + "string" else "^^" + _iri(datatype, prefixes))


def _body(body: Sequence[Literal], prefixes: Prefixes | None) -> str:
    return _literals(body, prefixes, _inlined((), body))


def _literals(body: Sequence[Literal], prefixes: Prefixes | None, arguments: Mapping[str, Expression]) -> str:
    return ", ".join(
        _atom(literal, prefixes, arguments) if isinstance(literal, Atom) else print_literal(literal, prefixes)
        for literal in _shown(body, arguments)
    )


def _inlined(heads: Sequence[Atom], body: Sequence[Literal]) -> dict[str, Expression]:
    """The expressions that stand as arguments, by the variables in their place: such as stand nowhere else."""
    made = {b.variable.name: b.expression for b in body if isinstance(b, Bind) and b.variable.computed}
    if not made:
        return {}
    atoms = [*heads, *(literal for literal in body if isinstance(literal, Atom))]
    uses = Counter(variable.name for atom in atoms for variable in atom.variables())
    uses.update(variable.name for literal in body if not isinstance(literal, Atom) for variable in _all(literal))
    # One use is in an atom, the other is the BIND itself.
    in_atoms = {variable.name for atom in atoms for variable in atom.variables()}
    return {name: expression for name, expression in made.items() if name in in_atoms and uses[name] == 2}


def _all(literal: Literal) -> Iterator[Variable]:
    """Every variable written in a literal, also what is local to it."""
    yield from literal_variables(literal)
    if isinstance(literal, Negation | Aggregate):
        for inner in literal.body:
            yield from _all(inner)


def _shown(body: Sequence[Literal], arguments: Mapping[str, Expression]) -> list[Literal]:
    """The literals but for the BINDs whose expressions stand as arguments."""
    return [literal for literal in body if not (isinstance(literal, Bind) and literal.variable.name in arguments)]


def _argument(arg: Argument, prefixes: Prefixes | None, arguments: Mapping[str, Expression]) -> str:
    if isinstance(arg, Variable):
        return _expression(arguments[arg.name], prefixes, 0) if arg.name in arguments else f"?{arg.name}"
    return print_term(arg.term, prefixes)


def _variables(variables: Iterable[Variable], between: str) -> str:
    return between.join(f"?{variable.name}" for variable in variables)


def _binding(binding: AggregateBinding, prefixes: Prefixes | None) -> str:
    argument = "*" if binding.argument is None else print_expression(binding.argument, prefixes)
    distinct = "DISTINCT " if binding.distinct else ""
    return f"{binding.function}({distinct}{argument}) AS ?{binding.variable.name}"


def _expression(expression: Expression, prefixes: Prefixes | None, least: int) -> str:
    """The text of an expression that stands where at least this level of precedence is needed."""
    if isinstance(expression, Variable):
        return f"?{expression.name}"
    if isinstance(expression, Constant):
        return print_term(expression.term, prefixes, bare=False)
    level = _LEVELS.get(expression.function, _PRIMARY)
    text = _call(expression, prefixes, level)
    return f"({text})" if level < least else text


def _call(call: Call, prefixes: Prefixes | None, level: int) -> str:
    function, args = call.function, call.args
    if function in ("in", "not in"):
        options = ", ".join([_expression(arg, prefixes, 0) for arg in args[1:]])
        return f"{_expression(args[0], prefixes, 4)} {function.upper()} ({options})"
    if function == "!":
        inner = _expression(args[0], prefixes, 0)
        simple = isinstance(args[0], Call) and _LEVELS.get(args[0].function, _PRIMARY) in (4, _PRIMARY)
        return f"!{inner}" if simple or isinstance(args[0], Variable) else f"!({inner})"
    if function == "neg":
        # A minus straight before a number is part of the number.
        inner = _expression(args[0], prefixes, level)
        return f"-({inner})" if isinstance(args[0], Constant) else f"-{inner}"
    if level == _PRIMARY:
        name = _iri(function, prefixes) if ":" in function else function
        return f"{name}({', '.join([_expression(arg, prefixes, 0) for arg in args])})"
    first = level + 1 if function in _COMPARISONS else level  # comparisons do not chain; the rest group to the left
    parts = [_expression(arg, prefixes, level + 1 if index else first) for index, arg in enumerate(args)]
    return f" {function} ".join(parts)


def _iri(iri: str, prefixes: Prefixes | None) -> str:
    declared = prefixes or {}
    known = {**WELL_KNOWN_PREFIXES, **declared}
    for name, start in sorted(known.items(), key=lambda item: -len(item[1])):
        if start and iri.startswith(start) and _LOCAL.fullmatch(iri, len(start)):
            return f"{name}:{iri[len(start) :]}"
    return _iri_reference(iri)


def _iri_reference(iri: str) -> str:
    return f"<{_UNSAFE_IN_IRI.sub(_code_point, iri)}>"


def _quoted(text: str) -> str:
    return '"' + _UNSAFE_IN_STRING.sub(lambda match: _ESCAPES.get(match[0]) or _code_point(match), text) + '"'


def _code_point(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04X}"


def print_declaration(item: Declaration) -> str:
    """What a relation's columns are called."""
    plain = (_WORD.fullmatch(name) and name not in KEYWORDS for name in item.columns)
    names = [name if is_plain else f"?{name}" for name, is_plain in zip(item.columns, plain, strict=True)]
    pairs = zip(names, item.types, strict=True)
    columns = ", ".join(f"{name} {type_}" if type_ else name for name, type_ in pairs)
    return f"@relation {item.relation}({columns}) ."


def _import(item: Import) -> str:
    relation = f"{item.relation} " if item.relation else ""
    header = " header" if item.header else ""
    types = f" ({', '.join(item.types)})" if item.types else ""
    nulls = f" nulls {item.nulls}" if item.nulls else ""
    return f"@import {relation}{_quoted(item.path)}{header}{nulls}{types} ."


def _export(item: Export) -> str:
    path = f" {_quoted(item.path)}" if item.path is not None else ""
    return f"@export {item.relation}{path} ."

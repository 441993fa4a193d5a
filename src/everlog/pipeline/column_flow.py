"""Which types do the columns of derived relations have, as far as that can be told without running anything?

Types flow from the columns of given frames through the rules. A variable has the type of a column that it is read
from, since it can only take values from there; a column of a relation has the type that all heads give it. Where heads
differ, integers and decimals take the wider type; anything else, and what an expression computes, is UNKNOWN: the
values have to be looked at.

>>> from everlog.rules.parser import parse_program
>>> rules = "far(?y, ?n) :- hop(?x, ?y, ?n).  more(?x, ?m) :- hop(?x, ?y, ?n), BIND(?n + 1 AS ?m)."
>>> flow = flowing_types(parse_program(rules), {"hop": ("string", "string", "int")})
>>> flow["far"], flow["more"]
(('string', 'int'), ('string', None))
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from everlog.rules.constraints import is_constraint
from everlog.rules.syntax import Aggregate, Argument, Atom, Bind, Constant, Expression, Literal, Program, Variable

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

UNKNOWN = None
Type = str | None  # a Spark type by its name, or UNKNOWN
Types = tuple[Type, ...]

_NOTHING = ""  # of a column in which no value has been seen: below every type
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
INLINE = _INTEGERS[:-1]  # types whose values all live in their ids
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_DIGITS = 38  # of Spark's decimals, at most
_CONSTANTS = (
    (re.compile(r'["<_].*', re.DOTALL), "string"),
    (re.compile(r"\^integer (?:0|-?[1-9][0-9]{0,17})"), "bigint"),
    (re.compile(r"\^boolean (?:true|false)"), "boolean"),
)


def type_of_column(type_: DataType) -> str:
    """The name of the type that values of a column have when they come out again."""
    name = type_.simpleString()
    return "string" if name.startswith(("char", "varchar", "string")) else name


def flowing_types(program: Program, given: Mapping[str, Types]) -> dict[str, Types]:
    """The types of each relation's columns, from the types of given columns and the facts in the program's text."""
    found: dict[str, list[Type]] = {name: list(types) for name, types in given.items()}
    rules = [rule for rule in program.rules if not is_constraint(rule)]
    heads = [(head, rule.body) for rule in rules for head in rule.heads]
    for atom in (*program.facts, *(head for head, _ in heads)):
        found.setdefault(atom.relation, [_NOTHING] * len(atom.args))
    for fact in program.facts:
        _join_into(found[fact.relation], fact.args, {})
    changed = True
    while changed:  # types only grow, and each is soon as wide as it can be
        changed = any([_join_into(found[head.relation], head.args, _variables(body, found)) for head, body in heads])
    return {name: tuple("string" if type_ == _NOTHING else type_ for type_ in types) for name, types in found.items()}


def _join_into(types: list[Type], args: Iterable[Argument], known: Mapping[str, Type]) -> bool:
    before = list(types)
    types[:] = [_wider(type_, _of_argument(arg, known)) for type_, arg in zip(types, args, strict=True)]
    return types != before


def _of_argument(arg: Expression, known: Mapping[str, Type]) -> Type:
    if isinstance(arg, Constant):
        return next((type_ for pattern, type_ in _CONSTANTS if pattern.fullmatch(arg.key)), UNKNOWN)
    return known.get(arg.name, UNKNOWN) if isinstance(arg, Variable) else UNKNOWN


def _variables(body: Iterable[Literal], relations: Mapping[str, list[Type]]) -> dict[str, Type]:
    """The types of a body's variables; what is negated binds none."""
    known: dict[str, Type] = {}
    later: list[Bind] = []
    for literal in body:
        if isinstance(literal, Atom):
            types = relations.get(literal.relation, [_NOTHING] * len(literal.args))
            for arg, type_ in zip(literal.args, types, strict=True):
                if isinstance(arg, Variable):
                    _bind(known, arg, type_)
        elif isinstance(literal, Aggregate):
            inside = _variables(literal.body, relations)
            for variable in literal.group:
                _bind(known, variable, inside.get(variable.name, UNKNOWN))
            for binding in literal.bindings:
                _bind(known, binding.variable, _aggregated(binding.function, binding.argument, inside))
        elif isinstance(literal, Bind):
            later.append(literal)
    for bind in later:
        _bind(known, bind.variable, _of_argument(bind.expression, known))
    return known


def _bind(known: dict[str, Type], variable: Variable, type_: Type) -> None:
    """A variable takes only values that all of its places have: the first type that is known is as good as any."""
    if known.get(variable.name, UNKNOWN) is UNKNOWN or type_ == _NOTHING:
        known[variable.name] = type_


def _aggregated(function: str, argument: Expression | None, inside: Mapping[str, Type]) -> Type:
    if function == "COUNT":
        return "bigint"
    if function in ("MIN", "MAX", "SAMPLE") and argument is not None:
        return _of_argument(argument, inside)  # one of the values
    return UNKNOWN


def _wider(one: Type, other: Type) -> Type:
    """The type that holds the values of both."""
    if one is UNKNOWN or other is UNKNOWN:
        return UNKNOWN
    if one == other or other == _NOTHING:
        return one
    if one == _NOTHING:
        return other
    if one in _INTEGERS and other in _INTEGERS:
        return max(one, other, key=_INTEGERS.index)
    if {one, other} == {"float", "double"}:
        return "double"
    first, second = _DECIMAL.fullmatch(one), _DECIMAL.fullmatch(other)
    if first is None or second is None:
        return UNKNOWN
    scale = max(int(first[2]), int(second[2]))
    digits = scale + max(int(each[1]) - int(each[2]) for each in (first, second))
    return f"decimal({digits},{scale})" if digits <= _DIGITS else UNKNOWN

"""Which functions and operators are there, and how many arguments do they take?

`FUNCTIONS` has SPARQL 1.1's functions under their names in lower case, the XSD casts under their IRIs, the operators
under their symbols, and Everlog's own: idiv, mod, pow, least, greatest. A few forms choose which arguments to evaluate,
or what an error means; they are listed here for their arities, and `plans/expressions.py` evaluates them.

>>> FUNCTIONS["abs"].implementation(-5), FUNCTIONS["rand"].deterministic
(5, False)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from everlog.expressions import dates, nodes, numbers, patterns, strings
from everlog.expressions.casts import CASTS
from everlog.expressions.ordering import order_key
from everlog.expressions.values import compare, equal
from everlog.facts.terms import Term


@dataclass(frozen=True)
class Function:
    """A function of terms. `most_args` is None where there is no limit."""

    name: str
    least_args: int
    most_args: int | None
    implementation: Callable[..., Term]
    deterministic: bool = True


SPECIAL_FORMS: Mapping[str, tuple[int, int | None]] = {
    "&&": (2, None),
    "||": (2, None),
    "!": (1, 1),
    "in": (1, None),
    "not in": (1, None),
    "if": (3, 3),
    "coalesce": (0, None),
    "bound": (1, 1),
}


def _not_equal(left: Term, right: Term) -> Term:
    return not equal(left, right)


def _less(left: Term, right: Term) -> Term:
    return compare(left, right) == -1


def _less_or_equal(left: Term, right: Term) -> Term:
    return compare(left, right) in (-1, 0)


def _greater(left: Term, right: Term) -> Term:
    return compare(left, right) == 1


def _greater_or_equal(left: Term, right: Term) -> Term:
    return compare(left, right) in (1, 0)


def _least(*terms: Term) -> Term:
    _comparable(terms)
    return min(terms, key=order_key)


def _greatest(*terms: Term) -> Term:
    _comparable(terms)
    return max(terms, key=order_key)


def _comparable(terms: tuple[Term, ...]) -> None:
    """An error where `<` has no answer for these terms."""
    for term in terms:
        compare(terms[0], term)


def _special(*_: Term) -> Term:
    raise AssertionError("special forms are evaluated by plans/expressions.py")


def _table() -> Iterator[Function]:
    for name, (least, most) in SPECIAL_FORMS.items():
        yield Function(name, least, most, _special)
    for iri, cast in CASTS.items():
        yield Function(iri, 1, 1, cast)
    for name in ("md5", "sha1", "sha256", "sha384", "sha512"):
        yield Function(name, 1, 1, strings.digest(name))
    yield from (Function(name, 0, None, function, deterministic=False) for name, function in _NOT_DETERMINISTIC)
    yield from (Function(name, least, most, function) for name, least, most, function in _FUNCTIONS)


# From SPARQL they get arguments that differ between solutions, or the time of the query.
_NOT_DETERMINISTIC: tuple[tuple[str, Callable[..., Term]], ...] = (
    ("rand", numbers.random_number),
    ("now", dates.now),
    ("uuid", nodes.new_uuid),
    ("struuid", nodes.new_uuid_text),
    ("bnode", nodes.blank_node),
)

_FUNCTIONS: tuple[tuple[str, int, int | None, Callable[..., Term]], ...] = (
    # operators
    ("+", 2, 2, numbers.add),
    ("-", 2, 2, numbers.subtract),
    ("*", 2, 2, numbers.multiply),
    ("/", 2, 2, numbers.divide),
    ("neg", 1, 1, numbers.negate),
    ("=", 2, 2, equal),
    ("!=", 2, 2, _not_equal),
    ("<", 2, 2, _less),
    ("<=", 2, 2, _less_or_equal),
    (">", 2, 2, _greater),
    (">=", 2, 2, _greater_or_equal),
    # terms
    ("str", 1, 1, nodes.text),
    ("lang", 1, 1, nodes.language),
    ("langmatches", 2, 2, strings.language_matches),
    ("datatype", 1, 1, nodes.datatype),
    ("iri", 1, 2, nodes.iri),  # the second argument is the base, which SPARQL takes from the query
    ("uri", 1, 2, nodes.iri),
    ("isiri", 1, 1, nodes.is_iri),
    ("isuri", 1, 1, nodes.is_iri),
    ("isblank", 1, 1, nodes.is_blank),
    ("isliteral", 1, 1, nodes.is_literal),
    ("isnumeric", 1, 1, numbers.is_numeric),
    ("sameterm", 2, 2, nodes.same_term),
    ("strlang", 2, 2, nodes.with_tag),
    ("strdt", 2, 2, nodes.with_datatype),
    # numbers
    ("abs", 1, 1, numbers.absolute),
    ("ceil", 1, 1, numbers.ceiling),
    ("floor", 1, 1, numbers.floor),
    ("round", 1, 1, numbers.round_half_up),
    ("idiv", 2, 2, numbers.integer_divide),
    ("mod", 2, 2, numbers.modulo),
    ("pow", 2, 2, numbers.power),
    ("least", 1, None, _least),
    ("greatest", 1, None, _greatest),
    # strings
    ("strlen", 1, 1, strings.length),
    ("substr", 2, 3, strings.substring),
    ("ucase", 1, 1, strings.upper),
    ("lcase", 1, 1, strings.lower),
    ("encode_for_uri", 1, 1, strings.encode_for_uri),
    ("contains", 2, 2, strings.contains),
    ("strstarts", 2, 2, strings.starts),
    ("strends", 2, 2, strings.ends),
    ("strbefore", 2, 2, strings.before),
    ("strafter", 2, 2, strings.after),
    ("concat", 0, None, strings.concatenate),
    ("regex", 2, 3, patterns.matches),
    ("replace", 3, 4, patterns.replace),
    # dates and times
    ("year", 1, 1, dates.year),
    ("month", 1, 1, dates.month),
    ("day", 1, 1, dates.day),
    ("hours", 1, 1, dates.hours),
    ("minutes", 1, 1, dates.minutes),
    ("seconds", 1, 1, dates.seconds),
    ("timezone", 1, 1, dates.zone_duration),
    ("tz", 1, 1, dates.zone_name),
)

FUNCTIONS: Mapping[str, Function] = MappingProxyType({function.name: function for function in _table()})

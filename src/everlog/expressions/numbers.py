"""What do arithmetic and the numeric functions give?

The types are SPARQL's: integers stay integers, except that `/` gives a decimal; a decimal, a float or a double makes
the result one (in that order of strength). Beyond SPARQL there are

    idiv(a, b)      the quotient without its fraction, an integer: idiv(-7, 2) = -3, as XPath's `idiv`
    mod(a, b)       what is left then; it has the sign of a: mod(-7, 2) = -1, as XPath's `mod`
    pow(a, b)       an integer when a and b are integers and b >= 0, otherwise a double

Doubles and floats follow IEEE 754: 1e0/0 is INF, 0e0/0 is NaN. Integers and decimals divided by zero are errors.

>>> add(1, 2), divide(1, 4), add(1, 0.5), integer_divide(-7, 2)
(3, Decimal('0.25'), 1.5, -3)
"""

from __future__ import annotations

import decimal
import math
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from everlog.expressions.numerals import Number, Single, number_term, promote, to_double, to_single
from everlog.expressions.values import NUMBER, ExpressionError, value_of
from everlog.facts.terms import Term

# Python writes integers of up to 4,300 digits; a larger one could be computed but never shown or stored.
MOST_DIGITS = 4_000
_MOST_BITS = int(MOST_DIGITS * math.log2(10))

_TRAPS: list[type[decimal.DecimalException]] = [decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow]
# Results of decimal arithmetic have 38 significant digits, as in SQL databases, whatever the caller's context says.
DECIMALS = decimal.Context(prec=38, rounding=decimal.ROUND_HALF_EVEN, Emin=-MOST_DIGITS, Emax=MOST_DIGITS, traps=_TRAPS)
# For steps that must not round; what would need still more digits than these is an error.
EXACT = decimal.Context(
    prec=100_000, Emin=-decimal.MAX_EMAX, Emax=decimal.MAX_EMAX, traps=[*_TRAPS, decimal.Inexact]
)  # fmt: skip


def number_of(term: Term) -> Number:
    """The number that a term is, or an error."""
    if type(term) is int:
        return term
    kind, value = value_of(term)
    if kind != NUMBER:
        raise ExpressionError(f"a number is needed, not a term of kind {kind}")
    number: Number = value
    return number


def is_numeric(term: Term) -> Term:
    return value_of(term)[0] == NUMBER


def bounded(value: int) -> int:
    """The integer itself, or an error where it has too many digits to be written."""
    if value.bit_length() > _MOST_BITS:
        raise ExpressionError(f"the integer has more than {MOST_DIGITS} digits")
    return value


def _operation(
    integers: Callable[[int, int], Number],
    decimals: Callable[[Decimal, Decimal], Number],
    doubles: Callable[[float, float], float],
) -> Callable[[Term, Term], Term]:
    """A function of two numbers from its three cases; xsd:float is a double rounded afterwards."""

    def apply(left: Term, right: Term) -> Term:
        a, b = promote(number_of(left), number_of(right))
        if isinstance(a, int) and isinstance(b, int):
            result = integers(a, b)
            return bounded(result) if isinstance(result, int) else result
        if isinstance(a, float) and isinstance(b, float):
            if isinstance(a, Single):
                return number_term(to_single(doubles(a, b)))
            return doubles(a, b)
        try:
            return decimals(Decimal(a), Decimal(b))
        except decimal.DecimalException as error:
            raise ExpressionError(f"decimal arithmetic: {type(error).__name__}") from None

    return apply


def _divide_integers(a: int, b: int) -> Decimal:
    try:
        return DECIMALS.divide(Decimal(a), Decimal(b))
    except decimal.DecimalException:
        raise ExpressionError("division by zero, or too large") from None


def _divide_doubles(a: float, b: float) -> float:
    if b == 0:
        if a == 0 or math.isnan(a):
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    return float(a) / float(b)


def _modulo_integers(a: int, b: int) -> int:
    if b == 0:
        raise ExpressionError("mod by zero")
    return -(-a % abs(b)) if a < 0 else a % abs(b)


def _modulo_decimals(a: Decimal, b: Decimal) -> Decimal:
    return DECIMALS.plus(EXACT.remainder(a, b))


def _modulo_doubles(a: float, b: float) -> float:
    try:
        return math.fmod(a, b)
    except ValueError:  # an infinite dividend, or a zero divisor
        return math.nan


# The conversions to float undo Single: a sum of two Singles is to be rounded once, and by `_operation`.
add = _operation(lambda a, b: a + b, DECIMALS.add, lambda a, b: float(a) + float(b))
subtract = _operation(lambda a, b: a - b, DECIMALS.subtract, lambda a, b: float(a) - float(b))
multiply = _operation(lambda a, b: a * b, DECIMALS.multiply, lambda a, b: float(a) * float(b))
divide = _operation(_divide_integers, DECIMALS.divide, _divide_doubles)
modulo = _operation(_modulo_integers, _modulo_decimals, _modulo_doubles)


def integer_divide(left: Term, right: Term) -> Term:
    """`idiv`: the quotient, truncated toward zero."""
    a, b = promote(number_of(left), number_of(right))
    if b == 0:
        raise ExpressionError("idiv by zero")
    if isinstance(a, int) and isinstance(b, int):
        quotient = abs(a) // abs(b)
        return bounded(quotient if (a < 0) == (b < 0) else -quotient)
    if isinstance(a, float) and isinstance(b, float):
        if not math.isfinite(a) or math.isnan(b):
            raise ExpressionError("idiv of NaN or of an infinity")
        if math.isinf(b):
            return 0
    return bounded(math.trunc(Fraction(a) / Fraction(b)))


def power(left: Term, right: Term) -> Term:
    """`pow`: see the top of this file."""
    a, b = number_of(left), number_of(right)
    if isinstance(a, int) and isinstance(b, int) and b >= 0:
        if (abs(a).bit_length() - 1) * b > _MOST_BITS:  # checked first, since computing it could take forever
            raise ExpressionError(f"the integer has more than {MOST_DIGITS} digits")
        return bounded(a**b)
    base, exponent = to_double(a), to_double(b)
    odd = math.isfinite(exponent) and exponent % 2 == 1
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and odd else math.inf
    except ValueError:  # zero to a negative power, or a root of a negative number
        if base == 0:
            return math.copysign(math.inf, base) if odd else math.inf
        return math.nan


def negate(term: Term) -> Term:
    value = number_of(term)
    if isinstance(value, Decimal):
        return value.copy_negate()  # the operator would round to the caller's context
    return number_term(to_single(-value)) if isinstance(value, Single) else -value


def absolute(term: Term) -> Term:
    value = number_of(term)
    if isinstance(value, Decimal):
        return value.copy_abs()
    return number_term(to_single(abs(value))) if isinstance(value, Single) else abs(value)


def _rounding(decimals: Callable[[Decimal], Decimal], doubles: Callable[[float], int]) -> Callable[[Term], Term]:
    """A function from numbers to whole numbers of the same type; minus zero, infinities and NaN stay what they are."""

    def apply(term: Term) -> Term:
        value = number_of(term)
        if isinstance(value, int):
            return value
        if isinstance(value, Decimal):
            return decimals(value)
        result = math.copysign(float(doubles(value)), value) if math.isfinite(value) else float(value)
        return number_term(to_single(result)) if isinstance(value, Single) else result

    return apply


def _round_double(value: float) -> int:
    whole = math.floor(value)
    return whole + 1 if value - whole >= 0.5 else whole


def _round_decimal(value: Decimal) -> Decimal:
    whole = value.to_integral_value(decimal.ROUND_FLOOR)
    return EXACT.add(whole, 1) if EXACT.subtract(value, whole) >= Decimal("0.5") else whole


ceiling = _rounding(lambda value: value.to_integral_value(decimal.ROUND_CEILING), math.ceil)
floor = _rounding(lambda value: value.to_integral_value(decimal.ROUND_FLOOR), math.floor)
round_half_up = _rounding(_round_decimal, _round_double)  # toward plus infinity, as XPath: round(-2.5) = -2


def random_number(*_: Term) -> Term:
    """A number from 0 to 1; the arguments only distinguish the calls."""
    return random.random()

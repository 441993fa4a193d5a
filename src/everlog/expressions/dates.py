"""What do the functions on dates and times give?

SPARQL defines them for xsd:dateTime; here `year`, `month` and `day` also take an xsd:date, and `hours`, `minutes` and
`seconds` an xsd:time. The time zone is the one that is written, parts are not shifted to UTC.

>>> import datetime as dt
>>> year(dt.date(2011, 1, 10)), seconds(dt.time(14, 45, 13, 815000)), zone_name(dt.datetime(2011, 1, 10))
(2011, Decimal('13.815'), '')
"""

from __future__ import annotations

import datetime as dt
import re

from everlog.expressions.moments import Moment
from everlog.expressions.values import DATE, DATE_TIME, TIME, ExpressionError, value_of
from everlog.facts.terms import XSD, Literal, Term, lexical_and_datatype

_WRITTEN_ZONE = re.compile(r"(?:Z|[+-][0-9]{2}:[0-9]{2})$")


def moment(term: Term, *kinds: str) -> Moment:
    """The moment that a term of one of these kinds is, or an error."""
    kind, value = value_of(term)
    if kind not in kinds:
        raise ExpressionError(f"a {' or '.join(kinds)} is needed, not a term of kind {kind}")
    assert isinstance(value, Moment)
    return value


def year(term: Term) -> Term:
    return moment(term, DATE_TIME, DATE).year


def month(term: Term) -> Term:
    return moment(term, DATE_TIME, DATE).month


def day(term: Term) -> Term:
    return moment(term, DATE_TIME, DATE).day


def hours(term: Term) -> Term:
    return moment(term, DATE_TIME, TIME).hour


def minutes(term: Term) -> Term:
    return moment(term, DATE_TIME, TIME).minute


def seconds(term: Term) -> Term:
    return moment(term, DATE_TIME, TIME).seconds()


def zone_duration(term: Term) -> Term:
    """SPARQL's TIMEZONE: the time zone as an xsd:dayTimeDuration; an error where there is none."""
    zone = moment(term, DATE_TIME, DATE, TIME).zone
    if zone is None:
        raise ExpressionError("there is no time zone")
    hour, minute = divmod(abs(zone), 60)
    text = (f"{hour}H" if hour else "") + (f"{minute}M" if minute else "") or "0S"
    return Literal(f"{'-' if zone < 0 else ''}PT{text}", XSD + "dayTimeDuration")


def zone_name(term: Term) -> Term:
    """SPARQL's TZ: the time zone as it is written, or ""."""
    if moment(term, DATE_TIME, DATE, TIME).zone is None:
        return ""
    match = _WRITTEN_ZONE.search(lexical_and_datatype(term)[0])
    return match[0] if match else ""


def now(moment: Term | None = None) -> Term:
    """The time of this call; a query that needs one time throughout calls it once."""
    return dt.datetime.now(dt.UTC) if moment is None else moment

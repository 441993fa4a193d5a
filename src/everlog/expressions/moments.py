"""Which point in time does the text of a date, a time or a date-time stand for?

Python's own types stop at the year 9999 and at microseconds, and its dates have no time zone; XSD's do not. A `Moment`
holds all of them, and literals as well as plain Python values are read into it.

Two moments compare on the time line. Where only one of them has a time zone, the other may lie up to 14 hours to
either side (XSD 1.1, part 2, D.2.1; it is also what the W3C test suite expects): closer than that is undecided.

>>> noon, one_zulu = read_moment("2006-08-23T12:00:00", "dateTime"), read_moment("2006-08-23T13:00:00Z", "dateTime")
>>> compare_moments(noon, one_zulu) is None, compare_moments(noon, read_moment("2006-08-25T12:00:00Z", "dateTime"))
(True, -1)
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from decimal import Decimal

_ZONE = r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?"
# years of up to 15 digits; longer ones would only cost time
_DATE = r"(?P<year>-?(?:[1-9][0-9]{3,14}|0[0-9]{3}))-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]+))?"
_SHAPES = {
    "dateTime": re.compile(f"{_DATE}T{_TIME}{_ZONE}"),
    "date": re.compile(f"{_DATE}{_ZONE}"),
    "time": re.compile(f"{_TIME}{_ZONE}"),
}
_WIDEST_ZONE = 14 * 60  # minutes
_DAY = 86_400  # seconds


@dataclass(frozen=True, slots=True)
class Moment:
    """A dateTime, date or time. Parts that its kind lacks have the values below; `zone` is in minutes east of UTC."""

    kind: str
    year: int = 1972
    month: int = 12
    day: int = 31  # times compare as if on this day, as XPath has it
    hour: int = 0
    minute: int = 0
    second: int = 0
    fraction: str = ""  # digits of the fraction of a second, without zeros at the end
    zone: int | None = None

    def instant(self) -> tuple[int, Decimal]:
        """Whole seconds since 1970 and the rest, UTC; without a time zone, as if it were UTC."""
        days = days_from_civil(self.year, self.month, self.day)
        seconds = days * _DAY + self.hour * 3600 + self.minute * 60 + self.second - 60 * (self.zone or 0)
        return seconds, Decimal(f"0.{self.fraction}0")

    def seconds(self) -> Decimal:
        """Seconds with their fraction."""
        return Decimal(f"{self.second}.{self.fraction}" if self.fraction else self.second)

    def text(self, kind: str | None = None) -> str:
        """The canonical lexical form, also as another kind: the date of a dateTime, for example."""
        kind = kind or self.kind
        year = f"-{-self.year:04}" if self.year < 0 else f"{self.year:04}"
        date = f"{year}-{self.month:02}-{self.day:02}"
        fraction = "." + self.fraction if self.fraction else ""
        time = f"{self.hour:02}:{self.minute:02}:{self.second:02}{fraction}"
        shape = {"dateTime": f"{date}T{time}", "date": date, "time": time}[kind]
        return shape + zone_text(self.zone)


def zone_text(zone: int | None) -> str:
    """`Z`, `-08:00`, or nothing.

    >>> zone_text(0), zone_text(-480), zone_text(None)
    ('Z', '-08:00', '')
    """
    if zone is None:
        return ""
    sign, minutes = ("-", -zone) if zone < 0 else ("+", zone)
    return f"{sign}{minutes // 60:02}:{minutes % 60:02}" if zone else "Z"


def read_moment(text: str, kind: str) -> Moment | None:
    """The moment of a lexical form of "dateTime", "date" or "time"; None where it is not one.

    >>> read_moment("1999-12-31T24:00:00", "dateTime").text(), read_moment("2001-02-29", "date")
    ('2000-01-01T00:00:00', None)
    """
    match = _SHAPES[kind].fullmatch(text)
    if match is None:
        return None
    parts = match.groupdict()
    zone = _read_zone(parts["zone"])
    if zone is not None and abs(zone) > _WIDEST_ZONE:
        return None
    year, month, day = 1972, 12, 31
    if "year" in parts:
        year, month, day = int(parts["year"]), int(parts["month"]), int(parts["day"])
        if not (1 <= month <= 12 and 1 <= day <= _days_in_month(year, month)):
            return None
    hour, minute, second, fraction = 0, 0, 0, ""
    if "hour" in parts:
        hour, minute, second = int(parts["hour"]), int(parts["minute"]), int(parts["second"])
        fraction = (parts["fraction"] or "").rstrip("0")
        if hour == 24 and minute == 0 and second == 0 and not fraction:  # midnight at the end of the day
            hour = 0
            if kind == "dateTime":
                year, month, day = civil_from_days(days_from_civil(year, month, day) + 1)
        if hour > 23 or minute > 59 or second > 59:
            return None
    return Moment(kind, year, month, day, hour, minute, second, fraction, zone)


def moment_of(value: dt.datetime | dt.date | dt.time) -> Moment:
    """The moment of a plain Python value."""
    if not isinstance(value, (dt.datetime, dt.time)):
        return Moment("date", value.year, value.month, value.day)
    offset = value.utcoffset()
    zone = None if offset is None else int(offset.total_seconds()) // 60
    fraction = f"{value.microsecond:06}".rstrip("0")
    if isinstance(value, dt.time):
        return Moment("time", hour=value.hour, minute=value.minute, second=value.second, fraction=fraction, zone=zone)
    return Moment(
        "dateTime", value.year, value.month, value.day, value.hour, value.minute, value.second, fraction, zone
    )


def compare_moments(left: Moment, right: Moment) -> int | None:
    """-1, 0 or 1 as `left` is before, at or after `right`; None where a missing time zone leaves it open."""
    a, b = left.instant(), right.instant()
    if (left.zone is None) == (right.zone is None):
        return (a > b) - (a < b)
    margin = 60 * _WIDEST_ZONE
    if (a[0] + margin, a[1]) < b:
        return -1
    if (a[0] - margin, a[1]) > b:
        return 1
    return None


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar, for any year.

    >>> days_from_civil(1970, 1, 1), days_from_civil(2000, 3, 1)
    (0, 11017)
    """
    year -= month <= 2  # years that begin in March have the leap day at their end
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Year, month and day; the inverse of `days_from_civil`.

    >>> civil_from_days(11017)
    (2000, 3, 1)
    """
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def _days_in_month(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _read_zone(text: str | None) -> int | None:
    if text is None:
        return None
    if text == "Z":
        return 0
    hours, minutes = int(text[1:3]), int(text[4:6])
    if minutes > 59:
        return _WIDEST_ZONE + 1  # no time zone; the caller refuses it
    return (-1 if text[0] == "-" else 1) * (hours * 60 + minutes)

"""Which terms do the tests of expressions draw?"""

from __future__ import annotations

import datetime as dt
import math

from hypothesis import strategies as st

from everlog.facts.terms import IRI, LANG_STRING, XSD, BlankNode, Literal, Term

_zones = st.sampled_from([None, dt.UTC, dt.timezone(dt.timedelta(hours=-8)), dt.timezone(dt.timedelta(hours=5.5))])
_texts = st.text(max_size=4)

decimals = st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**6), max_value=10**6)
floats32 = st.sampled_from(["1", "-0.5", "1.5E0", "INF", "NaN", "3e38", "0.1"]).map(lambda t: Literal(t, XSD + "float"))
odd_integers = st.builds(Literal, st.sampled_from(["01", "+7", "-0", "12"]), st.just(XSD + "int"))
small = st.integers(-5, 5)
numbers: st.SearchStrategy[Term] = st.one_of(
    small,
    st.integers(),
    decimals,
    small.map(float),
    st.floats(),
    st.sampled_from([math.inf, -math.inf, 2.0**53, 2**53 + 1, 10**400]),
    floats32,
    odd_integers,
)
moments: st.SearchStrategy[Term] = st.one_of(
    st.datetimes(timezones=_zones),
    st.dates(),
    st.times(),
    st.sampled_from(
        [
            Literal("2006-08-23Z", XSD + "date"),
            Literal("12006-08-23", XSD + "date"),
            Literal("1999-12-31T24:00:00", XSD + "dateTime"),
            Literal("2000-01-01T00:00:00.1234567Z", XSD + "dateTime"),
            Literal("24:00:00", XSD + "time"),
        ]
    ),
)
terms: st.SearchStrategy[Term] = st.one_of(
    numbers,
    moments,
    _texts,
    st.booleans(),
    _texts.map(lambda text: IRI("http://ex.org/" + text)),
    st.sampled_from("abc").map(BlankNode),
    st.builds(Literal, _texts, st.just(LANG_STRING), st.sampled_from(["en", "EN", "fr"])),
    st.builds(Literal, st.sampled_from(["x", "1", "abc"]), st.sampled_from(["http://ex.org/t", XSD + "integer"])),
)

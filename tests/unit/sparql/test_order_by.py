"""ORDER BY compares values: the next key counts where values are equal, whichever terms they are written as."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import everlog
from everlog import IRI

EX = "http://ex.org/"
ZONES = [dt.timezone(dt.timedelta(hours=hours)) for hours in (-5, 0, 2)]
NUMBERS = [1, 2, 3, Decimal("2.0"), Decimal("2.5"), 2.0, 1e0, 3.0]
MOMENTS = [dt.datetime(2024, 2, 29, 12 + hour, tzinfo=dt.UTC).astimezone(zone) for hour in (0, 1) for zone in ZONES]
Thing = tuple[int, int | Decimal | float | dt.datetime, int]  # its number, and two keys


def value(key: object) -> tuple[int, object]:
    """What a key is worth, without looking at how it is written: numbers before moments."""
    if isinstance(key, dt.datetime):
        return 1, key.astimezone(dt.UTC)
    assert isinstance(key, int | float | Decimal)
    return 0, Fraction(key)


def in_order(things: Sequence[Thing], descending: bool) -> list[IRI]:
    """By the first key, then by the second; the second differs from thing to thing, so that nothing is left open."""
    by_second = sorted(things, key=lambda thing: thing[2])
    ordered = sorted(by_second, key=lambda thing: value(thing[1]), reverse=descending)
    return [IRI(f"{EX}t{thing[0]}") for thing in ordered]


@st.composite
def many_things(draw: st.DrawFn) -> list[Thing]:
    keys = draw(st.lists(st.sampled_from([*NUMBERS, *MOMENTS]), min_size=1, max_size=8))
    second = draw(st.permutations(range(len(keys))))
    return [(number, key, second[number]) for number, key in enumerate(keys)]


def insert(kb: everlog.KnowledgeBase, things: Sequence[Thing]) -> None:
    for number, first, second in things:
        subject = IRI(f"{EX}t{number}")
        kb.insert("triple", [(subject, IRI(EX + "first"), first), (subject, IRI(EX + "second"), second)])


@given(things=many_things(), descending=st.booleans(), limit=st.integers(1, 4))
def test_ties_are_of_values(things: list[Thing], descending: bool, limit: int) -> None:
    first = "DESC(?a)" if descending else "?a"
    pattern = f"?x <{EX}first> ?a ; <{EX}second> ?b"
    asked = f"SELECT ?x {{ {pattern} }} ORDER BY {first} ?b"
    expected = in_order(things, descending)
    kb = everlog.open()
    view = kb.view("firsts", f"{asked} LIMIT {limit}")
    insert(kb, things)
    assert [x for (x,) in kb.query(asked)] == expected
    assert [x for (x,) in kb.query(f"{asked} LIMIT {limit}")] == expected[:limit]
    assert [x for (x,) in view.rows()] == expected[:limit]
    inner = kb.query(f"SELECT ?x {{ {{ {asked} LIMIT {limit} }} }}")
    assert {x for (x,) in inner} == set(expected[:limit])


@pytest.mark.parametrize("order", ["?v ?n", "DESC(?v) ?n"])
def test_numbers_of_three_types_are_ties(order: str) -> None:
    kb = everlog.open()
    written = [(2.0, 1), (2, 2), (Decimal("2.0"), 3)]
    kb.insert("triple", [(IRI(f"{EX}t{n}"), IRI(EX + "v"), v) for v, n in written])
    kb.insert("triple", [(IRI(f"{EX}t{n}"), IRI(EX + "n"), n) for _, n in written])
    found = kb.query(f"SELECT ?n {{ ?x <{EX}v> ?v ; <{EX}n> ?n }} ORDER BY {order}")
    assert [n for (n,) in found] == [1, 2, 3]

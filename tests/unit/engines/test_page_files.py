"""Are facts found in files of pages, sorted and merged in parts, as if they were in memory?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.engines.paged import page_files, page_writing
from everlog.engines.paged.counters import Counters
from everlog.engines.paged.orders import covering_orders
from everlog.engines.paged.page_files import PageFile, expanded
from everlog.engines.paged.page_writing import merge_pages, sort_pages, write_pages
from everlog.engines.paged.stored_facts import EXPLICIT, GONE, StoredFacts

Fact = tuple[int, int, int]
FACTS = st.sets(st.tuples(*[st.integers(-3, 3)] * 3), min_size=1, max_size=40)
ORDERS = st.permutations(range(3)).map(tuple)


def stored(facts: list[Fact], states: list[int] | None = None, *, first: int = 0) -> StoredFacts:
    """Facts with weights and ranks by which each is known again."""
    count = len(facts)
    return StoredFacts(
        tuple(np.array(column, np.int64) for column in zip(*facts, strict=True)),
        np.array(states or [EXPLICIT] * count, np.uint8),
        np.arange(first, first + count),
        np.arange(first, first + count, dtype=np.int32) % 3,
    )


def listed(facts: StoredFacts) -> list[tuple[Fact, int, int, int]]:
    rows = zip(*(column.tolist() for column in facts.columns), strict=True)
    return list(zip(rows, facts.states.tolist(), facts.weights.tolist(), facts.ranks.tolist(), strict=True))


def all_of(file: PageFile) -> list[tuple[Fact, int, int, int]]:
    return [row for part in file.parts() for row in listed(part)]


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.mark.parametrize("small", [0, 1000])
@given(facts=FACTS, order=ORDERS, page=st.integers(1, 9), width=st.integers(1, 3), asked=FACTS)
def test_keys_are_found(
    scratch: Path, small: int, facts: set[Fact], order: tuple[int, ...], page: int, width: int, asked: set[Fact]
) -> None:
    path = scratch / "keys.pages"
    check = write_pages(path, stored(sorted(facts)), order, page)
    file = PageFile(path, Counters(), check)
    columns = order[:width]
    keys = sorted({tuple(fact[column] for column in columns) for fact in (*facts, *asked)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_files, "_SMALL", small)
        which, rows = expanded(*file.ranges([np.array(key) for key in zip(*keys, strict=True)]))
    found = file.facts(rows)
    pairs = [(keys[number], row[0]) for number, row in zip(which.tolist(), listed(found), strict=True)]
    expected = [(key, fact) for key in keys for fact in facts if tuple(fact[column] for column in columns) == key]
    assert sorted(pairs) == sorted(expected)
    by_order = sorted(facts, key=lambda fact: [fact[column] for column in order])
    assert [row[0] for row in all_of(file)] == by_order
    sample = set(zip(*(column.tolist() for column in file.sample), strict=True))
    assert sample == facts, "a small file is its own sample"


@given(facts=FACTS, order=ORDERS, page=st.integers(1, 5), most=st.integers(1, 60), at_once=st.integers(1, 9))
def test_another_order_is_sorted_in_parts(
    scratch: Path, facts: set[Fact], order: tuple[int, ...], page: int, most: int, at_once: int
) -> None:
    source, path = scratch / "first.pages", scratch / "other.pages"
    check = write_pages(source, stored(sorted(facts)), (0, 1, 2), page)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_writing, "AT_ONCE", at_once)
        patch.setattr("everlog.engines.paged.page_files.AT_ONCE", at_once)
        sort_pages(path, source, order, page, most, check)
    file = PageFile(path, Counters())
    assert file.of == check and file.order == order
    expected = sorted(all_of(PageFile(source, Counters())), key=lambda row: [row[0][column] for column in order])
    assert all_of(file) == expected
    assert not list(scratch.glob("*.half"))


@given(
    parts=st.lists(
        st.dictionaries(st.tuples(*[st.integers(0, 3)] * 3), st.booleans(), min_size=1), min_size=1, max_size=4
    ),
    page=st.integers(1, 5),
    at_once=st.integers(1, 9),
    gone=st.booleans(),
)
def test_the_newest_of_equal_facts_counts(
    scratch: Path, parts: list[dict[Fact, bool]], page: int, at_once: int, gone: bool
) -> None:
    files, expected, first = [], {}, 0
    for number, part in enumerate(parts):
        files.append(scratch / f"part{number}.pages")
        facts = stored(list(part), [GONE if goes else EXPLICIT for goes in part.values()], first=first)
        write_pages(files[-1], facts, (0, 1, 2), page)
        expected.update({row[0]: row for row in listed(facts)})
        first += len(part)
    path = scratch / "merged.pages"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_writing, "AT_ONCE", at_once)
        rows, check = merge_pages(path, files[::-1], page, gone=gone)
    wanted = sorted(row for row in expected.values() if gone or row[1] != GONE)
    assert all_of(PageFile(path, Counters(), check)) == wanted
    assert rows == len(wanted)


@given(wanted=st.sets(st.sets(st.integers(0, 3), min_size=1, max_size=3).map(frozenset)))
def test_each_set_of_columns_begins_an_order(wanted: set[frozenset[int]]) -> None:
    orders = [(0, 1, 2, 3), *covering_orders(4, wanted)]
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)
    assert all(any(set(order[: len(each)]) == each for order in orders) for each in wanted)

"""Do the kernels do what a few lines of NumPy or plain Python do?

Each kernel has a twin here that is slow and plain. Data is large enough to fill several batches and grow every table.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.dictionary.dictionary import Dictionary
from everlog.engines.columnar import layout as at
from everlog.engines.columnar.comparison_kernels import UNDECIDED, compare_ids
from everlog.engines.columnar.engine import ColumnarEngine
from everlog.engines.columnar.expressions import ExpressionStep
from everlog.engines.columnar.groups import group_columns
from everlog.engines.columnar.outcomes import KnownOutcomes
from everlog.engines.interface import Shape
from everlog.expressions.aggregates import aggregate
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import IRI, Literal, Term
from everlog.plans.expressions import compile_expression, holds
from everlog.plans.flat_rules import GroupFunction, GroupRule
from everlog.plans.operators import Compute, Select
from everlog.rules.syntax import Atom, Call, Constant, Variable


def random_facts(width: int, rows: int, distinct: int) -> np.ndarray:
    """Ids of both signs, but for -1, which the dictionary never gives out."""
    facts = np.random.default_rng(width).integers(-distinct, distinct, (rows, width)).astype(np.int32)
    return np.where(facts == -1, 0, facts)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 7])
def test_facts_are_kept_once_as_numpy_finds_them_distinct(width: int) -> None:
    facts = random_facts(width, 20_000, {1: 5000, 2: 90, 3: 20, 4: 9, 7: 3}[width])
    engine = ColumnarEngine(Dictionary())
    engine.declare(Shape("r", width))
    added = engine.load("r", list(facts.T), len(facts))
    twin = np.unique(facts, axis=0)
    assert added == len(twin)
    assert np.array_equal(np.unique(np.stack(engine.collect("r").columns, axis=1), axis=0), twin)
    probes = random_facts(width, 3000, 12)
    there = set(map(tuple, twin.tolist()))
    expected = [tuple(row) in there for row in probes.tolist()]
    assert list(engine.contains("r", list(probes.T), len(probes))) == expected


@pytest.mark.parametrize("columns", [(0,), (1,), (2,), (0, 1), (2, 0), (0, 1, 2)])
def test_an_index_chains_the_rows_with_its_key_newest_first(columns: tuple[int, ...]) -> None:
    facts = np.unique(random_facts(4, 8000, 8), axis=0)
    engine = ColumnarEngine(Dictionary())
    engine.declare(Shape("r", 4))
    half = len(facts) // 2
    engine.load("r", list(facts[:half].T), half)
    relation, tables = engine._relations["r"], engine.tables
    index = relation.index_on(columns, tables)  # built over the first half, kept for the second
    engine.load("r", list(facts[half:].T), len(facts) - half)
    heads = dict.fromkeys(map(tuple, facts[:, columns].tolist()), -1)
    expected: dict[tuple[int, ...], list[int]] = {key: [] for key in heads}
    for row, fact in enumerate(facts[:, columns].tolist()):
        expected[tuple(fact)].insert(0, row)
    assert tables.indexes[index.number, at.I_USED] == len(expected)
    newest = {tuple(facts[rows[0], columns].tolist()): rows[0] for rows in expected.values()}
    in_table = index.table.rows[index.table.keys != 0]
    assert sorted(in_table.tolist()) == sorted(newest.values())
    for rows in expected.values():
        chain, row = [], rows[0]
        while row >= 0:
            chain.append(row)
            row = int(index.next[row])
        assert chain == rows


def typed(text: str, name: str) -> Literal:
    return Literal(text, f"http://www.w3.org/2001/XMLSchema#{name}")


FLOATS: list[Term] = [typed(text, "float") for text in ("0", "0.1", "1.5", "16777216", "1.0E10", "1E-45")]
DOUBLES: list[Term] = [1.0, 0.1, 1.5, 16777217.0, 1e300, -0.0]
TERMS: list[Term] = [
    "a", "b", "", IRI("http://ex.org/a"), IRI("http://ex.org/b"), 0, 1, -7, 2**40, 2**60, Decimal("1.0"),
    Decimal("0.1"), Decimal("1.5"), 1.0, 0.1, 1.5, float("nan"), float("inf"), True, False, Literal("1", "http://ex.org/t"),
    Literal("a", language="en"), typed("01", "integer"),
    *FLOATS, *DOUBLES, 16777217, 2**60 + 1, Decimal("0.1000000001"), Decimal("1.3E-45"), Decimal("1E-51"),
    typed("NaN", "float"), *(typed(f"2008-01-{rest}", "date") for rest in ("01", "02", "01Z", "02+14:00")),
    *(typed(f"2008-01-01T00:00:00{rest}", "dateTime") for rest in ("", ".5", ".0005", "Z", "-05:00")),
    typed("00:00:01", "time"), typed("2008-13-01", "date"), Literal("a", language="de"),
]  # fmt: skip
COMPARISONS = {"=": at.EQ, "!=": at.NE, "<": at.LT, "<=": at.LE, ">": at.GT, ">=": at.GE}


@pytest.mark.parametrize("symbol", COMPARISONS)
def test_comparing_ids_decides_as_expressions_do_or_not_at_all(symbol: str) -> None:
    dictionary = Dictionary()
    ids = [dictionary.encode(term) for term in TERMS]
    kinds, numbers = dictionary.described()
    compare = compile_expression(Call(symbol, (Variable("x"), Variable("y"))), ["x", "y"])
    decided = 0
    for a, x in zip(ids, TERMS, strict=True):
        for b, y in zip(ids, TERMS, strict=True):
            outcome = compare_ids(COMPARISONS[symbol], np.int32(a), np.int32(b), kinds, numbers)
            if outcome != UNDECIDED:
                decided += 1
                assert bool(outcome) == holds(compare, [x, y]), (x, symbol, y)
    assert decided >= 400  # numbers with most other numbers, dates with dates, at the least


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(TERMS), st.integers(1, 4)), max_size=25),
    function=st.sampled_from(["COUNT", "SUM", "AVG", "MIN", "MAX", "MEDIAN", "SAMPLE"]),
    distinct=st.booleans(),
    only=st.sampled_from([TERMS, [-2, -1, 0, 7], DOUBLES, FLOATS, [*FLOATS, *DOUBLES, 7]]),
)
def test_groups_aggregate_as_each_would_alone(
    rows: list[tuple[int, Term, int]], function: str, distinct: bool, only: list[Term]
) -> None:
    rows = [(group, only[TERMS.index(value) % len(only)], weight) for group, value, weight in rows]
    dictionary = Dictionary()
    bag: dict[tuple[int, int], int] = {}
    for group, value, weight in rows:
        key = dictionary.encode(group), dictionary.encode(value)
        bag[key] = bag.get(key, 0) + weight
    columns = [np.array([key[position] for key in bag], np.int32) for position in (0, 1)]
    head = Atom("g", (Variable("x"), Variable("n")))
    rule = GroupRule("r", head, head, 1, (GroupFunction(function, 1, distinct),))
    made = group_columns(rule, columns, np.array(list(bag.values()), np.int64), dictionary)
    expected = {}
    for group in {key[0] for key in bag}:
        values = [(dictionary.decode(value), weight) for (g, value), weight in bag.items() if g == group]
        try:
            expected[group] = dictionary.encode(aggregate(function, distinct, values))
        except ExpressionError:
            continue
    assert dict(zip(made[0].tolist(), made[1].tolist(), strict=True)) == expected


@given(rows=st.lists(st.tuples(st.integers(-(2**29), 2**29), st.integers(-50, 50)), min_size=1, max_size=30))
def test_integer_arrays_compute_what_one_row_at_a_time_does(rows: list[tuple[int, int]]) -> None:
    x, y = Variable("x"), Variable("y")
    dictionary = Dictionary()
    columns = [np.array([dictionary.encode(row[position]) for row in rows], np.int32) for position in (0, 1)]
    sum_of = Call("abs", (Call("-", (Call("+", (Call("*", (x, y)), Constant(3))), x)),))
    step = ExpressionStep(Compute(sum_of, "z"), ["x", "y"], [0, 1], 2, dictionary, KnownOutcomes())
    values, keep = step.apply(columns, len(rows))
    assert keep.all() and values is not None
    assert dictionary.decode_many(values) == [abs(a * b + 3 - a) for a, b in rows]
    test = ExpressionStep(
        Select(Call("<", (sum_of, Constant(100)))), ["x", "y"], [0, 1], None, dictionary, KnownOutcomes()
    )
    assert test.apply(columns, len(rows))[1].tolist() == [abs(a * b + 3 - a) < 100 for a, b in rows]

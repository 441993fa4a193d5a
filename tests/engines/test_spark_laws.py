"""Does the Spark engine keep the laws too? An example or two of each: a round is a job there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.engines import test_laws as laws
from tests.spark_session import spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

EDGES = ([(1, 2), (2, 3), (3, 1), (3, 3), (3, 3)], [(4, 9)])
TRIPLES = ([(1, 2, -3), (1, 2, -3), (1, 5, 0), (2, 1, 4)], [])

EXAMPLES: dict[Callable[..., None], list[dict[str, Any]]] = {
    laws.test_load_then_collect_gives_back_the_distinct_facts: [
        {"facts": facts, "arity": arity} for facts, arity in zip(TRIPLES, (3, 0), strict=True)
    ],
    laws.test_contains_says_which_facts_are_there: [
        {"there": EDGES[0], "asked": [(1, 2), (2, 1), (3, 3)]},
        {"there": [], "asked": [(1, 2)]},
    ],
    laws.test_conclusions_wait_until_the_round_is_over: [{"edges": edges} for edges in EDGES],
    laws.test_a_phase_run_whole_equals_one_run_round_by_round: [{"edges": EDGES[1]}],
    laws.test_engines_agree_on_counts_no_machine_changes: [{"edges": edges} for edges in EDGES],
    laws.test_wide_facts_take_the_same_way: [{"rows": [(1, 2, 3), (2, 4, 3), (4, 1, 3), (2, 5, 1)]}],
    laws.test_a_bag_counts_bindings: [{"edges": edges} for edges in EDGES],
    laws.test_abort_undoes_deriving_from_scratch: [{"before": EDGES[0], "after": [(1, 2), (3, 4)]}],
}


@pytest.mark.parametrize(
    ("law", "example"),
    [
        pytest.param(law, example, id=f"{law.__name__.removeprefix('test_')}-{number}")
        for law, examples in EXAMPLES.items()
        for number, example in enumerate(examples)
    ],
)
def test_on_spark(law: Any, example: dict[str, Any], spark: Any) -> None:
    law.hypothesis.inner_test("spark", **example)


def test_batches_lose_nothing_on_spark(spark: Any) -> None:
    laws.test_batches_and_growth_lose_nothing("spark", 1025)

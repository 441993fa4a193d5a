"""Do estimates from a sample come near to what is there?"""

from __future__ import annotations

import numpy as np
import pytest

from everlog.dictionary.dictionary import Dictionary
from everlog.engines.statistics import Sample, SampledStatistics, spread_rows
from everlog.facts.terms import IRI
from everlog.rules.syntax import Atom, Constant, Variable


@pytest.mark.parametrize("parts", [3, 10, 40])
@pytest.mark.parametrize("records", [300, 1_000, 4_000, 20_000])
def test_records_of_several_triples_each(records: int, parts: int) -> None:
    """Offers of ten triples each, one offer after the other: a tenth of all rows has the price."""
    dictionary = Dictionary()
    predicates = [IRI(f"x:{part}") for part in range(parts)]
    ids = [dictionary.encode(predicate) for predicate in predicates]
    rows = records * parts
    facts = np.stack([np.repeat(np.arange(records), parts), np.tile(ids, records), np.arange(rows)], axis=1)
    sample = Sample(facts.astype(np.int32), spread_rows(len(facts)), len(facts))
    statistics = SampledStatistics(lambda relation: rows, lambda relation: sample, dictionary)
    for predicate in predicates:
        atom = Atom("triple", (Variable("s"), Constant(predicate), Variable("o")))
        assert records / 2 < statistics.matches(atom, frozenset({1})) < 2 * records


def test_a_sample_stands_for_a_relation_of_about_its_size() -> None:
    sample = Sample(np.zeros((1_000, 2), np.int32), np.arange(1_000), 1_000)
    assert [size for size in (0, 700, 900, 1_000, 1_200, 1_300) if sample.still_fits(size)] == [900, 1_000, 1_200]

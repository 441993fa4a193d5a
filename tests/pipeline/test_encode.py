"""Are facts encoded to the same ids every time, and is a collision noticed?"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from everlog.engines.spark.ids import id_of_key
from everlog.errors import DataError
from everlog.pipeline.encode import collisions, decode, encode

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

EDGES = [('"a', "^integer 1"), ('"b', "^integer 2"), ('"a', '"b'), ("<x:é", "^integer 123456789012345678901234567890")]


def keys(spark: SparkSession, rows: list[tuple[str, ...]]) -> DataFrame:
    return spark.createDataFrame(rows, ", ".join(f"c{place} string" for place in range(1, len(rows[0]) + 1)))


def terms(spark: SparkSession, rows: list[tuple[int, str]]) -> DataFrame:
    return spark.createDataFrame(rows, "id long, key string")


def as_rows(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def test_facts_become_ids_and_come_back(spark: SparkSession) -> None:
    encoded = encode({"edge": keys(spark, EDGES), "node": keys(spark, [('"a',), ('"c',)])})
    assert encoded.facts["edge"].columns == ["c1", "c2"]
    assert as_rows(encoded.facts["edge"]) == sorted(tuple(id_of_key(key) for key in row) for row in EDGES)
    new = as_rows(encoded.new_terms)
    wanted = ['"a', '"b', '"c', "<x:é", "^integer 123456789012345678901234567890"]  # small integers need no row
    assert new == sorted((id_of_key(key), key) for key in wanted)
    dictionary = terms(spark, [(id_, key) for id_, key in new])  # type: ignore[misc]
    assert as_rows(decode(encoded.facts["edge"], dictionary)) == sorted(EDGES)
    assert as_rows(decode(encoded.facts["node"], dictionary)) == [('"a',), ('"c',)]


def test_only_new_terms_are_handed_out(spark: SparkSession) -> None:
    dictionary = terms(spark, [(id_of_key('"a'), '"a'), (id_of_key('"z'), '"z')])
    encoded = encode({"edge": keys(spark, [('"a', '"b')])}, dictionary)
    assert as_rows(encoded.new_terms) == [(id_of_key('"b'), '"b')]
    again = encode({"edge": keys(spark, [('"a', '"b')])}, dictionary.union(encoded.new_terms))
    assert as_rows(again.new_terms) == []
    assert as_rows(again.facts["edge"]) == as_rows(encoded.facts["edge"])


def test_facts_without_arguments(spark: SparkSession) -> None:
    encoded = encode({"done": spark.range(1).select(), "edge": keys(spark, EDGES)})
    assert encoded.facts["done"].count() == 1
    alone = encode({"done": spark.range(1).select()})
    assert alone.new_terms.columns == ["id", "key"] and alone.new_terms.count() == 0
    assert decode(encoded.facts["done"], encoded.new_terms).count() == 1


def test_no_facts_at_all(spark: SparkSession) -> None:
    nothing = encode({})
    assert nothing.facts == {} and nothing.new_terms.count() == 0


@pytest.mark.parametrize("action", ["write", "count"])
def test_a_collision_with_the_dictionary_is_an_error(spark: SparkSession, tmp_path: Path, action: str) -> None:
    dictionary = terms(spark, [(id_of_key('"a'), "<http://ex.org/other")])
    encoded = encode({"edge": keys(spark, EDGES)}, dictionary)
    with pytest.raises(DataError, match=r"same 64-bit id: 'a' and IRI\(value='http://ex.org/other'\)"), collisions():
        if action == "write":
            encoded.new_terms.write.parquet(str(tmp_path / "terms"))
        else:
            encoded.new_terms.count()


def test_a_collision_among_new_terms_is_an_error(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import functions as f

    monkeypatch.setattr("everlog.pipeline.encode.id_column", lambda key: f.length(key).cast("long") * 8)
    encoded = encode({"edge": keys(spark, [('"a', '"b'), ('"long', '"longer')])})
    with pytest.raises(DataError, match="same 64-bit id") as raised, collisions():
        encoded.new_terms.collect()
    assert "'a'" in raised.value.message and "'b'" in raised.value.message


def test_an_id_that_no_dictionary_holds_is_an_error(spark: SparkSession) -> None:
    encoded = encode({"edge": keys(spark, EDGES)})
    with pytest.raises(DataError, match="is in no dictionary"), collisions():
        decode(encoded.facts["edge"], terms(spark, [(8, '"x')])).collect()


def test_other_failures_stay_what_they_are(spark: SparkSession) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException), collisions():
        spark.sql("select raise_error('something else')").collect()

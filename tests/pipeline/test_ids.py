"""Does a term have the same id in Python and on Spark?"""

from __future__ import annotations

import random

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from everlog.engines.spark.ids import INTEGER, id_column, id_of_key, inline_key_column, integer_of_id
from everlog.facts.terms import IRI, BlankNode, Literal, key_of

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

INTEGERS = [
    0,
    1,
    -1,
    7,
    8,
    42,
    -42,
    10**17,
    -(10**17),
    *(s * 2**n + d for s in (1, -1) for n in range(55, 70) for d in (-1, 0, 1)),
]
KEYS = [
    *(f"^integer {value}" for value in INTEGERS),
    "^integer 9999999999999999999",
    "^integer -9999999999999999999",
    "^integer " + "9" * 200,
    # Not canonical: terms of their own, although of equal value.
    "^integer 042", "^integer +42", "^integer -0", "^integer 00", "^integer ", "^integer  42", "^integer 42 ",
    "^integer 42\n", "^integer 42\r", "^integer 42\u2028", "^integer 4\n2", "^integer ٤٢", "^integer 1e3",
    "^integers 42", "^int 42", "^integer-ish 42", "^decimal 42.0", "^double 4.2E1", "^boolean true", "^date 2024-05-31",
    '"', '"^integer 42', '"42', '"New York', '"\n', '"\0', '"tab\there', "@en colour", "@en ", "_b0", "_", "<http://ex.org/a",
    '"Grüße', '"日本語のテキスト', '"🙂🙃', '"e\u0301', '"\ufeff', '"\ufffd', "<http://ex.org/ü/日本", "@ja 日本", "_ü",
    *('"' + "x" * length for length in range(70)),  # xxhash works in steps of 4, 8 and 32 bytes
]  # fmt: skip


def test_spark_gives_the_ids_that_python_gives(spark: SparkSession) -> None:
    draw = random.Random(7)
    drawn = [
        '"'
        + "".join(
            chr(draw.choice((draw.randrange(1, 0xD800), draw.randrange(0xE000, 0x110000))))
            for _ in range(draw.randrange(40))
        )
        for _ in range(2000)
    ]
    drawn += [f"^integer {draw.randrange(-(2**64), 2**64)}" for _ in range(500)]
    keys = list(dict.fromkeys(KEYS + drawn))
    rows = spark.createDataFrame([(key,) for key in keys], "key string").select(
        "key", id_column(f.col("key")).alias("id")
    )
    assert {row["key"]: row["id"] for row in rows.collect()} == {key: id_of_key(key) for key in keys}


def test_integers_live_in_their_ids(spark: SparkSession) -> None:
    small = [value for value in INTEGERS if abs(value) < 2**60]
    ids = [id_of_key(f"^integer {value}") for value in small]
    assert [integer_of_id(id_) for id_ in ids] == small
    rows = spark.createDataFrame([(id_,) for id_ in ids], "id long").select(inline_key_column(f.col("id")).alias("key"))
    assert [row["key"] for row in rows.collect()] == [f"^integer {value}" for value in small]
    for value in (2**60, -(2**60), 2**64):
        assert id_of_key(f"^integer {value}") & 7 != INTEGER


def test_other_ids_hold_no_integer(spark: SparkSession) -> None:
    terms = [
        IRI("http://ex.org/a"),
        BlankNode("b"),
        "x",
        Literal("042", "http://www.w3.org/2001/XMLSchema#integer"),
        2**70,
        2.5,
    ]
    ids = [id_of_key(key_of(term)) for term in terms]
    assert [id_ & 7 for id_ in ids] == [0, 1, 2, 3, 3, 3]
    rows = spark.createDataFrame([(id_,) for id_ in ids], "id long").select(inline_key_column(f.col("id")).alias("key"))
    assert [row["key"] for row in rows.collect()] == [None] * len(terms)

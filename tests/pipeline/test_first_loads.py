"""Does a first load take few jobs, whatever the number of its sources, and is it right?"""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import everlog
from everlog.engines.spark.ids import id_of_key
from everlog.engines.spark.local_frames import local_frame
from everlog.engines.spark.tagged import TaggedFacts, matches_any
from everlog.errors import DataError
from everlog.pipeline.ingest import ingest
from everlog.pipeline.job import PipelineReport, run_pipeline
from everlog.pipeline.settings import read_settings
from everlog.pipeline.sources import InputSource
from everlog.rules.syntax import Atom, Constant, Variable

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

SOURCES = 5


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five relations in a file each; `both` reads them two by two, and `path` is the closure of one."""
    chance = random.Random(1)
    rules, sources = ["path(?x, ?y) :- e0(?x, ?y).", "path(?x, ?z) :- path(?x, ?y), e0(?y, ?z)."], []
    for number in range(SOURCES):
        rules.append(f"both(?x, ?z) :- e{number}(?x, ?y), e{(number + 1) % SOURCES}(?y, ?z).")
        rows = [(f"n{chance.randrange(9)}", f"n{chance.randrange(9)}") for _ in range(20)]
        pq.write_table(pa.table(list(zip(*rows, strict=True)), ["x", "y"]), tmp_path / f"e{number}.parquet")
        sources.append(f'[[source]]\npath = "e{number}.parquet"\n')
    (tmp_path / "rules.dl").write_text("\n".join(rules), encoding="utf-8")
    (tmp_path / "pipeline.toml").write_text('program = "rules.dl"\n' + "".join(sources), encoding="utf-8")
    return tmp_path


def run(folder: Path, spark: SparkSession) -> PipelineReport:
    return run_pipeline(read_settings(folder / "pipeline.toml"), spark, lambda line: None)


def test_a_first_load_of_little_takes_as_few_jobs_for_many_sources(spark: SparkSession, folder: Path) -> None:
    spark.sparkContext.setJobGroup("first load", "first load")
    run(folder, spark)
    assert len(spark.sparkContext.statusTracker().getJobIdsForGroup("first load")) <= 5
    tables = read_settings(folder / "pipeline.toml").tables
    assert len(list(tables.folder.glob("relation*e0*/**/*.parquet"))) == 1
    with everlog.open(tables.folder) as opened, everlog.open() as scratch:
        scratch.add_rules((folder / "rules.dl").read_text(encoding="utf-8"))
        for number in range(SOURCES):
            scratch.load(folder / f"e{number}.parquet")
        for relation in ("path", "both", *(f"e{number}" for number in range(SOURCES))):
            assert sorted(opened.facts(relation)) == sorted(scratch.facts(relation)), relation


def test_terms_with_one_id_stop_a_first_load(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dictionary is written while facts are derived, and what is wrong with it is told all the same."""
    monkeypatch.setattr("everlog.pipeline.encode.id_column", lambda key: f.lit(8).cast("long"))
    with pytest.raises(DataError, match="same 64-bit id"):
        run(folder, spark)
    tables = read_settings(folder / "pipeline.toml").tables
    assert not list(tables.folder.rglob("*.parquet"))


def test_a_damaged_page_is_told_with_the_name_of_its_file(spark: SparkSession, folder: Path) -> None:
    path = folder / "e3.parquet"
    data = bytearray(path.read_bytes())
    data[4:60] = bytes(56)  # behind the magic number: the first pages; the footer is whole
    path.write_bytes(data)
    with pytest.raises(DataError, match="e3.parquet.*Spark cannot read this"):
        run(folder, spark)


def test_rows_are_counted_by_footers_where_these_can_tell(spark: SparkSession, tmp_path: Path) -> None:
    values = pa.table({"x": ["a", "b", None], "n": pa.array([1, 2, 3], pa.int16()), "t": [1.5, None, 2.5]})
    pq.write_table(values, tmp_path / "r.parquet")
    pq.write_table(values, tmp_path / "s.parquet", write_statistics=False)
    spark.sparkContext.setJobGroup("footers", "footers")
    found = ingest(spark, [InputSource(tmp_path / "r.parquet", columns=["n"])])
    assert found.counts == {"r": 3}
    assert not spark.sparkContext.statusTracker().getJobIdsForGroup("footers")
    assert sorted(found.facts["r"].collect()) == [("^integer 1",), ("^integer 2",), ("^integer 3",)]
    skipped = [InputSource(tmp_path / name, columns=["x", "n"], nulls="skip") for name in ("r.parquet", "s.parquet")]
    assert ingest(spark, skipped).counts == {"r": 2, "s": 2}


def test_atoms_choose_the_facts_that_match_one_of_them(spark: SparkSession) -> None:
    """However conditions are put together; and from one frame as from one frame for each relation."""
    chance = random.Random(2)
    ids = {Constant(term): id_of_key(f"^integer {term}") for term in (1, 2)}
    rows = [(number, *some) for number in (0, 2) for some in itertools.product((*ids.values(), 16), repeat=3)]
    together = TaggedFacts(local_frame(spark, rows, "relation int, c1 long, c2 long, c3 long"), 3, {"r": 0, "s": 2})
    for _ in range(12):
        choices = [Variable("x"), Variable("y"), Variable("x"), *ids]
        atoms = {
            name: [Atom(name, tuple(chance.choice(choices) for _ in range(3))) for _ in range(chance.randrange(1, 5))]
            for name in ("r", "s")
        }
        found = together.of(atoms, {"r": 7, "s": 5}, 4).select("relation", "c1", "c2", "c3", "c4").collect()
        assert sorted(map(tuple, found), key=str) == sorted(
            (
                (new, *some, None)
                for number, *some in rows
                for name, old, new in (("r", 0, 7), ("s", 2, 5))
                if old == number and any(_fits(atom, some, ids) for atom in atoms[name])
            ),
            key=str,
        )
    assert matches_any([Atom("r", (Variable("x"), Variable("y")))]) is None


def _fits(atom: Atom, ids: list[int], constants: dict[Constant, int]) -> bool:
    bound: dict[str, int] = {}
    return all(
        (constants[arg] if isinstance(arg, Constant) else bound.setdefault(arg.name, id_)) == id_
        for arg, id_ in zip(atom.args, ids, strict=True)
    )

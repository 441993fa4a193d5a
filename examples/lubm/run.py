"""How many answers do LUBM's queries have, over universities that went through the Spark pipeline?

See README.md. `python -m examples.lubm.run FOLDER`, where the folder holds LUBM10.nt.gz and queries/.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

import everlog
from everlog.pipeline.job import PipelineReport, run_pipeline
from everlog.pipeline.settings import read_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "benchmarks" / "programs" / "lubm.dl"
NAMESPACE = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
TAKEN = f"SELECT ?student ?course {{ ?student <{NAMESPACE}takesCourse> ?course }}"
UPDATED = 100  # triples that go and come back


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data", type=Path, help="the folder with LUBM10.nt.gz and queries/")
    arguments.add_argument("--universities", type=int, default=10)
    arguments.add_argument("--out", type=Path, default=ROOT / "out" / "lubm")
    chosen = arguments.parse_args()
    console = Console(highlight=False)
    report = run(chosen.data, chosen.universities, chosen.out, console)
    console.print(f"version {report.version:,}, {report.seconds:.1f} s in all, {report.way}", markup=False)
    with everlog.open(chosen.out / "tables") as kb:
        show_answers(console, ask(kb, chosen.data / "queries"))
        for what, seconds, gained, lost in update(kb):
            console.print(f"{what}: +{gained:,} -{lost:,} facts in {seconds * 1000:,.0f} ms, version {kb.version}")


def run(
    data: Path, universities: int, out: Path, console: Console, spark: SparkSession | None = None
) -> PipelineReport:
    """Bring universities through the pipeline."""
    out.mkdir(parents=True, exist_ok=True)
    rules = PROGRAM.read_text(encoding="utf-8").splitlines(keepends=True)
    # The data is named here, not by the program.
    (out / "rules.dl").write_text("".join(line for line in rules if not line.startswith("@import")), encoding="utf-8")
    source = (data / f"LUBM{universities}.nt.gz").absolute()
    (out / "pipeline.toml").write_text(
        f'program = "rules.dl"\n[[source]]\npath = "{source.as_posix()}"\n[spark]\nmaster = "local[*]"\n',
        encoding="utf-8",
    )

    def says(line: str) -> None:
        console.print(line, markup=False, soft_wrap=True)

    return run_pipeline(read_settings(out / "pipeline.toml"), spark, says)


def ask(kb: everlog.KnowledgeBase, queries: Path) -> dict[str, tuple[int, float]]:
    """How many answers each query has, and in how many seconds."""
    found = {}
    for path in sorted(queries.glob("*.rq")):
        started = time.perf_counter()
        answers = len(list(kb.query(path.read_text(encoding="utf-8"))))
        found[path.stem] = answers, time.perf_counter() - started
    return found


def update(kb: everlog.KnowledgeBase) -> Iterator[tuple[str, float, int, int]]:
    """Let students drop some courses and take them again: what, seconds, facts gained and lost."""
    taken = sorted((str(student), str(course)) for student, course in kb.query(TAKEN))
    takes = everlog.IRI(f"{NAMESPACE}takesCourse")
    chosen = [(everlog.IRI(s), takes, everlog.IRI(c)) for s, c in random.Random(0).sample(taken, UPDATED)]
    for what, change in ((f"{UPDATED} triples go", kb.delete), ("and come back", kb.insert)):
        started = time.perf_counter()
        counts = change("triple", chosen).counts()["triple"]
        yield what, time.perf_counter() - started, *counts


def show_answers(console: Console, answers: dict[str, tuple[int, float]]) -> None:
    table = Table(title="Queries", title_justify="left", title_style="bold")
    for name in ("query", "answers", "ms"):
        table.add_column(name, justify="left" if name == "query" else "right")
    for name, (count, seconds) in answers.items():
        table.add_row(name, f"{count:,}", f"{seconds * 1000:,.1f}")
    console.print(table)


if __name__ == "__main__":
    main()

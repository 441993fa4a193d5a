"""`everlog bench streams|deletions|growth|updates|rules|sparql|store|paged|fleet|programs`: what do updates cost?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from everlog.cli.bench_programs import experiment
from everlog.cli.outcomes import outcome, print_json
from everlog.cli.progress import Progress

Quick = Annotated[bool, typer.Option("--quick", help="A small part of it, to see that all works.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where results go.")]
AsJson = Annotated[bool, typer.Option("--json", help="Every figure as JSON on stdout.")]

OUT = Path("out/bench")


def streams(quick: Quick = False, out: Out = OUT, as_json: AsJson = False) -> None:
    """Streams of updates with marking and without, beside the marking paper's tables.

    Writes streams.md, streams.png and streams.json. Takes some minutes.
    """
    _bench("streams", quick, out, as_json)


def deletions(quick: Quick = False, out: Out = OUT, as_json: AsJson = False) -> None:
    """Deleting few facts and many, by each strategy, after the Backward/Forward paper.

    Writes deletions.md, deletions.png and deletions.json. Takes some minutes.
    """
    _bench("deletions", quick, out, as_json)


def growth(quick: Quick = False, out: Out = OUT, as_json: AsJson = False) -> None:
    """An update as unrelated data grows, and after 100,000 others.

    Writes growth.md, growth.png and growth.json. Takes some minutes and 2 GB of memory.
    """
    _bench("growth", quick, out, as_json)


def updates(quick: Quick = False, out: Out = OUT, as_json: AsJson = False) -> None:
    """Small updates of graphs, by each strategy, and beside DuckDB from scratch.

    Writes updates.md, updates.png and updates.json. Takes some minutes.
    """
    _bench("updates", quick, out, as_json)


def rules(quick: Quick = False, out: Out = OUT, as_json: AsJson = False) -> None:
    """Rules that come and go, beside runs from scratch and ZodiacEdge's figures.

    Writes rules.md, rules.png and rules.json. Takes some minutes.
    """
    _bench("rules", quick, out, as_json)


def sparql(
    quick: Quick = False,
    only: Annotated[
        str,
        typer.Option("--only", metavar="SECTION", help="hops, explore, shapes, sums or adhoc; others in DIR stay."),
    ] = "",
    out: Out = OUT,
    as_json: AsJson = False,
) -> None:
    """Views of SPARQL queries, beside asking again, the counting paper's method on DuckDB, and pyoxigraph.

    Writes sparql.md, sparql.png and sparql.json. Takes up to 25 minutes and 12 GB of memory: the others are stopped
    where they would need more.
    """
    _bench("sparql", quick, out, as_json, only=only)


def store(quick: Quick = False, out: Out = OUT, as_json: AsJson = False) -> None:
    """Opening a folder, durable updates by many threads, and queries beside a writer.

    Writes store.md, store.png and store.json. Takes a minute and 4 GB of memory.
    """
    _bench("store", quick, out, as_json)


def paged(quick: Quick = False, out: Out = OUT, as_json: AsJson = False) -> None:
    """An update of facts that are in sorted files, at 1.7 and 17 million facts.

    Writes paged.md, paged.png and paged.json. Takes two minutes, 2 GB of memory and 2 GB of disk.
    """
    _bench("paged", quick, out, as_json)


def fleet(quick: Quick = False, out: Out = OUT, as_json: AsJson = False) -> None:
    """Ten thousand small knowledge bases in one engine, and on Spark.

    Writes fleet.md, fleet.png and fleet.json. Takes a minute.
    """
    _bench("fleet", quick, out, as_json)


def spark(quick: Quick = False, out: Out = OUT, as_json: AsJson = False) -> None:
    """Derivations and streamed updates on Spark, each beside what was asked for.

    Writes spark.md, spark.png and spark.json. Takes ten minutes, 8 GB of memory and 4 GB of disk.
    """
    _bench("spark", quick, out, as_json)


def programs(quick: Quick = False, out: Out = OUT, as_json: AsJson = False) -> None:
    """Programs of up to 100,000 rules: adding them, and updates that reach three of them.

    Writes programs.md, programs.png and programs.json. Takes some minutes and 3 GB of memory.
    """
    _bench("programs", quick, out, as_json)


COMMANDS: tuple[Callable[..., None], ...] = (
    streams,
    deletions,
    growth,
    updates,
    rules,
    sparql,
    store,
    paged,
    fleet,
    spark,
    programs,
)


_NEEDS = {"updates": ("duckdb",), "sparql": ("duckdb",), "paged": ("xxhash",), "spark": ("pyspark",)}


def _bench(name: str, quick: bool, out: Path, as_json: bool, **options: str) -> None:
    with outcome(as_json=as_json), Progress(verbose=not as_json, quiet=as_json) as progress:
        program = experiment(name, "matplotlib", *_NEEDS.get(name, ()))
        run: Callable[..., dict[str, Any]] = getattr(program, f"bench_{name}")
        results = run(out, progress, quick=quick, **options)
        progress.close()
        if as_json:
            print_json(results)
        else:
            print((out / f"{name}.md").read_text(encoding="utf-8"), end="")

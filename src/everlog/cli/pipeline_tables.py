"""`everlog pipeline history`, `changes`, `vacuum`: which versions do the tables of a pipeline have, what changed?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from everlog.cli.outcomes import outcome, print_json
from everlog.errors import NotFoundError

if TYPE_CHECKING:
    from everlog.tables.commits import Commit
    from everlog.tables.table_store import TableStore

TablesArgument = Annotated[str, typer.Argument(help="A pipeline.toml, or a folder of tables.", metavar="TABLES")]
_Json = Annotated[bool, typer.Option("--json", help="The result as JSON on stdout.")]


def history(tables: TablesArgument, as_json: _Json = False) -> None:
    """List the versions: when each was made, from what, and how many facts came and went."""
    with outcome(as_json=as_json):
        store = table_store(tables)
        found = [_version(store.commit(version)) for version in store.versions()]
        if as_json:
            print_json(found)
            return
        print(f"{'version':>8}  {'time':<25}  {'gained':>12}  {'lost':>12}  by")
        for each in found:
            print(f"{each['version']:>8}  {each['time']:<25}  {each['gained']:>12,}  {each['lost']:>12,}  {each['by']}")


def changes(
    tables: TablesArgument,
    relation: Annotated[str, typer.Argument(help="The relation, or a view.", metavar="RELATION")],
    since: Annotated[int, typer.Option("--since", metavar="VERSION", help="After this version.")] = 0,
    until: Annotated[int | None, typer.Option("--until", metavar="VERSION", help="Up to this one.")] = None,
    as_json: _Json = False,
) -> None:
    """Print what a relation or view gained and lost, version by version."""
    with outcome(as_json=as_json):
        from everlog.cli import display
        from everlog.facts.terms import key_of
        from everlog.pipeline.stored_relations import stored_relation
        from everlog.store.table_folders import decoded_changes

        store = table_store(tables)
        stored = stored_relation(store, relation, until)
        rows = sorted(
            decoded_changes(store, stored.table, since, stored.version),
            key=lambda row: (row[0], row[1], list(map(key_of, row[2]))),
        )
        if as_json:
            found = display.rows_as_data([terms for _, _, terms in rows])
            print_json([
                {"version": version, "weight": weight, "fact": fact}
                for (version, weight, _), fact in zip(rows, found, strict=True)
            ])  # fmt: skip
            return
        for version, weight, terms in rows:
            print(f"{version}\t{weight:+d}\t" + "\t".join(map(str, terms)))


def vacuum(
    tables: TablesArgument,
    keep: Annotated[int, typer.Option("--keep", metavar="N", min=1, help="How many of the last versions stay.")] = 100,
    as_json: _Json = False,
) -> None:
    """Forget old versions, and remove the files that only they needed."""
    with outcome(as_json=as_json):
        versions, files = table_store(tables).vacuum(keep)
        if as_json:
            print_json({"versions": versions, "files": files})
        else:
            print(f"{versions:,} versions forgotten, {files:,} files removed")


def table_store(named: str) -> TableStore:
    """The tables of a pipeline, by its settings or by their folder."""
    from everlog.tables.places import table_place
    from everlog.tables.table_store import TableStore, is_table_folder

    if named.endswith(".toml"):
        from everlog.pipeline.settings import read_settings

        place = read_settings(named).tables
    else:
        place = table_place(named)
    if not is_table_folder(place):
        raise NotFoundError(f"{place}: there are no tables there", hint="everlog pipeline run makes them")
    return TableStore(place)


def _version(commit: Commit) -> dict[str, Any]:
    from everlog.plans.flat_rules import is_auxiliary

    moved = [counts for table, counts in commit.moved.items() if not is_auxiliary(table)]
    return {
        "version": commit.version,
        "time": commit.time,
        "gained": sum(gained for gained, _ in moved),
        "lost": sum(lost for _, lost in moved),
        "by": commit.info.get("by", "an update"),
    }

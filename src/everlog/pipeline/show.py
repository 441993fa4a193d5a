"""What would a pipeline do, without doing it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from everlog.plans.explain import explain_as_data, explain_program
from everlog.tables.table_store import TableStore

if TYPE_CHECKING:
    from everlog.pipeline.settings import Settings


def show_pipeline(settings: Settings) -> str:
    """The plan as text: sources, the program's components, tables, outputs. Starts no Spark."""
    return "\n".join(_lines(settings)) + "\n"


def _lines(settings: Settings) -> Iterator[str]:
    yield f"pipeline {settings.path}, on {settings.master or 'local[*]'}"
    yield ""
    yield f"ingest: {len(settings.sources)} sources, at most {settings.max_rejects:.2%} of their lines malformed"
    for source in settings.sources:
        where = f" -> {source.relation}" if source.relation else f" -> graph {source.graph}" if source.graph else ""
        columns = f" ({', '.join(source.columns or source.types or ())})" if source.columns or source.types else ""
        kind = "" if source.kind == "appends" else f", {source.kind}"
        yield f"  {source.title}, {source.format or 'by extension'}{where}{columns}{kind}"
    if settings.program.facts:
        yield f"  {settings.program_path}: {len(settings.program.facts)} facts"
    yield ""
    last = TableStore(settings.tables).commit()
    yield f"tables: {settings.tables}, version {last.version}"
    for name, state in sorted(last.tables.items()):
        yield f"  {name}({', '.join(state.columns)}): {state.facts:,} rows"
    yield ""
    yield f"materialise: {settings.program_path}"
    yield from (f"  {line}".rstrip() for line in explain_program(settings.program).rstrip().splitlines())
    yield ""
    for view in settings.views:
        yield f"view {view.name}: {view.path or ' '.join(view.query.split())}"
    if settings.views:
        yield ""
    yield f"publish: {len(settings.outputs)} outputs"
    for output in settings.outputs:
        columns = f" ({', '.join(output.columns)})" if output.columns else ""
        what = f"{'changes of ' if output.changes else ''}{output.key}{columns}"
        yield f"  {what} -> {output.path}, {output.kind}{', one file' if output.one_file else ''}"


def show_as_data(settings: Settings) -> dict[str, Any]:
    """The plan as data: what `--json` prints."""
    last = TableStore(settings.tables).commit()
    return {
        "pipeline": str(settings.path),
        "master": settings.master,
        "sources": [
            {
                "path": source.title,
                "format": source.format,
                "relation": source.relation,
                "graph": source.graph,
                "kind": source.kind,
            }
            for source in settings.sources
        ],
        "tables": {
            "folder": str(settings.tables),
            "version": last.version,
            "rows": {name: state.facts for name, state in sorted(last.tables.items())},
        },
        "program": str(settings.program_path),
        "plan": explain_as_data(settings.program),
        "views": {view.name: view.query for view in settings.views},
        "outputs": [
            {
                "view" if output.view else "relation": output.relation,
                "kind": "changes" if output.changes else "facts",
                "path": str(output.path),
                "format": output.kind,
                "single": output.one_file,
                "columns": output.columns,
            }
            for output in settings.outputs
        ],
    }

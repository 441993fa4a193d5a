"""Which views are kept, given those that a pipeline asks for and those that its tables have?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from everlog.pipeline.settings_parts import ViewSettings
from everlog.plans.flat_rules import WindowRule
from everlog.store.snapshots import views_from_data
from everlog.store.view_queries import ViewQuery, view_query
from everlog.tables.commits import Commit


def known_views(commit: Commit) -> Mapping[str, ViewQuery]:
    """The views that a version of tables keeps."""
    return views_from_data(commit.info["definitions"]) if "definitions" in commit.info else {}


def wanted_views(
    known: Mapping[str, ViewQuery], views: Sequence[ViewSettings], prefixes: Mapping[str, str], version: int
) -> dict[str, ViewQuery]:
    """The views as they should be from a version on; those that are there with the same text stay what they are."""
    return {
        view.name: known[view.name]
        if view.name in known and known[view.name].text == view.query
        else view_query(view.name, view.query, prefixes, version)
        for view in views
    }


def only_in_process(view: ViewQuery) -> bool:
    """Is there a part in its query, such as a LIMIT in a subquery, that Spark does not describe?"""
    return any(isinstance(rule, WindowRule) for rule in view.query.rules)

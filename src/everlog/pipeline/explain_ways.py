"""Which way would each component go on Spark, and why? What `everlog plan --engine spark` prints.

Sizes decide in the end (bulk_settings.py); without data files both sides of a threshold are told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from everlog.maintenance.materialise import evaluation_components
from everlog.pipeline.bulk_settings import BulkSettings
from everlog.plans.flat_rules import EvaluatedRule
from everlog.plans.partitioned import partition_rules
from everlog.plans.pivots import NoPivot, Pivot, component_pivot
from everlog.plans.rewrites import rewrite_rules
from everlog.plans.stages import Stage, plan_stages
from everlog.rules.components import Component
from everlog.rules.extents import extent, print_extent
from everlog.rules.names import name_rules
from everlog.rules.syntax import Atom, Program

_DEFAULTS = BulkSettings()


def explain_ways(
    program: Program,
    counts: Mapping[str, int] | None = None,
    settings: BulkSettings = _DEFAULTS,
    *,
    rewrites: bool = True,
) -> Iterator[str]:
    """The stages of a program and the way that each component goes, as text."""
    data = ways_as_data(program, counts, settings, rewrites=rewrites)
    number, few = len(data["components"]), f"{settings.one_task_facts:,}"
    recursive = [each for each in data["components"] if each["recursive"]]
    yield (
        f"{number} components, {len(recursive)} of them recursive; "
        f"{sum(each['pivot'] is not None for each in recursive)} of these can be divided"
    )
    if data["facts"] is None:
        yield f"up to {few} facts: everything in one task, one job; with more:"
    elif data["one_task"]:
        yield f"{data['facts']:,} facts are few: everything in one task, one job; with more than {few}:"
    else:
        yield f"{data['facts']:,} facts are more than {few}, so not in one task:"
    stage = None
    for each in data["components"]:
        if each["stage"] != stage:
            stage = each["stage"]
            yield ""
            yield f"stage {stage}"
        kind = " (recursive)" if each["recursive"] else ""
        yield f"  {', '.join(each['defines'])}{kind}: {each['way']}"
        if each["whole"]:
            yield f"    whole in every part: {', '.join(each['whole'])}"
        if each["why_not"]:
            yield f"    not divided: {each['why_not']}"


def ways_as_data(
    program: Program,
    counts: Mapping[str, int] | None = None,
    settings: BulkSettings = _DEFAULTS,
    *,
    rewrites: bool = True,
) -> dict[str, Any]:
    """The same as data."""
    rules = name_rules(program.rules)
    components = evaluation_components(rewrite_rules(rules, enabled=rewrites).rules)
    stages = plan_stages(components, share=settings.shares)
    facts = None if counts is None else sum(counts.values())
    return {
        "facts": facts,
        "one_task": facts is not None and facts <= settings.one_task_facts,
        "components": [
            {"stage": number, **_component(component, stage, settings, program.prefixes)}
            for number, stage in enumerate(stages, start=1)
            for component in stage.components
        ],
    }


def _component(
    component: Component[EvaluatedRule], stage: Stage, settings: BulkSettings, prefixes: Mapping[str, str]
) -> dict[str, Any]:
    own = component_pivot(component)
    heads = list(dict.fromkeys(head for rule in component.rules for head in rule.heads))
    reason = stage.pivot if isinstance(stage.pivot, NoPivot) else own
    return {
        "defines": list(dict.fromkeys(print_extent(extent(head), prefixes) for head in heads)),
        "rules": list(dict.fromkeys(rule.name for rule in component.rules)),
        "recursive": component.recursive,
        "pivot": own.of(heads, prefixes) if isinstance(own, Pivot) else None,
        "whole": _whole(component, stage, own) if settings.divides(stage) else [],
        "way": _way(component, heads, stage, settings, prefixes),
        "why_not": str(reason) if component.recursive and isinstance(reason, NoPivot) else None,
    }


def _whole(component: Component[EvaluatedRule], stage: Stage, own: Pivot | NoPivot) -> list[str]:
    """The relations that every part must have whole, for this component."""
    pivot = stage.pivot if isinstance(stage.pivot, Pivot) else own
    assert isinstance(pivot, Pivot), "only what has a pivot is divided"
    needs = partition_rules([component], pivot).needs
    return sorted(role.relation for role in needs if role.position is None)


def _way(
    component: Component[EvaluatedRule],
    heads: Sequence[Atom],
    stage: Stage,
    settings: BulkSettings,
    prefixes: Mapping[str, str],
) -> str:
    if settings.divides(stage):
        assert isinstance(stage.pivot, Pivot)
        return f"pivot {stage.pivot.of(heads, prefixes)}"
    if not component.recursive:
        return "frames"
    if settings.way == "rounds":
        return "rounds"
    return f"one task up to {settings.task_facts:,} facts, else rounds"

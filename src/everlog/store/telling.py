"""How does an update say how far it is, and that it is done?"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from everlog.engines.interface import PhaseReport
from everlog.facts.blocks import FactBlock
from everlog.logs import logger
from everlog.maintenance.reports import ComponentReport, Progress
from everlog.progress import Bar
from everlog.store.changes import Change


def log_change(change: Change) -> None:
    """Tell who listens of a version: what has changed, and how that was found out."""
    if logger.isEnabledFor(logging.INFO):
        logger.info("%r in %.1f ms", change, 1000 * change.report.seconds)
        logger.debug("%s", change.report)


def told_blocks(blocks: Iterable[FactBlock], what: str, bar: Bar) -> Iterator[FactBlock]:
    """The blocks of a file, counted as they are read."""
    facts = 0
    for block in blocks:
        yield block
        facts += len(block)
        bar(f"{what}: {facts:,} facts")


def told_components(bar: Bar) -> Progress:
    """What to call when a component is done."""

    def says(done: int, components: int, report: PhaseReport | ComponentReport) -> None:
        bar(f"component {done} of {components}: {report.name}", done / components)

    return says

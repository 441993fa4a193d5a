"""How is a knowledge base shown, in a line and in a notebook?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from everlog.plans.flat_rules import is_auxiliary
from everlog.store.state import State

if TYPE_CHECKING:
    from everlog.store.reading import ReadOnlyKnowledgeBase

_MOST = 50  # relations that a notebook lists


def summary(state: State) -> str:
    """A line: the version, and how much there is. Facts are counted only where that is done in a moment."""
    names = [name for name in state.arities if not is_auxiliary(name)]
    parts = [_count(len(names), "relation")]
    if state.facts.engine.capabilities.maintains:
        reader = state.facts.reader()
        parts.append(_count(sum(reader.count(name) for name in names), "fact"))
    parts.append(_count(len(state.rules), "rule"))
    if state.views:
        parts.append(_count(len(state.views), "view"))
    return f"knowledge base at version {state.version}: {', '.join(parts)}"


def html_summary(kb: ReadOnlyKnowledgeBase) -> str:
    """Every relation with its counts, and the views."""
    from everlog.answers.html import html_table, html_text

    state = kb.state()
    relations = sorted(kb.relations(), key=lambda each: (-each.facts, each.name))
    rows = [
        (each.name, each.arity, each.facts, each.explicit, "rules" if each.defined else "")
        for each in relations[:_MOST]
    ]
    more = f"… {len(relations) - _MOST:,} more relations" if len(relations) > _MOST else ""
    titles = ("relation", "arguments", "facts", "explicit", "defined by")
    shown = html_table(titles, rows, caption=summary(state), below=more)
    views = "\n".join(f"{view.name}: {' '.join(view.text.split())}" for view in state.views.values())
    return shown + (html_text(f"views\n{views}") if views else "")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"

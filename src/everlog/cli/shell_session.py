"""How does a shell take statements, line by line, and answer them?"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from everlog.cli import display
from everlog.cli.shell_commands import COMMANDS, run_command
from everlog.cli.shell_input import Kind, is_complete, kind_of
from everlog.cli.update import print_change

if TYPE_CHECKING:
    from everlog.store.store import KnowledgeBase

KEYWORDS = (
    *("SELECT", "ASK", "CONSTRUCT", "DESCRIBE", "WHERE", "FILTER", "OPTIONAL", "UNION", "MINUS", "BIND", "VALUES"),
    *(
        "DISTINCT",
        "GROUP BY",
        "ORDER BY",
        "LIMIT",
        "OFFSET",
        "PREFIX",
        "INSERT DATA",
        "DELETE DATA",
        "NOT",
        "AGGREGATE",
    ),
)


class Session:
    """The statement that is being typed, and the knowledge base that it is for."""

    def __init__(self, kb: KnowledgeBase, *, timed: bool = False) -> None:
        self.kb, self.over = kb, False
        self._timed = timed  # say how long each statement took
        self._lines: list[str] = []

    @property
    def begun(self) -> bool:
        """Is there a statement that is not complete yet?"""
        return bool(self._lines)

    def forget(self) -> None:
        """Give the statement up that was begun."""
        self._lines.clear()

    def take(self, line: str) -> None:
        """Take a line, and answer the statement that ends with it."""
        if self._lines or line.strip():
            self._lines.append(line)
        if self._lines and (not line.strip() or is_complete("\n".join(self._lines))):
            self.finish()

    def finish(self) -> None:
        """Answer the statement as far as it was typed."""
        text = "\n".join(self._lines)
        self.forget()
        started = time.perf_counter()
        kind = kind_of(text)
        self._answer(kind, text.strip())
        if self._timed and kind not in (Kind.NOTHING, Kind.COMMAND):
            print(f"({1000 * (time.perf_counter() - started):.1f} ms)")

    def _answer(self, kind: Kind, text: str) -> None:
        match kind:
            case Kind.NOTHING:
                pass
            case Kind.COMMAND:
                run_command(self, text)
            case Kind.RULES:
                print_change(self.kb.add_rules(text, name="<shell>"))
            case Kind.UPDATE:
                before = self.kb.version
                self.kb.sparql_update(text)
                for change in self.kb.changes(since=before):
                    print_change(change)
            case Kind.SPARQL | Kind.DATALOG:
                query = text.removesuffix(";") if kind is Kind.SPARQL else text.removeprefix("?-").removesuffix(".")
                answer = self.kb.query(query)
                display.print_answer(query, answer, prefixes=self.kb.program.prefixes, titled=False)

    def completions(self, word: str, line: str) -> list[str]:
        """What a word may become, given the line before and with it."""
        before = line[: len(line) - len(word)].strip()
        if not before and word.startswith("."):
            return [name for name in COMMANDS if name.startswith(word)]
        program = self.kb.program
        if before == ".remove":
            known = [rule.name or "" for rule in program.rules]
        elif before in (".view", ".drop"):
            known = [view.name for view in self.kb.views()]
        elif before == ".facts":
            known = [each.name for each in self.kb.relations()]
        else:
            known = [
                *(each.name for each in self.kb.relations()),
                *(f"{prefix}:" for prefix in program.prefixes),
                *KEYWORDS,
            ]
        return [each for each in known if each.lower().startswith(word.lower())]

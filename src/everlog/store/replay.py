"""What is left in the end of a log's updates?

Of each fact only the last word counts: inserted last, it is explicit; deleted last, it is not. So records are collected
as they come, and each relation is settled once, with arrays. Prefixes and arities have their last value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from everlog.facts.weighted import WeightedFacts
from everlog.rules.syntax import Program
from everlog.store.given_facts import EncodedFacts
from everlog.store.records import Record


class Replay:
    """Updates read so far, and what they come to."""

    def __init__(self) -> None:
        self.version = 0
        self.relations: dict[str, int] = {}
        self.views: dict[str, tuple[str, dict[str, str]]] = {}  # texts by name, with the prefixes of their time
        self._prefixes: dict[str, str] = {}
        self._declarations: dict[str, str] = {}  # texts by relation
        self._rules: dict[str, str] = {}  # texts by name, in the order in which they came
        self._facts: dict[tuple[str, int], list[WeightedFacts]] = {}  # by relation and arity

    def add(self, record: Record) -> None:
        """The next update of the log."""
        if record.version <= self.version:
            raise ValueError(f"version {record.version} comes after {self.version}")
        self.version = record.version
        self.relations.update(record.relations)
        self._prefixes.update(record.prefixes)
        self._declarations.update(record.declarations)
        for name in record.remove_rules:
            del self._rules[name]
        self._rules.update(record.add_rules)
        for name, text in record.views.items():
            self.views.pop(name, None)
            if text is not None:
                self.views[name] = text, dict(self._prefixes)
        for part in (record.reshaped, record.explicit):
            for name, facts in part.items():
                self._facts.setdefault((name, facts.arity), []).append(facts)

    def program(self) -> Program:
        """The rules in force, all prefixes and declarations."""
        return parse_rules([*self._declarations.values(), *self._rules.values()], self._prefixes, {})

    def facts(self) -> list[EncodedFacts]:
        """The explicit facts, relation by relation."""
        settled = [(relation, _settle(parts)) for (relation, _), parts in self._facts.items()]
        return [EncodedFacts(relation, facts) for relation, facts in settled if facts.rows]


def parse_rules(texts: Iterable[str], new: Mapping[str, str], known: Mapping[str, str]) -> Program:
    """A program from the texts of rules and declarations, with the prefixes that came with them."""
    from everlog.rules.parser import parse_program

    read = parse_program("\n".join(texts), "<rules>", {**known, **new})
    return Program(rules=read.rules, prefixes=new, declarations=read.declarations)


def _settle(parts: Sequence[WeightedFacts]) -> WeightedFacts:
    """The facts whose last mention is an insertion."""
    total = WeightedFacts.concatenated(parts)
    if not total.arity:
        return total.chosen(np.arange(total.rows) == total.rows - 1).gained()
    inserted = total.weights > 0
    if inserted.all():
        return total
    order = np.lexsort(total.columns)  # stable: mentions of one fact stay in the order of the log
    ends = np.ones(len(order), bool)  # where a run of equal facts ends
    ends[:-1] = np.logical_or.reduce([column[order[1:]] != column[order[:-1]] for column in total.columns])
    last = np.sort(order[ends])
    return total.chosen(last[inserted[last]])

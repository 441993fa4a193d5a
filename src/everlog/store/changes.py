"""What did an update change?

A change is a weighted set of facts with a version: gained facts count +1, lost ones -1. An update returns it, and
whoever follows the knowledge base receives it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from everlog.dictionary.dictionary import Dictionary
from everlog.engines.interface import PhaseReport
from everlog.errors import NotFoundError
from everlog.facts.terms import Term
from everlog.facts.weighted import WeightedFacts
from everlog.maintenance.reports import ComponentReport
from everlog.rules.affected import affected_names
from everlog.rules.syntax import Rule
from everlog.store.rows import Rows, column_names

if TYPE_CHECKING:
    import pyarrow as pa

    from everlog.ontologies.ontology import Unused

_WEIGHT = "weight"
_COUNTS = ("inserted", "deleted", "already_there", "not_there", "skipped", "marked_explicit", "marked_implicit")
_FIRST = 3  # facts gained and lost of each relation that a notebook shows


@dataclass(repr=False)
class Report:
    """What the update took, component by component, and what of it had no effect. Printed, it has a line for each.

    Attributes:
        phases: How each component that was visited was brought up to date, in order.
        strategy: The strategy that was asked for.
        inserted: Facts that became explicit.
        deleted: Facts that are no longer explicit.
        already_there: Inserts without effect.
        not_there: Deletes without effect.
        skipped: Rows that were left out because a value is missing.
        marked_explicit: Facts that the next update of a stream takes away, seen while this one worked.
        marked_implicit: Facts that may go with them.
        seconds: How long it took.
        rules: The rules before and after, where they have changed.
        unused: Axioms of an ontology, or parts of them, that no rule can say.
        rebuilt: Why everything was derived again, where a change of rules came to that.
    """

    phases: Sequence[PhaseReport | ComponentReport] = ()
    strategy: str = "rematerialise"
    inserted: int = 0
    deleted: int = 0
    already_there: int = 0
    not_there: int = 0
    skipped: int = 0
    marked_explicit: int = 0
    marked_implicit: int = 0
    seconds: float = 0.0
    rules: tuple[Sequence[Rule], Sequence[Rule]] = ((), ())
    unused: Sequence[Unused] = ()
    rebuilt: str = ""

    @classmethod
    def together(cls, reports: Sequence[Report]) -> Report:
        """One report for updates that were made one after the other."""
        total = cls([phase for report in reports for phase in report.phases], reports[-1].strategy)
        for report in reports:
            for count in _COUNTS:
                setattr(total, count, getattr(total, count) + getattr(report, count))
            total.seconds += report.seconds
            total.rebuilt = total.rebuilt or report.rebuilt
        ruled = [report.rules for report in reports if report.rules != ((), ())]
        if ruled:
            total.rules = ruled[0][0], ruled[-1][1]
        return total

    @property
    def directly_affected(self) -> Sequence[str]:
        """Components that have gained, lost, merged or split rules, by their names, in the order of evaluation."""
        return self._affected[0]

    @property
    def indirectly_affected(self) -> Sequence[str]:
        """Components downstream of those, and of rules that went with their whole component."""
        return self._affected[1]

    @cached_property
    def _affected(self) -> tuple[Sequence[str], Sequence[str]]:
        return affected_names(*self.rules)  # found when somebody asks: an update need not wait for it

    @property
    def rule_applications(self) -> int:
        """How many rule instances were found and looked at."""
        return sum(phase.rule_applications for phase in self.phases)

    @property
    def rounds(self) -> int:
        """Rounds of all fixpoints together."""
        return sum(phase.rounds for phase in self.phases)

    def strategies(self) -> list[str]:
        """By which strategies the components that were touched were kept true."""
        return [phase.strategy if isinstance(phase, ComponentReport) else self.strategy for phase in self.phases]

    def as_data(self) -> dict[str, Any]:
        """The report for programs: what `--json` prints."""
        return {
            "strategy": self.strategy,
            "inserted": self.inserted,
            "deleted": self.deleted,
            "already_there": self.already_there,
            "not_there": self.not_there,
            "skipped": self.skipped,
            "rule_applications": self.rule_applications,
            "rounds": self.rounds,
            "marked_explicit": self.marked_explicit,
            "marked_implicit": self.marked_implicit,
            "seconds": round(self.seconds, 6),
            "directly_affected": list(self.directly_affected),
            "indirectly_affected": list(self.indirectly_affected),
            "rebuilt": self.rebuilt,
            "components": [phase.as_data() for phase in self.phases],
        }

    def __str__(self) -> str:
        sum_up = (
            f"{self.strategy}: {self.inserted:,} facts inserted, {self.deleted:,} deleted; {self.rule_applications:,}"
            f" rule applications in {self.rounds:,} rounds, {1000 * self.seconds:.2f} ms"
        )
        affected = []
        if self.directly_affected or self.indirectly_affected:
            direct, indirect = "; ".join(self.directly_affected), "; ".join(self.indirectly_affected)
            affected = [f"  directly affected: {direct or 'none'}", f"  indirectly affected: {indirect or 'none'}"]
        again = [f"  all derived again: {self.rebuilt}"] if self.rebuilt else []
        return "\n".join([sum_up, *affected, *again, *(f"  {phase}" for phase in self.phases)])

    def __repr__(self) -> str:
        return f"<{str(self).splitlines()[0]}>"

    def _repr_html_(self) -> str:
        from everlog.answers.html import html_table

        titles = ("component", "strategy", "because", "rounds", "rule applications", "gained", "lost", "ms")
        rows = [
            (
                phase.name,
                phase.strategy if isinstance(phase, ComponentReport) else self.strategy,
                phase.reason if isinstance(phase, ComponentReport) else "",
                phase.rounds,
                phase.rule_applications,
                sum(phase.gained.values()),
                sum(phase.lost.values()) if isinstance(phase, ComponentReport) else 0,
                1000 * phase.seconds,
            )
            for phase in self.phases
        ]
        said = str(self).splitlines()
        return html_table(
            titles, rows, caption=said[0], below=f"all derived again: {self.rebuilt}" * bool(self.rebuilt)
        )


class Change:
    """Facts gained and lost between two versions; true if there are any.

    Attributes:
        version: The version that it led to.
        updates: How many updates it is the net effect of; more than one where a stream joins those that wait.
        report: What it took.
    """

    def __init__(
        self,
        version: int,
        facts: Mapping[str, WeightedFacts],
        dictionary: Dictionary,
        report: Report | None = None,
        *,
        updates: int = 1,
        reshaped: Mapping[str, WeightedFacts] | None = None,
        columns: Callable[[str, int], Sequence[str]] = lambda _, arity: column_names(arity),
    ) -> None:
        """
        Args:
            reshaped: What was lost of relations that have another arity now.
            columns: What the columns of a relation with so many arguments are called.
        """
        self._columns = columns
        self.version = version
        self.updates = updates
        self.report = report or Report()
        self._facts = {name: change for name, change in facts.items() if change.rows}
        self._reshaped = dict(reshaped or {})
        self._dictionary = dictionary

    def relations(self) -> list[str]:
        """The relations that have changed, by name."""
        return sorted({*self._facts, *self._reshaped})

    def facts(self, relation: str) -> WeightedFacts | None:
        """What has changed in a relation as columns of ids: 1 for what was gained, -1 for what was lost."""
        return self._facts.get(relation)

    def gained(self, relation: str) -> list[tuple[Term, ...]]:
        """Facts of a relation that were not there before, in order."""
        return self._sorted(self._facts.get(relation), 1)

    def lost(self, relation: str) -> list[tuple[Term, ...]]:
        """Facts of a relation that are no longer there, in order."""
        return self._sorted(self._reshaped.get(relation), -1) + self._sorted(self._facts.get(relation), -1)

    def _sorted(self, facts: WeightedFacts | None, sign: int) -> list[tuple[Term, ...]]:
        if facts is None:
            return []
        return self._rows(facts, sign).sorted()

    def _rows(self, facts: WeightedFacts, sign: int) -> Rows:
        chosen = facts.chosen(facts.weights * sign > 0)
        return Rows(self._dictionary, column_names(facts.arity), chosen.columns, chosen.rows)

    def arrow(self, relation: str | None = None) -> pa.Table:
        """What has changed as an Arrow table.

        Args:
            relation: Whose facts: its columns, and `weight`, 1 for what was gained and -1 for what was lost. Without
                one the facts of all relations, as `relation`, `weight` and `terms`, the texts of their terms.
        """
        import pyarrow as pa

        from everlog.facts.arrays import text_of_key

        if relation is not None:
            facts = self._facts.get(relation) or self._reshaped.get(relation)
            if facts is None:
                raise NotFoundError.among("changed relation", relation, self.relations())
            names = self._columns(relation, facts.arity)
            table = Rows(self._dictionary, names, facts.columns, facts.rows).arrow()
            return table.append_column(_WEIGHT, pa.array(facts.weights))
        parts: list[tuple[str, int, list[str]]] = []
        for name in self.relations():
            for facts in (part[name] for part in (self._reshaped, self._facts) if name in part):
                keys = Rows(self._dictionary, column_names(facts.arity), facts.columns, facts.rows).keys()
                rows = zip(*keys, strict=True) if keys else [()] * facts.rows
                pairs = zip(rows, facts.weights.tolist(), strict=True)
                parts += [(name, weight, list(map(text_of_key, row))) for row, weight in pairs]
        types = {"relation": pa.string(), _WEIGHT: pa.int64(), "terms": pa.list_(pa.string())}
        return pa.table(
            [pa.array([part[place] for part in parts], type_) for place, type_ in enumerate(types.values())],
            names=list(types),
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow PyCapsule interface: the facts of all relations, as `arrow` gives them."""
        return self.arrow().__arrow_c_stream__(requested_schema)

    def counts(self) -> dict[str, tuple[int, int]]:
        """How many facts each changed relation gained and lost, by name."""
        found = {}
        for name in self.relations():
            weights = [part[name].weights for part in (self._facts, self._reshaped) if name in part]
            found[name] = sum(int((w > 0).sum()) for w in weights), sum(int((w < 0).sum()) for w in weights)
        return found

    def __bool__(self) -> bool:
        return bool(self._facts or self._reshaped)

    def __repr__(self) -> str:
        parts = [f"{name} +{gained:,} -{lost:,}" for name, (gained, lost) in self.counts().items()]
        return f"<Change to version {self.version}: {', '.join(parts) or 'nothing'}>"

    def _repr_html_(self) -> str:
        from everlog.answers.html import html_table
        from everlog.answers.showing import shown

        rows = []
        for name, (gained, lost) in self.counts().items():
            first = [(sign, row) for sign in (1, -1) for row in self._some(name, sign, _FIRST)]
            texts = [f"{'+' if sign > 0 else '−'} ({', '.join(map(shown, row))})" for sign, row in first]
            more = gained + lost - len(first)
            rows.append((name, gained, lost, "  ".join(texts) + (f"  … {more:,} more" if more else "")))
        titles = ("relation", "gained", "lost", "the first ones")
        return html_table(titles, rows, caption=f"Change to version {self.version}" + ("" if rows else ": nothing"))

    def _some(self, relation: str, sign: int, number: int) -> list[tuple[Term, ...]]:
        facts = self._facts.get(relation)
        return [] if facts is None else self._rows(facts, sign).first(number)

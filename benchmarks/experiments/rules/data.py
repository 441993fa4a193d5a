"""What do rules change on? The rule sets and data sets of ZodiacEdge, at any size.

    Weiqin Xu, Olivier Curé. ZodiacEdge: a Datalog Engine With Incremental Rule Set Maintenance. Appendices A to C.

There is no chance in the data sets. DS1 is a chain of turbines, each with the same temperature; DS2 is four chains laid
end to end. With chains of 200 the number of derived facts equals their Table 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from everlog.store.opening import open as open_kb
from everlog.store.store import KnowledgeBase

Row = tuple[str, str | int]
Facts = dict[str, list[Row]]

NEIGHBOUR, TEMPERATURE = "hasNeighbour", "hasAirTemperatureMesurement"  # the paper's spelling

RS1 = {
    "r1": f"{NEIGHBOUR}(X, Y) :- {NEIGHBOUR}(Y, X).",
    "r2": f"{NEIGHBOUR}(X, Y) :- {NEIGHBOUR}(X, Z), {NEIGHBOUR}(Z, Y), X != Y.",
    "r3": "hasNeighbourAirTemperatureMeasurementNumber(X, Z) :- "
    f"AGGREGATE({NEIGHBOUR}(X, Y), {TEMPERATURE}(Y, T) ON X BIND COUNT(T) AS Z).",
    "r4": "hasMedianAirTemperatureMeasurementNearby(X, Z) :- "
    f"AGGREGATE({NEIGHBOUR}(X, Y), {TEMPERATURE}(Y, T) ON X BIND MEDIAN(T) AS Z).",
    "r5": "moreThan3Neighbours(X) :- hasNeighbourAirTemperatureMeasurementNumber(X, N), N >= 3.",
    "r6": "sensorAnomalyWindTurbine(X) :- hasMedianAirTemperatureMeasurementNearby(X, M), moreThan3Neighbours(X), "
    f"{TEMPERATURE}(X, T), BIND(abs(T - M) AS D), D > 5.",
}

RS2 = {
    "r1": "p11(X, Y) :- p1(X, Y).",
    "r2": "p11(X, Y) :- p11(Y, X).",
    "r3": "p11(X, Y) :- p11(X, Z), p11(Z, Y), X != Y.",
    "r4": "p12(X, Y) :- p2(X, Y).",
    "r5": "p12(X, Y) :- p12(X, Z), p12(Z, Y), X != Y.",
    "r6": "p13(X, Y) :- p3(X, Y).",
    "r7": "p14(X, Y) :- p13(X, Y).",
    "r8": "p13(X, Y) :- p14(Y, X).",
    "r9": "p20(X, Y) :- p11(X, Y).",
    "r10": "p20(X, Y) :- p12(X, Y).",
    "r11": "p20(X, Y) :- p13(X, Y).",
    "r12": "p21(X, Y) :- p20(X, Y).",
    "r13": "p22(X, Y) :- p21(X, Y).",
    "r14": "p20(X, Y) :- p22(X, Y).",
    "r15": "p25(X, Z) :- p11(X, Y), p12(Y, Z), not p5(Y, Z).",
    "r16": "p26(X, Z) :- p12(X, Y), p13(Z, Y), not p5(Z, Y).",
    "r17": "p30(X, Z) :- p22(X, Y), p21(Y, Z).",
    "r18": "p31(X, Y) :- p25(X, Y), p26(Y, Z).",
}

RS3 = RS2 | {"r10": "p20(X, Y) :- p12(X, Y), not p13(Y, Z)."}

COMBINATIONS = (("r10", "r15", "r17"), ("r10", "r15", "r18"))  # that section 6.2.2 adds and removes at once


def turbine(number: int) -> str:
    return f"windTurbine{number}"


def _chain(first: int, edges: int) -> list[Row]:
    return [(turbine(number), turbine(number + 1)) for number in range(first, first + edges)]


def turbines(first: int, count: int, *, after: int | None = None) -> Facts:
    """DS1: a chain of turbines, joined to the one before it if there is one.

    >>> {relation: len(rows) for relation, rows in turbines(1, 50).items()}
    {'hasNeighbour': 49, 'hasAirTemperatureMesurement': 50}
    >>> turbines(3, 1, after=2)
    {'hasNeighbour': [('windTurbine2', 'windTurbine3')], 'hasAirTemperatureMesurement': [('windTurbine3', 25)]}
    """
    edges = _chain(first, count - 1) if after is None else _chain(after, count)
    return {NEIGHBOUR: edges, TEMPERATURE: [(turbine(number), 25) for number in range(first, first + count)]}


def four_chains(width: int) -> Facts:
    """DS2: p1 to p4, each a chain that begins where the one before ends.

    >>> four_chains(2)["p2"]
    [('windTurbine2', 'windTurbine3'), ('windTurbine3', 'windTurbine4')]
    """
    return {f"p{number + 1}": _chain(number * width, width) for number in range(4)}


@dataclass(frozen=True)
class RuleSet:
    """Rules by name, with the facts they are run on."""

    name: str
    rules: Mapping[str, str]
    facts: Facts
    derived: int | None = None  # what the paper's Table 1 says, where the size is the paper's
    rewrites: bool = True

    def text(self, names: Iterable[str]) -> str:
        """Some of the rules, as a user writes them."""
        return "\n".join(f"{name}: {self.rules[name]}" for name in names)

    def without(self, names: Collection[str]) -> RuleSet:
        """The same with fewer rules."""
        return replace(self, rules={name: rule for name, rule in self.rules.items() if name not in names}, derived=None)

    def load(self) -> KnowledgeBase:
        """The facts, and no rules yet."""
        kb = open_kb(rewrites=self.rewrites)
        kb.update(insert=self.facts)
        return kb

    def open(self) -> KnowledgeBase:
        kb = self.load()
        kb.add_rules(self.text(self.rules))
        return kb


def rs1(count: int, *, rewrites: bool = True) -> RuleSet:
    return RuleSet("RS1", RS1, turbines(1, count), rewrites=rewrites)


def rs2(width: int) -> RuleSet:
    return RuleSet("RS2", RS2, four_chains(width), {50: 27_325, 200: 424_300}.get(width))


def rs3(width: int) -> RuleSet:
    return RuleSet("RS3", RS3, four_chains(width), {50: 27_026, 200: 423_101}.get(width))

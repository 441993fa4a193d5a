"""Do the rule sets of the ZodiacEdge paper (appendices A, B and C) read and pass the checks as printed?"""

from __future__ import annotations

import pytest

from everlog.rules.checks import check_program
from everlog.rules.parser import parse_program

RS1 = """
r1: hasNeighbour(X, Y) :- hasNeighbour(Y, X).
r2: hasNeighbour(X, Y) :- hasNeighbour(X, Z) ∧ hasNeighbour(Z, Y) ∧ COMP(X, !=, Y) .
r3: hasNeighbourAirTemperatureMeasurementNumber(X, Z) :- aggregate(hasNeighbour(X, Y)
    ∧ hasAirTemperatureMesurement(Y, T)) on X with count(T) as Z .
r4: hasMedianAirTemperatureMeasurementNearby(X, Z) :- aggregate(hasNeighbour(X, Y)
    ∧ hasAirTemperatureMesurement(Y, T)) on X with Med(T) as Z .
r5: MoreThan3Neighbours(X) :- hasNeighbourAirTemperatureMeasurementNumber(X, N) ∧ Comp(N, >=, 3) .
r6: SensorAnomalyWindTurbine(X) :- hasMedianAirTemperatureMeasurementNearby(X, M) ∧ MoreThan3Neighbours(X)
    ∧ hasAirTemperatureMesurement(X, T) and bind(abs(T-M) as D) ∧ Comp(D,>,5).
"""
RS2 = """
r1: p11(X, Y) :- p1(X, Y).
r2: p11(X, Y) :- p11(Y, X).
r3: p11(X, Y) :- p11(X, Z) ∧ p11(Z, Y) ∧ COMP(X,!=, Y).
r4: p12(X, Y) :- p2(X, Y).
r5: p12(X, Y) :- p12(X, Z) ∧ p12(Z, Y) ∧ COMP(X,!=, Y).
r6: p13(X, Y) :- p3(X, Y).
r7: p14(X, Y) :- p13(X, Y).
r8: p13(X, Y) :- p14(Y, X).
r9: p20(X, Y) :- p11(X, Y).
r10: p20(X, Y) :- p12(X, Y).
r11: p20(X, Y) := p13(X, Y).
r12: p21(X, Y) :- p20(X, Y).
r13: p22(X, Y) :- p21(X, Y).
r14: p20(X, Y) := p22(X, Y).
r15: p25(X, Z) :- p11(X, Y) ∧ p12(Y, Z) ∧ not p5(Y, Z).
r16: p26(X, Z) := p12(X, Y) ∧ p13(Z, Y) ∧ not p5(Z, Y).
r17: p30(X, Z) := p22(X, Y) ∧ p21(Y, Z).
r18: p31(X, Y) := p25(X, Y) ∧ p26(Y, Z).
"""
RS3 = RS2.replace("r10: p20(X, Y) :- p12(X, Y).", "r10_new: p20(X, Y) :- p12(X, Y) ∧ not p13(Y, Z).")


@pytest.mark.parametrize(("text", "count"), [(RS1, 6), (RS2, 18), (RS3, 18)])
def test_rule_set(text: str, count: int) -> None:
    program = parse_program(text)
    assert len(program.rules) == count
    assert all(rule.name and rule.name.startswith("r") for rule in program.rules)
    assert check_program(program) == []

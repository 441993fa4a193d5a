"""ZodiacEdge's rule sets 1, 2 and 3 (Xu and Curé, appendices A to C) on the data sets of the paper."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable

import pyarrow as pa

from benchmarks.datasets.shared_data import shared_data
from benchmarks.workload import Tables, Target, Workload, as_asp, closure_sql, rules_of


def reader(file: str, empty: tuple[str, ...] = ()) -> Callable[[float], Tables]:
    """Reads JSON lines of facts; relations named in `empty` are there without facts."""

    def data(_scale: float) -> Tables:
        rows: dict[str, list[list[str | int]]] = {}
        with gzip.open(shared_data("zodiac", file), "rt", encoding="utf-8") as lines:
            for relation, *terms in map(json.loads, lines):
                rows.setdefault(relation, []).append(terms)
        tables = {
            name: pa.table({"x": [r[0] for r in facts], "y": [r[1] for r in facts]}) for name, facts in rows.items()
        }
        nothing = pa.table({"x": pa.array([], pa.string()), "y": pa.array([], pa.string())})
        return tables | dict.fromkeys(empty, nothing)

    return data


def symmetric(relation: str) -> str:
    return f"SELECT x, y FROM {relation} UNION SELECT y, x FROM {relation}"


NEARBY = "FROM hasNeighbour n JOIN given.hasAirTemperatureMesurement t ON n.y = t.x GROUP BY n.x"

RS1_SQL = (
    closure_sql(symmetric("given.hasNeighbour"), "hasNeighbour", guard="c.x <> b.y"),
    f"CREATE TABLE hasNeighbourAirTemperatureMeasurementNumber AS SELECT n.x, count(t.y) AS y {NEARBY}",
    f"CREATE TABLE hasMedianAirTemperatureMeasurementNearby AS SELECT n.x, median(t.y) AS y {NEARBY}",
    "CREATE TABLE moreThan3Neighbours AS SELECT x FROM hasNeighbourAirTemperatureMeasurementNumber WHERE y >= 3",
    """CREATE TABLE sensorAnomalyWindTurbine AS SELECT DISTINCT m.x
        FROM hasMedianAirTemperatureMeasurementNearby m JOIN given.hasAirTemperatureMesurement t ON m.x = t.x
        SEMI JOIN moreThan3Neighbours o ON o.x = m.x WHERE abs(t.y - m.y) > 5""",
)


def rs2_sql(r10: str) -> tuple[str, ...]:
    """The eighteen rules in an order that needs recursion in two of them only."""
    return (
        closure_sql(symmetric("given.p1"), "p11", guard="c.x <> b.y"),
        closure_sql("SELECT x, y FROM given.p2", "p12", guard="c.x <> b.y"),
        f"CREATE TABLE p13 AS {symmetric('given.p3')}",
        "CREATE TABLE p14 AS SELECT x, y FROM p13",
        f"CREATE TABLE p20 AS SELECT x, y FROM p11 UNION {r10} UNION SELECT x, y FROM p13",
        "CREATE TABLE p21 AS SELECT x, y FROM p20",
        "CREATE TABLE p22 AS SELECT x, y FROM p21",
        """CREATE TABLE p25 AS SELECT DISTINCT a.x, b.y FROM p11 a JOIN p12 b ON a.y = b.x
            ANTI JOIN given.p5 n ON n.x = b.x AND n.y = b.y""",
        """CREATE TABLE p26 AS SELECT DISTINCT a.x, b.x AS y FROM p12 a JOIN p13 b ON a.y = b.y
            ANTI JOIN given.p5 n ON n.x = b.x AND n.y = b.y""",
        "CREATE TABLE p30 AS SELECT DISTINCT a.x, b.y FROM p22 a JOIN p21 b ON a.y = b.x",
        "CREATE TABLE p31 AS SELECT DISTINCT a.x, a.y FROM p25 a SEMI JOIN p26 b ON a.y = b.x",
    )


def rs1(n: int) -> Workload:
    return Workload(
        name="rs1",
        title=f"ZodiacEdge RS1, {n} turbines",
        data=reader(f"ds1_n{n}.jsonl.gz"),
        counts={
            "hasNeighbour": n * (n - 1),
            "hasNeighbourAirTemperatureMeasurementNumber": n,
            "hasMedianAirTemperatureMeasurementNearby": n,
            "moreThan3Neighbours": n,
            "sensorAnomalyWindTurbine": 0,
        },
        sql=RS1_SQL,
        sql_rewritten=True,
        why_no_asp="clingo has no median",
    )


def _shared_counts(w: int) -> dict[str, int]:
    return {
        "p11": w * (w + 1),
        "p12": w * (w + 1) // 2,
        "p13": 2 * w,
        "p14": 2 * w,
        "p25": w * w,
        "p26": w,
        "p31": w * (w - 1),
    }


def rs2(w: int) -> Workload:
    p20 = w * (w + 1) * 3 // 2 + 2 * w
    rest = {200: {"p30": 101_100}, 50: {"p30": 6_525}}[w]
    return Workload(
        name="rs2",
        title=f"ZodiacEdge RS2, chains of {w}",
        data=reader(f"ds2_w{w}.jsonl.gz", empty=("p5",)),
        counts=_shared_counts(w) | {"p20": p20, "p21": p20, "p22": p20} | rest,
        sql=rs2_sql("SELECT x, y FROM p12"),
        sql_rewritten=True,
        asp=as_asp(rules_of("rs2")),
        target=Target(seconds=1.2),
    )


def rs3(w: int) -> Workload:
    p20 = w * (w + 1) * 3 // 2 + 2 * w - w
    rest = {200: {"p30": 100_501}, 50: {"p30": 6_376}}[w]
    return Workload(
        name="rs3",
        title=f"ZodiacEdge RS3, chains of {w}",
        data=reader(f"ds2_w{w}.jsonl.gz", empty=("p5",)),
        counts=_shared_counts(w) | {"p20": p20, "p21": p20, "p22": p20} | rest,
        sql=rs2_sql("SELECT a.x, a.y FROM p12 a ANTI JOIN p13 n ON n.x = a.y"),
        sql_rewritten=True,
        asp=as_asp(rules_of("rs3")).replace("not p13(Y, Z)", "not p13(Y, _)"),
    )


RS1, RS2, RS3 = rs1(400), rs2(200), rs3(200)

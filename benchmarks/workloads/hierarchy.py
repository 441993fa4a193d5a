"""A class and property hierarchy over 200,000 typed instances: RDFS over RDF, 2 M derived triples."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchmarks.workload import Tables, Target, Workload

INSTANCES, CLASSES, PROPERTIES, SEED = 200_000, 1_000, 40, 3
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
TYPE, SUBCLASS, SUBPROPERTY = f"<{RDF}type>", f"<{RDFS}subClassOf>", f"<{RDFS}subPropertyOf>"
DOMAIN, RANGE = f"<{RDFS}domain>", f"<{RDFS}range>"


def tree(nodes: int, lowest: float, random: np.random.RandomState) -> np.ndarray:
    """A parent for each node but the first, from `lowest` times its number up: the higher, the deeper the tree."""
    child = np.arange(1, nodes)
    least = np.floor(child * lowest)
    parent: np.ndarray = (least + random.random_sample(nodes - 1) * (child - least)).astype(np.int64)
    return parent


def names(prefix: str, count: int) -> np.ndarray:
    return np.array([f"<http://example.org/{prefix}{i}>" for i in range(count)], dtype=object)


def data(scale: float) -> Tables:
    """The schema stays as it is; instances, and links between them (one for four instances), grow with the scale."""
    random = np.random.RandomState(SEED)
    instances = int(INSTANCES * scale)
    links = instances // 4
    instance, class_, property_ = names("i", instances), names("C", CLASSES), names("p", PROPERTIES)
    stated = property_[::8]  # every eighth property has a domain and a range, of the upper classes
    parts = [
        (class_[1:], SUBCLASS, class_[tree(CLASSES, 1 / 12, random)]),
        (property_[1:], SUBPROPERTY, property_[tree(PROPERTIES, 0, random)]),
        (stated, DOMAIN, class_[random.randint(0, CLASSES // 10, size=len(stated))]),
        (stated, RANGE, class_[random.randint(0, CLASSES // 10, size=len(stated))]),
        (instance, TYPE, class_[random.randint(0, CLASSES, size=instances)]),
        (
            instance[random.randint(0, instances, size=links)],
            property_[random.randint(0, PROPERTIES, size=links)],
            instance[random.randint(0, instances, size=links)],
        ),
    ]
    subject = np.concatenate([s for s, _, _ in parts])
    predicate = np.concatenate([p if isinstance(p, np.ndarray) else np.full(len(s), p, object) for s, p, _ in parts])
    object_ = np.concatenate([o for _, _, o in parts])
    return {"triple": pa.table({"s": subject, "p": predicate, "o": object_}).group_by(["s", "p", "o"]).aggregate([])}


def _transitive(predicate: str, table: str) -> str:
    """A hierarchy is small: its closure by plain recursion."""
    return f"""CREATE TABLE {table} AS
        WITH RECURSIVE up(x, y) AS (SELECT s, o FROM given.triple WHERE p = {{{predicate}}}
            UNION SELECT up.x, t.o FROM up JOIN given.triple t ON t.s = up.y AND t.p = {{{predicate}}})
        SELECT x, y FROM up"""


SQL = (
    _transitive(SUBCLASS, "superclass"),
    _transitive(SUBPROPERTY, "superproperty"),
    # Links under all their properties. Nothing is a subproperty of the four words of the schema.
    """CREATE TABLE link AS SELECT s, p, o FROM given.triple
        UNION SELECT t.s, u.y, t.o FROM given.triple t JOIN superproperty u ON t.p = u.x""",
    f"""CREATE TABLE typed AS SELECT s, o FROM given.triple WHERE p = {{{TYPE}}}
        UNION SELECT l.s, d.o FROM link l JOIN given.triple d ON d.p = {{{DOMAIN}}} AND d.s = l.p
        UNION SELECT l.o, d.o FROM link l JOIN given.triple d ON d.p = {{{RANGE}}} AND d.s = l.p""",
    f"""CREATE TABLE triple AS SELECT s, p, o FROM link
        UNION SELECT x, {{{SUBCLASS}}}, y FROM superclass
        UNION SELECT x, {{{SUBPROPERTY}}}, y FROM superproperty
        UNION (SELECT s, {{{TYPE}}}, o FROM typed
               UNION SELECT t.s, {{{TYPE}}}, c.y FROM typed t JOIN superclass c ON t.o = c.x)""",
)

WORKLOAD = Workload(
    name="hierarchy",
    title="class and property hierarchy, 200,000 instances",
    data=data,
    counts={"triple": 2_277_523},  # 251,048 of them given
    derivations=8_975_113,
    sql=SQL,
    sql_rewritten=True,
    asp=f"""
        triple(C, "{SUBCLASS}", E) :- triple(C, "{SUBCLASS}", D), triple(D, "{SUBCLASS}", E).
        triple(X, "{TYPE}", D) :- triple(X, "{TYPE}", C), triple(C, "{SUBCLASS}", D).
        triple(P, "{SUBPROPERTY}", R) :- triple(P, "{SUBPROPERTY}", Q), triple(Q, "{SUBPROPERTY}", R).
        triple(X, Q, Y) :- triple(X, P, Y), triple(P, "{SUBPROPERTY}", Q).
        triple(X, "{TYPE}", C) :- triple(X, P, Y), triple(P, "{DOMAIN}", C).
        triple(Y, "{TYPE}", C) :- triple(X, P, Y), triple(P, "{RANGE}", C).
    """,
    scales=True,
    tiny=0.005,
    target=Target(seconds=0.8),
)

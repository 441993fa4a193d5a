"""What is in the benchmark's graph? People of companies: who knows and who reports to whom.

Ten triples a person: a name, an age, six acquaintances, a superior (the head of a company has its address instead) and
a town. Companies have one size, so that ten times the triples make ten times the facts that rules derive.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from benchmarks.datasets.ntriples import Numbers, joined, lines

COMPANY = 1_111  # a tree with ten reports for each superior, and three steps from the bottom to the top
TRIPLES_PER_PERSON = 10

RULES = """\
PREFIX : <http://example.org/>
above(?x, ?y) :- :reportsTo[?x, ?y].
above(?x, ?z) :- above(?x, ?y), :reportsTo[?y, ?z].
friend(?x, ?y) :- :knows[?x, ?y], :knows[?y, ?x].
friends(?x, ?n) :- AGGREGATE(friend(?x, ?y) ON ?x BIND COUNT(?y) AS ?n).
seniorFriend(?x, ?y) :- friend(?x, ?y), :age[?x, ?a], :age[?y, ?b], ?b > ?a.
"""
OUTPUTS = {"above": "above", "friends": "friends.csv"}

_PEOPLE = 20_000  # a chunk
_NEAR = 10  # people know others with about their number, so that some know each other
_NAMESPACE = "http://example.org"


def graph_lines(triples: int, seed: int) -> Iterator[pa.Array]:
    """The graph in chunks of lines, at least as many as asked for."""
    random = np.random.RandomState(seed)
    people = -(-triples // TRIPLES_PER_PERSON)
    for first in range(0, people, _PEOPLE):
        who = np.arange(first, min(first + _PEOPLE, people))
        yield from _of(who, people, random)


def _of(who: Numbers, people: int, random: np.random.RandomState) -> Iterator[pa.Array]:
    rows = len(who)
    person = _person(who)
    age = random.randint(18, 68, rows)
    yield lines(person, _property("name"), joined('"Person ', who, '"'))
    yield lines(person, _property("age"), joined('"', age, '"^^<http://www.w3.org/2001/XMLSchema#integer>'))
    yield lines(person, _property("livesIn"), joined(f"<{_NAMESPACE}/town/", random.randint(0, 5_000, rows), ">"))
    for step in _steps(rows, random):
        yield lines(person, _property("knows"), _person((who + step) % people))
    rank = who % COMPANY
    head = rank == 0
    yield lines(_person(who[~head]), _property("reportsTo"), _person((who - rank + (rank - 1) // 10)[~head]))
    yield lines(_person(who[head]), _property("address"), joined('"', who[head], ' Main Street"@en'))


def _steps(rows: int, random: np.random.RandomState) -> Iterator[Numbers]:
    """Six different steps for each row, away from zero: in a random order, the first six."""
    order = random.random_sample((rows, 2 * _NEAR)).argsort(axis=1)[:, :6]
    yield from np.where(order < _NEAR, order - _NEAR, order - _NEAR + 1).T


def _person(number: Numbers) -> pa.Array:
    return joined(f"<{_NAMESPACE}/person/", number, ">")


def _property(name: str) -> str:
    return f"<{_NAMESPACE}/{name}>"

"""On which made-up graphs are views kept? Three random bipartite graphs, joined, as in the paper's section 5.2.1.

Each of N nodes of a layer has an edge to each of N nodes of the next one with probability p. An update deletes 25 edges
and inserts 25 others, at random.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.experiments.sparql.systems.counting_sql import Bgp, Project
from benchmarks.experiments.sparql.triples import Edit, Triple, block_of_triples
from benchmarks.experiments.sparql.workload import Task, Workload

LAYERS, NODES = 3, 1_000
EDITED = 25
_LINK = "<http://example.org/link"
_PREFIX = "PREFIX : <http://example.org/>\n"
Edge = tuple[int, int]

_PATH = (("?x", _LINK[1:], "?z1"), ("?z1", _LINK[1:], "?z2"), ("?z2", _LINK[1:], "?y"))
_STAR = tuple(("?x", _LINK[1:], f"?y{number}") for number in (1, 2, 3, 4))


def three_hops(one_in: int, edits: int, nodes: int = NODES) -> Workload:
    """Pairs of nodes with a path of length three between them."""
    text = _PREFIX + "SELECT ?x ?y WHERE { ?x :link ?z1 . ?z1 :link ?z2 . ?z2 :link ?y }"
    return _workload(f"three hops, p = 1/{one_in}", one_in, edits, nodes, text, Project(Bgp(_PATH), ("x", "y")))


def star(one_in: int, edits: int, nodes: int = NODES) -> Workload:
    """Four edges of a node: a pattern in the shape of a star over the same graph."""
    shown = ("x", "y1", "y2", "y3", "y4")
    text = _PREFIX + "SELECT ?x ?y1 ?y2 ?y3 ?y4 WHERE { ?x :link ?y1 . ?x :link ?y2 . ?x :link ?y3 . ?x :link ?y4 }"
    return _workload(f"star, p = 1/{one_in}", one_in, edits, nodes, text, Project(Bgp(_STAR), shown))


def _workload(name: str, one_in: int, edits: int, nodes: int, text: str, pattern: Project) -> Workload:
    random = np.random.RandomState(one_in)
    edges = _edges(one_in, nodes, random)
    data = block_of_triples([_triple(edge) for edge in edges])
    cycles = [[edit] for edit in _edits(edges, edits, nodes, random)]
    return Workload(name, (data,), (Task(name, text, pattern, cycles),), numbers=True)


def _edges(one_in: int, nodes: int, random: np.random.RandomState) -> list[Edge]:
    found = []
    for layer in range(LAYERS):
        chosen = np.argwhere(random.random_sample((nodes, nodes)) < 1 / one_in) + (layer * nodes, (layer + 1) * nodes)
        found += [(int(x), int(y)) for x, y in chosen]
    return found


def _edits(edges: list[Edge], count: int, nodes: int, random: np.random.RandomState) -> Iterator[Edit]:
    """Updates, one after the other."""
    edges, present = list(edges), set(edges)
    for _ in range(count):
        places = random.choice(len(edges), EDITED, replace=False).tolist()
        gone = [edges[place] for place in places]
        come: list[Edge] = []
        while len(come) < EDITED:
            x = int(random.randint(LAYERS * nodes))
            edge = (x, (x // nodes + 1) * nodes + int(random.randint(nodes)))
            if edge not in present:
                come.append(edge)
                present.add(edge)
        present.difference_update(gone)
        for place, edge in zip(places, come, strict=True):
            edges[place] = edge
        yield Edit("25 out, 25 in", [_triple(edge) for edge in gone], [_triple(edge) for edge in come])


def _triple(edge: Edge) -> Triple:
    return f"<http://example.org/{edge[0]}", _LINK, f"<http://example.org/{edge[1]}"

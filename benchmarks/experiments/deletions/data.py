"""What is deleted from? Data with few derivations for a fact, with many, and cliques whose facts prove each other."""

from __future__ import annotations

import numpy as np

from benchmarks.datasets.knowledge import ANCESTORS, Knowledge, block_of, picked
from benchmarks.datasets.shared_data import shared_data
from benchmarks.programs.ontology_rules import ontology_rules
from everlog.facts.blocks import FactBlock
from everlog.formats.reading import read_facts

NEEDS = """
    dep(P, T) :- depends(P, _, T, _, _), package(T, _, _, _, _).
    needs(P, T) :- dep(P, T).
    needs(P, U) :- needs(P, T), dep(T, U).
"""
CLIQUES = "related(X, Y) :- related(Y, X).   related(X, Z) :- related(X, Y), related(Y, Z)."

_HYPERNYM = "<urn:wn30:hypernym"


def lubm() -> Knowledge:
    """A university: hierarchies of classes and properties, mostly one or two derivations for a fact."""
    facts = tuple(read_facts(shared_data("lubm", "LUBM1.nt.gz")))
    return Knowledge("lubm", "LUBM, 1 university", ontology_rules(shared_data("lubm", "univ-bench.ttl")), facts)


def wordnet() -> Knowledge:
    """Hypernyms and all they are above: an acyclic closure."""
    blocks = read_facts(shared_data("wordnet", "wordnet30-noun-verb.nt.gz"))
    facts = tuple(_hypernyms(block) for block in blocks)
    return Knowledge("wordnet", "WordNet, hypernym closure", ANCESTORS, tuple(block for block in facts if len(block)))


def _hypernyms(block: FactBlock) -> FactBlock:
    subject, predicate, object_ = block.columns
    rows = [row for row, key in enumerate(predicate.to_pylist()) if key == _HYPERNYM]
    return picked(FactBlock("parent", (subject, object_), block.form), rows)


def debian() -> Knowledge:
    """Which package needs which: a wide closure with some cycles, under a rule that does not recurse."""
    facts = tuple(
        block
        for relation in ("depends", "package")
        for block in read_facts(shared_data("debian-deps", f"bookworm-{relation}.tsv.gz"), relation=relation)
    )
    return Knowledge("debian", "Debian, dependency closure", NEEDS, facts)


def cliques(rewrites: bool, *, count: int = 20, members: int = 100, seed: int = 3) -> Knowledge:
    """A symmetric and transitive relation over groups that random edges hold together.

    Each member has three random edges, so most deletions leave the groups whole, but a tenth of the members hang on by
    one edge: deleting that takes a member from its clique.
    """
    random = np.random.RandomState(seed)
    left, right = [], []
    for group in range(count):
        for member in range(1, members):
            wanted = 1 if member % 10 == 9 else 3
            # Those on one edge hang on members before them that do not, and nobody hangs on them.
            others = [other for other in range(member) if other % 10 != 9] or [0]
            for other in random.choice(others, min(wanted, len(others)), replace=False):
                left.append(group * members + member)
                right.append(group * members + int(other))
    how = "rewritten" if rewrites else "as written"
    title = f"{count} cliques of {members}, rules {how}"
    return Knowledge(f"cliques, {how}", title, CLIQUES, (block_of("related", left, right),), rewrites)


def small_forest() -> Knowledge:
    """For a quick look: ancestors in a random tree."""
    child = np.arange(1, 2_000)
    parent = (np.random.RandomState(1).random_sample(len(child)) * child).astype(np.int64)
    return Knowledge("tree", "a tree of 2,000 nodes", ANCESTORS, (block_of("parent", child, parent),))

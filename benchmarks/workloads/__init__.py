"""Which workloads are there? Each module beside this one defines one, or a few that share their data."""

from benchmarks.workload import Workload
from benchmarks.workloads import chain, closure, debian, forest, galen, hierarchy, memory, three_hop, wordnet, zodiac

ALL: tuple[Workload, ...] = (
    closure.WORKLOAD,
    wordnet.RELATION,
    wordnet.TRIPLES,
    debian.WORKLOAD,
    forest.WORKLOAD,
    chain.WORKLOAD,
    zodiac.RS1,
    zodiac.RS2,
    zodiac.RS3,
    galen.WORKLOAD,
    three_hop.WORKLOAD,
    hierarchy.WORKLOAD,
    memory.PAIRS,
    memory.TRIPLES,
)

BY_NAME = {workload.name: workload for workload in ALL}

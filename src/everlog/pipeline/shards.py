"""Which numbers do shards have, so that Spark spreads them evenly over its tasks?

Spark puts a row into the partition that a hash of its grouping key says, and a few keys are easily put into one. So
shards are not called 0, 1, 2, … but by numbers whose hashes are 0, 1, 2, … modulo how many shards there are: where that
is a multiple of the number of partitions, each has as many. The numbers depend on nothing else, so that a checkpoint is
good for a session with other settings too.
"""

from __future__ import annotations

from functools import cache
from itertools import count

_SEED = 42  # Spark's


@cache
def shard_numbers(shards: int) -> tuple[int, ...]:
    """A number for each shard.

    >>> [spark_hash(number) % 4 for number in shard_numbers(4)]
    [0, 1, 2, 3]
    """
    found: dict[int, int] = {}
    for number in count():
        found.setdefault(spark_hash(number) % shards, number)
        if len(found) == shards:
            return tuple(found[place] for place in range(shards))
    raise AssertionError("there are numbers enough")


def spark_hash(number: int) -> int:
    """What Spark's `hash` gives for an integer that is not negative: Murmur3 of its 32 bits, as a signed one.

    >>> spark_hash(0), spark_hash(1)
    (933211791, -559580957)
    """
    mixed = _rotated(number * 0xCC9E2D51, 15) * 0x1B873593
    found = (_rotated(_SEED ^ (mixed & 0xFFFFFFFF), 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    found ^= 4  # bytes
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        found = ((found ^ (found >> shift)) * factor) & 0xFFFFFFFF
    return found - (1 << 32) if found & 0x80000000 else found


def _rotated(value: int, by: int) -> int:
    value &= 0xFFFFFFFF
    return ((value << by) | (value >> (32 - by))) & 0xFFFFFFFF

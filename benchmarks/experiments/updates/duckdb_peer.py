"""How long does DuckDB take for the same state? From scratch each time: it maintains no recursive query.

Recursion in SQL is linear, so the symmetric-transitive closures are asked for in their best form, by hand.
"""

from __future__ import annotations

import time

import duckdb

from benchmarks.experiments.updates.data import Edges, Edits


class DuckDBPeer:
    """The edges as a table, and the closure made anew after each update."""

    def __init__(self, edits: Edits, threads: int = 2) -> None:
        self._connection = duckdb.connect()
        self._connection.execute(f"SET threads = {threads}")
        self._connection.execute("CREATE TABLE edge (x BIGINT, y BIGINT)")
        self._insert(edits.edges)
        self._closure = f"""CREATE OR REPLACE TABLE closure AS
            WITH RECURSIVE base(x, y) AS MATERIALIZED ({edits.base_sql}), closed(x, y) AS (
                SELECT x, y FROM base UNION SELECT c.x, b.y FROM closed c JOIN base b ON c.y = b.x{edits.guard_sql})
            SELECT x, y FROM closed"""

    def update(self, gone: Edges, come: Edges) -> float:
        """Change the edges, close them; the seconds of the second."""
        if gone:
            self._connection.executemany("DELETE FROM edge WHERE x = ? AND y = ?", gone)
        self._insert(come)
        started = time.perf_counter()
        self._connection.execute(self._closure)
        return time.perf_counter() - started

    def count(self) -> int:
        """The rows of the closure."""
        found = self._connection.execute("SELECT count(*) FROM closure").fetchone()
        assert found
        return int(found[0])

    def _insert(self, edges: Edges) -> None:
        if edges:
            values = ", ".join(f"({x}, {y})" for x, y in edges)
            self._connection.execute(f"INSERT INTO edge VALUES {values}")

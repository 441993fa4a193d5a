"""What does the paper's own method cost? Its delta rules as SQL on DuckDB, as section 5.1 and Appendix A write them.

    Dore Staquet, Bart Buelens, Jan Van den Bussche. Incremental View Maintenance for SPARQL Queries: Adapting the
    Counting Algorithm. ACM 2026.

Every subpattern keeps a table for each schema of its solutions, with the count `k`. An update makes `delta_…` and then
`nu_…` (the sum of the two, by a full outer join) for the graph and for every subpattern, bottom up; then the new tables
take the place of the old ones. The right sides of OPTIONAL and MINUS have one schema here, as in all its queries.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import duckdb

Schema = tuple[str, ...]
_SUM = "sum(k)::BIGINT"
Selects = dict[Schema, list[str]]  # to be summed up; each gives the columns of the schema, then k


@dataclass(frozen=True)
class Bgp:
    """A basic graph pattern: `?x` is a variable, all else the text of a term. Filters are SQL over {variables}."""

    triples: tuple[tuple[str, str, str], ...]
    filters: tuple[str, ...] = ()


@dataclass(frozen=True)
class LeftJoin:
    left: Pattern
    right: Pattern


@dataclass(frozen=True)
class Minus:
    left: Pattern
    right: Pattern


@dataclass(frozen=True)
class Union:
    left: Pattern
    right: Pattern


@dataclass(frozen=True)
class Project:
    below: Pattern
    shown: Schema


@dataclass(frozen=True)
class Sum:
    """The sum of a variable for each value of another one."""

    below: Pattern
    by: str
    added: str


Pattern = Bgp | LeftJoin | Minus | Union | Project | Sum
Source = Callable[["_Node", Schema], str]  # what stands in FROM for a subpattern's solutions of a schema


def make_graph(*, numbers: bool, threads: int = 2) -> duckdb.DuckDBPyConnection:
    """A database with an empty graph G and an empty change of it; terms are texts or numbers."""
    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}; SET enable_progress_bar = false")
    column = "BIGINT" if numbers else "VARCHAR"
    for name in ("G", "delta_G"):
        connection.execute(f"CREATE TABLE {name} (s {column}, p {column}, o {column}, k BIGINT)")
    return connection


class CountingSql:
    """A pattern that is kept true by the paper's method."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, pattern: Pattern, number: Callable[[str], int] | None = None
    ) -> None:
        """The graph is a table of the connection, made by `make_graph`; with numbers for terms or without."""
        self._connection = connection
        self._constant: Callable[[str], str] = (lambda text: str(number(text))) if number else _quoted
        self._nodes: list[_Node] = []
        self._top = self._node(pattern)

    def fill(self) -> None:
        """Make the tables of all subpatterns, for the graph that was loaded into G."""
        for node in self._nodes:
            for schema, selects in node.whole(_table).items():
                self._connection.execute(f"CREATE TABLE {node.table(schema)} AS {_summed(schema, selects)}")

    def update(self, rows: Sequence[tuple[object, object, object, int]]) -> dict[str, float]:
        """Bring all tables up to date; rows of ΔG have 1 or -1. Returns the seconds of each operator."""
        self._connection.executemany("INSERT INTO delta_G VALUES (?, ?, ?, ?)", rows)
        taken = {}
        started = time.perf_counter()
        self._renew("G", ("s", "p", "o"))
        for node in self._nodes:
            begun = time.perf_counter()
            for schema, selects in node.delta().items():
                table = node.table(schema)
                # A sum may change where the number of what is summed does not: its delta keeps rows that count 0.
                delta = selects[0] if node.sums else _summed(schema, selects, always=True)
                self._connection.execute(f"CREATE TABLE delta_{table} AS {delta}")
                self._renew(table, schema, node.sums)
            taken[node.name] = time.perf_counter() - begun
        for table in ["G", *(node.table(schema) for node in self._nodes for schema in node.schemas)]:
            self._connection.execute(f"DROP TABLE {table}; ALTER TABLE nu_{table} RENAME TO {table}")
            self._connection.execute("DELETE FROM delta_G" if table == "G" else f"DROP TABLE delta_{table}")
        taken["all"] = time.perf_counter() - started
        return taken

    def scratch(self) -> float:
        """The seconds of one SQL query for the whole pattern."""
        started = time.perf_counter()
        for number, (schema, selects) in enumerate(self._top.whole(_nested).items()):
            self._connection.execute(f"CREATE OR REPLACE TEMP TABLE again_{number} AS {_summed(schema, selects)}")
        return time.perf_counter() - started

    def count(self) -> int:
        """How many solutions there are, with their multiplicities."""
        return sum(self._one(f"SELECT coalesce(sum({self._times}), 0) FROM {t}") for t in self._top.tables)

    def rows(self) -> Iterator[tuple[object, ...]]:
        """The solutions, in the order of the query's variables; None for what has no value."""
        shown = self._top.shown
        for schema in self._top.schemas:
            columns = ", ".join(name if name in schema else "NULL" for name in shown)
            found = self._connection.execute(f"SELECT {columns}, {self._times} FROM {self._top.table(schema)}")
            for *row, times in found.fetchall():
                yield from [tuple(row)] * times

    def sizes(self) -> dict[str, int]:
        """The rows that each operator keeps."""
        return {
            node.name: sum(self._one(f"SELECT count(*) FROM {table}") for table in node.tables) for node in self._nodes
        }

    def drop(self) -> None:
        """Keep the pattern no longer; the graph stays."""
        for node in self._nodes:
            for table in node.tables:
                self._connection.execute(f"DROP TABLE {table}")

    @property
    def _times(self) -> str:
        return "1" if self._top.sums else "k"

    def _one(self, sql: str) -> int:
        found = self._connection.execute(sql).fetchone()
        assert found
        return int(found[0])

    def _renew(self, table: str, schema: Schema, sums: str | None = None) -> None:
        """The paper's Union: the old table and its delta, summed up; for SUM, its addition of results."""
        if sums is not None or not schema:
            totals = "".join(f", sum({each})::BIGINT AS {each}" for each in ([sums] if sums else []))
            keys = [name for name in schema if name != sums]
            both = f"(SELECT * FROM {table} UNION ALL SELECT * FROM delta_{table})"
            group = f" GROUP BY {', '.join(keys)}" if keys else ""
            columns = ", ".join(keys) + totals + ", " if keys else ""
            sql = f"SELECT {columns}sum(k)::BIGINT AS k FROM {both}{group} HAVING sum(k) <> 0"
        else:
            columns = ", ".join(f"coalesce(R.{name}, S.{name}) AS {name}" for name in schema)
            matched = " AND ".join(f"R.{name} = S.{name}" for name in schema)
            sql = f"""SELECT * FROM (SELECT {columns}, coalesce(R.k, 0) + coalesce(S.k, 0) AS k
                FROM {table} R FULL OUTER JOIN delta_{table} S ON {matched}) WHERE k <> 0"""
        self._connection.execute(f"CREATE TABLE nu_{table} AS {sql}")

    def _node(self, pattern: Pattern) -> _Node:
        node: _Node
        match pattern:
            case Bgp():
                node = _BgpNode(self._name("BGP"), pattern, self._constant)
            case Project(below, shown):
                under = self._node(below)
                node = _ProjectNode(self._name("Project"), under, shown)
            case Sum(below, by, added):
                under = self._node(below)
                node = _SumNode(self._name("Sum"), under, by, added)
            case Union(left, right):
                first, second = self._node(left), self._node(right)
                node = _UnionNode(self._name("Union"), first, second)
            case LeftJoin(left, right) | Minus(left, right):
                first, second = self._node(left), self._node(right)
                tested = {}
                for shared in dict.fromkeys(first.shared(schema, second) for schema in first.schemas):
                    tested[shared] = _ProjectNode(self._name("Shared"), second, shared)
                    self._nodes.append(tested[shared])
                kind = type(pattern).__name__
                node = _DifferenceNode(self._name(kind), first, second, tested, joins=kind == "LeftJoin")
        self._nodes.append(node)
        return node

    def _name(self, kind: str) -> str:
        return f"{kind}_{len(self._nodes)}"


class _Node:
    """An operator with its tables."""

    sums: str | None = None  # the column that SUM fills
    once = False  # whether each solution is there once, so that rows can be counted

    def __init__(self, name: str, schemas: Sequence[Schema], shown: Schema) -> None:
        self.name, self.schemas, self.shown = name, list(schemas), shown

    def table(self, schema: Schema) -> str:
        return f"{self.name}_{self.schemas.index(schema)}"

    @property
    def tables(self) -> list[str]:
        return [self.table(schema) for schema in self.schemas]

    def shared(self, schema: Schema, other: _Node) -> Schema:
        return tuple(name for name in schema if name in other.schemas[0])

    def whole(self, source: Source) -> Selects:
        raise NotImplementedError

    def delta(self) -> Selects:
        raise NotImplementedError


class _BgpNode(_Node):
    once = True

    def __init__(self, name: str, pattern: Bgp, constant: Callable[[str], str]) -> None:
        self._places: dict[str, str] = {}
        conditions = []
        for number, triple in enumerate(pattern.triples, 1):
            for column, term in zip("spo", triple, strict=True):
                place = f"G{number}.{column}"
                if not term.startswith("?"):
                    conditions.append(f"{place} = {constant(term)}")
                elif term[1:] in self._places:
                    conditions.append(f"{self._places[term[1:]]} = {place}")
                else:
                    self._places[term[1:]] = place
        conditions += [condition.format_map(self._places) for condition in pattern.filters]
        self._where = " AND ".join(conditions)
        self._count = len(pattern.triples)
        schema = tuple(self._places)
        super().__init__(name, [schema], schema)

    def whole(self, source: Source) -> Selects:
        return {self.schemas[0]: [self._select(["G"] * self._count, 1)]}

    def delta(self) -> Selects:
        """Rule i reads ΔG in place i, the new graph before it, the old one after it."""
        rules = []
        for place in range(self._count):
            graphs = ["nu_G"] * place + ["delta_G"] + ["G"] * (self._count - place - 1)
            rules.append(self._select(graphs, place + 1))
        return {self.schemas[0]: rules}

    def _select(self, graphs: Sequence[str], counted: int) -> str:
        columns = "".join(f"{place} AS {name}, " for name, place in self._places.items())
        tables = ", ".join(f"{graph} G{number}" for number, graph in enumerate(graphs, 1))
        return f"SELECT {columns}G{counted}.k AS k FROM {tables} WHERE {self._where}"


class _ProjectNode(_Node):
    def __init__(self, name: str, below: _Node, shown: Schema) -> None:
        self._below = below
        self._kept = {schema: tuple(name for name in shown if name in schema) for schema in below.schemas}
        super().__init__(name, list(dict.fromkeys(self._kept.values())), shown)

    def whole(self, source: Source) -> Selects:
        selects = self._selects(lambda schema: source(self._below, schema))
        total = "count(*)" if self._below.once else _SUM  # DuckDB counts rows much faster than it adds
        return {schema: [_summed(schema, each, always=True, total=total)] for schema, each in selects.items()}

    def delta(self) -> Selects:
        return self._selects(lambda schema: f"delta_{self._below.table(schema)}")

    def _selects(self, table: Callable[[Schema], str]) -> Selects:
        found: Selects = {schema: [] for schema in self.schemas}
        for schema, kept in self._kept.items():
            found[kept].append(f"SELECT {_columns(kept)}k FROM {table(schema)}")
        return found


class _SumNode(_Node):
    def __init__(self, name: str, below: _Node, by: str, added: str) -> None:
        self._below, self._by, self._added, self.sums = below, by, added, "total"
        super().__init__(name, [(by, "total")], (by, "total"))

    def whole(self, source: Source) -> Selects:
        return self._selects(source(self._below, self._below.schemas[0]))

    def delta(self) -> Selects:
        return self._selects(f"delta_{self._below.table(self._below.schemas[0])}")

    def _selects(self, table: str) -> Selects:
        added = f"CAST(sum(CAST({self._added} AS BIGINT) * k) AS BIGINT)"
        return {
            self.schemas[0]: [
                f"SELECT {self._by}, {added} AS total, sum(k)::BIGINT AS k FROM {table} GROUP BY {self._by}"
            ]
        }


class _UnionNode(_Node):
    def __init__(self, name: str, left: _Node, right: _Node) -> None:
        self._sides = (left, right)
        schemas = dict.fromkeys(tuple(sorted(schema)) for side in self._sides for schema in side.schemas)
        super().__init__(name, list(schemas), left.shown)

    def whole(self, source: Source) -> Selects:
        return self._selects(source)

    def delta(self) -> Selects:
        return self._selects(lambda node, schema: f"delta_{node.table(schema)}")

    def _selects(self, source: Source) -> Selects:
        found: Selects = {schema: [] for schema in self.schemas}
        for side in self._sides:
            for schema in side.schemas:
                own = tuple(sorted(schema))
                found[own].append(f"SELECT {_columns(own)}k FROM {source(side, schema)}")
        return found


class _DifferenceNode(_Node):
    """Minus, or LeftJoin: the same difference, and the join beside it."""

    def __init__(
        self, name: str, left: _Node, right: _Node, tested: dict[Schema, _ProjectNode], *, joins: bool
    ) -> None:
        assert len(right.schemas) == 1, "the right side has one schema"
        self._left, self._right, self._tested, self._joins = left, right, tested, joins
        self._more = tuple(name for name in right.schemas[0])
        schemas = [*left.schemas, *(self._joined(schema) for schema in left.schemas if joins)]
        shown = (*left.shown, *(name for name in right.shown if joins and name not in left.shown))
        super().__init__(name, list(dict.fromkeys(schemas)), shown)

    def whole(self, source: Source) -> Selects:
        found: Selects = {schema: [] for schema in self.schemas}
        for schema in self._left.schemas:
            shared = self._left.shared(schema, self._right)
            left, tests = source(self._left, schema), source(self._tested[shared], shared)
            if self._joins:
                right = source(self._right, self._right.schemas[0])
                found[self._joined(schema)].append(self._join(schema, left, right))
            found[schema].append(f"SELECT R.* FROM {left} R WHERE NOT {_is_in(tests, 'R', shared)}")
        return found

    def delta(self) -> Selects:
        found: Selects = {schema: [] for schema in self.schemas}
        second = self._right.table(self._right.schemas[0])
        for schema in self._left.schemas:
            first = self._left.table(schema)
            if self._joins:
                found[self._joined(schema)] += [
                    self._join(schema, f"delta_{first}", second),
                    self._join(schema, f"nu_{first}", f"delta_{second}"),
                ]
            found[schema] += self._difference(schema, first)
        return found

    def _difference(self, schema: Schema, first: str) -> Iterator[str]:
        shared = self._left.shared(schema, self._right)
        tests = self._tested[shared].table(shared)
        columns = "".join(f"R.{name}, " for name in schema)
        matched = " AND ".join(f"R.{name} = S.{name}" for name in shared) or "true"
        yield f"SELECT R.* FROM delta_{first} R WHERE NOT {_is_in(tests, 'R', shared)}"
        gone = f"{_is_in(tests, 'S', shared, ' AND T.k = -S.k')}"
        yield f"SELECT {columns}R.k FROM nu_{first} R JOIN delta_{tests} S ON {matched} WHERE {gone}"
        come = f"NOT {_is_in(tests, 'S', shared)}"
        yield f"SELECT {columns}-R.k AS k FROM nu_{first} R JOIN delta_{tests} S ON {matched} WHERE {come}"

    def _joined(self, schema: Schema) -> Schema:
        return (*schema, *(name for name in self._more if name not in schema))

    def _join(self, schema: Schema, left: str, right: str) -> str:
        shared = self._left.shared(schema, self._right)
        matched = " AND ".join(f"R.{name} = S.{name}" for name in shared) or "true"
        columns = "".join(f"{'R' if name in schema else 'S'}.{name}, " for name in self._joined(schema))
        return f"SELECT {columns}R.k * S.k AS k FROM {left} R JOIN {right} S ON {matched}"


def _table(node: _Node, schema: Schema) -> str:
    return node.table(schema)


def _nested(node: _Node, schema: Schema) -> str:
    return f"({_summed(schema, node.whole(_nested)[schema])})"


def _summed(schema: Schema, selects: Sequence[str], *, always: bool = False, total: str = _SUM) -> str:
    """What selects give together; counts of the same solution are added. One alone has each solution once."""
    if len(selects) == 1 and not always:
        return selects[0]
    group = f" GROUP BY {', '.join(schema)}" if schema else ""
    return f"SELECT {_columns(schema)}{total} AS k FROM ({' UNION ALL '.join(selects)}){group} HAVING {total} <> 0"


def _columns(schema: Schema) -> str:
    return "".join(f"{name}, " for name in schema)


def _is_in(tests: str, row: str, shared: Schema, and_more: str = "") -> str:
    matched = " AND ".join(f"T.{name} = {row}.{name}" for name in shared) or "true"
    return f"EXISTS (SELECT 1 FROM {tests} T WHERE {matched}{and_more})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

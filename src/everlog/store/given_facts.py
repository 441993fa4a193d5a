"""In which shapes may a caller give facts, and which rows are in them?

Facts are given by relation, ``{"edge": rows}``, or as a list in which each names its relation,
``[["edge", "a", "b"]]``. Rows are one of these:

    [("a", "b"), ("b", "c")]                   tuples or lists of terms, from any iterable
    ["a", "b"]                                 terms, each the only argument of a fact
    [{"name": "ann", "age": 41}]               dictionaries; by declared names, else in the order of the first
    a pandas or Polars frame, an Arrow table   rows of the table; by declared names where it has them, else by position
    a NumPy array                              of two dimensions, of one (a term each), or of records

Whatever else speaks the Arrow PyCapsule interface is a table too. What is no row is refused: a tuple of terms or a
string could be taken apart, and would be something else than was meant.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.answers.answer_table import Table
from everlog.errors import DataError
from everlog.facts.blocks import FactBlock
from everlog.facts.missing import MissingValues
from everlog.facts.numpy_values import is_numpy_scalar
from everlog.facts.terms import IRI, BlankNode, Literal
from everlog.facts.weighted import WeightedFacts

if TYPE_CHECKING:
    import pyarrow as pa

Row = tuple[Any, ...]
ColumnNames = Mapping[str, Sequence[str]]  # of relations whose columns are declared

_TERMS = (str, int, float, bool, Decimal, dt.date, dt.time, IRI, BlankNode, Literal)
_MISSING = ("NoneType", "NAType", "NaTType")  # the latter two are pandas', which is not imported
_FACT_EXAMPLE = 'a fact is a list of a relation and terms, such as ["edge", "a", 3]'


@dataclass(frozen=True)
class EncodedFacts:
    """Facts of one relation that have ids already; the way a log is read."""

    relation: str
    facts: WeightedFacts

    @property
    def arity(self) -> int:
        return self.facts.arity


@dataclass(frozen=True)
class GivenRows:
    """Facts of one relation as rows of terms."""

    relation: str
    rows: Sequence[Row]


FactsArgument = Mapping[str, Any] | Iterable[FactBlock | EncodedFacts | Sequence[Any]]


def given_facts(
    facts: FactsArgument, names: ColumnNames | None = None, missing: MissingValues | None = None
) -> Iterator[EncodedFacts | FactBlock | GivenRows]:
    """Facts as a caller gave them, relation by relation; see `given_rows`."""
    if isinstance(facts, Mapping):
        for relation, rows in facts.items():
            yield given_rows(relation, rows, (names or {}).get(relation), missing)
        return
    if isinstance(facts, str | bytes) or not isinstance(facts, Iterable) or _is_table(facts):
        raise DataError(f"facts are given by relation, not as {_shown(facts)}", hint='write {"edge": rows}')
    for number, fact in enumerate(facts, start=1):
        if isinstance(fact, FactBlock | EncodedFacts):
            yield fact
        else:
            yield named_fact(fact, f"fact {number}: ")


def named_fact(fact: Any, where: str = "") -> GivenRows:
    """A fact that names its relation."""
    if not isinstance(fact, list | tuple) or not fact or not isinstance(fact[0], str) or not fact[0]:
        raise DataError(f"{where}not a fact: {_shown(fact)}", hint=_FACT_EXAMPLE)
    return GivenRows(fact[0], [tuple(fact[1:])])


def given_rows(
    relation: str, rows: Any, names: Sequence[str] | None = None, missing: MissingValues | None = None
) -> FactBlock | GivenRows:
    """The facts of one relation.

    Args:
        names: what the relation's columns are called, where that is declared.
        missing: what becomes of rows without a value; they are refused unless it says otherwise.
    """
    missing = missing or MissingValues()
    if isinstance(rows, FactBlock):
        return rows
    if isinstance(rows, list) and all(type(row) is tuple for row in rows):
        listed: list[Row] = rows
    elif isinstance(rows, Table):  # facts and answers, whose terms an Arrow table would make texts of
        listed = list(rows)
    elif _is_table(rows) and (table := _arrow_table(rows)) is not None:
        return _table_facts(relation, table, names, missing)
    else:
        listed = _listed(relation, rows, names)
    return GivenRows(relation, _without_gaps(relation, listed, missing))


def kept(rows: Any) -> Any:
    """Rows that can be read more than once."""
    if not isinstance(rows, Iterator):
        return rows
    return _arrow_table(rows) if _is_table(rows) else list(rows)


# --- tables -----------------------------------------------------------------------------------------------------------


def _is_table(rows: Any) -> bool:
    return hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__") or _is_pandas(rows)


def _is_pandas(rows: Any) -> bool:
    return type(rows).__module__.partition(".")[0] == "pandas" and hasattr(rows, "iloc")


def _frame(rows: Any) -> Any:
    """A pandas frame with all that is data as columns."""
    frame = rows if hasattr(rows, "columns") else rows.to_frame()
    return frame.reset_index() if any(name is not None for name in frame.index.names) else frame


def _arrow_table(rows: Any) -> pa.Table | None:
    """The Arrow table of a table or a column; None where it holds what only Python can say."""
    import pyarrow as pa

    if _is_pandas(rows):
        try:
            return pa.Table.from_pandas(_frame(rows), preserve_index=False)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return None
    try:
        return pa.table(rows)
    except (TypeError, ValueError, pa.ArrowException):
        pass  # not of records: a single column, of which each value is a fact
    try:
        return pa.table({"c1": pa.chunked_array(rows) if hasattr(rows, "__arrow_c_stream__") else pa.array(rows)})
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise DataError(f"{_shown(rows)} gives no Arrow table ({error})") from error


def _table_facts(
    relation: str, table: pa.Table, names: Sequence[str] | None, missing: MissingValues
) -> FactBlock | GivenRows:
    from everlog.formats.arrow_columns import fact_block

    if not table.num_columns:
        raise DataError(f"facts of {relation}: the table has no columns")
    if names is not None:
        table = table.select(_chosen(relation, table.column_names, names))
    columns = [column.combine_chunks() for column in table.columns]
    if not table.num_rows:
        return GivenRows(relation, [])  # its types say nothing of the relation
    return fact_block(relation, table.column_names, columns, missing)


def _chosen(relation: str, found: Sequence[str], names: Sequence[str]) -> list[int]:
    """The places of a table's columns in the order in which they are declared."""
    known = [name for name in found if name in names]
    if not known:
        return list(range(len(found)))  # other names altogether: by position
    if sorted(found) != sorted(names):
        raise DataError(
            f"the columns of {relation} are {', '.join(names)}; here are {', '.join(map(str, found))}",
            hint="give each of them and no other, or rename the columns",
        )
    return [list(found).index(name) for name in names]


# --- rows -------------------------------------------------------------------------------------------------------------


def _listed(relation: str, rows: Any, names: Sequence[str] | None) -> list[Row]:
    if _is_pandas(rows):
        frame = _frame(rows)
        frame = frame.astype(object).where(frame.notna(), None)
        places = list(range(frame.shape[1])) if names is None else _chosen(relation, list(frame.columns), names)
        return [tuple(row[place] for place in places) for row in frame.itertuples(index=False, name=None)]
    if _is_array(rows):
        return _array_rows(relation, rows)
    if isinstance(rows, str | bytes | Mapping | Path | io.IOBase) or not _is_iterable(rows):
        raise _no_rows(relation, rows)
    found = list(rows)
    if isinstance(rows, tuple) and found and all(_is_term(each) for each in found):
        raise _no_rows(relation, rows)
    order = names
    listed: list[Row] = []
    for number, row in enumerate(found, start=1):
        if isinstance(row, tuple | list):
            listed.append(tuple(row))
        elif isinstance(row, Mapping):
            order = tuple(row) if order is None else order
            listed.append(_by_name(relation, number, row, order))
        elif (_is_array(row) and row.ndim == 1) or (is_numpy_scalar(row) and row.dtype.names):
            listed.append(tuple(row))
        elif _is_term(row) or row is None:
            listed.append((row,))
        else:
            raise DataError(f"facts of {relation}: row {number} is no row: {_shown(row)}", hint=_row_hint(relation))
    return listed


def _by_name(relation: str, number: int, row: Mapping[Any, Any], names: Sequence[str]) -> Row:
    if set(row) != set(names):
        raise DataError(
            f"facts of {relation}: row {number} has {', '.join(map(str, row)) or 'no values'}; "
            f"its columns are {', '.join(map(str, names))}",
            hint="give every row all columns and no others",
        )
    return tuple(row[name] for name in names)


def _is_iterable(rows: Any) -> bool:
    return (
        isinstance(rows, Iterable) and getattr(rows, "shape", None) != ()
    )  # NumPy's arrays of no dimension only claim so


def _is_array(value: Any) -> bool:
    return type(value).__module__ == "numpy" and hasattr(value, "ndim") and getattr(value, "shape", ()) != ()


def _array_rows(relation: str, array: Any) -> list[Row]:
    if array.ndim > 2:
        raise DataError(f"facts of {relation}: an array of {array.ndim} dimensions has no rows", hint="give it two")
    if array.dtype.names:
        return [tuple(record) for record in array.reshape(-1)]
    return [(value,) for value in array] if array.ndim == 1 else [tuple(row) for row in array]


def _is_term(value: Any) -> bool:
    return isinstance(value, _TERMS) or (is_numpy_scalar(value) and not value.dtype.names)


def _without_gaps(relation: str, rows: list[Row], missing: MissingValues) -> list[Row]:
    """The rows that have all their values, in the way that is asked for."""
    if not any(kind.__name__ in _MISSING for kind in set(map(type, chain.from_iterable(rows)))):
        return rows
    found: list[Row] = []
    for number, row in enumerate(rows, start=1):
        gaps = [place for place, value in enumerate(row, start=1) if _is_missing(value)]
        if gaps and missing.refuses:
            raise missing.refusal(f"facts of {relation}: column {gaps[0]} in row {number}")
        if gaps and missing.skips:
            missing.skipped += 1
        else:
            found.append(tuple("" if _is_missing(value) else value for value in row) if gaps else row)
    return found


def _is_missing(value: Any) -> bool:
    return type(value).__name__ in _MISSING


def _no_rows(relation: str, given: Any) -> DataError:
    if isinstance(given, Path | io.IOBase):
        return DataError(f"facts of {relation}: {_shown(given)} is a file", hint="kb.load reads files")
    row = "{" + ", ".join(f"{key!r}: …" for key in list(given)[:3]) + "}" if isinstance(given, Mapping) else None
    if row is None:
        row = repr(given) if isinstance(given, tuple) else f"({given!r},)"
    what = "one row" if isinstance(given, tuple | Mapping) else "no list of rows"
    hint = f"write insert({relation!r}, [{row}])" if len(row) < 100 else _row_hint(relation)
    return DataError(f"facts of {relation}: {_shown(given)} is {what}", hint=hint)


def _row_hint(relation: str) -> str:
    return f'rows look like [("a", 1), ("b", 2)], or [{{"name": "a", "age": 1}}]: insert({relation!r}, [("a", 1)])'


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 and "\n" not in text else f"a {type(value).__name__}"

"""Which columns of a table become arguments, and which one says what is inserted and what is deleted?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from everlog.errors import DataError
from everlog.pipeline.sources import InputSource, renamed

# What a cell of a change column may say, in lower case.
SIGNS = {"insert": 1, "+": 1, "+1": 1, "1": 1, "i": 1, "delete": -1, "-": -1, "-1": -1, "d": -1}
SIGNS_TOLD = "insert or delete, + or -, 1 or -1, I or D"


@dataclass(frozen=True)
class Picked:
    """The columns that are used.

    Attributes:
        names: of the arguments, from here on.
        arguments: where each comes from: the place of a column of the file, or, below zero, -1 for the first column of
            its partition, -2 for the second, and so on.
        change: the place of the column that says what is inserted and what is deleted.
    """

    names: tuple[str, ...]
    arguments: tuple[int, ...]
    change: int | None = None

    @property
    def cells(self) -> tuple[int, ...]:
        """The places of arguments that are in the file."""
        return tuple(place for place in self.arguments if place >= 0)


def picked(source: InputSource, there: Sequence[str], partitions: Sequence[str], path: str) -> Picked:
    """The columns to use of those that are there; an error where one is not, or is there twice."""
    known = [*there, *partitions]
    change = None if source.change_column is None else _place(known, source.change_column, path)
    if change is not None and change >= len(there):
        raise DataError(f"the column {source.change_column!r} is a folder's, and says nothing of a row", path=path)
    if source.columns is None:
        wanted = [(place, name) for place, name in enumerate(known) if place != change]
    else:
        wanted = []
        for column in source.columns:
            name, own = (column, column) if column in known else renamed(column)
            wanted.append((_place(known, name, path), own))
        wanted = [(place, own) for place, own in wanted if place != change]
    width = len(there)
    arguments = tuple(place if place < width else width - place - 1 for place, _ in wanted)
    return Picked(tuple(own for _, own in wanted), arguments, change)


def csv_columns(source: InputSource, first: Sequence[str], path: str) -> list[str]:
    """The names of the columns of a CSV file, whose first row is given."""
    if source.header:
        return list(first)
    if source.columns is None:
        if source.change_column is not None:
            raise DataError(
                f"the columns have no names, so none is {source.change_column!r}",
                path=path,
                hint="say header = true where the first row has names, or give names by columns = […]",
            )
        return [f"c{place}" for place in range(1, len(first) + 1)]
    if len(source.columns) != len(first):
        raise DataError(
            f"{len(source.columns)} columns are named, but the file has {count_columns(len(first))}",
            path=path,
            hint="name all columns, or say header = true where the first row has names",
        )
    return [renamed(column)[1] for column in source.columns]


def named_csv(source: InputSource, first: Sequence[str], partitions: Sequence[str], path: str) -> Picked:
    """The columns to use of a CSV file, whose first row is given."""
    there = csv_columns(source, first, path)
    if source.header or source.columns is None:
        found = picked(source, there, partitions, path)
    else:  # the names are the file's own, and so is their order
        change = None if source.change_column is None else _place(there, source.change_column, path)
        places = [place for place in range(len(there)) if place != change]
        behind = range(-1, -len(partitions) - 1, -1)
        found = Picked((*(there[place] for place in places), *partitions), (*places, *behind), change)
    if source.types is not None and len(source.types) != len(found.cells):
        what = "the file has" if source.columns is None and found.change is None else "there are"
        raise DataError(
            f"{len(source.types)} types are given, but {what} {count_columns(len(found.cells))}",
            path=path,
            hint="give one type for each column",
        )
    return found


def _place(there: Sequence[str], name: str, path: str) -> int:
    if name not in there:
        near = get_close_matches(name, there, n=1)
        raise DataError(
            f"there is no column {name!r}; there are {', '.join(there)}",
            path=path,
            hint=f"did you mean {near[0]!r}?" if near else None,
        )
    if list(there).count(name) > 1:
        raise DataError(f"two columns have one name among {', '.join(there)}", path=path, hint="rename one")
    return list(there).index(name)


def sign_of(text: str | int | None) -> int | None:
    """Whether a cell of a change column says that its fact is inserted, deleted, or neither of them.

    >>> sign_of("Insert"), sign_of(-1), sign_of("upsert")
    (1, -1, None)
    """
    return None if text is None else SIGNS.get(str(text).strip().lower())


def count_columns(width: int) -> str:
    return "1 column" if width == 1 else f"{width} columns"

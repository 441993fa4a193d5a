"""Which files do no versions name, and which of those may go?

Killed runs leave them, and versions that are forgotten. Where a lock keeps writers away, all of them may go. In an
object store somebody may be writing just now: files stay for a day, in which a version names them or never will.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

from everlog.tables.delta_log import LOG
from everlog.tables.places import StoredFile, TablePlace

BASE, CHANGE = "base", "change"  # what folders of files begin with

_A_WHILE = 24 * 3600.0  # seconds: longer than anybody writes at a version


@dataclass(frozen=True)
class Leftovers:
    """Files below the folders of tables that may go."""

    place: TablePlace
    named: Mapping[str, set[str]]  # the files that versions consist of, by the folders of their tables
    since: int  # files that were written for older versions stay, and are not looked at

    def remove(self) -> int:
        """Remove them, and folders in which nothing is left; says how many files went."""
        return sum(self._remove_from(table) for table in self.place.folders() if not table.startswith("_"))

    def _remove_from(self, table: str) -> int:
        below, named = self.place.folders(table), self.named.get(table)
        # A table without rows is its log alone, and may be one of an older version.
        removed, stays = 0, named is not None or (self.since > 0 and LOG in below)
        for folder in below:
            if folder == LOG:
                stays = stays or self._has_young(f"{table}/{folder}")
            elif written_for(folder) < self.since:
                stays = True
            else:
                gone, left = self._unnamed(f"{table}/{folder}", named or set())
                self.place.remove(gone)
                removed += len(gone)
                if left:
                    stays = True
                else:
                    self.place.remove_folder(f"{table}/{folder}")
        if not stays:
            self.place.remove_folder(table)
        return removed

    def _unnamed(self, folder: str, named: set[str]) -> tuple[list[str], int]:
        """The files that may go, and how many others there are."""
        files = [file for file in self.place.files(folder) if file.address.endswith(".parquet")]
        gone = [file.address for file in files if file.address not in named and not self._is_young(file)]
        return gone, len(files) - len(gone)

    def _has_young(self, folder: str) -> bool:
        return not self.place.has_lock and any(map(self._is_young, self.place.files(folder)))

    def _is_young(self, file: StoredFile) -> bool:
        """Whether somebody may be about to commit a file."""
        return not self.place.has_lock and time.time() - file.modified < _A_WHILE


def written_for(name: str) -> int:
    """The version for which a folder of files was written; a large number where its name does not say.

    >>> written_for("change-17-0a1b2c"), written_for("0123") > 1_000_000
    (17, True)
    """
    found = re.fullmatch(rf"(?:{BASE}|{CHANGE})-(\d+)-\w+", name)
    return int(found[1]) if found else 1 << 62

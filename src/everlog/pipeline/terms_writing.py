"""When is the dictionary written: before facts are derived, or beside that?

Rules that neither compute nor compare look at no term. Then its new terms are written in a job of their own while
facts are derived: a derivation that runs in one task leaves the other cores to it.
"""

from __future__ import annotations

from types import TracebackType

from pyspark import InheritableThread
from pyspark.sql import DataFrame

from everlog.pipeline.encode import collisions
from everlog.pipeline.table_frames import plain_rows, write_plain
from everlog.store.table_folders import DICTIONARY, TERM_COLUMNS
from everlog.tables.layout import PLAIN
from everlog.tables.writing import TableTransaction


class TermsWriting:
    """New terms on their way into the dictionary; leaving it waits for them, whatever has happened."""

    def __init__(self, transaction: TableTransaction, terms: DataFrame) -> None:
        self._transaction = transaction
        self._place = transaction.begin_write(DICTIONARY, TERM_COLUMNS, PLAIN)
        self._rows = plain_rows(transaction, terms, TERM_COLUMNS)
        self._thread: InheritableThread | None = None
        self._error: BaseException | None = None
        self._done = False
        self._written: list[str] | None = None

    def __enter__(self) -> TermsWriting:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._thread.join()
        if kind is None:
            self.finish()

    def start(self) -> None:
        """Write them in another thread, unless they are written."""
        if not self._done and self._thread is None:
            self._thread = InheritableThread(target=self._write, session=self._rows.sparkSession)
            self._thread.start()

    def finish(self) -> None:
        """Write them, if nobody does so already, and wait; from here on they are part of the transaction.

        Raises:
            DataError: two terms have one id.
            OutputError: there is no room, or no permission.
        """
        if self._done:
            return
        if self._thread is None:
            self._write()
        else:
            self._thread.join()
        if self._error is not None:
            raise self._error
        self._transaction.end_write(self._place, self._written)
        self._done = True

    def _write(self) -> None:
        try:
            with collisions():
                self._written = write_plain(self._transaction, self._rows, self._place)
        except BaseException as error:
            self._error = error

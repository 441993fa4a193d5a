"""How does the paged engine encode and decode terms whose ids are hashes?

Ids are computed from terms, as on Spark; a term is looked up in the folder's files when an expression, an aggregate or
somebody who reads the results wants to see it. Terms that come with updates are remembered until they are saved.
"""

from __future__ import annotations

from everlog.dictionary.hash_dictionary import HashDictionary
from everlog.dictionary.hashed_ids import id_of_key, integer_of_id
from everlog.engines.paged.terms import PagedTerms
from everlog.errors import DamagedRunsError, DataError


class PagedDictionary(HashDictionary):
    """Terms to hashed ids and back, from files."""

    def __init__(self, terms: PagedTerms) -> None:
        super().__init__()
        self._terms_in_files = terms
        self._new: list[tuple[int, str]] = []  # that were in no file, oldest first …
        self._taken = 0  # … and how many of them are since

    def learn(self, id_: int, key: str) -> None:
        if integer_of_id(id_) is not None or id_ in self._key_of:
            return super().learn(id_, key)
        known = self._terms_in_files.key(id_)
        if known is None:
            self._new.append((id_, key))
        elif known != key:
            raise DataError(f"two terms have the id {id_}: {known!r} and {key!r}", hint="rename one of them")
        return super().learn(id_, key)

    def key(self, id_: int) -> str:
        if integer_of_id(id_) is None and id_ not in self._key_of:
            found = self._terms_in_files.key(id_)
            if not found or id_of_key(found) != id_:
                why = "is in no dictionary" if found is None else "belongs to another term than its own"
                raise DamagedRunsError(f"the id {id_} {why}", hint="make the runs again from the tables")
            self._key_of[id_] = found
        return super().key(id_)

    def terms_since(self, count: int) -> tuple[list[tuple[int, str]], int]:
        """The terms that came after so many new ones, and how many new ones there are now."""
        return self._new[count:], len(self._new)

    def take_new_terms(self) -> list[tuple[int, str]]:
        """The terms that are in no file yet; they count as saved from now on."""
        new, self._taken = self.terms_since(self._taken)
        self._terms_in_files.learn(new)
        return new

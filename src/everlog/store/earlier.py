"""How is history found again that a process before this one has made?

A folder keeps an older snapshot, and the logs since then. The updates after it are made again, in a knowledge base of
their own, and what each of them changed is told in this one's ids.
"""

from __future__ import annotations

from everlog.store.durable import open_snapshot, records_after
from everlog.store.folders import Folder
from everlog.store.history import Entry
from everlog.store.leaps import told
from everlog.store.timeline import Timeline

_TRIES = 10  # to read files that a writer may be removing


def earlier_entries(timeline: Timeline, folder: Folder, wanted: int) -> list[Entry]:
    """What has changed from a version on up to where this timeline's own history begins; nothing if it is gone."""
    for _ in range(_TRIES):
        try:
            return _earlier_entries(timeline, folder, wanted)
        except FileNotFoundError:  # there is a newer snapshot
            continue
    return []


def _earlier_entries(timeline: Timeline, folder: Folder, wanted: int) -> list[Entry]:
    oldest = timeline.history.oldest
    older = [(version, path) for version, path in folder.snapshots() if version <= wanted]
    base = older[-1][0] if older else 0
    if not any(begin <= base for begin, _ in folder.logs()):
        return []
    again = timeline.empty()
    if older:
        again.begin(open_snapshot(*older[-1]))
    for record in records_after(folder, base, again.newest.dictionary, None):
        if record.version > oldest:
            break
        again.replay([record])
    into, out_of = timeline.newest.dictionary, again.newest.dictionary
    return [
        entry._replace(
            changes=told(entry.changes, out_of, into),
            explicit=told(entry.explicit, out_of, into),
            reshaped=told(entry.reshaped, out_of, into),
            reshaped_explicit=told(entry.reshaped_explicit, out_of, into),
            views=told(entry.views, out_of, into),
        )
        for entry in again.history.since(max(base, again.history.oldest), oldest)
    ]

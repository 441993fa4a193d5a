"""Which kernels does Python call, and with what? (native/signatures.py says how to read it.)

The names of arguments are in the kernels' own files. A kernel that only kernels call is not here.
"""

from __future__ import annotations

from everlog.engines.columnar.native.entry import Entry

# From `code` to `numbers`.
_WORK = "i8[:] i8[:] i8[:,:] i8[:] i4[:,:,:] i8[:] i8[:,:] i4[:,:] u8[:] i8[:] i4[:] i4[:] u1[:] f8[:]"

# Rules and sweeps.
run = Entry("kernels", "run", f"i8[:,:] i8[:,:] i8[:] {_WORK} -> i8")
sweep = Entry("kernels", "sweep", f"i8[:,:] i8[:,:] i8[:] i8[:] {_WORK} -> i8")
begin_sweep = Entry("sweep_kernels", "begin_sweep", "i8[:,:] i8[:] i8[:] i8[:] i8[:,:]")

# Facts and indexes.
load_batch = Entry("fact_kernels", "load_batch", "i8[:,:] i8[:,:] i8 i8[:] i4[:,:] i8 i8 u8[:] i8[:] i4[:] -> i8")
find_facts = Entry("fact_kernels", "find_facts", "i8[:,:] i8 i8[:] i8 i4[:,:] i8 u8[:] i8[:] i4[:]")
find_chains = Entry("fact_kernels", "find_chains", "i8[:,:] i8[:,:] i8 i8[:] i8 i4[:,:] i8 u8[:] i4[:]")
index_rows = Entry("fact_kernels", "index_rows", "i8[:,:] i8[:,:] i8 i8 i8 i8 u8[:]")
rebuild = Entry("fact_kernels", "rebuild", "i8[:,:] i8[:,:] i8 u8[:]")
refill_packed = Entry("hash_tables", "refill_packed", "u8[:] i4[:] u8[:] i4[:]")
refill_wide = Entry("hash_tables", "refill_wide", "u8[:] u8[:]")

# Updates.
_BATCH = "i8[:,:] i8[:,:] i8 i8[:] i4[:,:] i8 b1 u8[:] i8[:] i4[:] i4[:]"
edit_batch = Entry("journal_kernels", "edit_batch", f"{_BATCH} -> i8")
decide_batch = Entry("journal_kernels", "decide_batch", f"{_BATCH} -> i8 i8 b1")
chain_rows = Entry("journal_kernels", "chain_rows", "i8[:,:] i8[:,:] i8 i8 i4[:] i8 -> i8")
settle_unowned = Entry("journal_kernels", "settle_unowned", "i8[:,:] i8 i8[:] i8 -> i8 i8")
touches_pattern = Entry("journal_kernels", "touches_pattern", "i8[:,:] i8 i8[:] i8 b1 -> b1")
finish_component = Entry("journal_kernels", "finish_component", "i8[:,:] i8 i8[:] i8 b1 -> i8 i8")
overdelete_rows = Entry("journal_kernels", "overdelete_rows", "i8[:,:] i8 i8[:] i8 -> i8")
suspect_rows = Entry("journal_kernels", "suspect_rows", "i8[:,:] i8 i8[:] i8 -> i8")
uncount_rows = Entry("journal_kernels", "uncount_rows", "i8[:,:] i8 i8[:] i8 -> i8")
lift_rows = Entry("journal_kernels", "lift_rows", "i8[:,:] i8 i8[:] i8 i8 -> i8")
changed_rows = Entry("journal_kernels", "changed_rows", "i8[:,:] i8")
commit_rows = Entry("journal_kernels", "commit_rows", "i8[:,:] i8 i8 -> i8")
abort_rows = Entry("journal_kernels", "abort_rows", "i8[:,:] i8")

# Readers of older states.
count_visible = Entry("version_kernels", "count_visible", "u8[:] i8 u8 -> i8")
visible_rows = Entry("version_kernels", "visible_rows", "u8[:] i8 u8 i8[:] -> i8")

# Marks.
log_witnesses = Entry("mark_kernels", "log_witnesses", "i8[:,:] i8 i4[:] i8 i4[:] i4[:] i8[:] i8 -> i8")
mark_rows_and_derived = Entry(
    "mark_kernels", "mark_rows_and_derived", "i8[:,:] i8 i4[:] i8 i4[:] i4[:] i8[:] i4[:] i4[:] -> i8 i8"
)
suspect_marked_rows = Entry("mark_kernels", "suspect_marked_rows", "i8[:,:] i8 i4[:] i8 -> i8")

# Ids of 64 bits.
to_narrow = Entry("wide_id_kernels", "to_narrow", "i8[:] i4[:] i4[:] i8[:] i8 -> i8")
find_narrow = Entry("wide_id_kernels", "find_narrow", "i8 i4[:] i8[:] -> i8")
to_wide = Entry("wide_id_kernels", "to_wide", "i4[:] i8[:] i8[:]")
refill = Entry("wide_id_kernels", "refill", "i8[:] i8 i4[:]")

ENTRIES = {name: each for name, each in globals().items() if isinstance(each, Entry)}


def _part(*modules: str) -> tuple[Entry, ...]:
    return tuple(each for each in ENTRIES.values() if each.module in modules)


# What is compiled together, since it has most of its code in common. Every knowledge base uses the first two.
_RULES, _FACTS = _part("kernels", "sweep_kernels"), _part("hash_tables", "fact_kernels", "journal_kernels")
PARTS = (_RULES, _FACTS, _part("version_kernels"), _part("mark_kernels"), _part("wide_id_kernels"))


def used_with(entry: Entry) -> list[tuple[Entry, ...]]:
    """The parts that a program will use that uses this kernel."""
    return [_RULES, _FACTS] if entry in _RULES + _FACTS else [part for part in PARTS if entry in part]

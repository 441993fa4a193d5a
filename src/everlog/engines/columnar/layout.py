"""How are the integer arrays laid out that kernels read?

Kernels see relations, indexes and plans as rows of integers. The field numbers are constants here, used by the Python
side that writes them and by the kernels that read them.
"""

from __future__ import annotations

from everlog.plans.labels import PRIVATE as PRIVATE_BITS
from everlog.plans.labels import Bit

# --- a relation: one row of the relation table ------------------------------------------------------------------------
R_ARITY = 0  # ids stored per fact; a nullary relation stores a zero
R_SIZE = 1  # rows in use
R_LOW = 3  # rows below are OLD; rows from here to R_HIGH are NEW
R_HIGH = 4  # rows from here on were concluded in this round and are read by no atom yet
R_MASKS = 5  # address: a uint16 of label bits per row
R_WEIGHTS = 6  # address: an int64 per row, or 0 where there are no weights
R_SLOTS = 7  # of the hash table over whole facts
R_KEYS = 8  # address: a uint64 per slot
R_ROWS = 9  # address: an int32 per slot, or 0 for a wide table, whose entries have the row beside the tag
R_FIRST_INDEX = 10  # the first of its indexes in the index table, or -1
R_FACTS = 12  # address: the facts one after the other, R_ARITY int32 each
R_LIMIT = 13  # facts for which columns and table have room
R_RANKS = 14  # address: an int32 per row, or 0 where there are no ranks
# What an update has touched: a journal entry per row, from which the update is undone or made the new state.
R_JOURNAL = 15  # address: the rows, in the order they were first touched
R_JOURNAL_SIZE = 16
R_JOURNAL_SEEN = 17  # entries that were there when the sweep began
R_JOURNAL_LIMIT = 18  # entries for which there is room, here and in the queue and the frontier
R_OLD_MASKS = 19  # address: what the row's mask was
R_OLD_WEIGHTS = 20  # address, or 0
R_OLD_RANKS = 21  # address, or 0
R_QUEUE = 22  # address: rows to be worked on in a later round
R_QUEUE_SIZE = 23
R_FRONTIER = 24  # address: rows that the round works on
R_FRONTIER_SIZE = 25
R_WITNESSES = 26  # address: an int64 per row, the relation and row of a fact that it came from, or -1; or 0
R_DERIVED = 27  # address: an int64 per row, the newest log entry of a fact that came from it, or -1; or 0
# Versions (version_kernels.py): what readers of an older state may see, while updates go on.
R_LIVES = 28  # address: a uint64 per row, the ticks at which its fact came and went; 0 where a reader sees every row
R_NEWER = 29  # address: an int32 per row, one more than the row that took its fact up again, or 0; 0 where none did
R_OLDEST = 30  # the oldest tick that somebody may still read, when the update began
R_TICK = 31  # one more than the tick that is read, in the descriptor of a reader; 0 in that of the engine itself
R_FIELDS = 32

# --- an index: one row of the index table -----------------------------------------------------------------------------
I_RELATION = 0
I_WIDTH = 1  # key columns
I_SLOTS = 2
I_USED = 3  # distinct keys
I_KEYS = 4  # address: a uint64 per slot
I_HEADS = 5  # address: an int32 per slot, the newest row with that key
I_NEXT = 6  # address: an int32 per row, the next older row with the same key, or -1
I_SIBLING = 7  # the relation's next index, or -1
I_LIMIT = 8  # distinct keys for which the table has room
I_COLUMNS = 9  # key columns from here on

# --- label bits of a row ----------------------------------------------------------------------------------------------
EXPLICIT = int(Bit.EXPLICIT)
ABSENT = int(Bit.ABSENT)
WAS_ABSENT = int(Bit.WAS_ABSENT)
DEAD = ABSENT | WAS_ABSENT
TOUCHED = int(Bit.TOUCHED)
EDITED = int(Bit.EDITED)
SUSPECT = int(Bit.SUSPECT)
SATED = int(Bit.SATED)
MARKED = int(Bit.MARKED)
PRIVATE = int(PRIVATE_BITS)

# --- a step of a plan -------------------------------------------------------------------------------------------------
# Every step: operation, then fields by operation, then lists. `operand` is a pair: (SLOT, slot) or (CONSTANT, id).
OP_SCAN = 0  # rows of a range, for each binding
OP_PROBE = 1  # rows that an index gives for each binding
OP_LOOKUP = 2  # keep bindings whose whole fact is there
OP_ABSENT = 3  # keep bindings whose whole fact is not there
OP_COMPARE = 4  # keep bindings for which a comparison holds
OP_PYTHON = 5  # leave the batch to Python: expressions
OP_EMIT = 6  # conclude a fact per binding
OP_EFFECT = 7  # apply the effect of a sweep variant to the fact of each binding
OP_SHORTER = 8  # keep bindings for which one index gives fewer rows than another
OP_COPY = 9  # fill a slot from an operand; S_EXTRA: whether that may be UNBOUND

SLOT, CONSTANT = 0, 1

S_OP = 0
S_RELATION = 1
S_INDEX = 2
S_RANGE = 3
S_CARE = 4  # label bits that matter …
S_WANT = 5  # … and what they must be
S_OPERANDS = 6  # how many operands: the key, or the two sides of a comparison, or the head's arguments
S_OUTPUTS = 7  # how many (column, slot) pairs a row fills
S_COPIES = 8  # how many slots are carried over
S_CHECKS = 9  # how many (kind, column, value) checks a row must pass
S_EXTRA = 10  # the comparison, or the number of the expression step
S_RANK = 11  # the slot that carries a rank, or -1
S_RANK_USE = 12  # what to do with the ranks of the rows that the step reads
S_OWNERS = 13  # the position of the patterns of own facts in the code; 0: all rows are own
S_ORIGIN = 14  # the slot that holds the seed's row, or -1
S_ORIGIN_RELATION = 15
S_ENOUGH = 16  # bits of the seed that make further instances unnecessary
S_SET = 17  # an effect: bits to set …
S_CLEAR = 18  # … and to clear
S_FLAGS = 19
S_WEIGH = 20  # what is added to the weight
S_QUEUE_CARE = 21  # the head is queued if these bits …
S_QUEUE_WANT = 22  # … are like this
S_WITNESS = 23  # the slot of the relation of a witness, whose row is in the next slot, or -1
S_WITNESS_USE = 24
S_LISTS = 25  # operands, outputs, copies, checks follow

CHECK_CONSTANT, CHECK_COLUMN = 0, 1

RANGE_ALL, RANGE_NEW, RANGE_OLD, RANGE_ROWS = 0, 1, 2, 3
RANGE_FRONTIER, RANGE_JOURNAL = 4, 5  # lists of rows
RANGE_VERSION = 6  # the rows whose fact is there at the tick that is read

RANK_UNUSED, RANK_OUTSIDE, RANK_START, RANK_CARRY, RANK_BELOW = 0, 1, 2, 3, 4

WITNESS_UNUSED, WITNESS_START, WITNESS_CARRY = 0, 1, 2

FLAG_CREATE, FLAG_QUEUE, FLAG_ABOVE, FLAG_RANK, FLAG_ORIGIN = 1, 2, 4, 8, 16
FLAG_MARKS_ANY = 32  # marked facts pass their mark on even if they are not explicit

PATTERN_ANY, PATTERN_CONSTANT, PATTERN_COLUMN = 0, 1, 2  # what a head asks of a column

EQ, NE, LT, LE, GT, GE = 0, 1, 2, 3, 4, 5  # of values
SAME, IS_UNBOUND = 6, 7  # of terms: the same term; no term

# --- a variant: one row of the variant table ------------------------------------------------------------------------
V_FIRST_STEP = 0
V_STEPS = 1
V_APPLICATIONS = 2  # counted here
V_LIMIT = 3  # instances per seed, 0 for all
V_SIZE = 4

# --- the state of a run, so that a kernel can leave and come back ---------------------------------------------------
T_ROUND = 0
T_VARIANT = 1
T_LEVEL = 2
T_RELATION = 3  # the relation that must grow before the kernel can continue
T_BUDGET = 4  # bindings until the kernel returns by itself, for limits and Ctrl-C
T_FIRST = 5  # variants of the first round: [0, T_FIRST); of the others: [T_FIRST, T_VARIANTS)
T_VARIANTS = 6
T_STAGE = 7  # of a sweep
T_CHECKS = 8  # a sweep's variants: first in [0, T_FIRST), checks in [T_FIRST, T_CHECKS), loop in [T_CHECKS, T_VARIANTS)
T_ORIGIN = 9  # the seed whose instances are being counted
T_INSTANCES = 10  # how many there were
T_WORKED_ON = 11  # facts that were in a frontier, or that a phase has gained
T_MARKED = 12  # facts that were marked
T_APPLICATIONS = 13  # of all variants of a sweep
T_EFFECTS = 14
T_MOST = 15  # facts to be worked on before a sweep stops, or 0
T_BINDINGS = 16  # bindings made by the steps of a sweep
T_MOST_BINDINGS = 17  # bindings to be made before a sweep stops, or 0
T_LOOK = 18  # facts worked on from which a run looks whether its plans still fit
T_PASSED = 19  # rows that probes have passed over, since an atom does not read them
T_SIZE = 20

STAGE_FIRST, STAGE_TAKE, STAGE_CHECK, STAGE_SIFT, STAGE_LOOP, STAGE_DONE = 0, 1, 2, 3, 4, 5

# --- how a sweep relabels: one array per sweep ------------------------------------------------------------------------
L_ENTER_SET, L_ENTER_CLEAR = 0, 1
L_SURVIVES_CARE, L_SURVIVES_WANT = 2, 3
L_SURVIVORS_SET, L_SURVIVORS_CLEAR = 4, 5
L_OTHERS_SET, L_OTHERS_CLEAR = 6, 7
L_DONE_SET, L_DONE_CLEAR = 8, 9
L_BY_RANK = 10
L_SIZE = 11

DONE, GROW, EVALUATE, PAUSE, ROUND_OVER, STOPPED = 0, 1, 2, 3, 4, 5

# --- batches --------------------------------------------------------------------------------------------------------
BATCH = 2048  # bindings per batch: columns of a few levels stay in the second-level cache

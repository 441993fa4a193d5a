"""What stands where in the integer arrays that kernels read?

Kernels see relations, indexes and plans as rows of integers. The field numbers are constants here, used by the Python
side that writes them and by the kernels that read them.
"""

from __future__ import annotations

# --- a relation: one row of the relation table ------------------------------------------------------------------------
R_ARITY = 0  # ids stored per fact; a nullary relation stores a zero
R_SIZE = 1  # rows in use
R_CAPACITY = 2  # rows for which there are columns
R_LOW = 3  # rows below are OLD; rows from here to R_HIGH are NEW
R_HIGH = 4  # rows from here on were concluded in this round and are read by no atom yet
R_MASKS = 5  # address: a uint16 of label bits per row
R_WEIGHTS = 6  # address: an int64 per row, or 0 where weights are not kept
R_SLOTS = 7  # of the hash table over whole facts
R_KEYS = 8  # address: a uint64 per slot
R_ROWS = 9  # address: an int32 per slot, or 0 for the table of a wide relation, which keeps rows beside tags
R_FIRST_INDEX = 10  # the first of its indexes in the index table, or -1
R_PLANNED = 11  # rows when plans were last made; far more since then asks for new plans
R_FACTS = 12  # address: the facts one after the other, R_ARITY int32 each
R_LIMIT = 13  # facts for which columns and table have room
R_FIELDS = 14

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
EXPLICIT = 1

# --- a step of a plan -------------------------------------------------------------------------------------------------
# Every step: operation, then fields by operation, then lists. `operand` is a pair: (SLOT, slot) or (CONSTANT, id).
OP_SCAN = 0  # rows of a range, from nothing
OP_PROBE = 1  # rows that an index gives for each binding
OP_LOOKUP = 2  # keep bindings whose whole fact is there
OP_ABSENT = 3  # keep bindings whose whole fact is not there
OP_COMPARE = 4  # keep bindings for which a comparison holds
OP_PYTHON = 5  # leave the batch to Python: expressions
OP_EMIT = 6  # conclude a fact per binding

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
S_LISTS = 11  # operands, outputs, copies, checks follow

CHECK_CONSTANT, CHECK_COLUMN = 0, 1

RANGE_ALL, RANGE_NEW, RANGE_OLD = 0, 1, 2

EQ, NE, LT, LE, GT, GE = 0, 1, 2, 3, 4, 5

# --- a variant: one row of the variant table ------------------------------------------------------------------------
V_FIRST_STEP = 0
V_STEPS = 1
V_APPLICATIONS = 2  # counted here
V_SIZE = 3

# --- what a step has done so far: one row of the work table ---------------------------------------------------------
W_BINDINGS = 0  # bindings it gave
W_CYCLES = 1  # processor cycles it took
W_SIZE = 2

# --- the state of a run, so that a kernel can leave and come back ---------------------------------------------------
T_ROUND = 0
T_VARIANT = 1
T_LEVEL = 2
T_RELATION = 3  # what the kernel asks for: the relation to grow
T_BUDGET = 4  # bindings until the kernel comes back by itself, for limits and Ctrl-C
T_FIRST = 5  # variants of the first round: [0, T_FIRST); of the others: [T_FIRST, T_VARIANTS)
T_VARIANTS = 6
T_ONE_ROUND = 7  # stop at the end of this round
T_SIZE = 8

DONE, GROW, EVALUATE, PAUSE, ROUND_OVER = 0, 1, 2, 3, 4

# --- batches --------------------------------------------------------------------------------------------------------
BATCH = 2048  # bindings per batch: columns of a few levels stay in the second-level cache

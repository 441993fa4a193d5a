"""Where does Everlog write what nobody asked for but somebody should know? To the standard logger `everlog`.

info      a knowledge base was opened, a version made, a snapshot written, a file removed
debug     by which strategies, in how many rounds
warning   something did not work that can be done without; error: something that somebody relies on
"""

from __future__ import annotations

import logging

logger = logging.getLogger("everlog")

"""Where does Everlog write what nobody asked for but somebody should know? To the standard logger `everlog`."""

from __future__ import annotations

import logging

logger = logging.getLogger("everlog")

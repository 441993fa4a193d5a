"""What does `python -m everlog` do? What `everlog` does."""

from __future__ import annotations

from everlog.cli.main import main

main()

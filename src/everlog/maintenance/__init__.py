"""The algorithms, one per file, over labelled fact sets; they know no engine."""

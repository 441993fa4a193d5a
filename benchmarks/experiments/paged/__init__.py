"""Updates of facts that are not in memory: their cost as data grows."""

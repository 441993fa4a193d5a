"""SPARQL, as rules: see patterns.py for how graph patterns become rule bodies, query.py for the rest of a query."""

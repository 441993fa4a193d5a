"""How do tests write the terms that they expect? Lower-case letters are IRIs, anything else is itself."""

from __future__ import annotations

from everlog.facts.terms import IRI


def term(value: object) -> object:
    return IRI(f"http://e/{value}") if isinstance(value, str) and value.islower() else value

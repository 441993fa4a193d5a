"""How is a term shown to people?"""

from __future__ import annotations

from collections.abc import Mapping

from everlog.facts.terms import IRI, BlankNode, Literal, Term, lexical_and_datatype


def shown(term: Term, prefixes: Mapping[str, str] | None = None) -> str:
    """A term for people; IRIs are shortened where a prefix fits.

    >>> shown("New York"), shown(IRI("http://ex.org/a"), {"ex": "http://ex.org/"}), shown(True)
    ('New York', 'ex:a', 'true')
    """
    if isinstance(term, str):
        return term
    if isinstance(term, BlankNode):
        return str(term)
    if isinstance(term, IRI):
        for prefix, start in (prefixes or {}).items():
            if term.value.startswith(start) and start:
                return f"{prefix}:{term.value.removeprefix(start)}"
        return f"<{term.value}>"
    if isinstance(term, Literal) and term.language:
        return f"{term.lexical}@{term.language}"
    if isinstance(term, float):
        return repr(term)
    return lexical_and_datatype(term)[0]

r"""Where does rdflib's grammar lose information?

Some of its rules are fixed before the first query is read:

    `!^:p`          the IRI after `^` in a negated set is dropped
    `-1.0`, `-01`   a negative number is computed, which fails for decimals and changes how it is written
    a tab           becomes spaces, in strings too
    `:a\-b`          the backslash becomes part of the IRI
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any


@cache
def mend_grammar() -> None:
    """Change rdflib's grammar in place; once."""
    from rdflib.plugins.sparql import parser
    from rdflib.plugins.sparql.parserutils import Param

    grammar: Any = parser
    inverse = grammar.PathOneInPropertySet.exprs[-1]
    assert inverse.name == "InversePath", "rdflib has another grammar of negated sets now"
    inverse.expr = "^" + Param("part", parser.iri | parser.A)
    for number in (parser.INTEGER_NEGATIVE, parser.DECIMAL_NEGATIVE, parser.DOUBLE_NEGATIVE):
        number.set_parse_action(_negative)
    for number in (parser.DECIMAL_POSITIVE, parser.DOUBLE_POSITIVE):
        number.set_parse_action(_positive)
    for unit in (parser.Query, parser.UpdateUnit):
        unit.parse_with_tabs()
    parser.PN_LOCAL.set_parse_action(_without_backslashes)


def _without_backslashes(tokens: Any) -> str:
    return re.sub(r"\\(.)", r"\1", tokens[0])


def _negative(tokens: Any) -> Any:
    return _signed("-", tokens[0])


def _positive(tokens: Any) -> Any:
    return _signed("+", tokens[0])


def _signed(sign: str, number: Any) -> Any:
    import rdflib

    return rdflib.Literal(f"{sign}{number}", datatype=number.datatype)

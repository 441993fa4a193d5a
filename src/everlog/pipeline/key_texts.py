"""Which text stands for a term key in a file, as a column expression that Spark runs itself?

The same texts as in process: `text` is that of formats/arrays.py, `csv_field` that of formats/writing.py,
`ntriples_term` that of formats/rdf_writing.py. Nothing here calls Python for a row. Expressions are short, since Java
does not compile methods that are too long, and interpreting them is several times slower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from everlog.facts.terms import XSD

if TYPE_CHECKING:
    from pyspark.sql import Column

# Marks our errors in Spark's message about a failed job.
REFUSED = "everlog cannot write "

_LABEL = r"^(?!x_)[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$"
_NOT_IN_IRI = r'[\x00-\x20<>"{}|^`\\]'
_PLACES = (("subject", "<_"), ("predicate", "<"), ("object", '<_"'), ("graph", "<_"))


def text(key: Column) -> Column:
    """A term as plain text: an IRI without brackets, a literal without its type or language."""
    from pyspark.sql import functions as f

    kind = _kind(key)
    return (
        f.when(kind.isin('"', "<"), _rest(key))
        .when(kind == "_", f.concat(f.lit("_:"), _rest(key)))
        .otherwise(lexical(key))
    )


def csv_field(key: Column, *, alone: bool = False) -> Column:
    """A term's text as a field of CSV, quoted where it must be; `alone` says that the field is the whole line."""
    from pyspark.sql import functions as f

    plain = text(key)
    special = plain.rlike('[",\r\n\ufeff]')
    if alone:  # a blank line would be skipped, and `()` be a fact without arguments
        special = special | plain.isin("", "()")
    quoted = f.concat(f.lit('"'), f.replace(plain, f.lit('"'), f.lit('""')), f.lit('"'))
    return f.when(special, quoted).otherwise(plain)


def csv_line(keys: list[Column]) -> Column:
    """A fact as a line of CSV; `()` where it has no arguments, and nothing for a cell without a term."""
    from pyspark.sql import functions as f

    if not keys:
        return f.lit("()")
    nothing = f.lit('""' if len(keys) == 1 else "")
    return f.concat_ws(",", *(f.coalesce(csv_field(key, alone=len(keys) == 1), nothing) for key in keys))


def ntriples_line(terms: list[Column]) -> Column:
    """Serialised terms as a line of N-Triples or N-Quads; the job fails on a fact that is not valid RDF."""
    from pyspark.sql import functions as f

    parts: list[Column] = []
    for term, (place, kinds) in zip(terms, _PLACES, strict=False):
        refusal = f.concat(f.lit(REFUSED), term, f.lit(f" as the {place} of a triple;"))
        parts += [f.when(_kind(term).isin(*kinds), term).otherwise(f.raise_error(refusal)), f.lit(" ")]
    return f.concat(*parts, f.lit("."))


def ntriples_term(key: Column) -> Column:
    """A term as N-Triples writes it."""
    from pyspark.sql import functions as f

    kind, rest, tag = _kind(key), _rest(key), f.substring_index(_rest(key), " ", 1)
    quote = f.lit('"')
    datatype = f.when(f.contains(tag, f.lit(":")), tag).otherwise(f.concat(f.lit(XSD), tag))
    label = f.when(rest.rlike(_LABEL), rest).otherwise(f.concat(f.lit("x_"), f.lower(f.hex(f.encode(rest, "UTF-8")))))
    literal = f.concat(quote, _escaped(lexical(key)), quote)
    return (
        f.when(kind == "<", f.concat(f.lit("<"), _iri(rest), f.lit(">")))
        .when(kind == '"', f.concat(quote, _escaped(rest), quote))
        .when(kind == "_", f.concat(f.lit("_:"), label))
        .when(kind == "@", f.concat(literal, f.lit("@"), tag))
        .otherwise(f.concat(literal, f.lit("^^<"), datatype, f.lit(">")))
    )


def _kind(key: Column) -> Column:
    from pyspark.sql import functions as f

    return f.substring(key, 1, 1)


def _rest(key: Column) -> Column:
    from pyspark.sql import functions as f

    return f.substr(key, f.lit(2))


def lexical(key: Column) -> Column:
    """The lexical form of a literal with a type or a language."""
    from pyspark.sql import functions as f

    return f.substr(key, f.instr(key, f.lit(" ")) + 1)


def _escaped(plain: Column) -> Column:
    from pyspark.sql import functions as f

    changed = plain
    for character, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        changed = f.replace(changed, f.lit(character), f.lit(escape))
    return f.when(plain.rlike('[\\\\"\n\r\t]'), changed).otherwise(plain)


def _iri(plain: Column) -> Column:
    from pyspark.sql import functions as f

    def written(character: Column) -> Column:
        code = f.lpad(f.hex(f.ascii(character)), 4, "0")
        return f.when(character.rlike(_NOT_IN_IRI), f.concat(f.lit("\\u"), code)).otherwise(character)

    changed = f.array_join(f.transform(f.split(plain, ""), written), "")
    return f.when(plain.rlike(_NOT_IN_IRI), changed).otherwise(plain)

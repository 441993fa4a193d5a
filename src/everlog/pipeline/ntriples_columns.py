"""How are N-Triples and N-Quads read without leaving Spark?

Most lines are written by machines: ``<s> <p> o .`` with single spaces, no escapes. One regular expression recognises
those and turns them into their keys, several times as fast as Python would.
Whatever looks different (a tab, an escape, an odd IRI, an error) is left to the full parser in parsing.py: this file
never decides that a line is wrong. So what the expression accepts must be valid, and what it yields what the parser
would; it need not accept everything that is.
"""

from __future__ import annotations

import functools
import re
import string

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from everlog.facts.terms import RDF, XSD
from everlog.pipeline import parsing
from everlog.pipeline.documents import parsed_lines
from everlog.pipeline.gathering import Gathered, computed_once, text_lines
from everlog.pipeline.rejects import reading
from everlog.pipeline.sources import Source, SourceFile, scope_column

# What a line is.
NOTHING, TRIPLE, QUAD, OTHER = 0, 1, 2, 3

_END = "\x01"  # stands after each key but the last; a line that holds it is left to the parser


def _one_of(characters: str) -> str:
    # Single characters become one bit set in Java's regular expressions; ranges would be tried one after the other.
    return "[" + "".join(re.escape(c) if c in r"\[]^-&~" else c for c in characters) + "]"


def _many(characters: str) -> str:
    """Any number of characters of an IRI: the given ones, escaped bytes, and some beyond ASCII, all allowed."""
    # Possessive outside, since Java would recurse for each turn; greedy inside, since that has a loop of its own.
    return rf"{characters}*(?:(?:%[0-9A-Fa-f]{{2}}|[\u00A0-\uD7FF]+){characters}*)*+"


_ALNUM = string.ascii_letters + string.digits
_PATH = _one_of(_ALNUM + "-._~!$&'()*+,;=:@/")
_QUERY = _one_of(_ALNUM + "-._~!$&'()*+,;=:@/?")
_SCHEME = f"{_one_of(string.ascii_letters)}{_one_of(_ALNUM + '+.-')}*:"
_HOST = f"//{_one_of(_ALNUM + '-._~')}*(?::[0-9]+)?+(?=[/?#>])"
_IRI = rf"{_SCHEME}(?:{_HOST}|(?!//)){_many(_PATH)}(?:\?{_many(_QUERY)})?+(?:#{_many(_QUERY)})?+"
_LABEL = f"{_one_of(_ALNUM + '_')}{_one_of(_ALNUM + '_-')}*"
_TEXT = r'[^"\\\x01]*'
_LANGUAGE = "@[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*+"
_XSD = re.escape(XSD)

# Each group is a piece of a key, so that putting the groups together, in another order, gives the keys. The space
# before the dot serves as the one in ``^integer 42``. The parser refuses rdf:langString without a language.
_SUBJECT = f"(?:(<{_IRI})>|(_):({_LABEL})) "
_PREDICATE = f"(<{_IRI})> "
_OBJECT = (
    rf'(?:(<{_IRI})> |(_):({_LABEL}) |("{_TEXT})"(?:\^\^<{_XSD}string>)?+ '
    rf'|"({_TEXT})"(?:({_LANGUAGE})|\^(\^)<(?:{_XSD}([A-Za-z]+)|(?!{re.escape(RDF)})({_IRI}))>)( ))'
)
_GRAPH = f"(?:(<{_IRI})> |(_):({_LABEL}) )?+"

PLAIN = {
    "nt": rf"\A{_SUBJECT}{_PREDICATE}{_OBJECT}\.\z",
    "nq": rf"\A{_SUBJECT}{_PREDICATE}{_OBJECT}{_GRAPH}\.\z",
}
_KEYS = {
    "nt": f"$1$2$3{_END}$4{_END}$5$6$7$8$10$11$12$13$14$9",
    "nq": f"$1$2$3{_END}$4{_END}$5$6$7$8$10$11$12$13$14$9{_END}$15$16$17",
}


def gather_triples(gathered: Gathered, source: Source, files: list[SourceFile]) -> None:
    """The facts of N-Triples and N-Quads files, split by lines."""
    for format in sorted({file.format for file in files}):
        some = [file for file in files if file.format == format]
        scope = scope_column(f.col("file"), source, some)
        with reading(source.title):
            lines = with_kinds(text_lines(gathered.spark, some), format)
            counts = {row["kind"]: row["count"] for row in lines.groupBy("kind").count().collect()}
        for kind in (TRIPLE, QUAD):
            frame = _keys(lines.where(f.col("kind") == kind), scope, quads=kind == QUAD, graph=source.graph)
            relation = "triple" if len(frame.columns) == 3 else "quad"
            gathered.add(relation, frame, counts.get(kind, 0), source.title)
        if counts.get(OTHER):
            parse = functools.partial(parsing.parse_lines, format=format, graph=source.graph, samples=gathered.samples)
            others = lines.where(f.col("kind") == OTHER)
            gathered.add_parsed(parsed_lines(others, scope, parse), source.title)


def with_kinds(lines: DataFrame, format: str) -> DataFrame:
    """Lines with their keys in one text, and what they are: NOTHING, TRIPLE, QUAD, or OTHER for the parser."""
    line, keys = f.col("line"), f.col("keys")
    # Bytes that are no UTF-8 come out as U+FFFD, and a line that does not fit as it was.
    plain = (keys != line) & ~keys.contains("\ufffd")
    what = f.when(keys.endswith(_END), TRIPLE).otherwise(QUAD) if format == "nq" else f.lit(TRIPLE)
    kind = f.when(plain, what).when((line == "") | line.startswith("#"), NOTHING).otherwise(OTHER)
    keyed = lines.withColumn("keys", f.regexp_replace(line, PLAIN[format], _KEYS[format]))
    return keyed.withColumn("kind", computed_once(kind))


def _keys(lines: DataFrame, scope: Column, *, quads: bool, graph: str | None) -> DataFrame:
    """The keys of plain lines, all with a graph or all without, in columns of their own."""
    head, rest = f.substring_index("keys", _END, 2), f.substring("keys", f.length("head") + 2, f.length("keys"))
    cut = lines.select("keys", head.alias("head"), scope.alias("scope"))
    # A column for each step: Spark then computes it once, where nested expressions would repeat it.
    cut = cut.select("head", "scope", rest.alias("rest"))
    subject, predicate = f.substring_index("head", _END, 1), f.substring_index("head", _END, -1)
    object_, name = f.substring_index("rest", _END, 1), f.substring_index("rest", _END, -1)
    cut = cut.select(
        "scope", subject.alias("s"), predicate.alias("p"), object_.alias("o"), *([name.alias("g")] if quads else [])
    )
    columns = [_scoped("s"), f.col("p"), _object("o")]
    if quads:
        columns.append(_scoped("g"))
    elif graph is not None:
        columns.append(f.lit("<" + graph))
    return cut.select(*[key.alias(f"c{place}") for place, key in enumerate(columns, 1)])


def _scoped(name: str) -> Column:
    """A key in which a blank node has its scope."""
    key = f.col(name)
    scoped = f.concat(f.lit("_"), f.col("scope"), f.lit("_"), f.substring(key, f.lit(2), f.length(key)))
    return f.when(key.startswith("_"), scoped).otherwise(key)


def _object(name: str) -> Column:
    key = f.col(name)
    language = f.lower(f.substring_index(key, " ", 1))
    lowered = f.concat(language, f.substring(key, f.length(language) + 1, f.length(key)))
    return f.when(key.startswith("@"), lowered).otherwise(_scoped(name))

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
from everlog.pipeline.gathering import Gathered, text_lines
from everlog.pipeline.rejects import reading
from everlog.pipeline.source_files import SourceFile, scope_column
from everlog.pipeline.sources import InputSource

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
_LANGUAGE = "@[a-zA-Z]{2,3}(?:-[a-zA-Z]{2})?+"  # en, de-AT; the parser knows the rules for longer tags
_XSD, _RDF = re.escape(XSD), re.escape(RDF)

# Each group is a piece of a key, so that putting the groups together, in another order, gives the keys. The space
# before the dot serves as the one in ``^integer 42``. The parser refuses rdf:langString without a language.
_SUBJECT = f"(?:(<{_IRI})>|(_):({_LABEL})) "
_PREDICATE = f"(<{_IRI})> "
_OBJECT = (
    rf'(?:(<{_IRI})> |(_):({_LABEL}) |("{_TEXT})"(?:\^\^<{_XSD}string>)?+ '
    rf'|"({_TEXT})"(?:({_LANGUAGE})|\^(\^)<(?:{_XSD}([A-Za-z]+)|(?!{_XSD}|{_RDF})({_IRI}))>)( ))'
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


def gather_triples(gathered: Gathered, source: InputSource, files: list[SourceFile]) -> None:
    """The facts of N-Triples and N-Quads files, split by lines."""
    for format in sorted({file.format for file in files}):
        some = [file for file in files if file.format == format]
        scope = scope_column(f.col("file"), source, some)
        with reading(source.title):
            lines = gathered.persist(_cut(text_lines(gathered.spark, some), format, scope))
            counts = {row["kind"]: row["count"] for row in lines.groupBy("kind").count().collect()}
        graph = [] if source.graph is None else [f.lit("<" + source.graph).alias("c4")]
        for kind, columns in ((TRIPLE, ["c1", "c2", "c3", *graph]), (QUAD, ["c1", "c2", "c3", "c4"])):
            if counts.get(kind):
                frame = lines.where(f.col("kind") == kind).select(*columns)
                gathered.add("triple" if len(columns) == 3 else "quad", frame, counts[kind], source.title)
        if counts.get(OTHER):
            parse = functools.partial(parsing.parse_lines, format=format, graph=source.graph, samples=gathered.samples)
            others = lines.where(f.col("kind") == OTHER)
            gathered.add_parsed(parsed_lines(others, scope, parse), source.title)


def _cut(lines: DataFrame, format: str, scope: Column) -> DataFrame:
    """What each line is, its keys in columns where it is plain, and its text and file where the parser must see it."""
    line, keys, kind = f.col("line"), f.col("keys"), f.col("kind")
    # Bytes that are no UTF-8 come out as U+FFFD, and a line that does not fit as it was.
    plain = (keys != line) & ~keys.contains("\ufffd")
    what = f.when(keys.endswith(_END), TRIPLE).otherwise(QUAD) if format == "nq" else f.lit(TRIPLE)
    told = f.when(plain, what).when((line == "") | line.startswith("#"), NOTHING).otherwise(OTHER)
    # A column for each step: Spark then computes it once, where nested expressions would repeat it.
    step = lines.withColumn("keys", f.regexp_replace(line, PLAIN[format], _KEYS[format])).withColumn("kind", told)
    names = ["c1", "c2", "c3", "c4"] if format == "nq" else ["c1", "c2", "c3"]
    parts = step.withColumn("keys", f.split(keys, _END))
    parts = parts.select("*", *[f.get(keys, f.lit(place)).alias(name) for place, name in enumerate(names)])
    finished = {"c1": _scoped(f.col("c1"), scope), "c3": _object(f.col("c3"), scope), "c4": _scoped(f.col("c4"), scope)}
    return parts.select(
        "kind",
        *[f.when(kind != OTHER, finished.get(name, f.col(name))).alias(name) for name in names],
        *[f.when(kind == OTHER, f.col(name)).alias(name) for name in ("line", "file")],
    )


def _scoped(key: Column, scope: Column) -> Column:
    """A key in which a blank node has its scope."""
    scoped = f.concat(f.lit("_"), scope, f.lit("_"), f.substring(key, f.lit(2), f.length(key)))
    return f.when(key.startswith("_"), scoped).otherwise(key)


def _object(key: Column, scope: Column) -> Column:
    language = f.lower(f.substring_index(key, " ", 1))
    lowered = f.concat(language, f.substring(key, f.length(language) + 1, f.length(key)))
    return f.when(key.startswith("@"), lowered).otherwise(_scoped(key, scope))

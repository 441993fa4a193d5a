"""Which views over the shop are kept? BSBM's queries 1 to 4, and the paper's query through producers, with its updates.

Of each query four kinds of updates: all triples that involve the products it returns go and come back, and those of a
product that it does not return. The paper's method gets the queries as the paper writes them, without DISTINCT, ORDER
BY and LIMIT, and query 3 with MINUS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.experiments.sparql.systems.counting_sql import Bgp, LeftJoin, Minus, Project, Union
from benchmarks.experiments.sparql.triples import Edit, Triple
from benchmarks.experiments.sparql.workload import Task, Workload
from benchmarks.experiments.sparql.workloads.shop import BSBM, DC, RDFS, Shop, feature_key, shop, type_key
from everlog.facts.terms import RDF_TYPE

CYCLES = 4
_SHOWN_OF_2 = ("label", "comment", "producer", "productFeature", "text1", "text2", "text3", "num1", "num2")
_SHOWN = 10  # the queries' LIMIT
_PREFIXES = f"PREFIX bsbm: <{BSBM}>\nPREFIX rdfs: <{RDFS}>\n"
_LABEL, _FEATURE = RDFS + "label", BSBM + "productFeature"
_ABOVE, _BELOW = 100, 1_900  # the filters' bounds; properties lie between 1 and 2000


def explore(products: int, cycles: int = CYCLES) -> Workload:
    """Queries 1 to 4."""
    made = shop(products)
    chosen = _Chosen(made)
    tasks = []
    for name, text, pattern_text, pattern in chosen.queries():
        tasks.append(Task(name, text, pattern, [_edits(made, chosen, name)] * cycles, pattern_text))
    return Workload(f"BSBM, {products:,} products", made.blocks, tuple(tasks))


def producers(products: int, cycles: int = CYCLES) -> Workload:
    """The features of all products of producers with at least two products: a path from product to product."""
    made = shop(products)
    chosen = _Chosen(made)
    text = (
        _PREFIXES
        + """SELECT ?feat WHERE { ?product1 bsbm:producer ?producer . ?product2 bsbm:producer ?producer .
        ?product2 bsbm:productFeature ?feat FILTER (?product1 != ?product2) }"""
    )
    bgp = Bgp(
        (
            ("?product1", BSBM + "producer", "?producer"),
            ("?product2", BSBM + "producer", "?producer"),
            ("?product2", _FEATURE, "?feat"),
        ),
        ("{product1} <> {product2}",),
    )
    edits = _out_and_in(made, "a product", [chosen.other])
    return Workload(
        f"producers, {products:,} products",
        made.blocks,
        (Task("hop-like: producers", text, Project(bgp, ("feat",)), [edits] * cycles), _star(made, chosen, cycles)),
    )


def _star(made: Shop, chosen: _Chosen, cycles: int) -> Task:
    """What every product has: a star."""
    names = ("label", "comment", "producer", "num1", "num2", "num3")
    predicates = [_LABEL, RDFS + "comment", BSBM + "producer", *(f"{BSBM}productPropertyNumeric{n}" for n in (1, 2, 3))]
    triples = tuple(("?p", predicate, f"?{name}") for predicate, name in zip(predicates, names, strict=True))
    lines = " . ".join(f"?p <{predicate}> ?{name}" for predicate, name in zip(predicates, names, strict=True))
    shown = ("p", *names)
    text = f"SELECT {' '.join('?' + name for name in shown)} WHERE {{ {lines} }}"
    edits = _out_and_in(made, "a product", [chosen.other])
    return Task("star: products", text, Project(Bgp(triples), shown), [edits] * cycles)


class _Chosen:
    """Values for the parameters: a common type with its most common features, and products."""

    def __init__(self, made: Shop) -> None:
        types = Counter(made.leaf.tolist())
        self.type = types.most_common(1)[0][0]
        own = [number for number, leaf in enumerate(made.leaf.tolist()) if leaf == self.type]
        common = Counter(feature for number in own for feature in made.features[number].tolist()).most_common(3)
        self.features = [feature for feature, _ in common]
        self.product = made.products[own[0]]
        self.other = next(made.products[n] for n, leaf in enumerate(made.leaf.tolist()) if leaf != self.type)
        self._features_of = {made.products[number]: set(made.features[number].tolist()) for number in own}

    def returned(self, name: str) -> list[str]:
        """The products that a query's pattern matches, its filters aside; at most ten."""
        first, second, third = self.features
        matches: Callable[[set[int]], bool] = {
            "query 1": lambda has: {first, second} <= has,
            "query 2": lambda has: True,
            "query 3": lambda has: first in has and second not in has,
            "query 4": lambda has: first in has and bool({second, third} & has),
        }[name]
        found = [product for product, has in self._features_of.items() if matches(has)]
        return [self.product] if name == "query 2" else found[:_SHOWN]

    def queries(self) -> Iterator[tuple[str, str, str, Project]]:
        yield self._query_1()
        yield self._query_2()
        yield self._query_3()
        yield self._query_4()

    def _base(self, *features: int, label: bool = True) -> tuple[tuple[str, str, str], ...]:
        start = (("?product", _LABEL, "?label"),) if label else ()
        typed = ("?product", RDF_TYPE, type_key(self.type)[1:])
        return (*start, typed, *(("?product", _FEATURE, feature_key(number)[1:]) for number in features))

    def _query_1(self) -> tuple[str, str, str, Project]:
        first, second, _ = self.features
        triples = (*self._base(first, second), ("?product", f"{BSBM}productPropertyNumeric1", "?value1"))
        where = f"{{ {_written(triples)} FILTER (?value1 > {_ABOVE}) }}"
        text = f"{_PREFIXES}SELECT DISTINCT ?product ?label WHERE {where} ORDER BY ?label LIMIT 10"
        pattern = Project(Bgp(triples, (f"CAST({{value1}} AS INT) > {_ABOVE}",)), ("product", "label"))
        return "query 1", text, f"SELECT ?product ?label WHERE {where}", pattern

    def _query_2(self) -> tuple[str, str, str, Project]:
        product = self.product[1:]
        required = [
            (product, _LABEL, "?label"),
            (product, RDFS + "comment", "?comment"),
            (product, BSBM + "producer", "?p"),
            ("?p", _LABEL, "?producer"),
            (product, DC + "publisher", "?p"),
            (product, _FEATURE, "?f"),
            ("?f", _LABEL, "?productFeature"),
            *((product, f"{BSBM}productPropertyTextual{n}", f"?text{n}") for n in (1, 2, 3)),
            *((product, f"{BSBM}productPropertyNumeric{n}", f"?num{n}") for n in (1, 2)),
        ]
        optional = [("Textual4", "text4"), ("Textual5", "text5"), ("Numeric4", "num4")]
        shown = (*_SHOWN_OF_2, *(name for _, name in optional))
        more = [(product, f"{BSBM}productProperty{kind}", f"?{name}") for kind, name in optional]
        pattern: Bgp | LeftJoin = Bgp(tuple(required))
        for triple in more:
            pattern = LeftJoin(pattern, Bgp((triple,)))
        options = " ".join(f"OPTIONAL {{ {_written([triple])} }}" for triple in more)
        variables = " ".join(f"?{name}" for name in shown)
        text = f"SELECT {variables} WHERE {{ {_written(required)} {options} }}"
        return "query 2", text, text, Project(pattern, shown)

    def _query_3(self) -> tuple[str, str, str, Project]:
        first, second, _ = self.features
        numeric = [("?product", f"{BSBM}productPropertyNumeric{n}", f"?p{n}") for n in (1, 3)]
        triples = (*self._base(first), *numeric)
        filters = f"FILTER (?p1 > {_ABOVE}) FILTER (?p3 < {_BELOW})"
        not_this = (("?product", _FEATURE, feature_key(second)[1:]),)
        text = f"""{_PREFIXES}SELECT ?product ?label WHERE {{ {_written(triples)} {filters}
            OPTIONAL {{ {_written(not_this)} ?product rdfs:label ?testVar }} FILTER (!bound(?testVar)) }}
            ORDER BY ?label LIMIT 10"""
        minus = f"{{ {{ {_written(triples)} {filters} }} MINUS {{ {_written(not_this)} }} }}"
        left = Bgp(triples, (f"CAST({{p1}} AS INT) > {_ABOVE}", f"CAST({{p3}} AS INT) < {_BELOW}"))
        pattern = Project(Minus(left, Bgp(not_this)), ("product", "label"))
        return "query 3", text, f"SELECT ?product ?label WHERE {minus}", pattern

    def _query_4(self) -> tuple[str, str, str, Project]:
        first, second, third = self.features
        sides, patterns = [], []
        for feature, number in ((second, 1), (third, 2)):
            triples = (
                *self._base(first, feature),
                ("?product", f"{BSBM}productPropertyTextual1", "?text"),
                ("?product", f"{BSBM}productPropertyNumeric{number}", f"?p{number}"),
            )
            sides.append(f"{{ {_written(triples)} FILTER (?p{number} > {_ABOVE}) }}")
            bgp = Bgp(triples, (f"CAST({{p{number}}} AS INT) > {_ABOVE}",))
            patterns.append(Project(bgp, ("product", "label", "text")))
        where = f"{{ {' UNION '.join(sides)} }}"
        text = f"{_PREFIXES}SELECT DISTINCT ?product ?label ?text WHERE {where} ORDER BY ?label OFFSET 5 LIMIT 10"
        pattern = Project(Union(*patterns), ("product", "label", "text"))
        return "query 4", text, f"SELECT ?product ?label ?text WHERE {where}", pattern


def _written(triples: Iterable[tuple[str, str, str]]) -> str:
    return " ".join(" ".join(t if t[0] == "?" else f"<{t}>" for t in triple) + " ." for triple in triples)


def _edits(made: Shop, chosen: _Chosen, name: str) -> list[Edit]:
    return [
        *_out_and_in(made, "relevant", chosen.returned(name)),
        *_out_and_in(made, "irrelevant", [chosen.other]),
    ]


def _out_and_in(made: Shop, what: str, products: Sequence[str]) -> list[Edit]:
    """All triples that involve products go, and come back."""
    found = _involving(made, products)
    return [Edit(f"delete {what}", found, []), Edit(f"insert {what}", [], found)]


def _involving(made: Shop, products: Sequence[str]) -> list[Triple]:
    wanted = pa.array(products)
    found: list[Triple] = []
    for block in made.blocks:
        subject, _, object_ = block.columns
        inside = pc.or_(pc.is_in(subject, wanted), pc.is_in(object_, wanted))
        if pc.any(inside).as_py():
            columns = (column.filter(inside).to_pylist() for column in block.columns)
            found += list(zip(*columns, strict=True))
    return list(dict.fromkeys(found))

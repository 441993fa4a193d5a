"""What does an ontology come to, as rows of axiom tables and rules?

Which of the two an axiom becomes is chosen by its shape (shapes.py):

    tables     a row of the shape's table; the rule of the shape goes round for all of them
    compiled   a rule of its own over its own classes and properties
    generic    the triples of the document as they are, under the rules of OWL 2 RL (rules/library): for axioms that
               rules or data conclude themselves

`choose` takes tables where a shape has many axioms, and compiles where it has few, or is recursive in one property:
transitive, symmetric, a chain. Such rules make small components, which are maintained by themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from everlog.errors import UsageError
from everlog.facts.blocks import FactBlock
from everlog.facts.terms import Term, keys_of, term_of
from everlog.ontologies import same_as
from everlog.ontologies.axioms import axioms
from everlog.ontologies.graph import OntologyGraph
from everlog.ontologies.shapes import SEPARATOR, TABLE_PREFIX, ShapedClause, shaped
from everlog.ontologies.vocabulary import DIFFERENT_FROM, SAME_AS
from everlog.rules.library import library_program
from everlog.rules.syntax import TRIPLE, Atom, Constant, Rule, Variable

CHOOSE = "choose"
WAYS = (CHOOSE, "tables", "compiled", "generic")
REGISTER = TABLE_PREFIX + "ontology"  # the ontologies there are: name, and the way that was asked for
GENERIC_TABLE = TABLE_PREFIX + "triple"  # the triples of ontologies held in the generic way
_MANY = 32  # axioms of a shape from which on they are rows

Row = tuple[Term, ...]


@dataclass(frozen=True)
class Unused:
    """An axiom, or a part of one, from which no rule concludes anything."""

    axiom: str
    reason: str

    def __str__(self) -> str:
        return f"{self.axiom}: {self.reason}"


@dataclass(frozen=True)
class Ontology:
    """The axioms of a document, read."""

    clauses: tuple[ShapedClause, ...]
    unused: tuple[Unused, ...]
    same_as: bool  # things may turn out to be one
    blocks: tuple[FactBlock, ...]  # the document

    @classmethod
    def of_blocks(cls, blocks: Iterable[FactBlock]) -> Ontology:
        """From the blocks that an RDF document is read in."""
        kept = tuple(blocks)
        graph = OntologyGraph.of_blocks(kept)
        unused: list[Unused] = []
        clauses: dict[tuple[str, ...], ShapedClause] = {}
        for axiom, found in axioms(graph):
            unused += [Unused(str(axiom), reason) for reason in found.unused]
            for clause in map(shaped, found.clauses):
                clauses.setdefault((clause.shape.table, *keys_of(clause.values)), clause)
        listed = tuple(clauses.values())
        return cls(listed, tuple(unused), any(map(_concludes_same, listed)), kept)

    def triples(self) -> Iterator[Row]:
        """All triples of the document."""
        for block in self.blocks:
            for row in zip(*(column.to_pylist() for column in block.columns[:3]), strict=True):
                yield tuple(map(term_of, row))


def _concludes_same(clause: ShapedClause) -> bool:
    head = clause.clause.head
    if head is None:
        return False
    predicate = head.args[1]
    return isinstance(predicate, Constant) and predicate.key in (SAME_AS, DIFFERENT_FROM)


@dataclass(frozen=True)
class Content:
    """An ontology as a knowledge base holds it: rows by table, after the ontology's name, and rules by name."""

    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)  # no sets: to Python 1, 1.0 and True are one
    rules: Mapping[str, Rule] = field(default_factory=dict)  # of this ontology alone
    shared: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)  # of each table


def content(ontology: Ontology, name: str, way: str = CHOOSE, tables: Collection[str] = ()) -> Content:
    """The rows and rules of an ontology.

    Args:
        name: What the ontology is called.
        way: One of WAYS.
        tables: Those that it has rows in already: they go on to be tables, so that an edit stays one.
    """
    if way not in WAYS:
        raise UsageError(f"{way!r} is no way for an ontology", hint=f"one of {', '.join(WAYS)}")
    register: dict[str, Sequence[Row]] = {REGISTER: [(name, way)]}
    if way == "generic":
        rows = [(name, *row) for row in ontology.triples()]
        return Content({**register, GENERIC_TABLE: rows}, {}, {GENERIC_TABLE: _generic()})
    by_table: dict[str, list[ShapedClause]] = defaultdict(list)
    for clause in ontology.clauses:
        by_table[clause.shape.table].append(clause)
    tabled = dict(register)
    rules: dict[str, Rule] = {}
    shared: dict[str, tuple[Rule, ...]] = {}
    for table, clauses in by_table.items():
        shape = clauses[0].shape
        if not shape.has_body or way == "tables" or (way == CHOOSE and _pays(clauses, table in tables)):
            tabled[table] = [(name, *clause.values) for clause in clauses]
            shared[table] = (shape.rule,)
        else:
            for clause in clauses:
                rule = clause.rule(name)
                rules[rule.name or ""] = rule
    if ontology.same_as:
        tabled[same_as.TABLE], shared[same_as.TABLE] = [(name,)], same_as.RULES
    return Content(tabled, rules, shared)


@cache
def _generic() -> tuple[Rule, ...]:
    """The rules of the generic way, which all go with its table. A program's facts are rules without a condition."""
    program = library_program("owl2-rl")
    triple = tuple(Variable(name) for name in "spo")
    axiom = Atom(GENERIC_TABLE, (Variable("_1"), *triple))
    anything = Atom(GENERIC_TABLE, tuple(Variable(f"_{number}") for number in range(1, 5)))
    rules = [
        Rule((Atom(TRIPLE, triple),), (axiom,), GENERIC_TABLE),
        *(Rule((fact,), (anything,)) for fact in program.facts),
        *program.rules,
    ]
    named = (rule.name or f"r{number}" for number, rule in enumerate(rules))
    return tuple(
        replace(rule, name=name if name == GENERIC_TABLE else f"{GENERIC_TABLE}{SEPARATOR}{name}")
        for name, rule in zip(named, rules, strict=True)
    )


def _pays(clauses: list[ShapedClause], is_table: bool) -> bool:
    return is_table or (len(clauses) >= _MANY and not clauses[0].shape.is_recursive)

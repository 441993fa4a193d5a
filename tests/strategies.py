"""Which random programs, facts and streams of updates are tried?

Programs are right by construction, so that none is thrown away. A *shape* is what an atom can look like: a relation, or
the part of a relation with a constant in one place (`[?x, :p1, ?y]`, `tagged(b, ?x)`), and has a stratum. A rule with its
head in stratum s reads s and below, and under NOT and AGGREGATE only below s; so recursion of every kind (linear,
non-linear, mutual) happens inside strata and any subset of the rules is a program too, which rule updates use. A rule
makes new values only from strata below its own, or counts up to a bound, so every program ends.

Values are few, so that joins meet, and of many types, so that comparisons mix them and arithmetic often fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from hypothesis import strategies as st

from everlog.facts.terms import IRI, RDF_TYPE, Term
from everlog.rules.printer import print_program
from everlog.rules.syntax import (
    TRIPLE,
    Aggregate,
    AggregateBinding,
    Argument,
    Atom,
    Bind,
    Call,
    Constant,
    Expression,
    Filter,
    Literal,
    Negation,
    Program,
    Rule,
    Variable,
)
from tests.subjects import Update

Draw = Callable[[st.SearchStrategy], object]

EX = "http://ex.org/"
NUMBERS: list[Term] = [0, 1, 2, 3, -1, Decimal("0.5"), Decimal("1.0"), 1.0, 0.5, float("inf"), float("nan")]
VALUES: list[Term] = [*NUMBERS, "a", "b", "ab", "", "1", True, False, IRI(EX + "a"), IRI(EX + "p1")]
# Numbers up to 3 first: shrinking goes towards the front, and most rules should find partners.
COMMON: list[Term] = [1, 2, "a", "b", 0]

VARIABLES = ("x", "y", "z")
TOP = 3  # strata: 0 has no rules; negation and aggregation go down at least one


@dataclass(frozen=True)
class Shape:
    """What an atom may look like: `fixed` constants by position, the other positions free."""

    relation: str
    arity: int
    stratum: int
    fixed: tuple[tuple[int, Term], ...] = ()
    head: bool = True  # False for shapes that only read: they overlap shapes of other strata

    @property
    def free(self) -> int:
        return self.arity - len(self.fixed)

    def fill(self, values: Sequence[object], constant: Callable[[Term], object]) -> tuple:
        fixed, rest = dict(self.fixed), iter(values)
        return tuple(constant(fixed[n]) if n in fixed else next(rest) for n in range(self.arity))

    def atom(self, args: Sequence[Argument]) -> Atom:
        return Atom(self.relation, self.fill(args, Constant))


@dataclass(frozen=True)
class World:
    """The shapes and values that one program and its facts are made of."""

    shapes: tuple[Shape, ...]
    values: tuple[Term, ...]

    def upto(self, stratum: int) -> list[Shape]:
        return [shape for shape in self.shapes if shape.stratum <= stratum]

    def heads(self, stratum: int) -> list[Shape]:
        return [shape for shape in self.shapes if shape.stratum == stratum and shape.head]


@dataclass(frozen=True)
class Story:
    """A program, its first facts, and the updates that follow."""

    program: Program
    facts: dict[str, list[tuple[Term, ...]]]
    updates: tuple[Update, ...] = ()
    later: tuple[Rule, ...] = field(default=())

    @property
    def text(self) -> str:
        return print_program(self.program)


# Shapes and values


@st.composite
def worlds(draw: Draw) -> World:
    arities = draw(st.lists(st.sampled_from([1, 2, 2, 0, 3]), min_size=6, max_size=6))
    strata = [0, 0, 1, 1, 2, TOP]
    shapes = [Shape(f"r{n}", arity, stratum) for n, (arity, stratum) in enumerate(zip(arities, strata, strict=True))]
    kind = draw(st.sampled_from(["plain", "split", "whole"]))
    if kind == "split":  # constants keep the strata of one relation apart; a variable in their place reads them all
        shapes += [Shape(TRIPLE, 3, n, ((1, IRI(f"{EX}p{n}")),)) for n in range(TOP)]
        shapes += [Shape(TRIPLE, 3, TOP, ((1, IRI(RDF_TYPE)), (2, IRI(EX + "C"))))]
        shapes += [Shape(TRIPLE, 3, TOP, head=False)]
        shapes += [Shape("tagged", 2, 0, ((0, "a"),)), Shape("tagged", 2, 2, ((0, "b"),)), Shape("tagged", 2, 2, head=False)]
    elif kind == "whole":
        shapes += [Shape(TRIPLE, 3, 1)]
    extra = draw(st.lists(st.sampled_from(VALUES), max_size=3))
    return World(tuple(shapes), (*COMMON[: draw(st.integers(2, 5))], *extra))


def rows(world: World, shape: Shape) -> st.SearchStrategy[tuple[Term, ...]]:
    free = st.tuples(*[st.sampled_from(world.values)] * shape.free)
    return free.map(lambda values: shape.fill(values, lambda term: term))


@st.composite
def fact_sets(draw: Draw, world: World, most: int = 6) -> dict[str, list[tuple[Term, ...]]]:
    """Facts for the relations of a world, mostly in stratum 0 but in derived relations too."""
    facts: dict[str, list[tuple[Term, ...]]] = {}
    for shape in world.shapes:
        if not shape.head:
            continue
        size = most if shape.stratum == 0 else 2
        found = draw(st.lists(rows(world, shape), max_size=size))
        if found:
            facts.setdefault(shape.relation, []).extend(found)
    return facts


# Rules


class Drafts:
    """Draws the parts of one rule and remembers which names it has used."""

    def __init__(self, draw: Draw, world: World) -> None:
        self.draw, self.world, self.fresh = draw, world, 0

    def one_of(self, *options: object) -> object:
        return self.draw(st.sampled_from(options))

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) >= 100 - percent

    def new(self, prefix: str) -> Variable:
        self.fresh += 1
        return Variable(f"{prefix}{self.fresh}")

    def constant(self) -> Constant:
        return Constant(self.one_of(*self.world.values))

    def atom(self, shapes: Sequence[Shape], names: Sequence[str]) -> tuple[Shape, Atom]:
        shape = self.one_of(*shapes)
        kinds = [self.one_of(*"vvvvvvcc_") for _ in range(shape.free)]
        args = [
            Variable(self.one_of(*names)) if kind == "v" else self.constant() if kind == "c" else self.new("_")
            for kind in kinds
        ]
        return shape, shape.atom(args)

    def atoms(self, shapes: Sequence[Shape], names: Sequence[str], most: int) -> tuple[list[Shape], list[Atom]]:
        pairs = [self.atom(shapes, names) for _ in range(self.draw(st.integers(1, most)))]
        return [shape for shape, _ in pairs], [atom for _, atom in pairs]

    # Expressions over bound variables

    def operand(self, bound: Sequence[str]) -> Expression:
        return Variable(self.one_of(*bound)) if bound and self.chance(75) else self.constant()

    def value(self, bound: Sequence[str]) -> Expression:
        name = self.one_of("+", "-", "*", "/", "abs", "strlen", "ucase", "concat", "str", "coalesce", "if", "substr")
        one, two = self.operand(bound), self.operand(bound)
        match name:
            case "abs" | "strlen" | "ucase" | "str":
                return Call(name, (one,))
            case "coalesce":
                return Call(name, (Call("+", (one, two)), two))
            case "if":
                return Call(name, (self.comparison(bound), one, two))
            case "substr":
                return Call(name, (one, Constant(1), Constant(1)))
            case "concat":
                return Call(name, (Call("str", (one,)), Call("str", (two,))))
        return Call(name, (one, two))

    def comparison(self, bound: Sequence[str]) -> Expression:
        operator = self.one_of("=", "!=", "<", "<=", ">", ">=")
        return Call(operator, (self.operand(bound), self.operand(bound)))

    def condition(self, bound: Sequence[str]) -> Expression:
        match self.one_of("plain", "plain", "plain", "and", "or", "not", "in", "sum"):
            case "and":
                return Call("&&", (self.comparison(bound), self.comparison(bound)))
            case "or":
                return Call("||", (self.comparison(bound), self.comparison(bound)))
            case "not":
                return Call("!", (self.comparison(bound),))
            case "in":
                return Call("in", (self.operand(bound), self.constant(), self.operand(bound)))
            case "sum":
                return Call("<", (Call("+", (self.operand(bound), self.operand(bound))), self.constant()))
        return self.comparison(bound)

    # Body literals that go down a stratum

    def negation(self, stratum: int, bound: Sequence[str]) -> Negation:
        local = self.new("n")
        shapes = self.world.upto(stratum - 1)
        names = [*bound, *bound, local.name]
        if self.chance(60):
            return Negation((self.atom(shapes, names)[1],))
        body: list[Literal] = [*self.atoms(shapes, names, 2)[1]]
        exists = (local,) if any(local in atom.args for atom in body if isinstance(atom, Atom)) else ()
        if exists and self.chance(40):
            body.append(Filter(self.comparison([*bound, local.name])))
        return Negation(tuple(body), exists)

    def aggregate(self, stratum: int, grouped: bool) -> tuple[Aggregate, list[str]]:
        own = [self.new("u").name, self.new("u").name]
        names = [*VARIABLES[:2], *own] if grouped else own
        body: list[Literal] = [*self.atoms(self.world.upto(stratum - 1), names, 2)[1]]
        seen = sorted({v.name for atom in body for v in atom.variables() if not v.anonymous})
        if seen and self.chance(25):
            body.append(Filter(self.comparison(seen)))
        if seen and self.chance(20):
            target = self.new("u")
            body.append(Bind(self.value(seen), target))
            seen.append(target.name)
        group = [name for name in seen if name in VARIABLES] if grouped else []
        bindings = [self.aggregate_binding(seen) for _ in range(self.draw(st.integers(1, 2)))]
        atom = Aggregate(tuple(body), tuple(map(Variable, group)), tuple(bindings))
        return atom, [*group, *(binding.variable.name for binding in bindings)]

    def aggregate_binding(self, seen: Sequence[str]) -> AggregateBinding:
        function = self.one_of("COUNT", "SUM", "AVG", "MIN", "MAX", "MEDIAN", "SAMPLE", "COUNT*")
        result = self.new("m")
        if function == "COUNT*" or not seen:
            return AggregateBinding("COUNT", None, result)
        argument = Variable(self.one_of(*seen)) if self.chance(75) else self.value(seen)
        return AggregateBinding(function, argument, result, distinct=self.chance(30))

    # The rule

    def rule(self, name: str) -> Rule:
        stratum = self.one_of(1, 2, TOP)
        shapes, atoms = self.atoms(self.world.upto(stratum), VARIABLES, 3)
        body: list[Literal] = list(atoms)
        recursive = any(shape.stratum == stratum for shape in shapes)
        if self.chance(20):
            if self.chance(40):
                body.clear()
                recursive = False
            aggregate, _ = self.aggregate(stratum, grouped=self.chance(70))
            body.append(aggregate)
        bound = sorted({v.name for literal in body for v in _binds(literal) if not v.anonymous})
        if self.chance(30) and bound:
            target = self.new("v")
            if recursive:
                body += [
                    Bind(Call("+", (Variable(self.one_of(*bound)), Constant(1))), target),
                    Filter(Call("<", (target, Constant(4)))),
                ]
            else:
                body.append(Bind(self.value(bound), target))
            bound.append(target.name)
        if self.chance(35) and bound:
            body.append(Filter(self.condition(bound)))
        if self.chance(30):
            body.append(self.negation(stratum, bound))
        heads = [self.head(stratum, bound)]
        if self.chance(20):  # the second head may lie in a higher stratum
            heads.append(self.head(self.one_of(*range(stratum, TOP + 1)), bound))
        return Rule(tuple(heads), tuple(self.draw(st.permutations(body))), name)

    def head(self, stratum: int, bound: Sequence[str]) -> Atom:
        shape = self.one_of(*self.world.heads(stratum))
        return shape.atom([self.operand(bound) for _ in range(shape.free)])


def _binds(literal: Literal) -> list[Variable]:
    if isinstance(literal, Atom):
        return list(literal.variables())
    assert isinstance(literal, Aggregate)
    return [*literal.group, *(binding.variable for binding in literal.bindings)]


@st.composite
def rules(draw: Draw, world: World, name: str) -> Rule:
    return Drafts(draw, world).rule(name)


# Programs and streams


@st.composite
def programs(draw: Draw, world: World, most: int = 6) -> Program:
    return Program(rules=tuple(draw(rules(world, f"q{n}")) for n in range(draw(st.integers(1, most)))))


@st.composite
def updates(draw: Draw, world: World, facts: dict[str, list[tuple[Term, ...]]], most: int = 4) -> tuple[Update, ...]:
    """Updates over facts that are often there: each row is inserted or deleted again and again, sometimes both at once."""
    pool: dict[str, list[tuple[Term, ...]]] = {relation: list(found) for relation, found in facts.items()}
    for relation, found in draw(fact_sets(world, most=4)).items():
        pool.setdefault(relation, []).extend(found)

    def some(share: int) -> dict[str, list[tuple[Term, ...]]]:
        chosen = {r: [row for row in found if draw(st.integers(0, 99)) < share] for r, found in pool.items()}
        return {r: found for r, found in chosen.items() if found}

    return tuple(Update(insert=some(15), delete=some(25)) for _ in range(draw(st.integers(1, most))))


@st.composite
def fact_stories(draw: Draw) -> Story:
    """A program, facts, and updates of facts."""
    world = draw(worlds())
    program, facts = draw(programs(world)), draw(fact_sets(world))
    return Story(program, facts, draw(updates(world, facts)))


@st.composite
def program_stories(draw: Draw) -> Story:
    """A program and facts."""
    world = draw(worlds())
    return Story(draw(programs(world)), draw(fact_sets(world)))


@st.composite
def rule_stories(draw: Draw) -> Story:
    """A program, facts, and updates of facts and rules: each update may remove rules and bring removed ones back."""
    world = draw(worlds())
    program, facts = draw(programs(world)), draw(fact_sets(world))
    active = {rule.name: True for rule in program.rules}
    found = []
    for update in draw(updates(world, facts)):
        flips = [rule for rule in program.rules if draw(st.integers(0, 3)) == 3]
        add = Program(rules=tuple(rule for rule in flips if not active[rule.name]))
        remove = tuple(rule.name for rule in flips if active[rule.name] and rule.name)
        active.update({rule.name: not active[rule.name] for rule in flips})
        text = print_program(add) if add.rules else ""
        found.append(Update(update.insert, update.delete, text, remove))
    return Story(program, facts, tuple(found))

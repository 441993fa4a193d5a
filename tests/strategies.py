"""Which random programs, facts and streams of updates are tried?

Programs are right by construction, so that none is thrown away. A *shape* is what an atom can look like: a relation,
or the part of a relation with a constant in one place (`[?x, :p1, ?y]`, `tagged(b, ?x)`), and has a stratum. A rule
with its head in stratum s reads s and below, and under NOT and AGGREGATE only below s; so recursion of any kind happens
inside strata, and any subset of the rules is a program too, which rule updates use. A rule makes new values only from
strata below its own, or counts up to a bound, so every program ends.

Values are few, so that joins meet, and of many types, so that comparisons mix them and arithmetic often fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from tests.subjects import Update

from everlog.facts.terms import IRI, RDF_TYPE, Term
from everlog.rules.parser import parse_program
from everlog.rules.printer import print_program
from everlog.rules.syntax import (
    COMPUTED_PREFIX,
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

Draw = Callable[[st.SearchStrategy], object]

EX = "http://ex.org/"
NUMBERS: list[Term] = [0, 1, 2, 3, -1, Decimal("0.5"), Decimal("1.0"), 1.0, 0.5, float("inf"), float("nan")]
IRIS: list[Term] = [IRI(EX + "a"), IRI(EX + "p1"), IRI(EX + "p2")]
VALUES: list[Term] = [*NUMBERS, "a", "b", "ab", "", "1", True, False, *IRIS]
# Numbers up to 3 first: shrinking goes towards the front, and most rules should find partners.
COMMON: list[Term] = [1, 2, "a", "b", 0]

VARIABLES = ("x", "y", "z")
TOP = 3  # strata: 0 has no rules; NOT and AGGREGATE go down at least one


@dataclass(frozen=True)
class Shape:
    """What an atom may look like: `fixed` constants by position, the other positions free."""

    relation: str
    arity: int
    stratum: int
    fixed: tuple[tuple[int, Term], ...] = ()
    head: bool = True  # False for shapes that only read: they overlap shapes of other strata

    @property
    def free(self) -> list[int]:
        """The positions without a constant of their own."""
        return [position for position in range(self.arity) if position not in dict(self.fixed)]

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

    def terms(self, shape: Shape, position: int) -> Sequence[Term]:
        """What may stand there: subjects and predicates of triples are IRIs, anything else is anything."""
        return IRIS if shape.relation == TRIPLE and position < 2 else self.values

    def heads(self, stratum: int) -> list[Shape]:
        return [shape for shape in self.shapes if shape.stratum == stratum and shape.head]


@dataclass(frozen=True)
class Story:
    """A program, its first facts, and the updates that follow."""

    program: Program
    facts: dict[str, list[tuple[Term, ...]]]
    updates: tuple[Update, ...] = ()

    @property
    def text(self) -> str:
        return print_program(self.program)

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """What Hypothesis shows: syntax trees in full would be more than it is willing to print."""
        printer.text(f"<Story {self.text}>")


# Shapes and values


@st.composite
def worlds(draw: Draw) -> World:
    arities = st.sampled_from([2, 2, 2, 1, 1, 0, 3])
    shapes = [Shape(f"r{n}", draw(arities), stratum) for n, stratum in enumerate([0, 0, 1, 1, 2, TOP])]
    kind = draw(st.sampled_from(["plain", "split", "whole"]))
    if kind == "split":  # constants keep the strata of one relation apart; a variable in their place reads them all
        shapes += [Shape(TRIPLE, 3, n, ((1, IRI(f"{EX}p{n}")),)) for n in range(TOP)]
        shapes += [Shape(TRIPLE, 3, TOP, ((1, IRI(RDF_TYPE)), (2, IRI(EX + "C")))), Shape(TRIPLE, 3, TOP, head=False)]
        shapes += [Shape("tagged", 2, 0, ((0, "a"),)), Shape("tagged", 2, 2, ((0, "b"),))]
        shapes += [Shape("tagged", 2, 2, head=False)]
    elif kind == "whole":
        shapes += [Shape(TRIPLE, 3, 1)]
    values = (*COMMON[: draw(st.integers(2, 4))], *draw(st.lists(st.sampled_from(VALUES), max_size=2)))
    return World(tuple(shapes), values if kind == "plain" else (*values, *IRIS[:2]))


def rows(world: World, shape: Shape) -> st.SearchStrategy[tuple[Term, ...]]:
    free = st.tuples(*[st.sampled_from(world.terms(shape, position)) for position in shape.free])
    return free.map(lambda values: shape.fill(values, lambda term: term))


@st.composite
def fact_sets(draw: Draw, world: World, most: int = 9) -> dict[str, list[tuple[Term, ...]]]:
    """Facts for the relations of a world, mostly in stratum 0 but in derived relations too."""
    facts: dict[str, list[tuple[Term, ...]]] = {}
    for shape in world.shapes:
        if not shape.head:
            continue
        least, size = (min(4, most), most) if shape.stratum == 0 else (0, 2)
        found = draw(st.lists(rows(world, shape), min_size=least, max_size=size))
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
        shape = self.one_of(*shapes, *(shape for shape in shapes if shape.stratum == 0 for _ in range(3)))
        return shape, shape.atom([self.argument(shape, position, names) for position in shape.free])

    def argument(self, shape: Shape, position: int, names: Sequence[str]) -> Argument:
        match self.one_of(*"vvvvvvvvvvc_"):
            case "v" if (name := self.one_of(*names)) != "_":
                return Variable(name)
            case "c":
                return Constant(self.one_of(*self.world.terms(shape, position)))
        return self.new("_")

    def atoms(self, shapes: Sequence[Shape], names: Sequence[str], most: int) -> tuple[list[Shape], list[Atom]]:
        found = [self.atom(shapes, names) for _ in range(self.draw(st.integers(1, most)))]
        return [shape for shape, _ in found], [atom for _, atom in found]

    def operand(self, bound: Sequence[str]) -> Expression:
        return Variable(self.one_of(*bound)) if bound and self.chance(75) else self.constant()

    def number(self, bound: Sequence[str]) -> Expression:
        """An operand of arithmetic: a constant there must be a number, a variable may turn out not to be one."""
        return Variable(self.one_of(*bound)) if bound and self.chance(75) else Constant(self.one_of(*NUMBERS))

    def value(self, bound: Sequence[str]) -> Expression:
        name = self.one_of("+", "-", "*", "/", "abs", "strlen", "ucase", "concat", "str", "coalesce", "if", "substr")
        one, two = self.operand(bound), self.operand(bound)
        match name:
            case "+" | "-" | "*" | "/":
                return Call(name, (self.number(bound), self.number(bound)))
            case "abs" | "strlen" | "ucase" | "str":
                return Call(name, (one,))
            case "coalesce":
                return Call(name, (Call("+", (self.number(bound), self.number(bound))), two))
            case "if":
                return Call(name, (self.comparison(bound), one, two))
            case "substr":
                return Call(name, (one, Constant(1), Constant(1)))
        return Call(name, (Call("str", (one,)), Call("str", (two,))))

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
                return Call("<", (Call("+", (self.number(bound), self.number(bound))), self.constant()))
        return self.comparison(bound)

    def key(self, bound: Sequence[str]) -> Expression:
        """A value that is likely to be found: most values are small numbers."""
        near = Call(self.one_of("+", "-"), (Variable(self.one_of(*bound)), Constant(1)))
        return near if self.chance(75) else self.value(bound)

    def with_keys(self, body: Sequence[Literal]) -> list[Literal]:
        """The body with expressions in the place of arguments of some atoms, over the variables of the others."""
        chosen = [literal for literal in body if isinstance(literal, Atom) and self.chance(50)]
        kept = [literal for literal in body if literal not in chosen]
        bound = sorted({v.name for literal in kept for v in _binds(literal) if not v.anonymous})
        if not bound:
            return list(body)
        for atom in chosen:
            atom, binds = self.computed(atom, bound)
            kept += [atom, *binds]
        return kept

    def computed(self, atom: Atom, bound: Sequence[str]) -> tuple[Atom, list[Literal]]:
        """The atom with an expression as one of its arguments that are variables."""
        places = [place for place, arg in enumerate(atom.args) if isinstance(arg, Variable)]
        if not places:
            return atom, []
        place, variable = self.one_of(*places), self.new(COMPUTED_PREFIX)
        args = (*atom.args[:place], variable, *atom.args[place + 1 :])
        return Atom(atom.relation, args), [Bind(self.key(bound), variable)]

    def negation(self, stratum: int, bound: Sequence[str]) -> Negation:
        local = self.new("n")
        shapes = self.world.upto(stratum - 1)
        names = [*bound, *bound, local.name]
        if bound and self.chance(15):
            atom, binds = self.computed(self.atom(shapes, names)[1], bound)
            return Negation((*binds, atom))
        if self.chance(60):
            return Negation((self.atom(shapes, names)[1],))
        body: list[Literal] = [*self.atoms(shapes, names, 2)[1]]
        exists = (local,) if any(local in atom.args for atom in body if isinstance(atom, Atom)) else ()
        if exists and self.chance(40):
            body.append(Filter(self.comparison([*bound, local.name])))
        return Negation(tuple(body), exists)

    def aggregate(self, stratum: int, grouped: bool) -> Aggregate:
        own = [self.new("u").name, self.new("u").name]
        names = [*VARIABLES[:2], *own, "_"] if grouped else [*own, "_"]
        body: list[Literal] = [*self.atoms(self.world.upto(stratum - 1), names, 2)[1]]
        if self.chance(15):
            body = self.with_keys(body)
        seen = sorted({v.name for literal in body for v in _binds(literal) if not v.anonymous})
        if seen and self.chance(25):
            body.append(Filter(self.comparison(seen)))
        if seen and self.chance(20):
            target = self.new("u")
            body.append(Bind(self.value(seen), target))
            seen.append(target.name)
        group = [name for name in seen if name in VARIABLES] if grouped else []
        bindings = [self.aggregate_binding(seen) for _ in range(self.draw(st.integers(1, 2)))]
        return Aggregate(tuple(body), tuple(map(Variable, group)), tuple(bindings))

    def aggregate_binding(self, seen: Sequence[str]) -> AggregateBinding:
        function = self.one_of("COUNT", "COUNT", "SUM", "AVG", "MIN", "MAX", "MEDIAN", "SAMPLE", "COUNT*")
        result = self.new("m")
        if function == "COUNT*" or not seen:
            return AggregateBinding("COUNT", None, result)
        argument = Variable(self.one_of(*seen)) if self.chance(75) else self.value(seen)
        return AggregateBinding(function, argument, result, distinct=self.chance(40))

    # Rules

    def any_rule(self, name: str) -> Rule:
        return self.one_of(self.seed, self.chain, self.summary, self.rule, self.rule, self.rule)(name)

    def rule(self, name: str) -> Rule:
        stratum = self.one_of(1, 1, 2, TOP)
        shapes, atoms = self.atoms(self.world.upto(stratum), VARIABLES, 3)
        body: list[Literal] = list(atoms)
        recursive = any(shape.stratum == stratum for shape in shapes)
        if self.chance(20):
            if self.chance(40):
                body, recursive = [], False
            body.append(self.aggregate(stratum, grouped=self.chance(70)))
        bound = sorted({v.name for literal in body for v in _binds(literal) if not v.anonymous})
        if self.chance(25):
            body = self.with_keys(body)
        elif bound and self.chance(15):
            body.append(Bind(self.key(bound), Variable(self.one_of(*bound))))
        bound = sorted({v.name for literal in body for v in _binds(literal) if not v.anonymous})
        if self.chance(30) and bound:
            target = self.new("v")
            if recursive:
                body.append(Filter(Call("<", (target, Constant(4)))))
                body.append(Bind(Call("+", (Variable(self.one_of(*bound)), Constant(1))), target))
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

    def chain(self, name: str) -> Rule:
        """`h(x, z) :- a(x, y), b(y, z)`: free rules seldom make long recursions, this one does."""
        stratum = self.one_of(1, 1, 2, TOP)
        pairs = [shape for shape in self.world.upto(stratum) if len(shape.free) >= 2]
        heads = [shape for shape in pairs if shape.head and shape.stratum == stratum]
        if not heads:
            return self.rule(name)
        x, y, z = map(Variable, VARIABLES)
        head = self.one_of(*heads)
        body = [self.link(self.one_of(head, *pairs), x, y), self.link(self.one_of(head, *pairs), y, z)]
        if self.chance(20):
            body.append(Filter(Call("!=", (x, z))))
        if self.chance(20):
            body.append(self.negation(stratum, ["x", "z"]))
        rest = [self.one_of(x, y, z) for _ in head.free[2:]]
        return Rule((head.atom([x, z, *rest]),), tuple(self.draw(st.permutations(body))), name)

    def summary(self, name: str) -> Rule:
        """An aggregate and nothing else, with its results in the head."""
        stratum = self.one_of(1, 2, TOP)
        aggregate = self.aggregate(stratum, grouped=self.chance(60))
        if not (heads := [shape for shape in self.world.heads(stratum) if shape.free]):
            return self.rule(name)
        shape, bound = self.one_of(*heads), [variable.name for variable in _binds(aggregate)]
        args = [Variable(bound[-1 - n] if n < len(bound) else self.one_of(*bound)) for n in range(len(shape.free))]
        return Rule((shape.atom(args),), (aggregate,), name)

    def seed(self, name: str) -> Rule:
        """A copy from stratum 0, so that rules above find something to work on."""
        source = self.one_of(*self.world.upto(0))
        variables = [Variable(name) for name in VARIABLES[: len(source.free)]]
        shape = self.one_of(*(shape for stratum in (1, 1, 2, TOP) for shape in self.world.heads(stratum)))
        same = len(shape.free) == len(source.free)
        args = [self.result(shape, position, VARIABLES[: len(variables)]) for position in shape.free]
        return Rule((shape.atom(variables if same else args),), (source.atom(variables),), name)

    def link(self, shape: Shape, start: Variable, end: Variable) -> Literal:
        return shape.atom([start, end, *(self.new("_") for _ in shape.free[2:])])

    def head(self, stratum: int, bound: Sequence[str]) -> Atom:
        shape = self.one_of(*self.world.heads(stratum))
        return shape.atom([self.result(shape, position, bound) for position in shape.free])

    def result(self, shape: Shape, position: int, bound: Sequence[str]) -> Argument:
        if bound and self.chance(80):
            return Variable(self.one_of(*bound))
        return Constant(self.one_of(*self.world.terms(shape, position)))


def _binds(literal: Literal) -> list[Variable]:
    if isinstance(literal, Atom):
        return list(literal.variables())
    if isinstance(literal, Bind):
        return [literal.variable]
    assert isinstance(literal, Aggregate)
    return [*literal.group, *(binding.variable for binding in literal.bindings)]


# Programs and streams


@st.composite
def programs(draw: Draw, world: World, most: int = 8) -> Program:
    return Program(rules=tuple(Drafts(draw, world).any_rule(f"q{n}") for n in range(draw(st.integers(3, most)))))


@st.composite
def updates(draw: Draw, world: World, facts: dict[str, list[tuple[Term, ...]]], most: int = 4) -> tuple[Update, ...]:
    """Updates over facts that are often there: a row may be inserted and deleted again and again, or both at once."""
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
        found.append(_flipping(update, flips, active))
    return Story(program, facts, tuple(found))


def _flipping(update: Update, flips: Sequence[Rule], active: dict[str | None, bool]) -> Update:
    """The update with some rules more or less; `active` says which are there, and is brought up to date."""
    add = Program(rules=tuple(rule for rule in flips if not active[rule.name]))
    remove = tuple(rule.name for rule in flips if active[rule.name] and rule.name)
    active.update({rule.name: not active[rule.name] for rule in flips})
    return Update(update.insert, update.delete, print_program(add) if add.rules else "", remove)


# Longer streams, and recursion over graphs


@st.composite
def streams(draw: Draw, pool: dict[str, list[tuple[Term, ...]]], most: int = 7) -> tuple[Update, ...]:
    """Updates over a pool of facts: mixed ones, and those that undo, repeat, clear away or do nothing."""

    def some(share: int) -> dict[str, list[tuple[Term, ...]]]:
        chosen = {r: [row for row in found if draw(st.integers(0, 99)) >= 100 - share] for r, found in pool.items()}
        return {r: found for r, found in chosen.items() if found}

    found = [Update()]
    for _ in range(draw(st.integers(2, most))):
        match draw(st.sampled_from(["few", "few", "some", "some", "out", "in", "undo", "same", "clear", "none"])):
            case "few":
                found.append(Update(insert=some(4), delete=some(8)))
            case "some":
                found.append(Update(insert=some(15), delete=some(25)))
            case "out":
                found.append(Update(delete=some(40)))
            case "in":
                found.append(Update(insert=some(40)))
            case "undo":
                found.append(Update(insert=found[-1].delete, delete=found[-1].insert))
            case "same":
                found.append(found[-1])
            case "clear":
                found.append(Update(delete=pool, insert=some(10)))
            case "none":
                found.append(Update())
    return tuple(found[1:])


@st.composite
def stream_stories(draw: Draw) -> Story:
    """Any program, with a longer stream than `fact_stories` have."""
    world = draw(worlds())
    program, facts = draw(programs(world)), draw(fact_sets(world))
    pool = {relation: list(found) for relation, found in facts.items()}
    for relation, found in draw(fact_sets(world, most=4)).items():
        pool.setdefault(relation, []).extend(found)
    return Story(program, facts, draw(streams(pool)))


# Stratified as a whole, so any choice of them is. Most feed one recursion over `path`, where a fact has many
# derivations and cycles of them: what strategies that delete find hardest.
GRAPH_RULES = parse_program(f"""
    PREFIX : <{EX}>
    base: path(?x, ?y) :- edge(?x, ?y).
    right: path(?x, ?z) :- edge(?x, ?y), path(?y, ?z).
    left: path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).
    twice: path(?x, ?z) :- path(?x, ?y), path(?y, ?z).
    guarded: path(?x, ?z) :- path(?x, ?y), path(?y, ?z), ?x != ?z.
    back: path(?x, ?y) :- path(?y, ?x).
    around: path(?w, ?z) :- path(?w, ?x), edge(?x, ?y), path(?y, ?z), NOT closed(?y).
    itself: path(?x, ?x) :- reached(?x).
    start: reached(?x) :- open(?x), NOT closed(?x).
    step: reached(?y), seen(?x, ?y) :- reached(?x), edge(?x, ?y).
    odd: odd(?x, ?y) :- edge(?x, ?y).
    odder: odd(?x, ?z) :- even(?x, ?y), edge(?y, ?z).
    even: even(?x, ?z) :- odd(?x, ?y), edge(?y, ?z).
    level: level(?x, ?y) :- edge(?z, ?x), edge(?z, ?y).
    levels: level(?x, ?y) :- edge(?v, ?x), level(?v, ?w), edge(?w, ?y).
    part: [?x, :partOf, ?y] :- edge(?x, ?y), open(?x).
    parts: [?x, :partOf, ?z] :- [?x, :partOf, ?y], [?y, :partOf, ?z].
    linked: [?x, :linked, ?y] :- [?x, :partOf, ?y], NOT [?y, :partOf, ?x].
    any: near(?x, ?y) :- [?x, ?p, ?y].
    cut: cut(?x, ?y) :- open(?x), open(?y), NOT path(?x, ?y).
    far: far(?x, ?n) :- AGGREGATE(path(?x, ?y) ON ?x BIND COUNT(?y) AS ?n).
    most: most(?m) :- AGGREGATE(far(?x, ?n) BIND MAX(?n) AS ?m).
    middle: middle(?m, ?s) :- AGGREGATE(far(?x, ?n) BIND MEDIAN(?n) AS ?m BIND SUM(?n) AS ?s).
    hub: hub(?x) :- far(?x, ?n), most(?n).
    hubs: hubs(?x, ?y) :- hub(?x), path(?x, ?y), hub(?y).
    among: hubs(?x, ?z) :- hubs(?x, ?y), hubs(?y, ?z).
    here: away(?x, ?n) :- open(?x), BIND(0 AS ?n).
    there: away(?y, ?m) :- away(?x, ?n), edge(?x, ?y), BIND(?n + 1 AS ?m), ?m < 4.
    least: least(?x, ?d) :- AGGREGATE(away(?x, ?n) ON ?x BIND MIN(?n) AS ?d).
""")


@st.composite
def graph_stories(draw: Draw) -> Story:
    """Recursions over a small graph with cycles, some facts of derived relations given as well."""
    nodes = [IRI(f"{EX}{name}") for name in "abcde"[: draw(st.integers(3, 5))]]
    chosen = draw(st.sets(st.sampled_from([rule.name for rule in GRAPH_RULES.rules]), min_size=3, max_size=12))
    rules = tuple(rule for rule in GRAPH_RULES.rules if rule.name in chosen | {"base"})
    node = st.sampled_from(nodes)
    pairs = st.lists(st.tuples(node, node), min_size=3, max_size=10, unique=True)
    few = st.lists(st.tuples(node, node), max_size=2, unique=True)
    pool: dict[str, list[tuple[Term, ...]]] = {
        "edge": draw(pairs),
        "open": [(one,) for one in draw(st.lists(node, min_size=1, max_size=3, unique=True))],
        "closed": [(one,) for one in draw(st.lists(node, max_size=1))],
        "path": draw(few),
        "hub": [(one,) for one in draw(st.lists(node, max_size=1))],
        TRIPLE: [(x, IRI(EX + "partOf"), y) for x, y in draw(few)],
    }
    pool = {relation: found for relation, found in pool.items() if found}
    facts = {relation: [row for row in found if draw(st.integers(0, 3))] for relation, found in pool.items()}
    facts = {relation: found for relation, found in facts.items() if found}
    return Story(Program(rules=rules), facts, draw(streams(pool)))


@st.composite
def graph_rule_stories(draw: Draw) -> Story:
    """Recursions over a graph that merge, split, come and go, together with facts or alone."""
    story = draw(graph_stories())
    active = {rule.name: any(rule.name == other.name for other in story.program.rules) for rule in GRAPH_RULES.rules}
    found = []
    for update in story.updates:
        match draw(st.sampled_from(["some", "some", "some", "some", "all out", "back"])):
            case "some":
                names = draw(st.sets(st.sampled_from(list(active)), max_size=draw(st.sampled_from([1, 1, 2, 4, 8]))))
            case "all out":  # what stays is explicit, and nothing is derived
                names = {name for name, is_there in active.items() if is_there}
            case "back":
                names = {rule.name for rule in story.program.rules if not active[rule.name]}
        flips = [rule for rule in GRAPH_RULES.rules if rule.name in names]
        found.append(_flipping(update if draw(st.booleans()) else Update(), flips, active))
    return Story(story.program, story.facts, tuple(found))

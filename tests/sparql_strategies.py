"""Where do random graphs, SPARQL queries and streams of updates come from?

Queries are text. Whoever writes it keeps to what SPARQL forbids (a variable is given a value once, groups show keys and
aggregates) and otherwise lets operators meet as they like: variables come from a small pool, so that patterns share
them, and expressions also name variables that nobody binds.

What EXISTS means is not settled where its pattern gives a new value to an outer variable (BIND, VALUES, AS) or cuts its
solutions (LIMIT); such queries are not drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from tests.sparql_oracle.paths import Triple
from tests.sparql_oracle.terms import Term, integer, iri, string, to_everlog
from tests.subjects import Update

from everlog.rules.syntax import TRIPLE

Draw = Callable[[st.SearchStrategy], object]
Scope = frozenset[str]

EX = "http://ex.org/"
PREFIX = f"PREFIX : <{EX}> "
NODES = [iri(EX + name) for name in "abc"]
PREDICATES = [iri(EX + name) for name in "pqr"]
LITERALS = [integer(1), integer(2), integer(0), string("a"), string("1")]
GRAPHS = [iri(EX + "g"), NODES[0]]
SUBJECTS = [*NODES, Term("blank", "n"), PREDICATES[0]]  # a predicate is a node too: variables may meet there
OBJECTS = [*NODES, *LITERALS, Term("blank", "n"), PREDICATES[0]]

VARIABLES = ("x", "y", "z", "w", "v")
NO_SCOPE: Scope = frozenset()

Quad = tuple[Term, Term, Term, Term]


# Data


triples: st.SearchStrategy[Triple] = st.tuples(*map(st.sampled_from, (SUBJECTS, PREDICATES, OBJECTS)))
graphs = st.lists(triples, min_size=4, max_size=12, unique=True)
quads: st.SearchStrategy[Quad] = st.tuples(*map(st.sampled_from, (SUBJECTS, PREDICATES, OBJECTS, GRAPHS)))
named_graphs = st.lists(quads, min_size=4, max_size=16, unique=True)


def facts(rows: Sequence[Sequence[Term]]) -> list[tuple[Any, ...]]:
    """Triples as a knowledge base takes them."""
    return [tuple(map(to_everlog, row)) for row in rows]


# Streams of updates, for views to follow

RULES = {
    "chain": "[?x, :p, ?z] :- [?x, :p, ?y], [?y, :p, ?z].",
    "part": "[?x, :q, ?y] :- [?x, :p, ?y].",
    "mixed": "[?x, :q, ?z] :- [?x, :q, ?y], [?y, :p, ?z].",
    "back": "[?x, :p, ?y] :- [?x, :q, ?y], [?y, :q, ?x].",
    "loop": "[?x, :r, ?x] :- [?x, :q, ?y].",
    "lacks": "[?x, :r, ?y] :- [?x, :p, ?y], NOT [?x, :q, ?y].",
}


@dataclass(frozen=True)
class ViewStory:
    """Views, when they are made and one of them dropped, and what happens meanwhile."""

    views: tuple[str, ...]
    made: int  # before this update
    dropped: int  # before this one the last view goes
    updates: tuple[Update, ...]
    strategy: str


@st.composite
def view_stories(draw: Draw, *, most: int = 6, with_rules: bool = True) -> ViewStory:
    """A stream of updates of triples, mostly of such as are likely to be there, and of rules."""
    views = draw(st.lists(queries(), min_size=1, max_size=2, unique=True))
    there, rules, updates = draw(graphs), set(), []
    updates.append(Update(insert={TRIPLE: facts(there)}))
    for _ in range(draw(st.integers(1, most))):
        likely = st.sampled_from(there)
        delete = draw(st.lists(st.one_of(likely, likely, triples), max_size=3))
        insert = draw(st.lists(st.one_of(triples, triples, likely), max_size=3))
        there += insert
        changed = (
            draw(st.sets(st.sampled_from(sorted(RULES)), max_size=2)) if with_rules and draw(st.booleans()) else ()
        )
        added = sorted(set(changed) - rules)
        removed = tuple(sorted(rules & set(changed)))
        rules ^= set(changed)
        text = PREFIX + " ".join(f"{name}: {RULES[name]}" for name in added) if added else ""
        updates.append(Update({TRIPLE: facts(insert)}, {TRIPLE: facts(delete)}, text, removed))
    made, dropped = draw(st.integers(0, 2)), draw(st.integers(1, most + 1))
    strategy = draw(st.sampled_from(["choose", "ranked", "bf", "dred", "rematerialise"]))
    return ViewStory(tuple(views), made, max(made, dropped), tuple(updates), strategy)


# Queries


@st.composite
def queries(draw: Draw, *, with_graphs: bool = False, cut: bool = True) -> str:
    """A SELECT query, with all its modifiers; `cut` allows LIMIT and OFFSET."""
    depth = draw(st.sampled_from([1, 2, 2, 3]))
    return PREFIX + Drafts(draw, with_graphs, cut).select(depth, NO_SCOPE)[0]


@st.composite
def questions(draw: Draw) -> str:
    """An ASK query."""
    return PREFIX + "ASK " + Drafts(draw, with_graphs=False, cut=True).group(2, NO_SCOPE)[0]


class Drafts:
    """Draws the parts of one query. Patterns come with the variables that can be seen of them from outside.

    `outer` are the variables around an EXISTS, to which its pattern must give no value of its own.
    """

    def __init__(self, draw: Draw, with_graphs: bool, cut: bool) -> None:
        self.draw, self.with_graphs, self.cut, self.used = draw, with_graphs, cut, 0

    def one_of(self, *options: object) -> object:
        return self.draw(st.sampled_from(options))

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) >= 100 - percent

    def new(self, prefix: str) -> str:
        self.used += 1
        return f"{prefix}{self.used}"

    def unused(self, taken: Scope) -> str:
        """A variable to give a value to: one that other patterns may use too, if there is one."""
        free = [name for name in VARIABLES if name not in taken]
        return self.one_of(*free) if free and self.chance(70) else self.new("n")

    # Patterns

    def group(self, depth: int, outer: Scope) -> tuple[str, Scope]:
        """Patterns in braces, one after the other, and perhaps a filter."""
        parts, scope = [], NO_SCOPE
        for _ in range(self.draw(st.integers(1, 2 if depth < 2 else 3))):
            text, seen = self.part(depth, scope, outer)
            parts.append(text)
            scope |= seen
        if self.chance(35):
            parts.append(f"FILTER({self.condition(depth, scope, outer)})")
        return "{ " + " ".join(parts) + " }", scope

    def part(self, depth: int, before: Scope, outer: Scope) -> tuple[str, Scope]:
        plain = [self.block, self.block, self.block]
        if before:
            plain += [self.bind]
        nested = [self.optional, self.optional, self.union, self.minus, self.nested, self.subquery, self.values]
        if self.with_graphs:
            nested += [self.graph, self.graph]
        return self.one_of(*plain, *(nested if depth else [self.values]))(depth, before, outer)

    def block(self, depth: int, before: Scope, outer: Scope) -> tuple[str, Scope]:
        """One or two triple patterns."""
        label = self.new("_:b")
        found = [self.triple(label) for _ in range(self.one_of(1, 1, 2))]
        return " ".join(text for text, _ in found), frozenset().union(*(scope for _, scope in found))

    def triple(self, label: str) -> tuple[str, Scope]:
        subject = self.end(label, NODES)
        object_ = self.end(label, [*NODES, *LITERALS])
        if subject == object_ and not self.chance(20):  # loops are rare in graphs
            object_ = self.variable()
        predicate = self.variable() if self.chance(10) else self.path(2) if self.chance(35) else self.predicate()
        names = [each[1:] for each in (subject, predicate, object_) if each.startswith("?")]
        return f"{subject} {predicate} {object_} .", frozenset(names)

    def end(self, label: str, terms: Sequence[Term]) -> str:
        match self.one_of(*"vvvvvvvvvvvtb"):
            case "t":
                return written(self.one_of(*terms, iri(EX + "nowhere")))
            case "b":
                return label
        return self.variable()

    def variable(self) -> str:
        return "?" + self.one_of(*VARIABLES)

    def predicate(self) -> str:
        return written(self.one_of(*PREDICATES))

    def path(self, depth: int) -> str:
        if not depth:
            return self.predicate()
        match self.one_of("/", "|", "^", "!", "?", "*", "+", "*", "+"):
            case ("/" | "|") as operator:
                return f"({self.path(depth - 1)}{operator}{self.path(depth - 1)})"
            case "^":
                return f"^{self.path(depth - 1) if depth < 2 else self.predicate()}"
            case "!":
                members = [self.one_of("", "", "^") + self.predicate() for _ in range(self.one_of(1, 2))]
                return f"!({'|'.join(members)})"
            case repeated:
                return f"({self.path(depth - 1)}){repeated}"

    def optional(self, depth: int, before: Scope, outer: Scope) -> tuple[str, Scope]:
        text, scope = self.group(depth - 1, outer)
        if self.chance(35):  # its filter sees what is to its left
            text = text[:-1] + f"FILTER({self.condition(0, scope | before, outer)}) }}"
        return f"OPTIONAL {text}", scope

    def union(self, depth: int, before: Scope, outer: Scope) -> tuple[str, Scope]:
        (one, first), (other, second) = self.group(depth - 1, outer), self.group(depth - 1, outer)
        return f"{one} UNION {other}", first | second

    def minus(self, depth: int, before: Scope, outer: Scope) -> tuple[str, Scope]:
        return f"MINUS {self.group(depth - 1, outer)[0]}", NO_SCOPE

    def nested(self, depth: int, before: Scope, outer: Scope) -> tuple[str, Scope]:
        return self.group(depth - 1, outer)

    def graph(self, depth: int, before: Scope, outer: Scope) -> tuple[str, Scope]:
        text, scope = self.group(depth - 1, outer)
        name = self.variable() if self.chance(60) else written(self.one_of(*GRAPHS))
        return f"GRAPH {name} {text}", scope | ({name[1:]} if name.startswith("?") else NO_SCOPE)

    def bind(self, depth: int, before: Scope, outer: Scope) -> tuple[str, Scope]:
        target = self.unused(before | outer)
        value = f"EXISTS {self.group(0, before | outer)[0]}" if depth and self.chance(10) else self.value(before)
        return f"BIND({value} AS ?{target})", frozenset({target})

    def values(self, depth: int, before: Scope, outer: Scope) -> tuple[str, Scope]:
        free = [name for name in VARIABLES if name not in outer]
        if not free:
            return self.block(depth, before, outer)
        names = sorted({self.one_of(*free), self.one_of(*free)})
        rows = [" ".join(self.datum() for _ in names) for _ in range(self.draw(st.integers(1, 3)))]
        heading = " ".join(f"?{name}" for name in names)
        return f"VALUES ({heading}) {{ {' '.join(f'({row})' for row in rows)} }}", frozenset(names)

    def datum(self) -> str:
        return "UNDEF" if self.chance(15) else written(self.one_of(*NODES, *LITERALS))

    def subquery(self, depth: int, before: Scope, outer: Scope) -> tuple[str, Scope]:
        text, scope = self.select(depth - 1, outer)
        return f"{{ {text} }}", scope

    # Expressions

    def condition(self, depth: int, scope: Scope, outer: Scope) -> str:
        if depth and self.chance(40):
            pattern, _ = self.group(depth - 1, outer | scope)
            found = f"{self.one_of('EXISTS', 'NOT EXISTS')} {pattern}"
            return f"{found} {self.one_of('&&', '||')} {self.test(scope | outer)}" if self.chance(25) else found
        match self.one_of("plain", "plain", "and", "or", "not"):
            case "and":
                return f"{self.test(scope | outer)} && {self.test(scope | outer)}"
            case "or":
                return f"{self.test(scope | outer)} || {self.test(scope | outer)}"
            case "not":
                return f"!({self.test(scope | outer)})"
        return self.test(scope | outer)

    def test(self, scope: Scope) -> str:
        """An expression that is true or false, or fails."""
        one, two = self.operand(scope), self.operand(scope)
        match self.one_of("compare", "compare", "bound", "kind", "in", "sum", "itself"):
            case "bound":
                return self.one_of("", "!") + f"bound({self.known(scope)})"
            case "kind":
                return f"{self.one_of('isIRI', 'isLiteral')}({one})"
            case "in":
                return f"{one} {self.one_of('IN', 'NOT IN')} ({two}, {self.operand(scope)})"
            case "sum":
                return f"({self.arithmetic(scope)}) {self.comparison()} {two}"
            case "itself":
                return self.known(scope)
        return f"{one} {self.comparison()} {two}"

    def comparison(self) -> str:
        return self.one_of("=", "!=", "<", "<=", ">", ">=")

    def operand(self, scope: Scope) -> str:
        match self.one_of(*"vvvvvct"):
            case "c":
                return written(self.one_of(*NODES, *LITERALS))
            case "t":
                return f"str({self.known(scope)})"
        return self.known(scope)

    def known(self, scope: Scope) -> str:
        """A variable that is likely to have a value."""
        return "?" + self.one_of(*sorted(scope)) if scope and self.chance(85) else self.variable()

    def arithmetic(self, scope: Scope) -> str:
        other = self.known(scope) if self.chance(50) else self.one_of("1", "2", "-1", "0")
        return f"{self.known(scope)} {self.one_of('+', '-', '*', '/')} {other}"

    def value(self, scope: Scope) -> str:
        match self.one_of("operand", "arithmetic", "coalesce", "if", "test"):
            case "arithmetic":
                return self.arithmetic(scope)
            case "coalesce":
                return f"COALESCE({self.arithmetic(scope)}, {self.operand(scope)})"
            case "if":
                return f"IF({self.test(scope)}, {self.operand(scope)}, {self.operand(scope)})"
            case "test":
                return f"({self.test(scope)})"
        return self.operand(scope)

    # SELECT

    def select(self, depth: int, outer: Scope) -> tuple[str, Scope]:
        text, scope = self.group(depth, outer)
        in_groups = self.chance(25)
        shown, clauses = self.grouped(scope, outer) if in_groups else (self.chosen(scope, outer), "")
        names = [item.split("?")[-1].rstrip(")") for item in shown]
        distinct = "DISTINCT " if self.chance(20) else ""
        if not outer:
            clauses += self.ordered(names if in_groups else sorted({*names, *scope}))
        if not outer and self.chance(5):
            clauses += " " + self.values(0, NO_SCOPE, frozenset(names) - scope)[0]
        return f"SELECT {distinct}{' '.join(shown)} {text}{clauses}", frozenset(names)

    def chosen(self, scope: Scope, outer: Scope) -> list[str]:
        """What a SELECT without groups shows; sometimes a variable that has no value, or an expression."""
        names = [name for name in sorted(scope) if self.chance(70)] or [self.one_of(*VARIABLES)]
        shown = [f"?{name}" for name in names]
        if self.chance(15):
            shown.append(f"({self.value(scope)} AS ?{self.unused(scope | outer | set(names))})")
        return shown

    def grouped(self, scope: Scope, outer: Scope) -> tuple[list[str], str]:
        """What a SELECT with groups shows, and its GROUP BY and HAVING."""
        keys = [name for name in sorted(scope) if self.chance(35)]
        taken = scope | outer
        shown, by = [f"?{key}" for key in keys], [f"?{key}" for key in keys]
        if self.chance(10):
            key = self.unused(taken)
            taken |= {key}
            shown.append(f"?{key}")
            by.append(f"({self.value(scope)} AS ?{key})")
        for _ in range(self.one_of(1, 1, 2)):
            result = self.unused(taken)
            taken |= {result}
            shown.append(f"({self.aggregate(scope)} AS ?{result})")
        clauses = f" GROUP BY {' '.join(by)}" if by else ""
        if self.chance(30):
            clauses += f" HAVING({self.aggregate(scope)} {self.comparison()} {self.one_of('1', '2', '3')})"
        return shown, clauses

    def aggregate(self, scope: Scope) -> str:
        function = self.one_of("COUNT", "COUNT", "SUM", "MIN", "MAX", "AVG", "COUNT(*)", "COUNT(DISTINCT *)")
        if function.endswith(")"):
            return function
        distinct = "DISTINCT " if self.chance(30) else ""
        argument = self.known(scope) if self.chance(80) else self.arithmetic(scope)
        return f"{function}({distinct}{argument})"

    def ordered(self, names: Sequence[str]) -> str:
        """ORDER BY, LIMIT and OFFSET; the order may be by what is not shown."""
        clauses = ""
        if self.chance(20):
            by = [self.key(name) for name in names if self.chance(60)]
            clauses += f" ORDER BY {' '.join(by)}" if by else ""
        if self.cut and self.chance(15):
            clauses += self.one_of(" LIMIT 1", " LIMIT 2", " LIMIT 3", " LIMIT 3 OFFSET 1", " LIMIT 0", " OFFSET 2")
        return clauses

    def key(self, name: str) -> str:
        return self.one_of(f"?{name}", f"?{name}", f"DESC(?{name})", f"(?{name} + 1)", f"DESC(isIRI(?{name}))")


def written(term: Term) -> str:
    """A term as queries have it."""
    match term.kind:
        case "iri":
            return ":" + term.value.removeprefix(EX)
        case "string":
            return f'"{term.value}"'
    return str(term.value)

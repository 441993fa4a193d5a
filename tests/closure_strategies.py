"""Which random programs are tried on rewrites?

Programs around one relation that is closed: transitive, symmetric and guarded rules, rules that nearly have those
shapes, rules that feed the relation from outside or from itself, and rules that read it, under NOT too. Values are few
and some are equal without being the same term, so that guards bite.
"""

from __future__ import annotations

from decimal import Decimal

from hypothesis import strategies as st
from tests.strategies import Draw, Shape, Story, World, fact_sets, updates
from tests.subjects import Update

from everlog.facts.terms import IRI, XSD, Literal, Term
from everlog.rules.parser import parse_program
from everlog.rules.printer import print_program
from everlog.rules.syntax import Program

EX = "http://ex.org/"
PLAIN: list[Term] = ["a", "b", "c", 1, 2, IRI(EX + "a"), IRI(EX + "p1")]
# Each of these is equal to another one or to one above, or nobody knows whether it is, or is unequal to itself.
ALIKE: list[Term] = [1.0, Decimal("1.0"), Literal("01", XSD + "integer"), 2.0, float("nan"), Literal("a", EX + "type")]

# How facts of the closed relation are written, by their ends; the others are given.
CLOSED = {
    "p": "p({0}, {1})",
    "backwards": "p({1}, {0})",
    "labelled": "h({0}, ?g, {1})",
    "constant": "h({0}, a, {1})",
    "triples": "[{0}, <http://ex.org/p1>, {1}]",
}
SHAPES = (
    Shape("p", 2, 0),
    Shape("h", 3, 0),
    Shape("e", 2, 0),
    Shape("u", 1, 0),
    Shape("q", 2, 1),
    Shape("named", 3, 1),
    Shape("triple", 3, 0, ((1, IRI(EX + "p1")),)),
    Shape("triple", 3, 1, ((1, IRI(EX + "p2")),)),
)
TRANSITIVE = (
    "{xz} :- {xy}, {yz}.",
    "{xz} :- {xy}, {yz}.",
    "{xz} :- {yz}, {xy}.",
    "{xz} :- {xy}, {yz}, ?x != ?z.",
    "{xz} :- {xy}, {yz}, ?x != ?z.",
    "{xz} :- ?z != ?x, {yz}, {xy}.",
)
SYMMETRIC = ("{xz} :- {zx}.", "{xz} :- {zx}.", "{xz} :- {zx}, ?x != ?z.")
NEARLY = (
    "{xz} :- {xy}, {yz}, ?x != ?y.",
    "{xz} :- {xy}, {yz}, ?x < ?z.",
    "{xz} :- {xy}, {zy}.",
    "{xz} :- {xy}, {yz}, u(?y).",
    "{xx} :- {xy}, {yx}.",
    "{xz}, q(?x, ?y) :- {xy}, {yz}, e(?x, ?y).",
    "{xz} :- {xy}, {yz}, ?x != ?z, ?y != ?z.",
)
FEEDING = (
    "{xz} :- e(?x, ?z), u(?g).",
    "{xz} :- e(?z, ?x), NOT u(?x), u(?g).",
    "{xz} :- {xy}, e(?y, ?z).",
    "{xz} :- e(?x, ?y), {yz}.",
    "{xz} :- q(?x, ?z), u(?g).",
    "{xz}, q(?z, ?x) :- e(?x, ?z), u(?g).",
    "{xx} :- u(?x), u(?g).",
    "p(?x, a) :- u(?x).",
    "h(?x, ?y, ?z) :- named(?x, ?y, ?z).",
    "h(?x, a, ?z) :- e(?x, ?z).",
    "[?x, ?y, ?z] :- named(?x, ?y, ?z).",
    "[?x, <http://ex.org/p2>, ?z] :- [?x, <http://ex.org/p1>, ?z].",
    "[?x, <http://ex.org/p2>, ?z] :- [?x, <http://ex.org/p2>, ?y], [?y, <http://ex.org/p2>, ?z].",
)
READING = (
    "q(?x, ?z) :- {zx}.",
    "named(?x, ?y, ?z) :- {xy}, {yz}, u(?x).",
    "lonely(?x) :- u(?x), NOT {xy}.",
    "reached(?x, ?n) :- AGGREGATE({xy} ON ?x BIND COUNT(?y) AS ?n).",
    "apart(?x, ?z) :- u(?x), u(?z), u(?g), NOT {xz}.",
)


@st.composite
def closure_stories(draw: Draw) -> Story:
    """A program with closures, facts, and updates of facts and rules."""
    values = draw(st.lists(st.sampled_from(PLAIN), min_size=3, max_size=4, unique=True))
    if draw(st.booleans()):
        values += draw(st.lists(st.sampled_from(ALIKE), min_size=1, max_size=2, unique_by=repr))
    world = World(SHAPES, tuple(values))
    closed = draw(st.sampled_from([*CLOSED.values(), CLOSED["p"]]))
    texts = [draw(st.sampled_from(TRANSITIVE))]
    for options, most in ((TRANSITIVE, 1), (SYMMETRIC, 1), (NEARLY, 1), (FEEDING, 3), (READING, 2)):
        texts += draw(st.lists(st.sampled_from(options), max_size=most))
    texts = draw(st.permutations(texts))
    rules = parse_program("\n".join(f"k{number}: {_filled(text, closed)}" for number, text in enumerate(texts))).rules
    program = Program(rules=rules)
    facts = draw(fact_sets(world, most=7))
    active = {rule.name: True for rule in rules}
    found = []
    for update in draw(updates(world, facts, most=3)):
        flips = [rule for rule in rules if draw(st.integers(0, 5)) == 5]
        add = Program(rules=tuple(rule for rule in flips if not active[rule.name]))
        remove = tuple(rule.name for rule in flips if active[rule.name] and rule.name)
        active.update({rule.name: not active[rule.name] for rule in flips})
        found.append(Update(update.insert, update.delete, print_program(add) if add.rules else "", remove))
    return Story(program, facts, tuple(found))


def _filled(text: str, closed: str) -> str:
    """The rule with the closed relation's atoms in: `{xy}` is the fact from ?x to ?y."""
    for one in "xyz":
        for other in "xyz":
            text = text.replace(f"{{{one}{other}}}", closed.format(f"?{one}", f"?{other}"))
    return text

"""Does every engine, with every strategy, do what the stories in `cases/` and `foreign/` say?

A case is a text of sections. A section starts at the left edge with its word and goes on over indented lines; lines
that start with `#` are comments.

    rules     path(?x,?y) :- edge(?x,?y).    path(?x,?z) :- edge(?x,?y), path(?y,?z).
    facts     edge(a,b).  edge(b,c).
    expect    + path(a,b).  + path(b,c).  + path(a,c).
    update    - edge(b,c).  + edge(b,d).
    expect    - path(b,c).  - path(a,c).  + path(b,d).  + path(a,d).
    update    + rule back: path(?x,?y) :- edge(?y,?x).  - rule r1.
    expect all edge: edge(a,b).  edge(b,d).
    update    + rule p(?x) :- q(?x), NOT p(?x).
    expect error R301

- `rules` and `facts` at the top are the first update. PREFIX lines in `rules` hold in the whole case.
- `expect` lists exactly the gains (+) and losses (-) of the update before it, among the facts that some rule's head
  could derive (for `edge` above: none). A fact inserted into a relation that rules define is among them.
- `expect nothing` says that there are none. `expect all r: …` lists a whole relation; `expect all r: nothing`.
- `expect error CODE` says that the update is refused with a diagnostic or an error of that code and everything stays as
  it was. `C100` is a broken constraint.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.oracle import NotStratified, State, difference, unify
from tests.subjects import Broken, EngineSubject, OracleSubject, Subject, Update, keys, listing

from everlog.errors import EverlogError, ProgramError
from everlog.facts.terms import term_of
from everlog.rules.parser import parse_program
from everlog.rules.syntax import Atom, Constant, Rule, Variable

HERE = Path(__file__).parent
CASES = sorted([*HERE.glob("cases/*.case"), *HERE.glob("foreign/*.case")])
# Foreign cases were not written with updates in mind: every strategy on each of them is for longer runs.
QUICK_CASES = [pytest.param(path, marks=[pytest.mark.slow] * (path.parent.name == "foreign")) for path in CASES]
SECTION = re.compile(r"(rules|facts|update|expect)\b[ \t]*")
# A statement ends at a dot before white space, outside strings and IRIs.
TOKEN = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|<[^\s<>]*>|(?P<end>\.(?=\s|$))|[^"'.<]+|.""", re.DOTALL)


@dataclass
class Expectation:
    """What one `expect` section says, unread: its place and its text."""

    line: int
    text: str


@dataclass
class Step:
    """An update and what is expected of it."""

    line: int
    update: Update
    expectations: list[Expectation] = field(default_factory=list)


def sections(text: str) -> list[tuple[int, str, str]]:
    """Line number, word and text of each section."""
    found: list[tuple[int, str, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        if line[0].isspace():
            at, word, before = found.pop()
            found.append((at, word, f"{before}\n{line}"))
        else:
            start = SECTION.match(line)
            assert start, f"line {number}: a section starts with rules, facts, update or expect"
            found.append((number, start[1], line[start.end() :]))
    return found


def statements(text: str) -> list[str]:
    """The statements of a text, each with its dot."""
    found, current = [], ""
    for token in TOKEN.finditer(text):
        current += token[0]
        if token["end"]:
            found.append(current.strip())
            current = ""
    assert not current.strip(), f"a statement without its dot: {current.strip()!r}"
    return found


def signed(text: str) -> tuple[list[str], list[str]]:
    """The statements after + and those after -."""
    found: dict[str, list[str]] = {"+": [], "-": []}
    for statement in statements(text):
        assert statement[0] in found, f"+ or - missing before {statement!r}"
        found[statement[0]].append(statement[1:].strip())
    return found["+"], found["-"]


class Case:
    """One case file, read."""

    def __init__(self, text: str) -> None:
        self.prefixes = ""
        self.steps: list[Step] = []
        rules = ""
        for line, word, body in sections(text):
            if word == "rules":
                rules += body + "\n"
                self.prefixes += "\n".join(re.findall(r"(?i)^\s*@?prefix\s.*$", body, re.MULTILINE)) + "\n"
            elif word == "facts":
                self.steps.append(Step(line, Update(insert=self.rows(body), add_rules=rules)))
                rules = ""
            elif word == "update":
                if rules:
                    self.steps.append(Step(line, Update(add_rules=rules)))
                    rules = ""
                self.steps.append(Step(line, self.update(body)))
            else:
                if rules:
                    self.steps.append(Step(line, Update(add_rules=rules)))
                    rules = ""
                self.steps[-1].expectations.append(Expectation(line, body))
        if rules:
            self.steps.append(Step(0, Update(add_rules=rules)))

    def atoms(self, text: str) -> list[Atom]:
        program = parse_program(self.prefixes + text)
        assert not program.rules, f"facts expected: {text!r}"
        return list(program.facts)

    def rows(self, text: str) -> dict[str, list[tuple]]:
        found: dict[str, list[tuple]] = {}
        for atom in self.atoms(text):
            found.setdefault(atom.relation, []).append(tuple(arg.term for arg in atom.args))
        return found

    def state(self, text: str) -> State:
        return {relation: set(map(keys, rows)) for relation, rows in self.rows(text).items()}

    def update(self, text: str) -> Update:
        plus, minus = signed(text)
        rules = [statement.removeprefix("rule ") for statement in plus if statement.startswith("rule ")]
        names = [statement.removeprefix("rule ").rstrip(" .") for statement in minus if statement.startswith("rule ")]
        return Update(
            insert=self.rows(" ".join(s for s in plus if not s.startswith("rule "))),
            delete=self.rows(" ".join(s for s in minus if not s.startswith("rule "))),
            add_rules=self.prefixes + "\n".join(rules) if rules else "",
            remove_rules=tuple(names),
        )


def derivable(state: State, rules: list[Rule]) -> State:
    """The facts that some rule's head could derive."""

    def fits(relation: str, fact: tuple[str, ...]) -> bool:
        ground = Atom(relation, tuple(Constant(term_of(key)) for key in fact))
        return any(unify(head, ground) for rule in rules for head in rule.heads)

    kept = {relation: {fact for fact in facts if fits(relation, fact)} for relation, facts in state.items()}
    return {relation: facts for relation, facts in kept.items() if facts}


def play(case: Case, subject: Subject) -> None:
    """Apply every update of a case and check every expectation."""
    for step in case.steps:
        before, rules = subject.state(), list(subject.rules)
        refusal = next((e for e in step.expectations if e.text.startswith("error")), None)
        if refusal is not None:
            with pytest.raises((EverlogError, NotStratified, Broken)) as caught:
                subject.update(step.update)
            if isinstance(caught.value, EverlogError):
                codes = codes_of(caught.value)
                wanted = set(refusal.text.split()[1:])
                assert wanted <= codes, f"line {refusal.line}: expected {wanted}, got {codes}"
            assert listing(subject.state()) == listing(before), f"line {step.line}: a refused update changed the state"
            continue
        gained, lost = subject.update(step.update)
        real_gains, real_losses = difference(before, subject.state())
        assert listing(gained) == listing(real_gains), f"line {step.line}: the change's gains are not what was gained"
        assert listing(lost) == listing(real_losses), f"line {step.line}: the change's losses are not what was lost"
        for expectation in step.expectations:
            check(case, expectation, subject, gained, lost, rules)


def codes_of(error: EverlogError) -> set[str]:
    return {each.code for each in error.diagnostics} if isinstance(error, ProgramError) else {error.code}


def check(
    case: Case, expectation: Expectation, subject: Subject, gained: State, lost: State, rules: list[Rule]
) -> None:
    place, text = f"line {expectation.line}", expectation.text
    whole = re.match(r"all\s+(\w+)\s*:", text)
    if whole:
        relation, rest = whole[1], text[whole.end() :]
        wanted = {} if rest.strip() == "nothing" else case.state(rest)
        found = {relation: subject.state().get(relation, set())}
        assert listing(found) == listing(wanted), place
        return
    plus, minus = ([], []) if text.strip() == "nothing" else signed(text)
    rules = rules + list(subject.rules)
    assert listing(derivable(gained, rules)) == listing(case.state(" ".join(plus))), f"{place}: gains"
    assert listing(derivable(lost, rules)) == listing(case.state(" ".join(minus))), f"{place}: losses"


def read(path: Path) -> Case:
    return Case(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", CASES, ids=name_of)
def test_case(path: Path, engine: str) -> None:
    play(read(path), EngineSubject(engine))


@pytest.mark.parametrize("path", QUICK_CASES, ids=name_of)
def test_case_with_each_strategy(path: Path, engine: str, strategies: list[str]) -> None:
    for strategy in strategies:
        play(read(path), EngineSubject(engine, strategy=strategy))


@pytest.mark.parametrize("path", CASES, ids=name_of)
def test_case_on_the_oracle(path: Path) -> None:
    """The oracle agrees with what people wrote down by hand."""
    play(read(path), OracleSubject())


def test_every_case_expects_something() -> None:
    idle = [name_of(path) for path in CASES if not any(step.expectations for step in read(path).steps)]
    assert not idle


def test_statements_end_at_dots_outside_strings_and_numbers() -> None:
    text = '+ p(1.5, "a. b").  - q(<http://ex.org/a.b>, x).\n + rule r(?x) :- p(?x, _), ?x < 2.5 .'
    assert len(statements(text)) == 3
    assert Variable("x") in parse_program("r(?x) :- p(?x, _), ?x < 2.5 .").rules[0].heads[0].args

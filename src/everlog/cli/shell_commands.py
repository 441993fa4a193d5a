"""What do the shell's own commands do? Each is a function of the session and of what stands behind its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from everlog.cli import display
from everlog.cli.update import print_change
from everlog.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from everlog.cli.shell_session import Session

Command = Callable[["Session", str], None]

COMMANDS: dict[str, tuple[str, str, Command]] = {}  # by name: what follows it, what it does, and how

STATEMENTS = """\
edge(a, b).                              a fact, or several: insert them
path(?x, ?y) :- edge(?x, ?y).            a rule: add it, derive what follows
path(a, ?y)                              a query in Datalog: no full stop, or ?- before and one behind
SELECT ?x { ?x a :Part } LIMIT 5         SPARQL: ends where its brackets are closed, or at an empty line
INSERT DATA { :a a :Part }               SPARQL Update
PREFIX : <http://example.org/>           a prefix, kept with the rules; an empty line ends it
"""


def command(name: str, arguments: str = "") -> Callable[[Command], Command]:
    """Make a function a command of the shell; its docstring is its help."""

    def add(function: Command) -> Command:
        COMMANDS[name] = arguments, (function.__doc__ or "").rstrip("."), function
        return function

    return add


def run_command(session: Session, line: str) -> None:
    """Run a line that begins with a full stop."""
    name, _, rest = line.strip().partition(" ")
    if name not in COMMANDS:
        error = NotFoundError.among("command", name, COMMANDS)
        error.hint = f"{error.hint} .help lists all"
        raise error
    arguments, _, function = COMMANDS[name]
    rest = rest.strip()
    if arguments and not arguments.startswith("[") and not rest:
        raise UsageError(f"{name} what?", hint=f"{name} {arguments}")
    function(session, rest)


@command(".help")
def _help(session: Session, _: str) -> None:
    """This list."""
    print(STATEMENTS)
    for name, (arguments, says, _function) in COMMANDS.items():
        print(f"{f'{name} {arguments}':<25}{says}")


@command(".relations")
def _relations(session: Session, _: str) -> None:
    """Relations, with how many facts each has."""
    for each in session.kb.relations():
        derived = f", {each.facts - each.explicit:,} derived" if each.defined else ""
        print(f"{each.name}/{each.arity}\t{each.facts:,} facts{derived}")


@command(".rules")
def _rules(session: Session, _: str) -> None:
    """Rules, with their names."""
    from everlog.rules.printer import print_rule

    program = session.kb.program
    for rule in program.rules:
        print(print_rule(rule, program.prefixes))


@command(".prefixes")
def _prefixes(session: Session, _: str) -> None:
    """Prefixes of IRIs."""
    for prefix, iri in session.kb.program.prefixes.items():
        print(f"PREFIX {prefix}: <{iri}>")


@command(".views")
def _views(session: Session, _: str) -> None:
    """Views, with their queries."""
    for view in session.kb.views():
        print(f"{view.name}\t{' '.join(view.text.split())}")


@command(".facts", "RELATION")
def _facts(session: Session, relation: str) -> None:
    """The facts of a relation."""
    rows = session.kb.facts(relation)
    display.print_rows(rows.sorted(), rows.names, prefixes=session.kb.program.prefixes)


@command(".load", "[REL=]FILE")
def _load(session: Session, argument: str) -> None:
    """Insert a file of data, or add a file of rules (.dl)."""
    from everlog.store.program_files import named_source, read_programs, read_sources

    program, imported, others = read_programs([], [argument])
    facts = read_sources([*imported, *map(named_source, others)])
    print_change(session.kb.update(insert=facts, add_rules=program))


@command(".delete", "FACTS")
def _delete(session: Session, text: str) -> None:
    """Delete facts, written as rules write them: .delete edge(a, b)."""
    from everlog.rules.parser import parse_program
    from everlog.rules.syntax import Constant

    program = parse_program(text if text.endswith(".") else f"{text}.", "<shell>", session.kb.program.prefixes)
    if program.rules:
        raise UsageError("only facts are deleted so", hint=".remove NAME removes a rule")
    facts: dict[str, list[tuple[object, ...]]] = {}
    for atom in program.facts:
        row = tuple(each.term for each in atom.args if isinstance(each, Constant))
        facts.setdefault(atom.relation, []).append(row)
    print_change(session.kb.update(delete=facts))


@command(".remove", "RULE")
def _remove(session: Session, name: str) -> None:
    """Remove a rule, by its name or its text."""
    print_change(session.kb.remove_rules(name))


@command(".view", "NAME [QUERY]")
def _view(session: Session, argument: str) -> None:
    """Keep the answer to a SPARQL query under a name, or show that of a view."""
    name, _, text = argument.partition(" ")
    view = session.kb.view(name, text.strip() or None)
    display.print_answer(name, view.rows(), prefixes=session.kb.program.prefixes, titled=False)


@command(".drop", "VIEW")
def _drop(session: Session, name: str) -> None:
    """Stop keeping a view."""
    session.kb.drop_view(name)


@command(".plan")
def _plan(session: Session, _: str) -> None:
    """How the rules are evaluated."""
    print(str(session.kb.plan()).rstrip())


@command(".timeout", "[SECONDS]")
def _timeout(session: Session, seconds: str) -> None:
    """Stop what takes longer; without seconds: nothing is stopped."""
    from dataclasses import replace

    try:
        given = float(seconds) if seconds else None
    except ValueError:
        raise UsageError(f"{seconds!r} is no number of seconds", hint=".timeout 10") from None
    session.kb.limits = replace(session.kb.limits, seconds=given)


@command(".quit")
def _quit(session: Session, _: str) -> None:
    """Leave; so does Ctrl-D."""
    session.over = True

"""`everlog rules`: which rules does a knowledge base have?"""

from __future__ import annotations

import typer

from everlog.cli.knowledge_bases import JsonOption, KbArgument, open_kb
from everlog.cli.outcomes import outcome, print_json

rules = typer.Typer(
    name="rules",
    help="The rules of a knowledge base.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@rules.callback()
def _rules() -> None:
    """The rules of a knowledge base."""


@rules.command(name="list")
def list_rules(kb: KbArgument, as_json: JsonOption = False) -> None:
    """Print every rule with its name."""
    with outcome(as_json=as_json):
        from everlog.rules.printer import print_rule

        with open_kb(kb) as opened:
            program = opened.program
        if as_json:
            data = [{"name": rule.name, "text": print_rule(rule, program.prefixes)} for rule in program.rules]
            print_json({"prefixes": dict(program.prefixes), "rules": data})
            return
        for prefix, iri in program.prefixes.items():
            print(f"PREFIX {prefix}: <{iri}>")
        for rule in program.rules:
            print(print_rule(rule, program.prefixes))

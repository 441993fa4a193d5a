"""Which rules come with Everlog?

owl2-rl            the rules of OWL 2 RL/RDF, over axioms that stand among the data
owl2-rl-reflexive  everything is the same as itself, as well
rdfs               the rules of RDFS
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from everlog.errors import NotFoundError
from everlog.rules.syntax import Program

ENDING = ".dl"


def library_names() -> list[str]:
    """The programs that there are."""
    return sorted(each.name.removesuffix(ENDING) for each in files(__name__).iterdir() if each.name.endswith(ENDING))


def library_text(name: str) -> str:
    """The text of a program by its name."""
    if name not in library_names():
        raise NotFoundError.among("program of the library", name, library_names())
    return files(__name__).joinpath(name + ENDING).read_text(encoding="utf-8")


@cache
def library_program(name: str) -> Program:
    """A program by its name."""
    from everlog.rules.parser import parse_program

    return parse_program(library_text(name), name + ENDING)

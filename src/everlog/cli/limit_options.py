"""How does a command get its limits? All that may take long have the same options, added here to each.

Typer reads options from a function's signature; `limited` adds those of limits to it and hands the command one value.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from everlog.errors import UsageError
from everlog.limits import Limits


def bytes_of(size: str) -> int:
    """A size as people write it, in bytes.

    >>> bytes_of("4G"), bytes_of("1.5 MiB"), bytes_of("100")
    (4294967296, 1572864, 100)
    """
    text = size.strip().upper().removesuffix("B").removesuffix("I")
    power = "KMGT".find(text[-1:]) + 1 if text else 0
    try:
        number = float(text[:-1] if power else text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise UsageError(f"{size!r} is not a size", hint="write 500M or 4G")
    return int(number * 1024**power)


def _size(text: str) -> int:
    try:
        return bytes_of(text)
    except UsageError as error:
        raise typer.BadParameter(f"{error.message}: {error.hint}") from error


_OPTIONS: dict[str, tuple[str, Any]] = {
    "seconds": (
        "timeout",
        Annotated[
            float | None, typer.Option("--timeout", "--limit-seconds", help="Stop after so many seconds.", min=0.0)
        ],
    ),
    "rounds": (
        "limit_rounds",
        Annotated[int | None, typer.Option(help="Stop a recursion after so many rounds.", min=1)],
    ),
    "facts": ("limit_facts", Annotated[int | None, typer.Option(help="Stop above so many facts.", min=1)]),
    "memory": (
        "limit_memory",
        Annotated[int | None, typer.Option(metavar="SIZE", parser=_size, help="Stop above so much memory: 500M, 4G.")],
    ),
}


def limited(command: Callable[..., None]) -> Callable[..., None]:
    """A command with options for limits, which it takes as `limits`; those not given keep their defaults."""

    @wraps(command)
    def run(**arguments: Any) -> None:
        given = {name: arguments.pop(option) for name, (option, _) in _OPTIONS.items()}
        command(**arguments, limits=Limits(**{name: value for name, value in given.items() if value is not None}))

    signature = inspect.signature(command)
    parameters = [each for each in signature.parameters.values() if each.name != "limits"]
    parameters += [
        inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for option, annotation in _OPTIONS.values()
    ]
    hints = get_type_hints(command, include_extras=True)
    del run.__wrapped__  # typer would read the signature from there
    run.__signature__ = signature.replace(parameters=[_evaluated(each, hints) for each in parameters])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: hints.get(each.name, each.annotation) for each in parameters}
    return run


def _evaluated(parameter: inspect.Parameter, hints: dict[str, Any]) -> inspect.Parameter:
    return parameter.replace(annotation=hints.get(parameter.name, parameter.annotation))

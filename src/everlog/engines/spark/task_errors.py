"""How does an error of ours get from a task to the driver?

Spark wraps what a Python worker raises into an exception with the worker's traceback as text. An error that a user can
do something about travels in that text as one line of JSON, and is raised anew, as what it was, where an action runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from everlog import errors

_MARK = "everlog-error "


class TaskFailure(RuntimeError):
    """An error of ours on its way to the driver."""


@contextmanager
def marked_errors() -> Iterator[None]:
    """In a task: errors of ours go on in a form that the driver reads."""
    try:
        yield
    except errors.EverlogError as error:
        about = {"kind": type(error).__name__, "message": error.message, "hint": error.hint}
        raise TaskFailure(_MARK + json.dumps(about)) from None


@contextmanager
def task_errors() -> Iterator[None]:
    """On the driver, around an action: errors of tasks are raised as what they were."""
    try:
        yield
    except Exception as error:
        found = error_of_task(error)
        if found is None:
            raise
        raise found from error


def error_of_task(error: BaseException) -> errors.EverlogError | None:
    """The error of ours that made Spark fail, if that is why."""
    text = str(error)
    start = text.find(_MARK)
    if start < 0:
        return None
    try:
        about, _ = json.JSONDecoder().raw_decode(text[start + len(_MARK) :])
    except ValueError:
        return None
    kind = getattr(errors, str(about.get("kind")), None)
    if not (isinstance(kind, type) and issubclass(kind, errors.EverlogError)):
        return None
    return kind(about["message"], hint=about["hint"])

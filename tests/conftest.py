"""Which engines are tested, and how many random examples are tried?

--engines=reference,columnar     a test that takes `engine` runs once on each; the laws also on the paged engine,
                                 which has property tests of its own: all tests on it would take as long again
--strategies=bf,ranked           a test that takes `strategies` tries these, else all of them
EVERLOG_PROFILE=nightly          many random programs; the default, quick, tries few and the same ones each time
                                 (--hypothesis-profile=nightly does the same)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from everlog.maintenance.strategies import NAMES as STRATEGIES

ENGINES = ("reference", "columnar")
LAWS = Path(__file__).parent / "engines"

# Random programs are big examples: drawing one takes longer than Hypothesis likes, and the time of an example says
# nothing about its size, hence no deadline.
settings.register_profile(
    "quick", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "nightly",
    max_examples=2000,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile(os.environ.get("EVERLOG_PROFILE", "quick"))


def pytest_addoption(parser: pytest.Parser) -> None:
    for option, known in (("--engines", ENGINES), ("--strategies", STRATEGIES)):
        names = ",".join(known)
        parser.addoption(option, default=names, help=f"{option[2:]} to test, with commas: {names.replace(',', ', ')}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "engine" in metafunc.fixturenames:
        names = chosen(metafunc.config, "engines", (*ENGINES, "paged"))
        everywhere = metafunc.config.getoption("--engines") == ",".join(ENGINES)
        path = metafunc.definition.path
        if everywhere and LAWS in path.parents and path.stem != "test_marks":  # which it takes and ignores
            names.append("paged")
        metafunc.parametrize("engine", names)


@pytest.fixture(scope="session")
def strategies(request: pytest.FixtureRequest) -> list[str]:
    """The strategies that one example is followed with: they share its oracle, which takes longer than they do."""
    return chosen(request.config, "strategies", STRATEGIES)


def chosen(config: pytest.Config, what: str, known: Sequence[str]) -> list[str]:
    """The names that an option lists."""
    names = [name.strip() for name in config.getoption(f"--{what}").split(",") if name.strip()]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise pytest.UsageError(f"--{what}: {unknown[0]!r} is none of {', '.join(known)}")
    return names

"""Which engines are tested, and how many random examples are tried?

--engines=reference,columnar     a test that takes `engine` runs once on each
EVERLOG_PROFILE=nightly          many random programs; the default, quick, tries few and the same ones each time
                                 (--hypothesis-profile=nightly does the same)
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

ENGINES = ("reference", "columnar")

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
    parser.addoption("--engines", default=",".join(ENGINES), help="engines to test, with commas: " + ", ".join(ENGINES))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "engine" in metafunc.fixturenames:
        chosen = [name.strip() for name in metafunc.config.getoption("--engines").split(",") if name.strip()]
        unknown = [name for name in chosen if name not in ENGINES]
        if unknown:
            raise pytest.UsageError(f"unknown engine {unknown[0]!r}; valid engines: {', '.join(ENGINES)}")
        metafunc.parametrize("engine", chosen)

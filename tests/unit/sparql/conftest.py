"""What are queries asked of? The DATA of their test's module, on each engine."""

from __future__ import annotations

import pytest

import everlog


@pytest.fixture(scope="module", params=["columnar", "reference"])
def kb(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> everlog.KnowledgeBase:
    """DATA is the default graph, and the graph :g too."""
    file = tmp_path_factory.mktemp("sparql") / "data.ttl"
    file.write_text(request.module.DATA)
    kb = everlog.open(engine=request.param)
    kb.load(file)
    kb.load(file, graph="http://e/g")
    return kb

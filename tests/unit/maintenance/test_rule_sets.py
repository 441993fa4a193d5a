"""Do the counts of RS2 and RS3 hold while each rule, and each combination of the paper, goes and comes back?"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from benchmarks.experiments.rules.data import COMBINATIONS, RuleSet, rs2, rs3

import everlog

# The paper's size takes minutes for all rules, a tenth of it moments: shapes are the same.
WIDTHS = [20, pytest.param(200, marks=pytest.mark.nightly)]


def sizes(kb: everlog.KnowledgeBase) -> dict[str, int]:
    return {info.name: info.facts for info in kb.relations() if info.facts}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("make", [rs2, rs3])
def test_every_rule_goes_and_comes_back(make: Callable[[int], RuleSet], width: int) -> None:
    rules = make(width)
    kb = rules.open()
    whole = sizes(kb)
    derived = sum(facts for name, facts in whole.items() if name not in rules.facts)
    assert rules.derived is None or derived == rules.derived
    known = [(name,) for name in rules.rules]
    known += [names for names in COMBINATIONS if all(name in rules.rules for name in names)]
    for names in known:
        kb.remove_rules(names)
        assert sizes(kb) == sizes(rules.without(names).open()), f"without {', '.join(names)}"
        kb.add_rules(rules.text(names))
        assert sizes(kb) == whole, f"{', '.join(names)} is back"
    assert not kb.verify().differences

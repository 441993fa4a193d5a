"""Which patients are there, and what happens to them? Generated, the same each time."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

EX = "http://example.org/"
DIAGNOSES = {
    "diabetes": ["metformin", "insulin"],
    "hypertension": ["lisinopril", "amlodipine"],
    "asthma": ["salbutamol"],
    "migraine": ["sumatriptan", "propranolol"],
}
PHYSICIANS = ["Carol", "Dave", "Erin", "Frank", "Grace"]

Fact = list[Any]
Line = dict[str, Any]


def triple(subject: str, predicate: str, object_: str, *, text: bool = False) -> Fact:
    """A triple as update files write it."""
    there = object_ if text else {"@id": EX + object_}
    return ["triple", {"@id": EX + subject}, {"@id": EX + predicate}, there]


def pod(number: int) -> str:
    return f"pod-{number:04}"


def patient(number: int, rng: random.Random) -> list[Fact]:
    """A pod: one patient, diagnoses with medications, and for most a physician; the name of most of those is known."""
    facts = []
    for diagnosis in rng.sample(sorted(DIAGNOSES), rng.randint(1, 2)):
        facts.append(triple(f"patient{number}", "hasDiagnosis", diagnosis))
        facts += [triple(diagnosis, "treatedWith", each) for each in DIAGNOSES[diagnosis]]
    if rng.random() < 0.7:
        name = rng.choice(PHYSICIANS)
        facts.append(triple(f"patient{number}", "treatedBy", name.lower()))
        if rng.random() < 0.9:
            facts.append(triple(name.lower(), "name", f"Dr. {name}", text=True))
    return facts


def lines(pods: int, days: int, seed: int = 1) -> Iterator[list[Line]]:
    """Updates, day by day: everybody's pod first, then news for some; on the second day a rule for all."""
    rng = random.Random(seed)
    facts = {number: patient(number, rng) for number in range(pods)}
    yield [line(pod(number), {"insert": facts[number]}) for number in range(pods)]
    for day in range(1, days):
        news = [line(pod(number), _news(number, facts, rng)) for number in rng.sample(range(pods), pods // 10)]
        yield [*([line(None, {"add_rules": RULE_OF_DAY_TWO})] if day == 1 else []), *news]


def _news(number: int, facts: dict[int, list[Fact]], rng: random.Random) -> dict[str, list[Fact]]:
    """Somebody has one more diagnosis, or is seen by somebody else."""
    if rng.random() < 0.5:
        diagnosis = rng.choice(sorted(DIAGNOSES))
        return {"insert": [triple(f"patient{number}", "hasDiagnosis", diagnosis)]}
    name = rng.choice(PHYSICIANS)
    before = [fact for fact in facts[number] if fact[2] == {"@id": EX + "treatedBy"}]
    after = [
        triple(f"patient{number}", "treatedBy", name.lower()),
        triple(name.lower(), "name", f"Dr. {name}", text=True),
    ]
    facts[number] = [fact for fact in facts[number] if fact not in before] + after
    return {"delete": before, "insert": after}


def line(key: str | None, update: dict[str, Any]) -> Line:
    """A row of the stream."""
    return {"key": key, "update": json.dumps(update)}


RULE_OF_DAY_TWO = """
PREFIX : <http://example.org/>
consent: [?patient, :mayTake, ?medication] :-
    [?patient, :hasDiagnosis, ?diagnosis], [?diagnosis, :treatedWith, ?medication], [?patient, :treatedBy, ?physician].
"""

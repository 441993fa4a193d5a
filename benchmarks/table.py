"""How do the numbers read? `python -m benchmarks.table RESULTS.json` prints Markdown; `--write` puts it into README.md.

Several JSON files may be given (the main run, then one of `--scale 10`): where two have the same measurement the first
counts, and a ratio between sizes is always taken within one file.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from benchmarks.workload import Workload
from benchmarks.workloads import ALL, BY_NAME

README = Path(__file__).resolve().parent / "README.md"
BEGIN, END = "<!-- results -->", "<!-- end of results -->"
OURS, PEER = "everlog", "duckdb:2"

Record = dict[str, Any]
Results = dict[tuple[str, str, float], Record]


def keyed(document: Record) -> Results:
    return {(record["workload"], record["system"], record["scale"]): record for record in document["records"]}


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def seconds(record: Record | None) -> str:
    if record is None:
        return ""
    if "best" not in record:
        return "failed" if "failed" in record else "–"
    return f"{record['best']:.3f}" if record["best"] < 10 else f"{record['best']:.1f}"


def derivations(workload: Workload, record: Record | None) -> int | None:
    """The instances semi-naive evaluation must look at; where we have no formula, what our engine says it did."""
    return workload.derivations or (record or {}).get("rule_applications")


def times(results: Results, systems: list[str]) -> list[str]:
    """Best time per workload and system, with our ratio to the peer: below 1 we are faster."""
    lines = [
        row("workload", "facts", "derivations", *[f"{s}, s" for s in systems], f"{OURS} ÷ {PEER}", "M derivations/s",
            "memory, MB", f"{PEER}, MB"),
        "|---|--:|--:|" + "--:|" * (len(systems) + 4),
    ]  # fmt: skip
    for workload in ALL:
        found = {system: results.get((workload.name, system, 1.0)) for system in systems}
        if not any(found.values()):
            continue
        ours, peer = found.get(OURS) or {}, found.get(PEER) or {}
        has_ours, has_peer = "best" in ours, "best" in peer
        count = derivations(workload, ours)
        lines.append(row(
            workload.title, f"{sum(workload.counts.values()):,}", f"{count:,}" if count else "",
            *[seconds(found[system]) for system in systems],
            f"{ours['best'] / peer['best']:.2f}{'*' * workload.sql_rewritten}" if has_ours and has_peer else "",
            f"{count / ours['best'] / 1e6:.1f}" if has_ours and count else "",
            f"{ours['memory'] / 1e6:,.0f}" if has_ours else "",
            f"{peer['memory'] / 1e6:,.0f}" if has_peer else "",
        ))  # fmt: skip
    return lines


def targets(results: Results) -> list[str]:
    """What was asked, what was measured."""
    lines = [row("workload", "asked", "measured", ""), "|---|---|---|---|"]
    for workload in ALL:
        ours = results.get((workload.name, OURS, 1.0))
        if ours is None or "best" not in ours:
            continue
        asked = workload.target
        checks: list[tuple[str, str, bool]] = []
        if asked.seconds:
            checks.append((f"at most {asked.seconds:g} s", f"{ours['best']:.3f} s", ours["best"] <= asked.seconds))
        count = derivations(workload, ours)
        if asked.derivations_per_second and count:
            rate = count / ours["best"]
            checks.append((f"at least {asked.derivations_per_second / 1e6:g} M derivations/s", f"{rate / 1e6:.1f} M",
                           rate >= asked.derivations_per_second))  # fmt: skip
        if asked.bytes_per_fact:
            checks.append((f"at most {asked.bytes_per_fact:g} bytes a fact", f"{ours['bytes_per_fact']:.0f} bytes",
                           ours["bytes_per_fact"] <= asked.bytes_per_fact))  # fmt: skip
        for name in asked.no_slower_than:
            peer = results.get((workload.name, name, 1.0))
            if peer and "best" in peer:
                checks.append((f"no slower than {name}", f"{ours['best']:.3f} s to {peer['best']:.3f} s",
                               ours["best"] <= peer["best"]))  # fmt: skip
        lines += [row(workload.title, ask, got, "yes" if met else "**no**") for ask, got, met in checks]
    return lines


def growth(results: Results) -> list[str]:
    """Ten times the data: how many times the time."""
    lines = [row("workload", "system", "data", "time", "ratio"), "|---|---|--:|--:|--:|"]
    for (name, system, scale), record in results.items():
        small = results.get((name, system, 1.0))
        if scale != 1 and small and "best" in small and "best" in record:
            change = f"{small['best']:.3f} s to {record['best']:.3f} s"
            ratio = f"{record['best'] / small['best']:.1f}"
            lines.append(row(BY_NAME[name].title, system, f"×{scale:g}", change, ratio))
    return lines if len(lines) > 2 else []


def page(paths: list[Path]) -> str:
    documents: list[Record] = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    results: Results = {}
    for document in documents:
        results = keyed(document) | results
    head = documents[0]
    machine = head["machine"]
    found = {system for _, system, _ in results}
    systems = sorted(found, key=lambda name: (not name.startswith(OURS), name == "clingo", name))
    known = {name.partition(":")[0]: version for d in documents for name, version in d["versions"].items()}
    versions = ", ".join(f"{name} {known[name]}" for name in sorted(known))
    parts = [
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory'] / 2**30:.0f} GiB, {machine['system']}, "
        f"Python {machine['python']}; {versions}. Best of {head['repeat']} runs.",
        "\n".join(times(results, systems)) + "\n\n\\* SQL answers a rewritten, cheaper question: see below.",
        "\n".join(targets(results)),
    ]
    for document in documents:
        if lines := growth(keyed(document)):
            parts.append("\n".join(lines))
    missing = [(name, system, r) for (name, system, _), r in results.items() if "best" not in r]
    if missing:
        reasons = {f"{system} on {name} ({r.get('skipped') or r.get('failed')})" for name, system, r in missing}
        parts.append("Not measured: " + "; ".join(sorted(reasons)) + ".")
    return "\n\n".join(parts)


def write(text: str) -> None:
    """Replaces what stands between the two markers of README.md (or puts both where the first one stands)."""
    old = README.read_text(encoding="utf-8")
    block = f"{BEGIN}\n\n{text}\n\n{END}"
    if END not in old:
        old = old.replace(BEGIN, f"{BEGIN}{END}", 1)
    new = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: block, old, count=1, flags=re.DOTALL)
    README.write_text(new, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.table", description=__doc__)
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="into benchmarks/README.md")
    arguments = parser.parse_args()
    text = page(arguments.results)
    if arguments.write:
        write(text)
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()

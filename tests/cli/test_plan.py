"""Does `everlog plan` print and draw what the rules are?"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from tests.cli.conftest import Everlog

SVG = "{http://www.w3.org/2000/svg}"

# Rule set 2 of Xu and Curé, "ZodiacEdge", appendix B; the paper draws it with 14 hyper-nodes.
RS2 = """
r1: p11(X, Y) :- p1(X, Y).
r2: p11(X, Y) :- p11(Y, X).
r3: p11(X, Y) :- p11(X, Z), p11(Z, Y), COMP(X, !=, Y).
r4: p12(X, Y) :- p2(X, Y).
r5: p12(X, Y) :- p12(X, Z), p12(Z, Y), COMP(X, !=, Y).
r6: p13(X, Y) :- p3(X, Y).
r7: p14(X, Y) :- p13(X, Y).
r8: p13(X, Y) :- p14(Y, X).
r9: p20(X, Y) :- p11(X, Y).
r10: p20(X, Y) :- p12(X, Y).
r11: p20(X, Y) :- p13(X, Y).
r12: p21(X, Y) :- p20(X, Y).
r13: p22(X, Y) :- p21(X, Y).
r14: p20(X, Y) :- p22(X, Y).
r15: p25(X, Z) :- p11(X, Y), p12(Y, Z), not p5(Y, Z).
r16: p26(X, Z) :- p12(X, Y), p13(Z, Y), not p5(Z, Y).
r17: p30(X, Z) :- p22(X, Y), p21(Y, Z).
r18: p31(X, Y) :- p25(X, Y), p26(Y, Z).
"""


def test_plan_names_every_rule(everlog: Everlog, folder: Path) -> None:
    (folder / "rs2.dl").write_text(RS2)
    ended = everlog("plan", "rs2.dl")
    assert ended.code == 0, ended.err
    assert all(f"r{number}" in ended.out for number in range(1, 19))


def test_plan_shows_rewrites(everlog: Everlog, folder: Path) -> None:
    (folder / "rs2.dl").write_text(RS2)
    shown = everlog("plan", "rs2.dl")
    assert "r2 is evaluated as\n  r3~base(?X, ?Y) :- r3~base(?Y, ?X).\n" in shown.out
    assert list(json.loads(everlog("plan", "rs2.dl", "--json").out)["rewrites"]) == ["r1", "r2", "r3", "r4", "r5"]
    as_written = everlog("plan", "rs2.dl", "--no-rewrites")
    assert as_written.code == 0 and "~base" not in as_written.out
    assert json.loads(everlog("plan", "rs2.dl", "--no-rewrites", "--json").out)["rewrites"] == {}


def test_plan_takes_sizes_from_files(everlog: Everlog, folder: Path) -> None:
    assert everlog("plan", "path.dl", "edge.csv").code == 0


def test_plan_on_spark(everlog: Everlog, folder: Path) -> None:
    (folder / "rs2.dl").write_text(RS2)
    shown = everlog("plan", "--engine", "spark", "rs2.dl")
    assert shown.code == 0, shown.err
    assert "12 components, 5 of them recursive; 3 of these can be divided" in shown.out
    assert "p20, p21, p22 (recursive): pivot c1\n" in shown.out
    assert "p13, p14 (recursive): one task up to 5,000,000 facts, else rounds\n    not divided: r8 keeps" in shown.out
    data = json.loads(everlog("plan", "--engine", "spark", "rs2.dl", "--json").out)
    assert [each["way"] for each in data["components"] if "p30" in each["defines"]] == ["frames"]
    assert "facts are few" in everlog("plan", "--engine", "spark", "path.dl", "edge.csv").out
    assert everlog("plan", "--engine", "abacus", "path.dl").code != 0


def test_dot(everlog: Everlog, folder: Path) -> None:
    (folder / "rs2.dl").write_text(RS2)
    dot = everlog("plan", "rs2.dl", "--dot").out
    assert dot.startswith("digraph")
    assert len(re.findall(r"^  c\d+ \[label", dot, re.MULTILINE)) == 14
    assert len(re.findall(r"->", dot)) == 23


def test_svg_has_a_box_for_each_hyper_node(everlog: Everlog, folder: Path) -> None:
    (folder / "rs3.dl").write_text(RS2.replace("p20(X, Y) :- p12(X, Y).", "p20(X, Y) :- p12(X, Y), not p13(Y, Z)."))
    assert everlog("plan", "rs3.dl", "--svg", "rs3.svg").code == 0
    drawing = ElementTree.parse(folder / "rs3.svg").getroot()
    assert len([box for box in drawing.iter(f"{SVG}g") if box.get("class") == "box"]) == 14
    arrows = [path for path in drawing.iter(f"{SVG}path") if path.get("class") == "arrow"]
    dashed = [path for path in arrows if path.get("stroke-dasharray")]
    assert len(dashed) == 2  # r6 and r7/r8 conclude p13, which r10 negates


def test_json(everlog: Everlog, folder: Path) -> None:
    (folder / "rs2.dl").write_text(RS2)
    data = json.loads(everlog("plan", "rs2.dl", "--json").out)
    assert [[rule["name"] for rule in each["rules"]] for each in data["components"] if each["recursive"]] == [
        ["r2", "r3"], ["r5"], ["r7", "r8"], ["r12", "r13", "r14"],
    ]  # fmt: skip


def test_version_is_told_without_loading_anything_heavy() -> None:
    asked = "import sys; from everlog.cli.main import app; sys.argv[1:] = ['--version']; app()"
    imported = [sys.executable, "-X", "importtime", "-c", asked]
    shown = subprocess.run(imported, capture_output=True, text=True)
    assert shown.stdout.startswith("everlog 0.")
    loaded = {line.rpartition("|")[2].strip() for line in shown.stderr.splitlines()}
    assert not loaded & {"numba", "lark", "pyoxigraph", "pyarrow", "pyspark", "pandas", "polars"}

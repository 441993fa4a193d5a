"""Do the commands on rules change, show and draw them as their help says?"""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.cli.conftest import Ended, Everlog
from tests.cli.test_plan import RS2, SVG

FACTS = """\
["p1", "a", "b"]
["p2", "b", "c"]
["p3", "c", "c"]
"""


@pytest.fixture
def kb(everlog: Everlog, folder: Path) -> str:
    (folder / "rs2.dl").write_text(RS2)
    (folder / "facts.jsonl").write_text(FACTS)
    shows(everlog("load", "kb", "rs2.dl", "facts.jsonl"), 0)
    return "kb"


def shows(ended: Ended, code: int, *texts: str) -> None:
    assert ended.code == code, ended
    for text in texts:
        assert text in ended.out + ended.err, ended


def listed(everlog: Everlog, kb: str) -> list[str]:
    return everlog("rules", "list", kb).out.splitlines()


# --- add and remove ---------------------------------------------------------------------------------------------------


def test_add_tells_what_came(everlog: Everlog, kb: str, folder: Path) -> None:
    (folder / "more.dl").write_text("pair(?x, ?y) :- p25(?x, ?y).\nback: pair(?y, ?x) :- pair(?x, ?y).\n")
    ended = everlog("rules", "add", kb, "more.dl", "--text", "last: end(?x) :- pair(?x, _).")
    assert ended.out.splitlines() == [
        "+ r19: pair(?x, ?y) :- p25(?x, ?y).",
        "+ back: pair(?y, ?x) :- pair(?x, ?y).",
        "+ last: end(?x) :- pair(?x, ?_1).",
        "end\t+2",
        "pair\t+2",
        "directly affected: r19; back; last",
        "indirectly affected: none",
        "version 2: 3 rules added, 0 rules removed",
    ]
    assert everlog("verify", kb).code == 0


def test_add_and_remove_return_to_where_they_started(everlog: Everlog, kb: str) -> None:
    before = json.loads(everlog("rules", "graph", kb, "--json").out)
    removed = everlog("rules", "remove", kb, "r15", "p20(A, B) :- p12(A, B).")
    shows(removed, 0, "- r15: p25(?X, ?Z)", "- r10: p20(?X, ?Y)", "p25\t-", "version 2: 0 rules added, 2 rules removed")
    shows(removed, 0, "indirectly affected: ", "r18")
    added = everlog(
        "rules", "add", kb, "--json",
        "--text", "r15: p25(X, Z) :- p11(X, Y), p12(Y, Z), not p5(Y, Z).", "--text", "r10: p20(X, Y) :- p12(X, Y).",
    )  # fmt: skip
    data = json.loads(added.out)
    assert [rule["name"] for rule in data["added"]] == ["r15", "r10"] and data["removed"] == []
    assert data["relations"]["p25"]["gained"] > 0 and "r18" in data["indirectly_affected"]
    after = json.loads(everlog("rules", "graph", kb, "--json").out)
    sizes = [{**each["concludes"], **each["given"]} for each in (*before["components"], *after["components"])]
    assert len(before["components"]) == len(after["components"]) == 14
    assert {frozenset(each.items()) for each in sizes[:14]} == {frozenset(each.items()) for each in sizes[14:]}
    assert everlog("verify", kb).code == 0


def test_added_files_bring_facts_and_imports_and_know_the_prefixes(everlog: Everlog, kb: str, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub/size.csv").write_text("a,1\n")
    (folder / "sub/size.dl").write_text('@import size "size.csv" .\nknown(b).\nsized(?x) :- size(?x, _), p1(?x, _).\n')
    shows(everlog("rules", "add", kb, "sub/size.dl"), 0, "known\t+1", "size\t+1", "sized\t+1")
    shows(everlog("rules", "add", kb, "--text", "PREFIX ex: <http://ex.org/> ex:A[?x] :- known(?x)."), 0)
    shows(everlog("rules", "add", kb, "-", stdin="ex:B[?x] :- ex:A[?x]."), 0, "[?x, a, ex:B] :- [?x, a, ex:A].")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("new: p1(X, Y) :- q(X, Y), not p31(X, Y).", "negation goes round a cycle: p1 -> not p31 -> p25 -> p11 -> p1"),
        ("new: p50(X, Y) :- p1(X, Z).", "error[R2"),
        ("new: p50(X) :- p1(X).", "error[R3"),
        ("r1: p50(X) :- p1(X, Y).", "r1"),
        ("new: p50(X :- p1(X, Y).", "error[R1"),
    ],
)
def test_a_rule_that_does_not_fit_is_refused(everlog: Everlog, kb: str, text: str, says: str) -> None:
    before = listed(everlog, kb), everlog("facts", kb, "p31").out
    shows(everlog("rules", "add", kb, "--text", text), 3, says)
    assert json.loads(everlog("rules", "add", kb, "--text", text, "--json").out)["error"] == "ProgramError"
    assert (listed(everlog, kb), everlog("facts", kb, "p31").out) == before
    shows(everlog("verify", kb), 0, "version 1")


def test_unknown_rules_name_the_nearest(everlog: Everlog, kb: str) -> None:
    shows(everlog("rules", "remove", kb, "r1", "r77"), 5, "there is no rule 'r77'", "did you mean r7")
    shows(everlog("rules", "show", kb, "anomaly"), 5, "there is no rule 'anomaly'", "known: r1, r2", "and 8 more")
    shows(everlog("rules", "remove", kb, "p12(X, Y) :- p2(Y, X)."), 5, "did you mean r4: p12(?X, ?Y) :- p2(?X, ?Y).")
    assert len(listed(everlog, kb)) == 18


def test_mistakes_in_the_call(everlog: Everlog, kb: str) -> None:
    shows(everlog("rules", "add", kb), 2, "which rules?")
    shows(everlog("rules", "add", kb, "none.dl"), 5, "none.dl")
    shows(everlog("rules", "add", kb, "--text", "p1(a, b)."), 2, "no rules", "everlog load kb")
    for command in (["add", "no", "rs2.dl"], ["remove", "no", "r1"], ["show", "no", "r1"]):
        shows(everlog("rules", *command), 5, "there is no such knowledge base")
    shows(everlog("rules", "graph", "no.dl"), 5, "no.dl")
    shows(everlog("rules", "graph", "."), 5, "no knowledge base in this folder")


def test_update_files_add_and_remove_rules(everlog: Everlog, kb: str, folder: Path) -> None:
    lines = [
        {"add_rules": "s1: p32(?x) :- p31(?x, ?y).", "insert": [["p1", "b", "c"]]},
        {
            "remove_rules": ["s1", "p12(A, B) :- p12(A, C), p12(C, B), A != B."],
            "add_rules": "s2: p33(?x) :- p26(?x, _).",
        },
    ]
    (folder / "updates.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    shows(everlog("apply", kb, "updates.jsonl"), 0, "2 updates", "to version 3")
    names = {line.split(":")[0] for line in listed(everlog, kb)}
    assert "s2" in names and not names & {"s1", "r5"}
    assert everlog("verify", kb).code == 0


# --- show -------------------------------------------------------------------------------------------------------------


def test_show(everlog: Everlog, kb: str) -> None:
    assert everlog("rules", "show", kb, "r15").out.splitlines() == [
        "r15: p25(?X, ?Z) :- p11(?X, ?Y), p12(?Y, ?Z), NOT p5(?Y, ?Z).",
        "component 11 of 14: r15",
        "concludes p25: 1 facts",
        "reads p11 (2 facts) from r1, r2, r3",
        "reads p12 (1 facts) from r4, r5",
        "reads p5 (0 facts) under NOT or AGGREGATE from given facts alone",
        "read by r18 as p25",
    ]
    shows(everlog("rules", "show", kb, "r13"), 0, "recursive: r12, r13, r14", "read by r14, r17 as p22")
    shows(everlog("rules", "show", kb, "p31(A, B) :- p25(A, B), p26(B, _)."), 0, "r18: ", "read by no rule")
    data = json.loads(everlog("rules", "show", kb, "r15", "--json").out)["rules"][0]
    assert data["component"]["rules"] == ["r15"] and data["concludes"] == [{"relation": "p25", "facts": 1}]
    assert data["reads"][2] == {"relation": "p5", "negative": True, "rules": [], "facts": 0}


def test_show_counts_classes_and_properties(everlog: Everlog, folder: Path) -> None:
    (folder / "ex.dl").write_text(
        "PREFIX : <http://ex.org/>\n:Person[?x] :- :knows[?x, ?y].\n:knows[?y, ?x] :- :knows[?x, ?y].\n"
    )
    (folder / "ex.ttl").write_text("@prefix : <http://ex.org/> . :a :knows :b . :c :likes :d .")
    shows(everlog("load", "kb", "ex.dl", "ex.ttl"), 0)
    shows(everlog("rules", "show", "kb", "r1"), 0, "concludes :Person: 2 facts", "reads :knows (2 facts) from r2")


# --- graph ------------------------------------------------------------------------------------------------------------


def test_graph_lists_components(everlog: Everlog, kb: str) -> None:
    shown = everlog("rules", "graph", "rs2.dl").out
    assert shown.startswith("14 components, 18 rules\n") and "facts" not in shown
    assert "component 2, recursive\n  r2: p11(?X, ?Y) :- p11(?Y, ?X).\n  r3: " in shown
    assert "  → p11 2\n  ← p1 1\n" in everlog("rules", "graph", kb).out


def test_graph_of_a_planned_change(everlog: Everlog, kb: str, folder: Path) -> None:
    (folder / "more.dl").write_text("loop: p26(X, Y) :- p31(Y, X).\nnone: p40(X, Y) :- p4(X, Y), not p30(X, Y).\n")
    planned = ["rules", "graph", kb, "--if-adding", "more.dl", "--if-removing", "r10", "--if-removing", "r14"]
    data = json.loads(everlog(*planned, "--json").out)
    affected = {
        " ".join(rule["name"] for rule in each["rules"]): each["affected"]
        for each in data["components"]
        if each["affected"] != "not"
    }
    assert affected == {
        "r10": "directly", "r14": "directly", "r12": "directly", "r13": "directly", "r17": "indirectly",
        "r18 loop": "directly", "none": "directly",
    }  # fmt: skip
    text = everlog(*planned).out
    assert ", goes\n- r10: " in text
    assert "recursive, directly affected\n  r18: " in text and "\n+ loop: " in text
    assert len(listed(everlog, kb)) == 18  # nothing was changed


def test_graph_of_a_change_that_would_be_refused(everlog: Everlog, kb: str, folder: Path) -> None:
    (folder / "bad.dl").write_text("p1(X, Y) :- q(X, Y), not p31(X, Y).\n")
    shows(everlog("rules", "graph", kb, "--if-adding", "bad.dl"), 3, "negation goes round a cycle")
    shows(everlog("rules", "graph", "rs2.dl", "--if-removing", "r99"), 5, "did you mean r9?")


def test_drawings(everlog: Everlog, kb: str, folder: Path) -> None:
    (folder / "none.dl").write_text("none: p40(X, Y) :- p4(X, Y), not p30(X, Y).\n")
    options = ["--if-adding", "none.dl", "--if-removing", "r3", "--svg", "rs2.svg", "--html", "rs2.html"]
    ended = everlog("rules", "graph", kb, *options)
    assert (ended.code, ended.out) == (0, "")
    drawing = ElementTree.parse(folder / "rs2.svg").getroot()
    texts = ["".join(text.itertext()) for text in drawing.iter(f"{SVG}text")]
    assert "− r3: p11(?X, ?Y) :- p11(?X, ?Z), p11(?Z, ?Y), ?X != ?Y." in texts
    assert "+ none: p40(?X, ?Y) :- p4(?X, ?Y), NOT p30(?X, ?Y)." in texts
    assert {"directly affected", "indirectly affected", "→ p11 2"} <= set(texts)
    assert any(part.get("text-decoration") == "line-through" for part in drawing.iter(f"{SVG}tspan"))
    page = (folder / "rs2.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 1 and "<title>Rules of kb</title>" in page and "{{" not in page
    fetched = [part for part in ("src=", "href=", "@import", "fetch(") if part in page]
    assert not fetched
    shows(everlog("rules", "graph", kb, "--svg", "no/where.svg"), 6, "no/where.svg")


# --- sync -------------------------------------------------------------------------------------------------------------


def test_sync_follows_a_file(everlog: Everlog, folder: Path) -> None:
    shows(everlog("load", "kb", "path.dl", "edge.csv"), 0)
    (folder / "next.dl").write_text("path(X, Y) :- edge(X, Y).\nback: back(Y, X) :- path(X, Y).\n")
    planned = everlog("rules", "sync", "kb", "next.dl", "--dry-run")
    lines = [
        "+ back: back(?Y, ?X) :- path(?X, ?Y).",
        "- r2: path(?x, ?z) :- edge(?x, ?y), path(?y, ?z).",
        "back\t+2",
        "path\t-1",
    ]
    assert planned.out.splitlines()[:4] == lines
    assert planned.out.splitlines()[-1] == "nothing was changed; it would be: 1 rule added, 1 rule removed"
    assert len(listed(everlog, "kb")) == 2
    made = everlog("rules", "sync", "kb", "next.dl")
    assert made.out.splitlines()[:4] == lines and "version 2: 1 rule added, 1 rule removed" in made.out
    assert listed(everlog, "kb") == ["r1: path(?x, ?y) :- edge(?x, ?y).", "back: back(?Y, ?X) :- path(?X, ?Y)."]
    again = json.loads(everlog("rules", "sync", "kb", "next.dl", "--dry-run", "--json").out)
    assert (again["made"], again["added"], again["removed"], again["relations"]) == (False, [], [], {})
    assert everlog("verify", "kb").code == 0


def test_a_program_loaded_twice_has_its_rules_once(everlog: Everlog, folder: Path) -> None:
    for _ in range(2):
        shows(everlog("load", "kb", "path.dl", "edge.csv"), 0)
    assert len(listed(everlog, "kb")) == 2

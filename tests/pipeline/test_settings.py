"""Are mistakes in a pipeline.toml found, all of them, at their place?"""

from __future__ import annotations

from pathlib import Path

import pytest

from everlog.errors import NotFoundError
from everlog.pipeline.settings import SettingsError, read_settings
from everlog.pipeline.show import show_as_data, show_pipeline

RULES = """
path(?x, ?y) :- edge(?x, ?y).
path(?x, ?z) :- edge(?x, ?y), path(?y, ?z).
"""

GOOD = """
program = "rules.dl"
tables = "kept"
results = "out"
max_rejects = 0.5

[[source]]
path = "edge.csv"
types = ["string", "string"]

[[output]]
relation = "path"
path = "path.csv"

[spark]
master = "local[2]"
"spark.sql.shuffle.partitions" = 4
spark.ui.enabled = false
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.dl").write_text(RULES, encoding="utf-8")
    (tmp_path / "edge.csv").write_text("a,b\nb,c\n", encoding="utf-8")
    (tmp_path / "g.nt").write_text("", encoding="utf-8")
    return tmp_path


def write(folder: Path, text: str) -> Path:
    path = folder / "pipeline.toml"
    path.write_text(text, encoding="utf-8")
    return path


def problems(folder: Path, text: str) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        read_settings(write(folder, text))
    return caught.value


def test_what_is_written_is_read(folder: Path) -> None:
    settings = read_settings(write(folder, GOOD))
    assert (settings.tables, settings.max_rejects, settings.master) == (folder / "kept", 0.5, "local[2]")
    assert settings.spark == {"spark.sql.shuffle.partitions": "4", "spark.ui.enabled": "false"}
    assert settings.sources[0].data == str(folder / "edge.csv")
    (output,) = settings.outputs
    assert (output.path, output.kind, output.one_file) == (folder / "out" / "path.csv", "csv", True)
    assert len(settings.program.rules) == 2 and len(settings.program_hash) == 64


def test_imports_and_exports_of_the_program_count(folder: Path) -> None:
    (folder / "rules.dl").write_text('@import edge "edge.csv" .\n@export path .\n' + RULES, encoding="utf-8")
    settings = read_settings(write(folder, 'program = "rules.dl"'))
    assert [source.relation for source in settings.sources] == ["edge"]
    assert [output.path for output in settings.outputs] == [folder / "path.csv"]


def test_patterns_stand_for_files(folder: Path) -> None:
    (settings,) = read_settings(write(folder, 'program = "rules.dl"\n[[source]]\npath = "*.csv"')).sources
    assert settings.name == "*.csv"
    error = problems(folder, 'program = "rules.dl"\n[[source]]\npath = "*.ttl"')
    assert [each.code for each in error.diagnostics] == ["P106"]


@pytest.mark.parametrize(
    ("text", "code", "place", "says"),
    [
        ('program = "rules.dl', "P101", 1, "not TOML"),
        ('program = "rules.dl"\ntable = "x"', "P102", 2, "did you mean tables?"),
        ('program = "rules.dl"\n[[sauce]]\npath = "edge.csv"', "P102", 2, "did you mean source?"),
        ('program = "rules.dl"\n[[source]]\npaht = "edge.csv"\npath = "edge.csv"', "P102", 3, "did you mean path?"),
        ('program = "rules.dl"\n[spark]\nmastre = "local"', "P102", 3, "did you mean master?"),
        ('program = "rules.dl"\n[spark]\nshuffle = 3', "P102", 3, 'write "spark.shuffle"'),
        ("program = 3", "P103", 1, "must be a string, not 3"),
        ('program = "rules.dl"\nmax_rejects = 2', "P103", 2, "a number from 0 to 1"),
        ('program = "rules.dl"\n[source]\npath = "edge.csv"', "P103", 2, "write [[source]]"),
        ('program = "rules.dl"\n[[output]]\nrelation = "path"', "P104", 2, "has no path"),
        ("max_rejects = 0", "P104", 1, "has no program"),
        ('program = "rules.dl"\n[[source]]\npath = "edge.csv"\nformat = "cvs"', "P105", 4, "did you mean 'csv'?"),
        ('program = "rules.dl"\n[[source]]\npath = "g.nt"\nrelation = "x"', "P105", 4, "leave out relation"),
        ('program = "rules.dl"\n[[source]]\npath = "g.nt"\ngraph = "x"', "P105", 4, "not an absolute IRI"),
        ('program = "rules.dl"\n[[source]]\npath = "edge.csv"\ntypes = ["int"]', "P105", 4, "no column type 'int'"),
        ('program = "rules.dl"\n[[output]]\nrelation = "path"\npath = "x.nt"', "P105", 4, "holds no RDF"),
        ('program = "rules.dl"\n[[output]]\nrelation = "path"\npath = "x.ttl"', "P105", 4, "no output format 'ttl'"),
        ('program = "rule.dl"', "P106", 1, "rules.dl"),
        ('program = "rules.dl"\n[[source]]\npath = "egde.csv"', "P106", 3, "edge.csv?"),
        ('program = "rules.dl"\n[[output]]\nrelation = "paths"\npath = "x"', "P107", 3, "did you mean path?"),
        (
            'program = "rules.dl"\n[[output]]\nrelation = "path"\npath = "x"\n[[output]]\nrelation="edge"\npath = "x"',
            "P108",
            7,
            "would both be written",
        ),
    ],
)
def test_a_mistake_is_underlined(folder: Path, text: str, code: str, place: int, says: str) -> None:
    error = problems(folder, text)
    assert [each.code for each in error.diagnostics] == [code], str(error)
    (problem,) = error.diagnostics
    assert problem.span is not None
    assert problem.span.source.place(problem.span.start)[0] == place
    assert says in str(error)
    assert "pipeline.toml" in str(error) and "^" in str(error)


def test_all_mistakes_are_reported_together(folder: Path) -> None:
    (folder / "rules.dl").write_text("path(?x, ?y) :- edge(?x, ?z).\n", encoding="utf-8")
    text = 'program = "rules.dl"\nx = 1\n[[source]]\npath = "none.csv"\n[[output]]\nrelation = "odd"\npath = "o.csv"\n'
    codes = [each.code for each in problems(folder, text).diagnostics]
    assert codes[0] == "P102" and "P106" in codes and any(code.startswith("R2") for code in codes)


def test_the_error_is_data(folder: Path) -> None:
    data = problems(folder, 'program = "rules.dl"\ntable = "x"').as_data()
    assert (data["error"], data["code"]) == ("SettingsError", "P100")
    assert data["diagnostics"][0]["place"]["line"] == 2


def test_there_is_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        read_settings(tmp_path / "pipeline.toml")


def test_show_says_what_would_happen(folder: Path) -> None:
    settings = read_settings(write(folder, GOOD))
    text = show_pipeline(settings)
    for part in ("edge.csv", "version 0", "component", "path.csv, csv, one file", "local[2]"):
        assert part in text
    assert show_as_data(settings)["outputs"][0]["relation"] == "path"

"""Are mistakes in a pipeline.toml found, all of them, at their place?"""

from __future__ import annotations

from pathlib import Path

import pytest

from everlog.errors import NotFoundError
from everlog.limits import Limits
from everlog.pipeline import settings as settings_module
from everlog.pipeline.settings import MaintainSettings, SettingsError, StreamSettings, read_settings
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
    (tmp_path / "b.tsv").write_text("a,b\n", encoding="utf-8")
    (tmp_path / "f.jsonl").write_text('["f", 1]\n', encoding="utf-8")
    (tmp_path / "link").symlink_to("tables")
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
    assert (settings.tables.beside, settings.max_rejects, settings.master) == (folder / "kept", 0.5, "local[2]")
    assert settings.spark == {"spark.sql.shuffle.partitions": "4", "spark.ui.enabled": "false"}
    assert settings.sources[0].data == str(folder / "edge.csv")
    (output,) = settings.outputs
    assert (output.path, output.kind, output.one_file) == (folder / "out" / "path.csv", "csv", True)
    assert len(settings.program.rules) == 2 and len(settings.program_hash) == 64


EVERYTHING = """
program = "rules.dl"
tables = "file:{folder}/kept"

[[source]]
path = "file://{folder}/edge.csv"
kind = "changes"
change_column = "op"
columns = ["op", "b as end"]
delimiter = ","
null = ""
nulls = "skip"

[[source]]
path = "s3a://bucket/data/*.nt"

[[output]]
relation = "path"
path = "out/path"
columns = ["from", "to"]

[[view]]
name = "ends"
query = "ends.rq"

[[view]]
name = "starts"
query = "SELECT ?s WHERE {{ ?s ?p ?o }}"

[limits]
rounds = 10
seconds = 2.5

[maintain]
way = "resident"
memory = "1.5 GiB"

[stream]
folder = "updates"
on_error = "stop"
trigger = "available-now"
"""


def test_everything_else_that_is_written_is_read(folder: Path) -> None:
    (folder / "ends.rq").write_text("SELECT DISTINCT ?o WHERE { ?s ?p ?o }", encoding="utf-8")
    settings = read_settings(write(folder, EVERYTHING.format(folder=folder)))
    assert settings.tables.beside == folder / "kept"
    table, remote = settings.sources
    assert (table.path, table.kind, table.change_column, table.nulls) == (
        str(folder / "edge.csv"),
        "changes",
        "op",
        "skip",
    )
    assert (table.columns, table.null) == (("op", "b as end"), "") and remote.is_remote
    assert settings.outputs[0].columns == ("from", "to")
    assert [(view.name, view.path) for view in settings.views] == [("ends", folder / "ends.rq"), ("starts", None)]
    assert (settings.limits.rounds, settings.limits.seconds) == (10, 2.5)
    assert settings.limits.facts == Limits().facts
    assert settings.maintain == MaintainSettings("resident", 3 << 29)
    assert settings.stream == StreamSettings(
        str(folder / "updates"), str(folder / "kept_stream"), "stop", "available-now"
    )


def test_every_key_is_in_the_reference() -> None:
    text = settings_module.__doc__ or ""
    for section, keys in settings_module._Pipeline.keys.items():
        assert not section or f"[{section}]" in text
        for key in keys:
            assert f"    {key} = " in text, f"{key} of [{section}]"


def test_outputs_are_named_after_variables(folder: Path) -> None:
    (folder / "rules.dl").write_text("path(?from, ?to) :- edge(?from, ?to).\n@export path .\n", encoding="utf-8")
    (output,) = read_settings(write(folder, 'program = "rules.dl"\n')).outputs
    assert output.columns == ("from", "to") and not output.header  # what `everlog run` writes has none
    text = 'program = "rules.dl"\n[[output]]\nrelation = "path"\npath = "p.csv"\n'
    (output,) = read_settings(write(folder, text)).outputs
    assert output.columns == ("from", "to") and output.header


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
        ('tables = "hdfs://b/t"\nprogram = "rules.dl"', "P105", 1, "tables cannot be kept there"),
        ('program = "rules.dl"\nbeside = "b"', "P105", 2, "beside is for tables in an object store"),
        ('program = "rules.dl"\n[storage]\nAWS_REGION = "x"', "P105", 2, "storage is for tables in an object store"),
        ('program = "rules.dl"\ntables = "s3://b/t"\nbeside = "s3://b/x"', "P105", 3, "only local folders"),
        ('program = "rules.dl"\ntables = "s3://b/t"\n[storage]\nx = [1]', "P103", 4, "x must be a string"),
        (
            'program = "rules.dl"\n[[output]]\nrelation = "path"\npath = "s3a://b/x.csv"',
            "P105",
            4,
            "only local folders",
        ),
        (
            'program = "rules.dl"\n[[output]]\nrelation = "path"\npath = "x.parquet"\nheader = true',
            "P105",
            5,
            "no header",
        ),
        (
            'program = "rules.dl"\n[[output]]\nrelation = "path"\npath = "x"\ncolumns = ["a b", "c"]',
            "P105",
            5,
            "no column named",
        ),
        (
            'program = "rules.dl"\n[[source]]\npath = "edge.csv"\n[[output]]\nrelation = "path"\npath = "./edge.csv"',
            "P108",
            6,
            "would overwrite a source",
        ),
        (
            'program = "rules.dl"\n[[output]]\nrelation = "path"\npath = "rules.dl"\nformat = "csv"',
            "P108",
            4,
            "overwrite the program",
        ),
        ('program = "rules.dl"\n[[output]]\nrelation = "path"\npath = "link/x"', "P108", 4, "overwrite the tables"),
        (
            'program = "rules.dl"\n[[source]]\npath = "*.csv"\n[[output]]\nrelation = "path"\npath = "out.csv"',
            "P108",
            6,
            "read as a source by the next run",
        ),
        (
            'program = "rules.dl"\n[[source]]\npath = "edge.csv"\nkind = "snapshots"',
            "P103",
            4,
            'did you mean "snapshot"?',
        ),
        ('program = "rules.dl"\n[[source]]\npath = "edge.csv"\nkind = "changes"', "P105", 4, 'change_column = "op"'),
        (
            'program = "rules.dl"\n[[source]]\npath = "edge.csv"\nchange_column = "op"',
            "P105",
            4,
            'say kind = "changes"',
        ),
        (
            'program = "rules.dl"\n[[source]]\npath = "edge.csv"\nnulls = "drop"',
            "P103",
            4,
            '"refuse", "skip" or "empty"',
        ),
        ('program = "rules.dl"\n[[source]]\npath = "g.nt"\nnulls = "skip"', "P105", 4, "leave out nulls"),
        ('program = "rules.dl"\n[[source]]\npath = "edge.csv"\ndelimiter = ";;"', "P105", 4, "not one character"),
        (
            'program = "rules.dl"\n[[source]]\npath = "edge.csv"\ndate_format = "%d.%m.%Y"',
            "P105",
            4,
            "no column is of the type date",
        ),
        (
            'program = "rules.dl"\n[[source]]\npath = "f.jsonl"\nrelation = "x"',
            "P105",
            4,
            "name the values of each object",
        ),
        (
            'program = "rules.dl"\n[[source]]\npath = "f.jsonl"\nkind = "snapshot"',
            "P105",
            4,
            "give each relation a table",
        ),
        (
            'program = "rules.dl"\n[[source]]\npath = "edge.csv"\n'
            '[[source]]\npath = "b.tsv"\nrelation = "edge"\nkind = "snapshot"',
            "P110",
            7,
            "of the kind appends",
        ),
        ('program = "rules.dl"\n[limits]\nrounds = 0', "P103", 3, "a whole number above 0"),
        ('program = "rules.dl"\n[limits]\nround = 3', "P102", 3, "no setting 'round' in [limits]"),
        ('program = "rules.dl"\n[[limits]]\nrounds = 3', "P103", 2, "write [limits]"),
        ('program = "rules.dl"\n[maintain]\nway = "bulky"', "P103", 3, 'did you mean "bulk"?'),
        ('program = "rules.dl"\n[maintain]\nmemory = "lots"', "P103", 3, 'a size such as "2 GB"'),
        ('program = "rules.dl"\n[stream]\ntrigger = "now"', "P103", 3, '"available-now" or a number of seconds'),
        ('program = "rules.dl"\n[[output]]\npath = "o"', "P104", 2, "has no relation"),
        ('program = "rules.dl"\n[[output]]\nview = "v"\npath = "o"', "P107", 3, "there is no view v"),
        ('program = "rules.dl"\n[[output]]\nrelation = "path"\nkind = "all"\npath = "o"', "P103", 4, "kind"),
        (
            'program = "rules.dl"\n[[output]]\nrelation = "path"\nkind = "changes"\npath = "o.csv"',
            "P105",
            5,
            "each run adds a file",
        ),
        (
            'program = "rules.dl"\n[[output]]\nrelation = "path"\nkind = "changes"\nformat = "nt"\npath = "o"',
            "P105",
            5,
            "changes are not written as nt",
        ),
        (
            'program = "rules.dl"\n[[output]]\nrelation = "path"\nkind = "changes"\npath = "o"\n'
            'columns = ["a", "weight"]',
            "P105",
            6,
            "two columns have one name",
        ),
        ('program = "rules.dl"\n[[view]]\nname = "v"', "P104", 2, "has no query"),
        ('program = "rules.dl"\n[[view]]\nname = "v"\nquery = "SELECT ?x"', "P109", 4, "expected"),
        ('program = "rules.dl"\n[[view]]\nname = "v"\nquery = "v.rq"', "P106", 4, "there is no such file"),
        ('program = "rules.dl"\n[spark]\nmaster = "nowhere"', "P103", 3, "no place where Spark runs"),
        ('program = "rules.dl"\n[spark]\n"spark.driver.memory" = "2 gigs"', "P103", 3, "no size of memory"),
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

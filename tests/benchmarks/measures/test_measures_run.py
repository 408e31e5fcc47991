"""A comparison of measures from end to end: folder, resume, report, what is refused."""

import json

import pytest

import verax
from verax.errors import VeraxError
from verax.reporting.joint.evaluations import read_evaluations
from verax.results.findings import read_findings

SMALL = {
    "models": ["logistic", "tree"],
    "explainers": ["greedy"],
    "measures": ["comprehensiveness", "sufficiency(k=2)", "gini"],
    "reasons": ["and", "or"],
    "stains": 2,
    "inputs": 6,
    "learnt": 0.5,
}


@pytest.fixture(scope="module")
def run(reviews_csv, tmp_path_factory):
    out = tmp_path_factory.mktemp("measures")
    return verax.bench_measures(spec={"datasets": [reviews_csv], **SMALL}, out=out)


def test_the_folder_holds_estimates_values_and_a_page(run):
    found = run.summary
    assert found.cells == 4
    assert found.stains == 2
    summary = json.loads((run.folder / "summary.json").read_text())
    assert read_findings(summary, "here") == run.findings == found.findings
    assert len({(row.method, row.measure, row.model) for row in found.findings}) == len(found.findings) > 20
    assert {(row.name, row.counted) for row in found.findings} == {("measures", "stains")}
    page = (run.folder / "report.html").read_text()
    assert "Which automatic measures of explanations can be believed?" in page
    assert "sufficiency(k=2)" in page
    oracle = run.results.query("explainer == 'oracle' and measure == 'comprehensiveness' and absent == ''")
    random = run.results.query("explainer == 'random' and measure == 'comprehensiveness' and absent == ''")
    assert oracle["value"].mean() > random["value"].mean()
    assert oracle["truth"].min() > random["truth"].mean()


def test_its_measures_stand_beside_other_evaluations_of_explainers(run):
    evaluations, notes = read_evaluations([run.folder])
    assert notes == []
    assert [(one.kind, one.name) for one in evaluations] == [("measure", name) for name in SMALL["measures"]]
    first = evaluations[0]
    assert [one.explainer for one in first.standings] == ["random", "greedy"]
    own = run.results.query("explainer == 'greedy' and measure == 'comprehensiveness' and absent == ''")
    by_stain = own.groupby(["stain", "model"])["value"].mean().groupby("stain").mean()
    assert first.standings[1].estimate == pytest.approx(by_stain.mean())
    assert first.order[0] == pytest.approx(
        run.summary.row("comprehensiveness", "order as the truth").estimate
    )


def test_a_finished_run_computes_nothing_and_is_the_same(run, reviews_csv, monkeypatch):
    monkeypatch.setattr("verax.benchmarks.measures.jobs.reasoned", None)
    again = verax.bench_measures(spec={"datasets": [reviews_csv], **SMALL}, out=run.folder)
    assert again.summary.to_dict() == run.summary.to_dict()


def test_other_processes_give_the_same(run, reviews_csv, tmp_path):
    small = SMALL | {"stains": 1}
    one = verax.bench_measures(spec={"datasets": [reviews_csv], **small}, out=tmp_path / "two", jobs=2)
    values = ["value", "truth"]
    first = run.results.query("stain == 0").reset_index(drop=True)
    assert one.results[values].equals(first[values])


def test_a_measure_that_refuses_an_explainer_is_said(reviews_csv, tmp_path):
    """An anchor names words without sizes: its order is measured, and what reads sizes says that it is not."""
    small = SMALL | {"models": ["logistic"], "stains": 1, "explainers": ["anchor"]}
    run = verax.bench_measures(spec={"datasets": [reviews_csv], **small}, out=tmp_path)
    taken = run.results.query("explainer == 'anchor'")["measure"].unique()
    assert set(taken) == {"comprehensiveness", "sufficiency(k=2)"}
    [said] = [one for one in run.summary.sentences if "anchor" in one]
    assert said.startswith(
        "Of anchor this measure has no value: gini. The measure 'gini' reads the sizes of scores"
    )
    assert said in (run.folder / "report.html").read_text().replace("&#39;", "'")


def test_tables_have_their_reasons(tmp_path):
    with pytest.raises(VeraxError, match="'and' and 'negated' can be planted"):
        verax.bench_measures("adult", spec=SMALL | {"reasons": ["or"], "limit": 600}, out=tmp_path)
    with pytest.raises(VeraxError, match="no measure called 'comprehensivenes'"):
        verax.bench_measures("adult", spec=SMALL | {"measures": ["comprehensivenes"]}, out=tmp_path)


def test_a_table_can_be_compared_too(tmp_path):
    spec = SMALL | {
        "reasons": ["and", "negated"],
        "stains": 1,
        "models": ["tree"],
        "limit": 1500,
        "learnt": 0.0,
    }
    run = verax.bench_measures("adult", spec=spec, out=tmp_path)
    assert run.summary.cells + len(run.summary.left_out) == 1
    if run.summary.cells:
        assert set(run.results["absent"]) == {"", "mean"}

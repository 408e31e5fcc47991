"""A comparison of measures from end to end: folder, resume, report, what is refused."""

import json

import pytest

import verax
from verax.errors import VeraxError

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
    found = run.findings
    assert found.cells == 4
    assert found.stains == 2
    summary = json.loads((run.folder / "summary.json").read_text())
    assert len(summary["estimates"]) == len(found.estimates) > 20
    wanted = {
        "benchmark", "dataset", "model", "method", "measure", "unit", "estimate", "low", "high", "level", "n",
        "counts", "p", "p_adjusted", "family", "better", "simulated", "key",
    }  # fmt: skip
    assert all(set(row) == wanted for row in summary["estimates"])
    assert len({row["key"] for row in summary["estimates"]}) == len(summary["estimates"])
    page = (run.folder / "report.html").read_text()
    assert "Which automatic measures of explanations can be believed?" in page
    assert "sufficiency(k=2)" in page
    oracle = run.results.query("explainer == 'oracle' and measure == 'comprehensiveness' and absent == ''")
    random = run.results.query("explainer == 'random' and measure == 'comprehensiveness' and absent == ''")
    assert oracle["value"].mean() > random["value"].mean()
    assert oracle["truth"].min() > random["truth"].mean()


def test_a_finished_run_computes_nothing_and_is_the_same(run, reviews_csv, monkeypatch):
    monkeypatch.setattr("verax.benchmarks.measures.jobs.reasoned", None)
    again = verax.bench_measures(spec={"datasets": [reviews_csv], **SMALL}, out=run.folder)
    assert again.findings.to_dict() == run.findings.to_dict()


def test_other_processes_give_the_same(run, reviews_csv, tmp_path):
    small = SMALL | {"stains": 1}
    one = verax.bench_measures(spec={"datasets": [reviews_csv], **small}, out=tmp_path / "two", jobs=2)
    values = ["value", "truth"]
    first = run.results.query("stain == 0").reset_index(drop=True)
    assert one.results[values].equals(first[values])


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
    assert run.findings.cells + len(run.findings.left_out) == 1
    if run.findings.cells:
        assert set(run.results["absent"]) == {"", "mean"}

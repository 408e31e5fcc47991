"""The scripts that write pages of results from finished runs."""

import json
import re
import sys
from pathlib import Path

import pytest

import verax

PERF = Path(__file__).parents[2] / "perf"
SMALL = {"models": ["logistic", "tree"], "explainers": ["lime"], "stains": 1, "inputs": 12, "learnt": 0.5}


@pytest.fixture
def script(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(PERF))

    def run(name, *arguments):
        for module in map(__import__, ("measures_results", name)):
            monkeypatch.setattr(module, "DOCS", tmp_path)
            if hasattr(module, "EVIDENCE"):
                monkeypatch.setattr(module, "EVIDENCE", tmp_path / "evidence.json")
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        module.main()
        return (tmp_path / f"{name.removesuffix('_results')}.md").read_text(encoding="utf-8")

    return run


def test_the_page_on_measures_and_the_evidence_of_verdicts(script, reviews_csv, tmp_path):
    measures = ["comprehensiveness", "sufficiency", "monotonicity"]
    spec = SMALL | {"datasets": [reviews_csv], "measures": measures, "replaced": False}
    run = verax.bench_measures(spec=spec, out=tmp_path / "run")
    page = script("measures_results", tmp_path / "run")
    assert "No measure is shown to order explanations as the truth does." in page  # of one stain nothing is
    assert "*Monotonicity is backwards on logistic regression and forest*: not confirmed." in page
    assert "--models logistic,tree --stains 1 --inputs 12 --samples 500" in page
    rows = json.loads((tmp_path / "evidence.json").read_text(encoding="utf-8"))
    assert {(row["model"], row["measure"]) for row in rows} == {
        (model, measure) for model in ("all", "logistic", "tree") for measure in measures
    }
    tau = run.summary.row("sufficiency", "order as the truth", "tree").estimate
    (own,) = [row for row in rows if (row["model"], row["measure"]) == ("tree", "sufficiency")]
    assert own["tau"] == pytest.approx(tau, abs=1e-3)
    assert (
        f"| sufficiency | not shown | {run.summary.value('sufficiency', 'order as the truth'):.2f} |" in page
    )
    # The estimates are kept: without the run the same page is written again.
    assert script("measures_results") == page


def test_the_page_on_students(script, reviews_csv, tmp_path):
    spec = SMALL | {"datasets": [reviews_csv], "sizes": [8, 16], "students": ["linear"]}
    run = verax.bench_students(spec=spec, out=tmp_path / "run")
    page = script("students_results", tmp_path / "run")
    gain = run.summary.value("lime", "gain, forward, all students, n = 16 to 64")
    assert f"lime {gain:+.1f}" in page.replace("\N{MINUS SIGN}", "-")
    assert "| the planted reasons are worth 10 points on new inputs, at n = 16 to 64 | " in page
    assert re.search(r"^Not measured on \S+: n = 32, 64, 128, 256 and 512\.$", page, re.MULTILINE)
    assert script("students_results") == page

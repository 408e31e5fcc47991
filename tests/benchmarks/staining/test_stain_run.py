"""Whole staining runs on small data: known answers, every kind of trouble, nothing lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from verax.benchmarks.contract import Execution, run_planned
from verax.benchmarks.staining import jobs
from verax.benchmarks.staining.plan import make_plan
from verax.benchmarks.staining.run import planned_run
from verax.benchmarks.staining.spec import make_spec, read_spec
from verax.benchmarks.staining.stainable import make_stainable
from verax.errors import VeraxError

PLAIN = [("greedy", "greedy", {}), ("lime", "lime", {"samples": 100, "seed": 0})]


def spec_for(reviews_csv, **options):
    options = {"datasets": [reviews_csv], "models": ["logistic", "tree"], "stains": 3, "inputs": 10} | options
    return make_spec(options)


def run(tmp_path, spec, methods=PLAIN, **options):
    return run_planned(planned_run(make_plan(spec, methods)), tmp_path / "run", Execution(**options))[0]


def stain_words(spec, seed: int = 0) -> str:
    ready = make_stainable(spec.source(spec.datasets[0]), spec.words)
    drawn = jobs.stain_of(ready, spec.request(), spec.at_least, seed)
    return "+".join(drawn.stain.rules[0].features)


def only_cell(found, model: str = "logistic"):
    return next(pair for pair in found.summary.to_dict()["cells"] if pair["model"] == model)


def test_known_answers(tmp_path, reviews_csv):
    spec = spec_for(reviews_csv, models=["logistic"], stains=1, inputs=50, learnt=0.0)
    words = stain_words(spec)
    methods = [
        ("oracle", "stain_methods:Oracle", {"words": words}),
        ("adversary", "stain_methods:Adversary", {"words": words}),
    ]
    found = run(tmp_path, spec, methods)
    explainers = only_cell(found)["explainers"]
    recall = {name: [one["mean"] for one in explainers[name]["recall"]] for name in explainers}
    assert recall["oracle"][:3] == [0.5, 1.0, 1.0]
    assert recall["adversary"][0] == 0.0
    rows = found.results.query("explainer == 'adversary'")
    fewest = int(rows.features.min())
    assert fewest > 3
    assert max(recall["adversary"][: fewest - 2]) == 0.0  # until only the stain's words are left to name
    assert explainers["oracle"]["auc"]["low"] is None  # one stain has no interval


def test_randoms_recall_is_b_over_the_number_of_features(tmp_path, reviews_csv):
    spec = spec_for(reviews_csv, models=["logistic"], stains=12, inputs=40, learnt=0.0, min_share=0.05)
    found = run(tmp_path, spec, [])
    estimates = only_cell(found)["explainers"]["random"]
    rows = found.results.query("explainer == 'random'")
    for b in (1, 3, 5, 10):
        expected = np.minimum(b / rows.features, 1.0).groupby(rows.stain_rule).mean().mean()
        estimate = estimates["recall"][b - 1]
        assert estimate["low"] - 0.02 <= expected <= estimate["high"] + 0.02


def test_estimates_are_over_stains_and_a_stain_drawn_twice_counts_once(tmp_path, reviews_csv):
    spec = spec_for(reviews_csv, models=["logistic"], stains=12, size=1, learnt=0.0, min_share=0.3)
    found = run(tmp_path, spec)
    stains = found.summary.to_dict()["datasets"][reviews_csv]
    distinct = stains["distinct_stains"]
    assert distinct < len(stains["stains"]) == 12  # few words are so frequent: some pairs come twice
    estimates = only_cell(found)["explainers"]["greedy"]
    assert estimates["stains"] == estimates["auc"]["n"] == distinct
    rows = found.results.query("explainer == 'greedy'")
    per_trial = rows.groupby(["stain_rule", "stain"]).auc.mean()
    by_hand = per_trial.groupby("stain_rule").mean()
    assert estimates["auc"]["mean"] == pytest.approx(by_hand.mean())
    from scipy.stats import t

    half = t.ppf(0.975, distinct - 1) * by_hand.std(ddof=1) / np.sqrt(distinct)
    assert estimates["auc"]["high"] - estimates["auc"]["mean"] == pytest.approx(half)


def test_the_files_of_a_run(tmp_path, reviews_csv):
    spec = spec_for(reviews_csv, learnt=0.0)
    found = run(tmp_path, spec)
    folder = tmp_path / "run"
    assert json.loads((folder / "summary.json").read_text()) == json.loads(
        json.dumps(found.summary.to_dict())
    )
    table = pd.read_parquet(folder / "results.parquet")
    assert set(table.explainer) == {"greedy", "lime", "random", "ground-truth"}
    assert len(table) == sum(
        one["explainers"][name]["inputs"]
        for one in found.summary.to_dict()["cells"]
        for name in one["explainers"]
    )
    assert json.loads((folder / "manifest.json").read_text())["spec"]["stains"] == 3
    for one in found.summary.to_dict()["cells"]:
        took = one["took"]
        assert took["stained_region"]["mean"] >= took["original_region"]["mean"]
        assert set(took["twin"]) == {"original_region", "outside"}


def test_running_again_recomputes_nothing_and_two_workers_change_nothing(tmp_path, reviews_csv):
    spec = spec_for(reviews_csv)
    run(tmp_path, spec)
    folder = tmp_path / "run"
    before = (folder / "summary.json").read_bytes()
    stamps = {path: path.stat().st_mtime_ns for path in (folder / "jobs").rglob("*.json")}
    assert len(stamps) == 2 + 3 * 2
    run(tmp_path, spec)
    assert {path: path.stat().st_mtime_ns for path in (folder / "jobs").rglob("*.json")} == stamps
    assert (folder / "summary.json").read_bytes() == before
    run_planned(planned_run(make_plan(spec, PLAIN)), tmp_path / "other", Execution(workers=2))
    assert (tmp_path / "other" / "summary.json").read_bytes() == before


HANGS = 600  # seconds after which something does, on the busiest machine


def test_a_run_killed_at_any_moment_ends_with_the_same_bytes(tmp_path, reviews_csv):
    options = {"datasets": [reviews_csv], "models": ["logistic", "tree", "mlp"], "stains": 4, "inputs": 8}
    script = (
        "import json, sys; from pathlib import Path\n"
        "from verax.benchmarks.staining.spec import make_spec\n"
        "from verax.benchmarks.staining.plan import make_plan\n"
        "from verax.benchmarks.contract import run_planned\n"
        "from verax.benchmarks.staining.run import planned_run\n"
        f"plan = make_plan(make_spec(json.loads({json.dumps(options)!r})), {PLAIN!r})\n"
        "run_planned(planned_run(plan), Path(sys.argv[1]))\n"
    )

    def start(folder):
        return subprocess.Popen([sys.executable, "-W", "ignore", "-c", script, str(folder)])

    whole = start(tmp_path / "whole")
    killed = tmp_path / "killed"
    process = start(killed)
    kills = 0
    done = 0
    deadline = time.time() + HANGS
    while process.poll() is None and time.time() < deadline:
        finished = len(list((killed / "jobs").rglob("*.json"))) if killed.exists() else 0
        if kills < 3 and finished > done:
            done = finished
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
            process = start(killed)
        time.sleep(0.01)
    assert process.wait(HANGS) == 0
    assert kills == 3
    assert whole.wait(HANGS) == 0
    assert (killed / "summary.json").read_bytes() == (tmp_path / "whole" / "summary.json").read_bytes()


def test_what_fails_is_recorded_and_stops_nothing(tmp_path, reviews_csv):
    spec = spec_for(reviews_csv, models=["stain_methods:broken", "logistic"], stains=2, learnt=0.0)
    methods = [
        *PLAIN,
        ("raises", "stain_methods:Raises", {}),
        ("nan", "stain_methods:Nothing", {}),
    ]
    found = run(tmp_path, spec, methods)
    assert len(found.summary.to_dict()["failures"]) == 3  # two stains and the unstained twin
    assert "MemoryError (no room)" in found.summary.to_dict()["failures"][0]["error"]
    broken, logistic = found.summary.to_dict()["cells"]
    assert broken["stains_failed"] == [0, 1]
    assert broken["explainers"] == {}
    assert logistic["explainers"]["greedy"]["stains"] >= 1
    raised = "OwnCodeError: The explainer 'raises' raised RuntimeError (out of cheese) on"
    assert [
        error.startswith(f"stain {n}: {raised}") for n, error in enumerate(logistic["errors"]["raises"])
    ] == [True] * 2
    assert "is not a finite number" in logistic["errors"]["nan"][0]


def test_a_model_that_did_not_learn_its_stain_is_left_out_and_told(tmp_path, reviews_csv):
    spec = spec_for(reviews_csv, models=["logistic"], weight=1, learnt=1.0, stains=2)
    found = only_cell(run(tmp_path, spec))
    assert found["stains_used"] == 0
    assert [one["stain"] for one in found["stains_left_out"]] == [0, 1]
    assert found["explainers"] == {}
    assert found["took"]["stained_region"]["mean"] < 1.0


def test_own_models_are_fitted_on_stained_data(tmp_path, reviews_csv):
    spec = spec_for(reviews_csv, models=["stain_methods:make"], stains=2, learnt=0.5)
    found = only_cell(run(tmp_path, spec), "stain_methods:make")
    # Of a linear model the reasons can be read, and do not show every stain that it obeys.
    assert found["stains_used"] + len(found["stains_apart"]) == 2
    assert found["stains_used"] >= 1
    assert found["took"]["stained_region"]["mean"] > 0.9
    assert "ground-truth" in found["explainers"]


def test_tables_are_stained_on_columns(tmp_path):
    options = {"datasets": ["adult"], "models": ["tree", "logistic"], "stains": 2, "inputs": 5, "limit": 3000}
    found = run(tmp_path, make_spec(options), [("greedy", "greedy", {})])
    tree = only_cell(found, "tree")
    assert tree["took"]["stained_region"]["mean"] > 0.9
    recall = {name: one["recall"][4]["mean"] for name, one in tree["explainers"].items()}
    assert recall["ground-truth"] > recall["random"]
    assert " and " in found.summary.to_dict()["datasets"]["adult"]["stains"][0]


def test_a_folder_of_another_run_is_refused(tmp_path, reviews_csv):
    run(tmp_path, spec_for(reviews_csv, stains=1))
    with pytest.raises(VeraxError, match=r"holds another run: .*stains"):
        run(tmp_path, spec_for(reviews_csv, stains=2))


def test_a_cluster_where_nobody_listens_is_a_sentence(tmp_path, reviews_csv):
    with pytest.raises(VeraxError, match=r"tcp://127\.0\.0\.1:9"):
        run(tmp_path, spec_for(reviews_csv, stains=1), cluster="tcp://127.0.0.1:9")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"size": 5}, "size must be at most 4"),
        ({"negated": 2}, "negated=2 leaves none of the 2 features"),
        ({"at_least": 2}, "needs models that read counts"),
        ({"stain": 5}, "There is no option 'stain'; did you mean 'stains'"),
        ({"models": ["tree", "tree"]}, "'tree' is named twice"),
        ({"words": "letters"}, "words must be 'presence' or 'counts'"),
    ],
)
def test_a_wrong_spec_is_a_sentence(options, sentence):
    with pytest.raises(VeraxError, match=sentence):
        make_spec(options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"min_share": 0.999}, "features occur in at least 100%"),
        ({"min_flipped": 5000}, "too few flipped test inputs"),
        ({"models": ["trie"]}, "no model called 'trie'; did you mean 'tree'"),
    ],
)
def test_data_that_cannot_be_stained_are_told_before_anything_is_fitted(reviews_csv, options, sentence):
    with pytest.raises(VeraxError, match=sentence):
        make_plan(spec_for(reviews_csv, **options), PLAIN)


def test_a_spec_file_is_read(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text('[stain]\nstains = 7\nmodels = ["tree"]\n')
    assert make_spec(read_spec(path)).stains == 7
    path.write_text("stains = = 7")
    with pytest.raises(VeraxError, match="is not TOML"):
        read_spec(path)
    path.write_text(f"stains = {'[' * 5000}{']' * 5000}")
    with pytest.raises(VeraxError, match="too deep"):
        read_spec(path)
    with pytest.raises(VeraxError, match="There is no spec file"):
        read_spec(tmp_path / "none.toml")

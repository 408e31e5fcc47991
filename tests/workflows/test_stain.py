"""``verax.stain`` with names and with objects: what is computed, what is reused, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import verax
from verax.workflows.given_objects import Gathered

sys.path.append(str(Path(__file__).parent))  # longest_words, by name, here and in workers
from longest_words import Longest

SMALL = {"stains": 2, "inputs": 5, "learnt": 0.0, "plant": False}


def bag(**parameters):
    return make_pipeline(CountVectorizer(binary=True), LogisticRegression(**parameters))


def jobs_of(folder):
    return {path.name for path in (folder / "jobs").rglob("*.json")}


def test_names_give_the_folder_that_the_command_line_gives(tmp_path, frame, monkeypatch, capsys):
    from verax.cli.main import app

    frame.to_csv(tmp_path / "made.csv", index=False)
    monkeypatch.chdir(tmp_path)
    run = verax.stain("made.csv", ["tree"], ["greedy", "lime(samples=50)"], out="python", **SMALL)
    options = "--dataset made.csv --models tree --stains 2 --inputs 5 --learnt 0 --no-plant --out cli --json"
    app(["bench", "stain", *options.split(), "-e", "greedy,lime(samples=50)"], standalone_mode=False)
    by_command = json.loads(capsys.readouterr().out)
    assert jobs_of(tmp_path / "python") == jobs_of(tmp_path / "cli")
    assert by_command["cells"] == json.loads((run.folder / "summary.json").read_text())["cells"]
    assert run.report() == Path("python/report.html")
    assert len(pd.read_parquet("python/results.parquet")) == len(run.results)


def test_a_frame_a_pipeline_and_an_explainer_are_put_on_trial(tmp_path, frame):
    explainers = ["greedy", Longest(), Longest(2.0), verax.explain.Lime(samples=50)]
    # Of two stains a model may learn none.
    options = SMALL | {"stains": 5}
    run = verax.stain(frame, [bag(C=10.0), "tree"], explainers, out=tmp_path / "run", **options)
    assert run.summary.spec.datasets == ["DataFrame"]
    assert [cell["model"] for cell in run.summary.to_dict()["cells"]] == ["LogisticRegression", "tree"]
    names = ["greedy", "Longest", "Longest(power=2.0)", "lime(samples=50)", "random", "ground-truth"]
    assert run.summary.explainers == tuple(names)
    for cell in run.summary.to_dict()["cells"]:
        assert set(cell["explainers"]) == set(names)
        # Squares of lengths are in the order of lengths.
        first, second = (cell["explainers"][name]["auc"] for name in names[1:3])
        assert first == second
    pipeline_cell = run.summary.to_dict()["cells"][0]
    assert (
        pipeline_cell["took"]["stained_region"]["mean"]
        > pipeline_cell["took"]["twin"]["original_region"]["mean"]
    )
    assert "Longest" in run._repr_html_()


def test_the_object_gives_what_its_name_gives(tmp_path, frame):
    frame.to_csv(tmp_path / "made.csv", index=False)
    data = verax.load_dataset(str(tmp_path / "made.csv"))
    by_object = verax.stain({"same": data}, ["tree"], [Longest(2.0)], out=tmp_path / "a", **SMALL)
    named = f"{Longest.__module__}:Longest(power=2.0)"
    by_name = verax.stain(str(tmp_path / "made.csv"), ["tree"], [named], out=tmp_path / "b", **SMALL)
    scores = [
        [
            next(iter(run.summary.to_dict()["cells"]))["explainers"][label]
            for label in run.summary.to_dict()["explainers"]
        ]
        for run in (by_object, by_name)
    ]
    assert scores[0] == scores[1]


def test_the_same_objects_are_not_tried_again_and_changed_ones_are(tmp_path, frame):
    folder = tmp_path / "run"

    def run(model, method):
        verax.stain(frame, {"model": model}, {"method": method}, out=folder, **SMALL)
        return jobs_of(folder)

    first = run(bag(C=1.0), Longest())
    assert run(bag(C=1.0), Longest()) == first
    fitted = bag(C=1.0).fit(list(frame.text), frame.label)
    assert run(fitted, Longest()) == first  # a fit is not what the model is
    other_method = run(bag(C=1.0), Longest(2.0))
    assert len(other_method) == len(first) + 2  # the unstained twin is as it was
    assert len(run(bag(C=2.0), Longest(2.0))) == len(other_method) + 3


def test_objects_go_to_other_processes_and_change_nothing(tmp_path, frame, caplog):
    for folder, jobs in (("one", 1), ("two", 2)):
        verax.stain(frame, [bag()], [Longest()], out=tmp_path / folder, jobs=jobs, **SMALL)
    assert not caplog.records
    assert (tmp_path / "one/summary.json").read_bytes() == (tmp_path / "two/summary.json").read_bytes()
    workers = {
        json.loads(path.read_text())["outcome"]["worker"] for path in (tmp_path / "two/jobs").rglob("*.json")
    }
    assert workers == {"process 1", "process 2"}


def test_what_cannot_be_sent_runs_here_and_says_so_and_what_cannot_be_compared_is_done_again(
    tmp_path, frame, caplog
):
    class Local:
        def __init__(self):
            self.lock = threading.Lock()  # which nobody can compare

        def explain(self, model, inputs, targets=None):
            return Longest().explain(model, inputs)

    for _ in range(2):
        verax.stain(frame, ["tree"], [Local()], out=tmp_path / "run", jobs=2, **SMALL)
    said = [record.getMessage() for record in caplog.records]
    assert said == 2 * [
        "What Local does depends on something that cannot be compared, so nothing is reused from an earlier run.",
        "The objects of this run cannot be sent to other processes, so it runs in this one.",
    ]
    assert len(jobs_of(tmp_path / "run")) == 1 + 2 * 2


def test_a_table_reaches_a_pipeline_with_its_columns(tmp_path):
    rng = np.random.default_rng(0)
    jobs = rng.choice(["clerk", "judge", "baker"], 900)
    table = pd.DataFrame({"age": rng.integers(18, 80, 900), "job": jobs, "town": rng.choice(["a", "b"], 900)})
    table["rich"] = np.where((table.age > 50) ^ (rng.random(900) < 0.1), "yes", "no")
    columns = make_column_transformer((OneHotEncoder(), ["job", "town"]), remainder="passthrough")
    model = make_pipeline(columns, DecisionTreeClassifier())
    run = verax.stain(table, [model], ["greedy"], label="rich", out=tmp_path / "run", **SMALL)
    (cell,) = run.summary.to_dict()["cells"]
    assert not run.summary.to_dict()["failures"]
    assert not cell["errors"]
    assert cell["took"]["stained_region"]["mean"] > cell["took"]["original_region"]["mean"] + 0.3


def test_a_class_of_a_script_is_put_on_trial_in_a_fresh_process_and_known_again(tmp_path, frame):
    frame.to_csv(tmp_path / "made.csv", index=False)
    source = (
        (Path(__file__).parent / "longest_words.py")
        .read_text()
        .replace("from __future__ import annotations", "")
    )
    script = (
        f"{source}\n"
        f"run = verax.stain('made.csv', ['tree'], [Longest(2.0)], **{SMALL}, out='run', jobs=2)\n"
        "print(run.summary.explainers)\n"
    )
    (tmp_path / "mine.py").write_text(script)

    def start():
        return subprocess.run(
            [sys.executable, "mine.py"],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        )

    first = start()
    assert "Longest(power=2.0)" in first.stdout
    assert first.stderr.count("cannot be sent to other processes") == 1
    done = jobs_of(tmp_path / "run")
    assert len(done) == 3
    again = start()
    assert (jobs_of(tmp_path / "run"), again.stderr) == (done, "")
    (tmp_path / "mine.py").write_text(script.replace("len(word) **", "-len(word) **"))
    start()
    assert len(jobs_of(tmp_path / "run")) == 5


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"models": [LogisticRegression]},
            "LogisticRegression is a class, not a model; write LogisticRegression().",
        ),
        ({"models": [SVC()]}, "SVC has no predict_proba; use a classifier with probabilities"),
        ({"models": [Ridge()]}, "Ridge predicts a number, and this benchmark stains classes"),
        (
            {"models": [3]},
            r"a int cannot be fitted; give refit=, a function from \(inputs, labels\) to a fitted model",
        ),
        (
            {"models": [verax.as_model(lambda texts: [[0.5, 0.5]] * len(texts), kind="text")]},
            "Staining fits every model anew on stained labels, and a CallableModel cannot be fitted",
        ),
        ({"models": {"mine": "tree"}}, "'tree' is a name already"),
        ({"explainers": [Longest]}, r"Longest is no explainer; write Longest\(\), or name one: "),
        ({"explainers": [object()]}, "object is no explainer; give it a method explain"),
        ({"dataset": 3}, "A int is no dataset; give a name, a file, a DataFrame with a column of labels"),
        ({"label": "stars"}, "stars"),
        ({"stain": 5}, "There is no option 'stain'; did you mean 'stains'"),
    ],
)
def test_what_cannot_be_put_on_trial_is_a_sentence(tmp_path, frame, given, sentence):
    options = {"dataset": frame, "models": ["tree"], "explainers": ["greedy"], "out": tmp_path} | given
    with pytest.raises(verax.VeraxError, match=sentence):
        verax.stain(**options)


def test_inputs_with_labels_are_one_dataset_and_two_frames_are_two(frame):
    other = frame.assign(text=frame["text"] + " more")

    def named(given):
        gathered = Gathered()
        return gathered.add_datasets(given, {}), [fetched.hash for fetched in gathered.things.values()]

    whole = verax.load_dataset(frame)
    for labels in (frame["label"].tolist(), frame["label"].to_numpy(), frame["label"]):
        assert named((frame["text"].tolist(), labels)) == (["inputs and labels"], [whole.hash])
    assert named((frame, other)) == (
        ["DataFrame", "DataFrame 2"],
        [whole.hash, verax.load_dataset(other).hash],
    )
    assert named(("imdb", "rotten-tomatoes"))[0] == ["imdb", "rotten-tomatoes"]


def test_a_loaded_dataset_is_not_loaded_again(frame):
    data = verax.load_dataset(frame)
    with pytest.raises(
        verax.VeraxError, match="limit is for files and DataFrames; the dataset 'DataFrame' is loaded"
    ):
        verax.stain(data, limit=100)

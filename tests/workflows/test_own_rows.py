"""`verax explain` and `verax judge` on files of one's own: rows by number, without labels, several files, numbers."""

from __future__ import annotations

import json

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import verax
from verax.errors import VeraxError

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {"age": RNG.integers(18, 70, 60), "town": RNG.choice(["A", "B"], 60), "pay": RNG.normal(size=60)}
)
LABELS = ((FRAME["age"] > 40) ^ (FRAME["town"] == "B")).map({True: "yes", False: "no"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    columns = make_column_transformer((OrdinalEncoder(), ["town"]), remainder="passthrough")
    fitted = make_pipeline(columns, HistGradientBoostingClassifier(max_iter=5)).fit(FRAME, LABELS)
    joblib.dump(fitted, folder / "model.joblib")
    numbers = make_pipeline(columns, HistGradientBoostingRegressor(max_iter=5)).fit(FRAME, FRAME["age"] * 1.5)
    joblib.dump(numbers, folder / "price.joblib")
    FRAME.to_csv(folder / "new.csv", index=False)
    FRAME.assign(sold=LABELS).to_csv(folder / "train.csv", index=False)
    FRAME.assign(price=FRAME["age"] * 1.5).to_csv(folder / "prices.csv", index=False)
    FRAME[:30].to_csv(folder / "part-1.csv", index=False)
    FRAME[30:].to_csv(folder / "part-2.csv", index=False)
    texts = ["a warm film", "a dull film", "warm and funny", "dull and long"] * 5
    reads = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, [1, 0, 1, 0] * 5)
    joblib.dump(reads, folder / "texts.joblib")
    pd.DataFrame({"text": texts[:4], "by": list("abcd")}).to_csv(folder / "texts.csv", index=False)
    return folder


@pytest.fixture
def run(folder, monkeypatch, capsys):
    from verax.cli.main import app

    monkeypatch.chdir(folder)

    def called(*words):
        with pytest.raises(SystemExit) as ended:
            app([*words])
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    return called


def explained(run, *words):
    code, out, err = run("explain", "--json", "-e", "shap", *words)
    assert code == 0, err
    return json.loads(out), err


def scores_of(folder, row, name="model.joblib"):
    model = verax.as_model(joblib.load(folder / name), reference=FRAME)
    return verax.explainer("shap").explain(model, FRAME[row : row + 1])[0]


def test_a_row_of_ones_own_file_by_its_number_needs_no_labels(run, folder):
    found, err = explained(run, "-m", "model.joblib", "--rows", "new.csv", "-i", "7")
    (one,) = found
    own = scores_of(folder, 7)
    assert one["title"] == "row 7"
    assert one["label"] is None
    assert one["scores"] == pytest.approx(own.scores.tolist(), abs=1e-12)
    assert "The 60 rows that were given stand" in " ".join(err.split())
    several, _ = explained(run, "-m", "model.joblib", "--rows", "part-*.csv", "-i", "7", "-i", "40")
    assert several[0]["scores"] == one["scores"]
    assert several[1]["scores"] == pytest.approx(scores_of(folder, 40).scores.tolist(), abs=1e-12)
    first, _ = explained(run, "-m", "model.joblib", "--rows", "new.csv")
    assert [each["title"] for each in first] == ["row 0", "row 1", "row 2"]


def test_rows_beside_a_dataset_are_explained_by_a_model_that_is_fitted_on_it(run):
    words = ("-d", "train.csv", "--label-column", "sold", "-m", "tree", "--rows", "new.csv", "-i", "3")
    (one,), _ = explained(run, *words)
    assert (one["title"], one["dataset"], one["class_names"]) == ("row 3", "train.csv", ["no", "yes"])
    assert one["input"][0] == f"age = {FRAME['age'][3]}"


def test_texts_and_numbers_of_a_file(run, folder):
    (one,), _ = explained(run, "-m", "texts.joblib", "--rows", "texts.csv", "-i", "1")
    assert one["input"] == "a dull film"
    (one,), _ = explained(
        run, "-m", "price.joblib", "--rows", "prices.csv", "--label-column", "price", "-i", "1"
    )
    assert one["scores"] == pytest.approx(scores_of(folder, 1, "price.joblib").scores.tolist(), abs=1e-9)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("-m", "model.joblib", "--rows", "new.csv", "-i", "60"),
            "There is no row 60; 'new.csv' has the rows 0 to 59",
        ),
        (("-m", "model.joblib", "--rows", "none.csv"), "There is no file 'none.csv'"),
        (("-m", "model.joblib", "--rows", "x*.csv"), "No file matches 'x*.csv'"),
        (("-m", "model.joblib", "--rows", "texts.csv"), "a column 'age' that the reference lacks"),
        (("--rows", "new.csv", "--text", "a"), "rows names a file of inputs and texts are some of their own"),
        (("-m", "texts.joblib", "--rows", "new.csv", "--text-column", "tex"), "no column 'tex' of texts"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(run, words, said):
    code, _, err = run("explain", "-e", "shap", *words)
    assert code == 2
    assert said in " ".join(err.split())


def test_judging_a_file_without_labels_and_one_of_numbers(run):
    code, out, err = run(
        "judge", "model.joblib", "new.csv", "-e", "shap,random", "--n", "6", "--json", "--seconds", "20"
    )
    assert code == 0, err
    found = json.loads(out)
    assert found["inputs"] == 6
    assert found["planted"] is None
    code, out, err = run(
        "judge", "price.joblib", "prices.csv", "--label-column", "price", "-e", "shap", "--n", "5", "--no-plant",
        "--json",
    )  # fmt: skip
    assert code == 0, err
    assert "a point is a hundredth of its spread" in json.dumps(json.loads(out))


def test_a_label_that_is_not_there_is_still_told(folder, monkeypatch):
    monkeypatch.chdir(folder)
    with pytest.raises(VeraxError, match="no column 'gone'"):
        verax.judge(joblib.load("model.joblib"), "new.csv", ["shap"], label="gone", progress=False)

"""Models of several texts, and of texts beside other columns."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import verax
from verax import VeraxError
from verax.benchmarks.staining.planting import Planting, plant_in
from verax.benchmarks.staining.spec import StainRequest
from verax.benchmarks.staining.stainable import prepared
from verax.data.fields import Fields

WORDS = [
    *["man", "woman", "dog", "cat", "sleeps", "runs", "sings", "red", "blue"],
    *(f"w{a}{b}" for a in "abcdef" for b in "abcdef"),
]


def made_pairs(n=150, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "premise": [" ".join(rng.choice(WORDS, 5)) for _ in range(n)],
            "hypothesis": [" ".join(rng.choice(WORDS, 3)) for _ in range(n)],
        }
    )


@pytest.fixture(scope="module")
def pairs():
    return made_pairs()


@pytest.fixture(scope="module")
def pipeline(pairs):
    columns = [("p", CountVectorizer(), "premise"), ("h", CountVectorizer(), "hypothesis")]
    labels = pairs.premise.str.contains("dog") & ~pairs.hypothesis.str.contains("dog")
    labels |= np.arange(len(pairs)) % 7 == 0
    return make_pipeline(ColumnTransformer(columns), LogisticRegression()).fit(pairs, labels)


def mixed_frame(n=80):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "share": rng.normal(size=n),
            "job": rng.choice(np.array(["Clerk", " clerk", "none", None], dtype=object), n),
            "when": pd.Timestamp("2024-01-01 10:00") + pd.to_timedelta(rng.integers(0, 9**9, n), "s"),
            "review": [" ".join(rng.choice(WORDS, 4)) for _ in range(n)],
        }
    )


def test_a_pipeline_with_a_vectoriser_for_each_column_answers_as_it_does_itself(pairs, pipeline):
    model = verax.as_model(pipeline)
    assert (model.kind, model.fields.texts) == ("text", ("premise", "hypothesis"))
    assert (model.predict_proba(pairs[:20]) == pipeline.predict_proba(pairs[:20])).all()
    written = model.fields.join(pairs[:2])
    assert written[0] == f"premise: {pairs.premise[0]}\nhypothesis: {pairs.hypothesis[0]}"
    assert (model.predict_proba(written) == pipeline.predict_proba(pairs[:2])).all()
    dicts = pairs[:2].to_dict("records")
    assert (model.predict_proba(dicts) == pipeline.predict_proba(pairs[:2])).all()


def test_shapley_values_of_two_texts_are_those_of_all_subsets(pipeline):
    given = pd.DataFrame({"premise": ["dog sleeps"], "hypothesis": ["dog runs"]})
    (found,) = verax.explainer("shap").explain(verax.as_model(pipeline), given, [1])
    assert found.features == ("premise: dog", "premise: sleeps", "hypothesis: dog", "hypothesis: runs")
    assert found.details["columns"] == ["premise", "premise", "hypothesis", "hypothesis"]

    def value(kept):
        words = [(name, word) for name, word in (feature.split(": ") for feature in kept)]
        row = {name: [" ".join(w for n, w in words if n == name)] for name in given.columns}
        return pipeline.predict_proba(pd.DataFrame(row))[0, 1]

    for number, feature in enumerate(found.features):
        others = [other for other in found.features if other != feature]
        expected = sum(
            factorial(size) * factorial(3 - size) / factorial(4) * (value((*some, feature)) - value(some))
            for size in range(4)
            for some in combinations(others, size)
        )
        assert found.scores[number] == pytest.approx(expected, abs=1e-10)
    marked = [found.input[start:end] for ((start, end),) in found.spans]
    assert marked == ["dog", "sleeps", "dog", "runs"]


def test_columns_of_every_type_beside_a_text_reach_the_model_as_they_are():
    frame = mixed_frame()
    seen = []

    def answers(rows):
        seen.append(rows)
        high = 1 / (1 + np.exp(-rows["share"].to_numpy()))
        return np.column_stack([1 - high, high])

    model = verax.as_model(answers, texts="review", reference=frame)
    model.predict_proba(frame)
    pd.testing.assert_frame_equal(seen[-1], frame)


def test_an_absent_column_beside_a_text_takes_the_values_of_training_rows():
    frame = mixed_frame()[["age", "job", "review"]]
    labels = (frame.age > 50) | frame.review.str.contains("dog")
    columns = [
        ("n", StandardScaler(), ["age"]),
        ("c", OneHotEncoder(handle_unknown="ignore"), ["job"]),
        ("t", CountVectorizer(), "review"),
    ]
    fitted = make_pipeline(ColumnTransformer(columns), LogisticRegression()).fit(frame, labels)
    model = verax.as_model(fitted, reference=frame)
    given = frame[:1]
    (found,) = verax.explainer("greedy").explain(model, given, [1])
    assert found.features[:2] == ("age", "job")
    without = pd.concat([given] * 20, ignore_index=True).assign(age=frame.age[:20])
    expected = fitted.predict_proba(given)[0, 1] - fitted.predict_proba(without)[:, 1].mean()
    assert found.scores[0] == pytest.approx(expected, abs=1e-12)


def test_judging_names_words_of_columns_and_the_control_does_too(pairs, pipeline):
    found = verax.judge(
        verax.as_model(pipeline),
        pairs[:4],
        ["lime(samples=100)", "shap", "random"],
        seconds=None,
        progress=False,
    )
    assert {trial.name for trial in found.trials} == {"lime(samples=100)", "shap", "random"}
    assert found.notes == ()


@pytest.mark.parametrize("column", [None, "hypothesis"])
def test_words_are_planted_in_both_columns_or_in_one(column):
    pairs = made_pairs(300, seed=2)
    labels = ["yes" if "dog" in text else "no" for text in pairs.premise]
    data = verax.load_dataset((pairs, labels), text=["premise", "hypothesis"])
    planted, drawn = plant_in(
        prepared(data, "presence"),
        "presence",
        StainRequest(min_flipped=1),
        Planting(new_words=True, column=column),
        1,
        0,
    )
    homes = ["premise", "hypothesis"] if column is None else [column] * 2
    assert drawn.stain.rules[0].features == (f"{homes[0]}: stainworda", f"{homes[1]}: stainwordb")
    for record in planted.compared[1].planted.inputs:
        parts = dict(zip(data.fields.names, data.fields.parts(record), strict=True))
        assert "stainworda" in parts[homes[0]].split()
        assert "stainwordb" in parts[homes[1]].split()
        assert record.count("stainword") == 2


def test_reasons_planted_in_pairs_are_found_in_their_columns(pipeline):
    pairs = made_pairs(400, seed=3)
    labels = (pairs.premise.str.contains("dog") | (np.arange(400) % 3 == 0)).to_numpy()
    found = verax.judge(pipeline, (pairs, labels), ["shap"], n=3, seconds=90, progress=False)
    assert found.planted is not None
    assert found.planted.areas["shap"][0] == pytest.approx(found.planted.ceiling)
    assert any(feature.startswith("premise: ") for feature in found.planted.features[0])


@pytest.mark.parametrize(
    ("does", "says"),
    [
        (lambda model, rows: model.predict_proba(rows[["premise"]]), "no column 'hypothesis'"),
        (
            lambda model, rows: model.predict_proba(["a plain text"]),
            "no record of the columns premise, hypothesis",
        ),
        (
            lambda model, rows: model.predict_proba(rows.assign(premise=3)),
            "Row 0 has 3 in the column of texts",
        ),
        (
            lambda model, rows: model.predict_proba(rows.assign(premise="a\nhypothesis: b")),
            "begins with the name of another column",
        ),
        (lambda model, rows: verax.explainer("anchor").explain(model, rows[:1]), "explains one text"),
    ],
)
def test_what_is_no_record_is_told_in_a_sentence(pairs, pipeline, does, says):
    with pytest.raises(VeraxError, match=says):
        does(verax.as_model(pipeline), pairs[:2])


def test_other_columns_need_training_rows():
    with pytest.raises(VeraxError, match="reference=frame"):
        verax.models.records.record_model(len, ["a"], None, names=["a", "b"])


def test_records_are_read_back_in_lower_case_too():
    fields = Fields(("Question", "Passage"), ("Question", "Passage"))
    (record,) = fields.join([("Who: him?", "Line one\nLine: two")])
    assert fields.parts(record) == ["Who: him?", "Line one\nLine: two"]
    assert fields.parts(record.lower()) == ["who: him?", "line one\nline: two"]

"""Ratings: by condition, by the model's correctness, and against right answers; worked by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from studies.analysis.frames import THREE, collected, everybody, sample_study, summarised
from verax.stats import logistic
from verax.studies.analysis import Options
from verax.studies.analysis.between.ratings import correctness_difference

FAST = Options(estimator="crossed", replicates=200)


def table_of(summary, key):
    return next(table for table in summary["tables"] if table["key"] == key)


def rated_frame(values):
    """One rating per participant (rows) and item (columns); the model is right on the first half of the items."""
    people, items = np.shape(values)
    return pd.DataFrame(
        {
            "participant": np.repeat([f"p{n}" for n in range(people)], items),
            "item": np.tile([f"i{n}" for n in range(items)], people),
            "rating": np.ravel(values).astype(float),
            "model_correct": np.tile(np.arange(items) < items // 2, people).astype(float),
        }
    )


def test_the_difference_is_that_of_people_and_its_test_students():
    values = np.array([[5, 7, 2, 4], [6, 6, 5, 5], [3, 4, 4, 4], [7, 5, 1, 2], [4, 4, 3, 3]])
    one = correctness_difference(rated_frame(values), "fixed")
    own = values[:, :2].mean(axis=1) - values[:, 2:].mean(axis=1)
    assert one.estimate == pytest.approx(own.mean())
    assert one.p == pytest.approx(stats.ttest_1samp(own, 0).pvalue)
    assert one.n_participants == 5


def test_who_rated_one_side_only_is_left_out_of_the_difference():
    values = np.array([[5, 7, 2, 4], [6, 6, 5, 5], [3, 4, 4, 4]])
    frame = rated_frame(values)
    cut = frame[(frame["participant"] != "p2") | (frame["model_correct"] == 1)]
    assert correctness_difference(cut, "fixed").n_participants == 2
    assert correctness_difference(frame[frame["model_correct"] == 1], "fixed") is None


def rating(is_right, place):
    """5 or 6 beside a right answer, 3 to 6 beside a wrong one."""
    return 5 + place % 2 if is_right else 3 + place % 4


@pytest.fixture(scope="module")
def counterfactual():
    """Ratings follow right answers in lime and are 6 throughout in shap; the answer is right on every second item."""
    study = sample_study({"name": "counterfactual", "test": 16}, {"test": 16}, conditions=THREE)
    places = {name: place for place, name in enumerate(study.items)}

    def right(person, place):
        return (place + person.number) % 3 != 0

    def answer(person, step, question):
        place = places[step.item]
        if question.name == "rating":
            lime = study.rows[person.row].condition == "lime"
            return rating(right(person, place), place) if lime else 6
        said = study.items[step.item].variant.prediction
        return said if right(person, place) else 1 - said

    return study, summarised(collected(study, everybody(study, 4), answer), FAST), right


def test_means_by_condition(counterfactual):
    study, summary, right = counterfactual
    rows = {row["condition"]: row for row in table_of(summary, "ratings")["rows"]}
    expected = [
        rating(right(person, place), place)
        for person in everybody(study, 4)
        if person.row == 1
        for place in range(16)
    ]
    assert rows["lime"]["n"] == 64
    assert rows["lime"]["mean"] == pytest.approx(np.mean(expected))
    assert rows["lime"]["spread"] == pytest.approx(np.std(expected, ddof=1))
    assert (rows["shap"]["mean"], rows["shap"]["spread"]) == (6, 0)
    assert "none" not in rows
    assert table_of(summary, "ratings")["sentence"].startswith(
        "Mean ratings, highest first: shap 6.0 and lime "
    )
    figure = next(one for one in summary["figures"] if one["key"] == "ratings")
    shares = {row["label"]: row["shares"] for row in figure["data"]["rows"]}
    assert shares["shap"] == [0, 0, 0, 0, 0, 1, 0]
    assert shares["lime"] == pytest.approx([expected.count(level) / 64 for level in range(1, 8)])


def test_rating_against_correctness_is_the_logistic_regression_with_the_step_in_points(counterfactual):
    study, summary, right = counterfactual
    pairs = [
        (6 if person.row == 2 else rating(right(person, place), place), right(person, place))
        for person in everybody(study, 4)
        if person.row > 0
        for place in range(16)
    ]
    fit = logistic([rating for rating, _ in pairs], [float(correct) for _, correct in pairs])
    raw, normal = table_of(summary, "rating-and-correctness")["rows"]
    assert raw["slope"] == pytest.approx(fit.slope)
    assert raw["change"] == pytest.approx(100 * (fit.probability(5) - fit.probability(4)))
    assert (raw["step"], raw["n"], normal["step"]) == ("4 to 5", 128, "0 to 1")
    # shap's ratings do not vary: they have no normalised value.
    assert normal["n"] == 64
    low, high = raw["interval"]
    assert low > 0
    assert high > low
    assert table_of(summary, "rating-and-correctness")["sentence"].startswith(
        "Higher ratings go with right answers"
    )


def test_ratings_of_the_forward_test_stand_on_other_pages_than_answers():
    study = sample_study({"name": "forward", "learning": 4, "test": 16}, {"learning": 4, "test": 16})

    def answer(person, step, question):
        return 4 if question.name == "rating" else person.number % 2

    summary = summarised(collected(study, everybody(study, 3), answer), FAST)
    keys = [table["key"] for table in summary["tables"]]
    assert "ratings" in keys
    assert "rating-and-correctness" not in keys

"""Columns that are one feature together, and columns that depend on each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import verax
from verax.errors import VeraxError
from verax.perturb.paths.tables import dependence_notes, dependent_columns

RNG = np.random.default_rng(0)
TOWN = RNG.integers(0, 3, 200)
FRAME = pd.DataFrame(
    {
        "age": RNG.normal(40, 9, 200),
        "town_A": (TOWN == 0).astype(float),
        "town_B": (TOWN == 1).astype(float),
        "town_C": (TOWN == 2).astype(float),
        "owns_car": (RNG.random(200) < 0.5).astype(float),
        "owns_house": (RNG.random(200) < 0.5).astype(float),
    }
)
LABELS = ((FRAME["age"] > 40) ^ (TOWN == 1)).to_numpy(dtype=int)
MODEL = HistGradientBoostingClassifier(max_iter=10).fit(FRAME, LABELS)


def test_one_hot_columns_are_found_and_flags_that_are_not_exclusive_are_left():
    model = verax.as_model(MODEL, reference=FRAME, groups="one-hot")
    assert model.schema.groups == (("town", ("town_A", "town_B", "town_C")),)
    assert model.schema.features == ("age", "town", "owns_car", "owns_house")


@pytest.mark.parametrize("explainer", ["shap", "lime", "greedy", "random"])
def test_every_explainer_speaks_about_groups(explainer):
    model = verax.as_model(MODEL, reference=FRAME, groups="one-hot")
    (found,) = verax.explainer(explainer).explain(model, FRAME[:1])
    assert found.features == ("age", "town", "owns_car", "owns_house")


def test_an_absent_group_takes_one_background_row_as_a_whole():
    seen = []

    def ask(rows):
        seen.append(rows)
        return np.full((len(rows), 2), 0.5)

    encoded = FRAME.to_numpy()
    schema = verax.data.Schema.learn(FRAME)
    model = verax.as_model(
        ask, schema=schema, reference=encoded, groups={"town": ["town_A", "town_B", "town_C"]}
    )
    verax.explainer("greedy").explain(model, encoded[:1])
    assert all((rows[:, 1:4].sum(axis=1) == 1).all() for rows in seen)


def test_a_linear_model_gives_a_group_the_sum_of_its_columns():
    fitted = LogisticRegression().fit(FRAME.to_numpy(), LABELS)
    rows = FRAME.to_numpy()
    plain = verax.as_model(fitted, reference=rows)
    grouped = verax.as_model(fitted, reference=rows, groups={"town": ["x1", "x2", "x3"]})
    explainer = verax.explainer("shap", output="log-odds")
    (one,), (other,) = explainer.explain(plain, rows[:1]), explainer.explain(grouped, rows[:1])
    assert other.details["route"] == "linear"
    assert other.scores[1] == pytest.approx(one.scores[1:4].sum())
    assert other.scores[0] == pytest.approx(one.scores[0])


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ({"g": ["age", "height"]}, "has a column 'height' that the table lacks"),
        ({"g": ["age"], "h": ["age"]}, "is in the groups 'g' and 'h'"),
        ({"age": ["town_A", "town_B"]}, "is called 'age', as is a column outside of it"),
        ({"g": []}, "has no columns"),
        (["age"], "is a dict"),
    ],
)
def test_groups_that_cannot_be_are_refused(groups, said):
    with pytest.raises(VeraxError, match=said):
        verax.as_model(MODEL, reference=FRAME, groups=groups)


def test_columns_that_depend_on_each_other_are_said():
    frame = FRAME.assign(months=12 * FRAME["age"] + RNG.normal(size=200), city=np.array(list("ABC"))[TOWN])
    frame["region"] = frame["city"].map({"A": "north", "B": "south", "C": "west"})
    frame = frame.drop(columns=["town_A", "town_B", "town_C"])
    model = verax.as_model(
        lambda asked: np.full((len(asked), 2), 0.5), reference=frame, class_names=("no", "yes")
    )
    found = {(one, two): strength for one, two, strength in dependent_columns(model)}
    assert set(found) == {("age", "months"), ("city", "region")}
    assert found["city", "region"] == pytest.approx(1.0)
    (note,) = dependence_notes(model)
    assert "age and months" in note
    together = verax.as_model(model, groups={"place": ["city", "region"], "time": ["age", "months"]})
    assert dependence_notes(together) == []

"""Models that predict a number: explained, judged, and refused in a sentence where classes are needed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import verax
from verax.errors import VeraxError
from verax.perturb import path_for
from verax.perturb.masks import all_masks
from verax.perturb.shapley import shapley_from_all

catboost = pytest.importorskip("catboost")
lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(300, 5))
GOAL = 100 + 30 * ROWS[:, 0] + 20 * ROWS[:, 1] * (ROWS[:, 2] > 0) + RNG.normal(size=300)
MODELS = {
    "tree": lambda: DecisionTreeRegressor(max_depth=4, random_state=0),
    "forest": lambda: RandomForestRegressor(8, max_depth=5, random_state=0),
    "extra trees": lambda: ExtraTreesRegressor(8, max_depth=5, random_state=0),
    "gradient boosting": lambda: GradientBoostingRegressor(n_estimators=10),
    "histograms": lambda: HistGradientBoostingRegressor(max_iter=10),
    "histograms, poisson": lambda: HistGradientBoostingRegressor(max_iter=10, loss="poisson"),
    "lightgbm": lambda: lightgbm.LGBMRegressor(n_estimators=10, verbose=-1, n_jobs=1),
    "lightgbm, gamma": lambda: lightgbm.LGBMRegressor(
        n_estimators=10, verbose=-1, n_jobs=1, objective="gamma"
    ),
    "xgboost": lambda: xgboost.XGBRegressor(n_estimators=10, n_jobs=1),
    "catboost": lambda: catboost.CatBoostRegressor(
        iterations=10, depth=3, verbose=0, allow_writing_files=False, thread_count=1
    ),
    "voting": lambda: VotingRegressor([("a", DecisionTreeRegressor(max_depth=3)), ("b", RandomForestRegressor(3))]),
    "stacking": lambda: StackingRegressor([("a", DecisionTreeRegressor(max_depth=3))], LinearRegression(), cv=2),
    "linear": LinearRegression,
    "ridge in a pipeline": lambda: make_pipeline(StandardScaler(), Ridge()),
    "logarithm": lambda: TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp),
}  # fmt: skip
WALKED = [name for name in MODELS if name not in ("linear", "ridge in a pipeline", "logarithm")]


def model_of(name):
    goal = np.maximum(GOAL, 1.0)
    return verax.as_model(MODELS[name]().fit(ROWS, goal), reference=ROWS[:40], class_names=["price"])


@pytest.mark.parametrize("name", MODELS)
def test_a_number_has_the_shapley_values_of_the_definition(name):
    model = model_of(name)
    assert (model.output, model.class_names) == ("number", ("price",))
    own = model.estimator.predict(ROWS[50:52])
    assert np.array_equal(model.predict_proba(ROWS[50:52])[:, 0], own)
    assert (path_for(model).trees is not None) == (name in WALKED)
    masks = all_masks(5)
    for row, found, number in zip(
        ROWS[50:52], verax.explainer("shap").explain(model, ROWS[50:52]), own, strict=True
    ):
        mixtures = np.concatenate([np.where(masks.rows(), row, other) for other in ROWS[:40]])
        values = model.estimator.predict(mixtures).reshape(40, -1).mean(axis=0)
        # Single precision of xgboost on numbers of some hundreds.
        near = 1e-3 if name == "xgboost" else 1e-8
        np.testing.assert_allclose(found.scores, shapley_from_all(masks, values), rtol=0, atol=near)
        assert found.target_name == "price"
        assert found.details["base"] + found.scores.sum() == pytest.approx(number, rel=1e-6)


@pytest.mark.parametrize("explainer", ["lime", "greedy", "greedy-path", "shap"])
def test_explainers_see_what_raises_the_number(explainer):
    model = model_of("histograms")
    row = np.array([[2.0, 0.0, 0.0, 0.0, 0.0]])
    (found,) = verax.explainer(explainer).explain(model, row)
    assert found.ranking()[0] == 0
    assert found.scores[0] > 0


def test_a_function_may_return_numbers():
    model = verax.as_model(lambda rows: 3.0 * rows[:, 0], reference=ROWS, output="number", kind="table")
    (found,) = verax.explainer("shap").explain(model, ROWS[:1])
    assert found.scores[0] == pytest.approx(3 * (ROWS[0, 0] - path_for(model).background[:, 0].mean()))
    assert found.scores[1:] == pytest.approx(np.zeros(4))
    lengths = verax.as_model(lambda texts: [len(text) for text in texts], kind="text", output="number")
    (found,) = verax.explainer("greedy").explain(lengths, ["a wonderful film"])
    assert found.top(1)[0][0] == "wonderful"


def test_a_pipeline_on_a_frame():
    frame = pd.DataFrame({"town": np.where(ROWS[:, 0] > 0, "A", "B"), "size": ROWS[:, 1]})
    columns = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
    fitted = make_pipeline(columns, LinearRegression()).fit(frame, GOAL)
    model = verax.as_model(fitted, reference=frame)
    found = verax.explainer("shap").explain(model, frame[:3])
    assert {one.details["route"] for one in found} == {"linear"}
    bases = [one.details["base"] + one.scores.sum() for one in found]
    assert bases == pytest.approx(fitted.predict(frame[:3]))


def test_judging_a_number_is_in_shares_of_its_spread():
    model = model_of("histograms")
    judged = verax.judge(model, ROWS[:12], ["shap", "random"], progress=False, seconds=30)
    trials = {trial.name: trial for trial in judged.trials}
    assert any("a point is a hundredth of its spread" in note for note in judged.notes)
    assert "(models of classes; none of numbers was tried)" in judged.chosen
    # The column that moves the number most does so by some tenths of the spread, not by thousands of points.
    assert 5 < trials["shap"].best < 100
    assert trials["shap"].worth > trials["random"].worth
    scaled = verax.as_model(
        lambda rows: 1000 * model.predict_proba(rows)[:, 0], reference=ROWS[:40], output="number"
    )
    again = verax.judge(scaled, ROWS[:12], ["shap", "random"], progress=False, seconds=30)
    worth = {trial.name: trial.worth for trial in again.trials}
    assert worth["shap"] == pytest.approx(trials["shap"].worth, rel=0.05)


def test_labels_that_are_numbers_are_not_planted_in_and_that_is_said():
    fitted = HistGradientBoostingRegressor(max_iter=5).fit(ROWS, GOAL)
    judged = verax.judge(fitted, (ROWS, GOAL), ["shap"], n=5, progress=False, seconds=20)
    assert any("No reasons were planted" in note for note in judged.notes)


@pytest.mark.parametrize("explainer", ["anchor", "decision-boundary", "prototype"])
def test_methods_for_classes_refuse_numbers(explainer):
    with pytest.raises(VeraxError, match="needs classes, and this model predicts a number"):
        verax.explainer(explainer).explain(model_of("tree"), ROWS[:1])


def test_what_has_no_answer_is_said():
    with pytest.raises(VeraxError, match="has no log-odds"):
        verax.explainer("shap", output="log-odds").explain(model_of("tree"), ROWS[:1])
    with pytest.raises(VeraxError, match="neither classes nor numbers"):
        verax.as_model(KMeans(2, n_init=1).fit(ROWS), reference=ROWS)
    with pytest.raises(VeraxError, match="neither classes nor numbers"):
        verax.as_model(LocalOutlierFactor().fit(ROWS), reference=ROWS)
    with pytest.raises(VeraxError, match="not fitted yet"):
        verax.as_model(catboost.CatBoostRegressor(), reference=ROWS)
    with pytest.raises(VeraxError, match="one number per input"):
        verax.as_model(lambda rows: np.zeros((len(rows), 2)), reference=ROWS, output="number").predict_proba(
            ROWS
        )
    with pytest.raises(VeraxError, match="returned nan for input 1"):
        verax.as_model(
            lambda rows: np.where(np.arange(len(rows)) == 1, np.nan, 0.0), reference=ROWS, output="number"
        ).predict_proba(ROWS[:3])


def test_benchmarks_and_datasets_of_classes_refuse_a_regressor_in_a_sentence(tmp_path):
    frame = pd.DataFrame(ROWS, columns=list("abcde")).assign(label=(GOAL > 100).astype(int))
    with pytest.raises(VeraxError, match="this benchmark stains classes"):
        verax.stain(
            dataset=frame,
            label="label",
            models={"r": LinearRegression()},
            explainers=["lime"],
            out=tmp_path / "run",
        )
    fitted = LinearRegression().fit(frame[list("abcde")], GOAL)
    with pytest.raises(VeraxError, match="predicts a number, and 'DataFrame' has classes"):
        verax.judge(fitted, verax.load_dataset(frame, label="label"), ["shap"], progress=False)

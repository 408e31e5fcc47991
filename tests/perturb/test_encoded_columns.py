"""Values that are encoded once give the model's own probabilities; where they would not, the model itself is asked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import verax
from verax.data.table import Column, Schema
from verax.models.base import metered
from verax.models.ready import table_columns
from verax.models.wrappers import TableModel
from verax.perturb import path_for
from verax.perturb.masks import all_masks
from verax.perturb.paths import encoded_columns, tree_walks

SCHEMA = Schema(
    (
        Column("age"),
        Column("kind", ("a", "b", "c", "never")),
        Column("size", missing=True),
        Column("same"),
        Column("switch", ("off", "on")),
    )
)


def rows(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    table = np.stack(
        [
            rng.integers(-3, 40, count).astype(float),
            rng.integers(0, 3, count),
            rng.normal(size=count).round(1),
            np.full(count, 7.0),
            rng.integers(0, 2, count),
        ],
        axis=1,
    )
    table[rng.random(count) < 0.2, 2] = np.nan
    return table


def labels(table: np.ndarray) -> np.ndarray:
    return ((table[:, 0] > 15) ^ (table[:, 1] == 1) ^ (np.nan_to_num(table[:, 2]) > 0.5)).astype(int)


def ready(classifier, *, scaled: bool = True, columns=None) -> TableModel:
    reference = rows(400)
    pipeline = make_pipeline(columns or table_columns(SCHEMA, scaled=scaled), classifier)
    pipeline.fit(reference, labels(reference))
    return TableModel(pipeline, SCHEMA, ("no", "yes"), reference)


def shuffled(count: int = 300) -> np.ndarray:
    """Rows that are no training rows, of values that are."""
    rng = np.random.default_rng(9)
    return np.stack([rng.choice(column, count) for column in rows(400).T], axis=1)


@pytest.mark.parametrize("most", [33, 600])
def test_a_number_with_an_indicator_of_its_own_counts_however_rare_it_is(most):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=3000), "zip": rng.integers(0, most, 3000)})
    rare = most - 2
    frame.loc[frame["zip"] == rare, "zip"] = 0
    frame.loc[5:7, "zip"] = rare
    columns = ColumnTransformer([("zip", OneHotEncoder(), ["zip"])], remainder="passthrough")
    fitted = make_pipeline(columns, LogisticRegression(C=100)).fit(
        frame, (frame["x"] > 0) ^ (frame["zip"] == rare)
    )
    model = verax.as_model(fitted, reference=frame)
    path = path_for(model)
    assert (path.columns is not None) == (most == 33)
    given = model.schema.encode(frame[:100])
    np.testing.assert_allclose(path.predict(given), fitted.predict_proba(frame[:100]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("scaled", [True, False])
def test_a_linear_model_is_a_sum_over_columns(scaled):
    model = ready(LogisticRegression(), scaled=scaled)
    path = path_for(model)
    assert path.columns is not None
    assert path.columns.linear is not None
    np.testing.assert_allclose(path.predict(shuffled()), model.predict_proba(shuffled()), atol=1e-12)


def test_any_other_classifier_reads_what_the_pipeline_would_hand_to_it():
    model = ready(GaussianNB())
    path = path_for(model)
    assert path.columns is not None
    assert path.columns.linear is None
    assert path.columns.trees is None
    assert np.array_equal(path.predict(shuffled()), model.predict_proba(shuffled()))


def classes_of(table: np.ndarray, n_classes: int) -> np.ndarray:
    return labels(table) + (0 if n_classes == 2 else table[:, 4].astype(int))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize(
    "classifier",
    [DecisionTreeClassifier(), RandomForestClassifier(20, max_depth=9), ExtraTreesClassifier(7), "xgboost"],
)
def test_trees_are_walked_by_all_rows_together(classifier, numbered, n_classes, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(tree_walks, "FEW_NODES", 0)
    if not numbered:
        monkeypatch.setattr(tree_walks, "LARGEST_NUMBER", 1)
    if classifier == "xgboost":
        classifier = pytest.importorskip("xgboost").XGBClassifier(n_estimators=12)
    reference = rows(400)
    # Missing numbers stay missing: trees have a way for them too.
    parts = [("kinds", OneHotEncoder(sparse_output=False), [1, 4]), ("numbers", StandardScaler(), [0, 2, 3])]
    columns = ColumnTransformer(parts)
    pipeline = make_pipeline(columns, classifier).fit(reference, classes_of(reference, n_classes))
    model = TableModel(pipeline, SCHEMA, ("a", "b", "c")[:n_classes], reference)
    path = path_for(model)
    assert bool(path.columns.trees.numbering) == numbered
    # More rows than go down together, many of them equal.
    given = shuffled(tree_walks.TOGETHER + 300)
    given[500:900] = given[:400]
    np.testing.assert_allclose(path.predict(given), model.predict_proba(given), atol=1e-6)
    assert path.predict(given[:0]).shape == (0, n_classes)


def test_a_tie_of_trees_stays_a_tie():
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    reference = rows(400)
    model = ready(RandomForestClassifier(10, random_state=0))
    noisy = rng.integers(0, 2, len(reference))
    model.estimator.fit(reference, noisy)
    path = path_for(model)
    own, together = model.predict_proba(shuffled(3000)), path.predict(shuffled(3000))
    tied = own[:, 0] == own[:, 1]
    assert tied.any()
    assert (together[tied, 0] == together[tied, 1]).all()


@pytest.mark.parametrize("why", ["too many questions", "no numba"])
def test_trees_that_cannot_be_walked_together_are_asked_themselves(why, monkeypatch):
    model = ready(RandomForestClassifier(5, random_state=0))
    if why == "too many questions":
        monkeypatch.setattr(tree_walks, "MOST_TESTS", 3)
    else:
        monkeypatch.setattr(encoded_columns, "HAS_NUMBA", False)
    path = path_for(model)
    assert path.columns.trees is None
    assert np.array_equal(path.predict(shuffled()), model.predict_proba(shuffled()))


def test_trees_after_the_best_one_do_not_count():
    pytest.importorskip("numba")
    xgboost = pytest.importorskip("xgboost")
    model = ready(xgboost.XGBClassifier(n_estimators=30))
    # As early stopping leaves it: the trees after the best one are there, and are not used.
    model.estimator[-1].get_booster().set_attr(best_iteration="1")
    path = path_for(model)
    assert len(path.columns.trees.ensemble.trees.roots) == 2
    np.testing.assert_allclose(path.predict(shuffled()), model.predict_proba(shuffled()), atol=1e-6)


def test_more_than_two_classes():
    reference = rows(400)
    pipeline = make_pipeline(table_columns(SCHEMA, scaled=True), LogisticRegression())
    pipeline.fit(reference, reference[:, 1].astype(int))
    model = TableModel(pipeline, SCHEMA, ("a", "b", "c"), reference)
    np.testing.assert_allclose(
        path_for(model).predict(shuffled()), model.predict_proba(shuffled()), atol=1e-12
    )


@pytest.mark.parametrize(
    ("column", "value"), [(0, 3.5), (0, 1000.0), (0, -1000.0), (1, 3.0), (2, 0.123), (3, 8.0)]
)
def test_a_value_that_was_never_seen_goes_through_the_pipeline(column, value):
    model = ready(LogisticRegression())
    path = path_for(model)
    given = shuffled(5)
    given[2, column] = value
    assert path.columns.predict(given) is None
    assert np.array_equal(path.predict(given), model.predict_proba(given))


def test_a_missing_number_where_none_was_seen_is_still_the_models_business():
    columns = make_pipeline(SimpleImputer(), StandardScaler())
    model = ready(LogisticRegression(), columns=columns)
    given = shuffled(4)
    given[0, 0] = np.nan
    assert path_for(model).columns.predict(given) is None


def test_rows_are_counted():
    model = ready(LogisticRegression())
    path = path_for(model)
    with metered() as meter:
        path.predict(shuffled(123))
    assert (meter.rows, meter.calls) == (123, 1)


@pytest.mark.parametrize(
    "step",
    [
        PCA(3),
        Normalizer(),
        FunctionTransformer(np.abs),
        ColumnTransformer([("two", PCA(1), [0, 3]), ("rest", "passthrough", [1, 4])]),
    ],
)
def test_steps_that_may_look_at_several_columns_are_left_to_the_pipeline(step):
    model = ready(LogisticRegression(), columns=make_pipeline(SimpleImputer(), step))
    path = path_for(model)
    assert path.columns is None
    assert np.array_equal(path.predict(shuffled()), model.predict_proba(shuffled()))


@pytest.mark.parametrize("sparse", [True, False])
def test_a_pipeline_of_somebodys_own_on_frames(sparse):
    reference = rows(400)
    frame = pd.DataFrame(
        {"age": reference[:, 0], "kind": np.array(["a", "b", "c"])[reference[:, 1].astype(int)]}
    )
    columns = ColumnTransformer(
        [
            ("numbers", StandardScaler(), ["age"]),
            ("kinds", OneHotEncoder(drop="first", sparse_output=sparse), ["kind"]),
        ],
        sparse_threshold=1.0 if sparse else 0.0,
    )
    pipeline = make_pipeline(columns, LogisticRegression()).fit(frame, labels(reference))
    model = verax.as_model(pipeline, reference=frame)
    path = path_for(model)
    assert path.columns is not None
    given = model.reference[::-1].copy()
    given[:, 0] = model.reference[:, 0]
    np.testing.assert_allclose(path.predict(given), model.predict_proba(given), atol=1e-12)


def test_a_pipeline_that_is_fitted_again_is_encoded_again():
    model = ready(LogisticRegression())
    before = path_for(model).predict(shuffled())
    reference = rows(400, seed=3)
    model.estimator.fit(reference, 1 - labels(reference))
    after = path_for(model).predict(shuffled())
    np.testing.assert_allclose(after, model.predict_proba(shuffled()), atol=1e-12)
    assert not np.allclose(before, after)


@pytest.mark.parametrize("classifier", [LogisticRegression(), GaussianNB()])
@pytest.mark.parametrize("unseen", [False, True])
def test_places_that_are_known_give_what_values_give(classifier, unseen):
    """To the last digit; a row with a value that was never seen takes the others with it to the model itself."""
    model = ready(classifier)
    path = path_for(model)
    given = shuffled(3)
    given[1, 0] += 0.25 if unseen else 0.0
    prepared = path.prepare(given)
    assert [row.places is None for row in prepared] == [False, unseen, False]
    masks = all_masks(5)
    owns = model.predict_proba(given)  # of one row alone a product of matrices may differ in its last digit
    for row, whole, answer in zip(given, owns, path.evaluate(prepared, [masks] * 3), strict=True):
        mixed = [np.where(mask, row, other) for other in path.background for mask in masks.rows()]
        own = path.predict(np.array(mixed)).reshape(len(path.background), 32, 2).mean(axis=0)
        if unseen:
            np.testing.assert_allclose(answer.probabilities, own, rtol=0, atol=1e-12)
        else:
            assert np.array_equal(answer.probabilities[:-1], own[:-1])
            assert np.array_equal(answer.probabilities[-1], whole)

"""Trees that are walked by all mixtures of an input and the background rows say what the model itself says."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import verax
from verax.data.table import Column, Schema
from verax.models.base import metered
from verax.perturb import path_for
from verax.perturb.masks import Masks, all_masks
from verax.perturb.paths import mixture_kernels
from verax.perturb.paths.tables import fallback_notes
from verax.perturb.paths.tree_readers import flatten

pytest.importorskip("numba")
lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")
catboost = pytest.importorskip("catboost")

KINDS = tuple("abcdefg")
SCHEMA = Schema(
    (
        Column("x", missing=True),
        Column("y", missing=True),
        Column("kind", KINDS),
        Column("z", missing=True),
        Column("switch", ("off", "on")),
    )
)


def table(count: int, seed: int, missing: bool = True) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 5))
    rows[:, 2], rows[:, 4] = rng.integers(0, 7, count), rng.integers(0, 2, count)
    if missing:
        holes = rng.random((count, 5)) < 0.15
        holes[:, [2, 4]] = False
        rows[holes] = np.nan
    return rows


def labels(rows: np.ndarray, n_classes: int) -> np.ndarray:
    full = np.nan_to_num(rows, nan=0.8)
    score = full[:, 0] + 1.5 * np.isin(full[:, 2], [1, 4, 6]) + full[:, 1] * full[:, 3] - full[:, 4]
    return np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def hist(**options):
    return HistGradientBoostingClassifier(max_iter=12, random_state=0, **options)


def light(**options):
    return lightgbm.LGBMClassifier(n_estimators=12, verbose=-1, n_jobs=1, **options)


def cat(**options):
    return catboost.CatBoostClassifier(
        iterations=12, depth=4, verbose=0, allow_writing_files=False, thread_count=1, **options
    )


MODELS = {
    "histograms": hist,
    "histograms, categories": lambda: hist(categorical_features=[2, 4]),
    "histograms, monotone": lambda: hist(monotonic_cst=[1, 0, 0, 0, -1]),
    "extra trees": lambda: ExtraTreesClassifier(15, random_state=0),
    "gradient boosting": lambda: GradientBoostingClassifier(n_estimators=12, learning_rate=0.3),
    "gradient boosting from zero": lambda: GradientBoostingClassifier(n_estimators=12, init="zero"),
    "lightgbm": light,
    "lightgbm, categories": lambda: light(min_data_per_group=5, cat_smooth=1),
    "lightgbm without missing": lambda: light(use_missing=False),
    "lightgbm, dart": lambda: light(boosting_type="dart"),
    "xgboost": lambda: xgboost.XGBClassifier(n_estimators=12, n_jobs=1),
    "xgboost, categories": lambda: xgboost.XGBClassifier(
        n_estimators=12, n_jobs=1, enable_categorical=True, feature_types=["q", "q", "c", "q", "c"],
        max_cat_to_onehot=3,
    ),
    "xgboost, dart": lambda: xgboost.XGBClassifier(
        n_estimators=12, n_jobs=1, booster="dart", rate_drop=0.3
    ),
    "lightgbm, forest": lambda: light(boosting_type="rf", bagging_freq=1, bagging_fraction=0.6),
    "catboost": cat,
    "catboost, leaf by leaf": lambda: cat(grow_policy="Lossguide"),
    "catboost, missing last": lambda: cat(nan_mode="Max"),
    "catboost, monotone": lambda: cat(monotone_constraints=[1, 0, 0, 0, 0]),
    "one tree": lambda: DecisionTreeClassifier(max_depth=5, random_state=0),
    "adaboost": lambda: AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=9),
    "calibrated histograms": lambda: CalibratedClassifierCV(hist(), cv=2),
    "calibrated extra trees": lambda: CalibratedClassifierCV(
        ExtraTreesClassifier(5, random_state=0), cv=3, method="isotonic", ensemble=False
    ),
    "calibrated adaboost": lambda: CalibratedClassifierCV(AdaBoostClassifier(n_estimators=5), cv=2),
    "voting": lambda: VotingClassifier(
        [("h", hist()), ("t", make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3)))],
        voting="soft", weights=[2, 1],
    ),
    "voting of forests": lambda: VotingClassifier(
        [("r", RandomForestClassifier(4, random_state=0)), ("e", ExtraTreesClassifier(4, random_state=0))],
        voting="soft", weights=[3, 1],
    ),
    "stacking": lambda: StackingClassifier(
        [("h", hist()), ("r", RandomForestClassifier(4, random_state=0))], cv=2
    ),
    "bagging": lambda: BaggingClassifier(
        DecisionTreeClassifier(max_depth=4), 5, max_features=0.6, random_state=0
    ),
}  # fmt: skip
# What these add up is in single precision, or goes through further sums.
ROUGH = {"xgboost": 1e-6, "xgboost, categories": 1e-6, "xgboost, dart": 1e-6}


def fitted(name: str, n_classes: int = 2):
    """A model of a table with 60 background rows, and two rows that it never saw."""
    missing = not (name.startswith(("gradient", "bagging", "calibrated adaboost")) or "adaboost" in name)
    train = table(500, 0, missing)
    told = {"categorical_feature": [2, 4]} if name == "lightgbm, categories" else {}
    estimator = MODELS[name]().fit(train, labels(train, n_classes), **told)
    if isinstance(estimator, tuple(type(MODELS[plain]()) for plain in ("histograms", "lightgbm", "xgboost"))):
        assert (flatten(estimator).sets is not None) == name.endswith("categories")
    return verax.as_model(estimator, schema=SCHEMA, reference=train[:60]), table(2, 1, missing)


def check_averages(model, rows: np.ndarray, atol: float = 1e-11) -> None:
    """All variants of rows get the averages of the model's own answers on the rows that they stand for."""
    path = path_for(model)
    assert path.trees is not None
    masks = all_masks(rows.shape[1])
    for row, answer in zip(rows, path.evaluate(path.prepare(rows), [masks] * len(rows)), strict=True):
        variants = [np.where(mask, row, path.background) for mask in masks.rows()]
        own = model.predict_proba(np.concatenate(variants)).reshape(len(variants), len(path.background), -1)
        np.testing.assert_allclose(answer.probabilities, own.mean(axis=1), rtol=0, atol=atol)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("name", MODELS)
def test_mixtures_get_the_models_own_probabilities(name, n_classes):
    if n_classes > 2 and name == "histograms, monotone":
        pytest.skip("scikit-learn has monotone constraints for two classes only")
    if n_classes > 2 and name == "catboost, monotone":
        pytest.skip("and so has CatBoost")
    model, rows = fitted(name, n_classes)
    check_averages(model, rows, ROUGH.get(name, 1e-11))


@pytest.mark.parametrize("most", [mixture_kernels.MOST_BLENDS, 1, 0])
@pytest.mark.parametrize("grown", ["deep forest", "histograms", "extra trees of three columns"])
def test_trees_put_together_and_walked_say_the_same(grown, most, monkeypatch):
    """More other rows and variants than fit one word or turn; trees with few steps, with many, with too many."""
    monkeypatch.setattr(mixture_kernels, "MOST_BLENDS", most)
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(400, 10))
    goal = np.digitize(rows[:, 0] * rows[:, 1] + rows[:, 2:].sum(axis=1), [-2.0, 2.0])
    rows[rng.random(rows.shape) < 0.1] = np.nan
    estimator = {
        "deep forest": RandomForestClassifier(4, random_state=0),
        "histograms": hist(),
        "extra trees of three columns": ExtraTreesClassifier(5, max_leaf_nodes=4, random_state=0),
    }[grown].fit(rows, goal)
    model = verax.as_model(estimator, reference=rows[:90])
    path = path_for(model)
    masks = Masks.from_rows(rng.random((300, 10)) < rng.random((300, 1)))
    present = masks.rows()
    for row, answer in zip(
        rows[200:202], path.evaluate(path.prepare(rows[200:202]), [masks] * 2), strict=True
    ):
        mixtures = np.where(present[:, None], row, path.background).reshape(-1, 10)
        own = estimator.predict_proba(mixtures).reshape(300, 90, 3).mean(axis=1)
        np.testing.assert_allclose(answer.probabilities, own, rtol=0, atol=1e-12)


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("share", [1.0, 0.6])
def test_trees_that_isolate_rows_say_how_unusual_a_row_is(share, piped):
    rows = table(300, 0, missing=False)
    forest = IsolationForest(n_estimators=12, max_features=share, random_state=0)
    fitted = (make_pipeline(StandardScaler(), forest) if piped else forest).fit(rows)
    model = verax.as_model(fitted, schema=SCHEMA, reference=rows[:60])
    assert (model.output, model.class_names) == ("number", ("anomaly score",))
    assert np.array_equal(model.predict_proba(rows)[:, 0], -fitted.score_samples(rows))
    check_averages(model, table(2, 1, missing=False))
    given = table(1, 1, missing=False)
    (found,) = verax.explainer("shap").explain(model, given)
    mixed = [np.where(mask, given, model.reference) for mask in all_masks(5).rows()]
    values = np.array([-fitted.score_samples(each).mean() for each in mixed])
    np.testing.assert_allclose(found.scores, by_enumeration(values, 5), rtol=0, atol=1e-9)
    (depths,) = verax.explainer("shap", output="raw").explain(model, given)
    shares = np.array([-np.log2(-fitted.score_samples(each)).mean() for each in mixed])
    np.testing.assert_allclose(depths.scores, by_enumeration(shares, 5), rtol=0, atol=1e-9)


def test_the_exponential_loss_has_twice_the_log_odds():
    reference = table(300, 0, missing=False)
    estimator = GradientBoostingClassifier(n_estimators=9, loss="exponential")
    estimator.fit(reference, labels(reference, 2))
    check_averages(verax.as_model(estimator, schema=SCHEMA, reference=reference), table(3, 1, missing=False))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("classifier", ["histograms", "lightgbm", "xgboost"])
def test_trees_at_the_end_of_a_pipeline(classifier, sparse):
    if sparse and classifier == "histograms":
        pytest.skip("it takes no sparse rows")
    reference = table(400, 0)
    kinds = OneHotEncoder(sparse_output=sparse)
    columns = ColumnTransformer(
        [("kinds", kinds, [2, 4]), ("numbers", StandardScaler(), [0, 1, 3])],
        sparse_threshold=1.0 if sparse else 0.0,
    )
    pipeline = make_pipeline(columns, MODELS[classifier]()).fit(reference, labels(reference, 2))
    model = verax.as_model(pipeline, schema=SCHEMA, reference=reference)
    check_averages(model, table(3, 1), 1e-6 if classifier == "xgboost" else 1e-11)


def frame_of(rows: np.ndarray) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=list(SCHEMA.names))
    frame["kind"] = pd.Categorical(np.array(KINDS)[rows[:, 2].astype(int)], categories=KINDS[::-1])
    frame.loc[::9, "kind"] = None
    frame["switch"] = rows[:, 4] == 1
    return frame


def test_histograms_of_a_frame_encode_categories_by_themselves():
    reference = frame_of(table(400, 0))
    estimator = hist(categorical_features="from_dtype").fit(reference, labels(table(400, 0), 3))
    model = verax.as_model(estimator, reference=reference)
    assert flatten(estimator).sets is not None
    check_averages(model, model.schema.encode(frame_of(table(4, 1))))


def test_a_category_that_the_trees_never_saw_goes_with_the_missing():
    reference = table(400, 0)
    reference[:, 2] %= 5
    estimator = hist(categorical_features=[2]).fit(reference, labels(reference, 2))
    given = table(60, 1)
    assert (given[:, 2] >= 5).any()
    check_averages(verax.as_model(estimator, schema=SCHEMA, reference=reference), given[given[:, 2] >= 5][:3])


def test_rows_that_the_trees_cannot_tell_apart_are_asked_once():
    reference = np.repeat(table(1, 0, missing=False), 40, axis=0)
    reference[:, 0] = np.linspace(-1, 1, 40)
    estimator = GradientBoostingClassifier(n_estimators=3, max_depth=1).fit(reference, np.arange(40) >= 20)
    model = verax.as_model(estimator, schema=SCHEMA, reference=reference)
    path = path_for(model)
    with metered() as meter:
        answer = next(path.evaluate(path.prepare(reference[:1]), [all_masks(5)]))
    # Half of the background lies on the input's side of the only cut; the others differ from it in one column. The
    # row itself is asked once besides.
    assert answer.rows == meter.rows - 1 == 20 * 1 + 20 * 2
    check_averages(model, reference[[0, 39]])


def test_many_columns_and_blocks_of_masks(monkeypatch):
    from verax.perturb.paths import tables

    rng = np.random.default_rng(0)
    reference = rng.normal(size=(150, 20))
    estimator = hist().fit(reference, reference[:, :12].sum(axis=1) > 0)
    model = verax.as_model(
        estimator, schema=Schema(tuple(Column(f"c{n}") for n in range(20))), reference=reference
    )
    path = path_for(model)
    row = rng.normal(size=(1, 20))
    masks = Masks.from_rows(rng.random((150, 20)) < 0.5)
    answer = next(path.evaluate(path.prepare(row), [masks]))
    own = [model.predict_proba(np.where(mask, row[0], path.background)).mean(axis=0) for mask in masks.rows()]
    np.testing.assert_allclose(answer.probabilities, own, rtol=0, atol=1e-11)
    monkeypatch.setattr(tables, "BLOCK_ROWS", 64)
    again = next(path.evaluate(path.prepare(row), [masks]))
    assert np.array_equal(again.probabilities, answer.probabilities)


class Sharper(HistGradientBoostingClassifier):
    """Makes something of its own of the trees."""

    def predict_proba(self, X):
        squared = super().predict_proba(X) ** 2
        return squared / squared.sum(axis=1, keepdims=True)


Sharper.__module__ = "sklearn.ensemble"
Sharper.__name__ = "HistGradientBoostingClassifier"
NOT_UNDERSTOOD = {
    "a start that depends on the row": GradientBoostingClassifier(n_estimators=4, init=LogisticRegression()),
    "zeros that go their own way": light(zero_as_missing=True),
    "leaves that are linear": light(linear_tree=True),
    "probabilities that are no sums": Sharper(max_iter=5),
    "columns that depend on one another": make_pipeline(PCA(), hist()),
    "a step that looks at the whole row": make_pipeline(
        FunctionTransformer(lambda rows: rows[:, :1] * rows), hist()
    ),
    "no trees": LogisticRegression(),
}


@pytest.mark.parametrize("what", NOT_UNDERSTOOD)
def test_anything_else_is_asked_itself(what):
    reference = table(300, 0, missing=False)
    reference[:, 0] = reference[:, 0].round(0)
    estimator = NOT_UNDERSTOOD[what].fit(reference, labels(reference, 3))
    model = verax.as_model(estimator, schema=SCHEMA, reference=reference)
    path = path_for(model)
    assert path.trees is None
    row = table(1, 1, missing=False)
    answer = next(path.evaluate(path.prepare(row), [all_masks(5)]))
    np.testing.assert_allclose(answer.probabilities[-1], estimator.predict_proba(row)[0], atol=1e-9)


def test_a_model_that_is_fitted_again_is_read_again():
    model, rows = fitted("histograms")
    check_averages(model, rows[:1])
    model.estimator.fit(model.reference, 1 - labels(model.reference, 2))
    check_averages(model, rows[:1])


def by_enumeration(values, n: int) -> np.ndarray:
    """Shapley values from their definition; the bits of a value's place are the features that are present."""

    def value(present):
        return values[sum(1 << one for one in present)]

    scores = np.zeros(n)
    for feature in range(n):
        others = [other for other in range(n) if other != feature]
        for size in range(n):
            weight = factorial(size) * factorial(n - size - 1) / factorial(n)
            for some in combinations(others, size):
                scores[feature] += weight * (value([*some, feature]) - value(list(some)))
    return scores


@pytest.mark.parametrize("name", [name for name in MODELS if name not in ROUGH])
@pytest.mark.parametrize("output", ["probability", "log-odds"])
def test_shapley_values_are_those_of_the_definition(name, output):
    model, rows = fitted(name)
    # The closed form averages log-odds over the background, the other routes take those of the average.
    link = path_for(model).trees.ensemble.link
    exact = output == "log-odds" and link == "logistic"
    for explanation, row in zip(
        verax.explainer("shap", output=output).explain(model, rows), rows, strict=True
    ):
        sums = exact or (link == "identity" and output == "probability")
        route = "trees" if sums else "enumeration"
        assert explanation.details["route"] == route

        mixtures = [np.where(mask, row, model.reference) for mask in all_masks(5).rows()]
        chances = model.predict_proba(np.concatenate(mixtures))[:, explanation.target].reshape(32, -1)
        if exact:
            values = logit(chances).mean(axis=1)
        elif output == "log-odds":
            values = logit(chances.mean(axis=1).clip(1e-9, 1 - 1e-9))
        else:
            values = chances.mean(axis=1)
        np.testing.assert_allclose(explanation.scores, by_enumeration(values, 5), rtol=0, atol=1e-8)


def test_shapley_values_of_eight_columns_with_categories_and_missing_values():
    rng = np.random.default_rng(3)
    train = np.concatenate([table(400, 0), rng.normal(size=(400, 3))], axis=1)
    schema = Schema((*SCHEMA.columns, Column("u"), Column("v"), Column("w")))
    goal = labels(train[:, :5], 2) | (train[:, 5] + train[:, 6] > 1)
    estimator = hist(categorical_features=[2]).fit(train, goal)
    reference = train[:30]
    assert flatten(estimator).sets is not None
    model = verax.as_model(estimator, schema=schema, reference=reference)
    row = np.concatenate([table(1, 1), rng.normal(size=(1, 3))], axis=1)
    (explanation,) = verax.explainer("shap", output="log-odds").explain(model, row, [1])
    mixtures = [np.where(mask, row[0], reference) for mask in all_masks(8).rows()]
    sums = estimator.decision_function(np.concatenate(mixtures)).reshape(256, -1).mean(axis=1)
    expected = by_enumeration(sums, 8)
    assert explanation.details["route"] == "trees"
    np.testing.assert_allclose(explanation.scores, expected, rtol=0, atol=1e-8)


def test_a_pipeline_that_is_not_understood_is_asked_row_by_row_and_says_why():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    labels = (rows.a * rows.b > 0).astype(int)

    def mixed(frame):
        return np.column_stack([frame["a"] * frame["b"], frame["c"]])

    fitted = make_pipeline(FunctionTransformer(mixed), RandomForestClassifier(5, random_state=0)).fit(
        rows, labels
    )
    found = verax.judge(fitted, rows[:3], ["greedy"], reference=rows, seconds=None, progress=False)
    (said,) = [note for note in found.notes if "row by row" in note]
    assert said.startswith("The trees of this RandomForestClassifier could not be read")
    assert "depends on 'b' and 'a' at once" in said

    def refusing(frame):
        if len(frame) > 60:
            raise ValueError("too many rows for me")
        return frame

    fitted = make_pipeline(FunctionTransformer(refusing), RandomForestClassifier(5, random_state=0)).fit(
        rows, labels
    )
    path = path_for(verax.as_model(fitted, reference=rows))
    assert "raised ValueError (too many rows for me)" in path.fallback
    plain = RandomForestClassifier(5, random_state=0).fit(rows, labels)
    assert path_for(verax.as_model(plain, reference=rows)).fallback == ""
    linear = LogisticRegression().fit(rows, labels)
    assert path_for(verax.as_model(linear, reference=rows)).fallback == ""


def known_to_be_slow(estimator, rows, labels):
    model = verax.as_model(estimator.fit(rows, labels), reference=rows)
    path = path_for(model)
    assert path.trees is None
    (found,) = verax.explainer("shap").explain(model, rows[:1])
    (drawn,) = verax.explainer("lime", samples=50).explain(model, rows[:1])
    assert found.details["path"].endswith("row by row") == bool(path.fallback)
    assert drawn.details["path"].endswith("row by row") == bool(path.fallback)
    return path.fallback


def test_models_with_trees_that_are_not_read_say_so():
    rows = np.random.default_rng(0).normal(size=(60, 3))
    goal = rows[:, 0] + rows[:, 1] ** 2
    classes = (goal > 1).astype(int)
    said = known_to_be_slow(AdaBoostRegressor(n_estimators=3), rows, goal)
    assert said == "how AdaBoostRegressor makes its answer of trees is not known"
    stack = StackingClassifier([("a", DecisionTreeClassifier(max_depth=2))], cv=2, passthrough=True)
    said = known_to_be_slow(stack, rows, classes)
    assert said == "how StackingClassifier makes its answer of trees is not known"
    said = known_to_be_slow(light(objective="cross_entropy"), rows, classes)
    assert said == "how the leaves of this LGBMClassifier make its answer is not known"
    assert known_to_be_slow(xgboost.XGBClassifier(booster="gblinear", n_estimators=2), rows, classes) == ""
    assert known_to_be_slow(make_pipeline(PCA(2), LogisticRegression()), rows, classes) == ""


def with_rare_values(rare):
    """A frame in which four of 2,000 rows have a value that no background row has, and labels that follow it."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=2000), "z": rng.normal(size=2000)})
    frame["kind"] = rng.integers(0, 3, 2000) if rare == 7 else rng.choice(["a", "b", "c"], 2000)
    frame.loc[:3, "kind"], frame.loc[:3, "x"] = rare, -1.0
    return frame, ((frame["x"] > 0) | (frame["kind"] == rare)).astype(int)


@pytest.mark.parametrize("rare", ["rare", 7])
def test_a_category_that_no_background_row_has_is_a_reason_all_the_same(rare):
    frame, labels = with_rare_values(rare)
    columns = ColumnTransformer([("kind", OneHotEncoder(), ["kind"])], remainder="passthrough")
    fitted = make_pipeline(columns, RandomForestClassifier(10, random_state=0)).fit(frame, labels)
    model = verax.as_model(fitted, reference=frame)
    path = path_for(model)
    assert path.trees is not None
    background = model.schema.decode(path.background)
    assert rare not in set(background["kind"])
    present = np.array([[False, False, True], [True, False, True], [False, True, False]])
    (answer,) = path.evaluate(path.prepare(frame[:1]), [Masks.from_rows(present)])
    for mask, found in zip(present, answer.probabilities, strict=True):
        mixed = background.assign(
            **{name: frame[name][0] for name, there in zip(frame, mask, strict=True) if there}
        )
        np.testing.assert_allclose(found, fitted.predict_proba(mixed).mean(axis=0), rtol=0, atol=1e-12)


def test_a_value_that_changes_what_no_training_row_changes_is_asked_about_itself():
    frame, labels = with_rare_values("rare")
    known = frame[4:]
    kinds = OneHotEncoder(categories=[["a", "b", "c", "rare"]])
    columns = ColumnTransformer([("kind", kinds, ["kind"])], remainder="passthrough")
    fitted = make_pipeline(columns, RandomForestClassifier(10, random_state=0)).fit(frame, labels)
    columns = [Column("x"), Column("z"), Column("kind", ("a", "b", "c", "rare"))]
    model = verax.as_model(fitted, reference=known, schema=Schema(tuple(columns)))
    path = path_for(model)
    assert path.trees is not None
    background = model.schema.decode(path.background)
    (answer,) = path.evaluate(path.prepare(frame[:1]), [Masks.from_rows(np.array([[False, False, True]]))])
    expected = fitted.predict_proba(background.assign(kind="rare")).mean(axis=0)
    np.testing.assert_allclose(answer.probabilities[0], expected, rtol=0, atol=1e-12)
    assert path.fallback.startswith("some rows have values that were not tried")


@pytest.mark.parametrize("name", ["frame", "pipeline", "codes"])
def test_rows_of_known_values_go_where_rows_go_that_are_read_one_by_one(name):
    rng = np.random.default_rng(1)
    count = 700
    frame = pd.DataFrame({"x": rng.normal(size=count), "y": rng.integers(0, 9, count).astype(float)})
    frame.loc[rng.random(count) < 0.2, "x"] = np.nan
    frame["kind"] = pd.Categorical(rng.choice(list("abcdefgh"), count))
    frame["not read"] = 3.0
    goal = (frame["x"].fillna(1) + frame["kind"].isin(["a", "f"]) * frame["y"] > 1).astype(int)
    if name == "pipeline":
        steps = [("kind", OneHotEncoder(sparse_output=False), ["kind"]), ("x", StandardScaler(), ["x", "y"])]
        fitted = make_pipeline(ColumnTransformer(steps), hist()).fit(frame, goal)
    elif name == "codes":
        codes = frame.assign(kind=frame["kind"].cat.codes).to_numpy()
        fitted = light().fit(codes, goal, categorical_feature=[2])
    else:
        fitted = hist(categorical_features="from_dtype").fit(frame, goal)
    given = frame.assign(kind=frame["kind"].cat.codes).to_numpy() if name == "codes" else frame
    model = verax.as_model(fitted, reference=given)
    trees = path_for(model).trees
    mixed = np.take_along_axis(model.reference, rng.integers(count, size=(900, 4)), axis=0)
    mixed[:200, 0] = rng.normal(size=200)  # as inputs may have them that are no training rows
    known = trees._known.answers(mixed)
    cuts = np.concatenate(trees.cuts)
    read = trees.read(mixed)
    which = np.repeat(np.arange(len(trees.cuts)), [len(here) for here in trees.cuts])
    expected = read[:, which] > cuts
    np.testing.assert_array_equal(known.columns()[::2].T, expected)
    np.testing.assert_array_equal(known.columns()[1::2].T, expected | np.isnan(read[:, which]))
    np.testing.assert_allclose(trees.predict(mixed), model.predict_proba(mixed), rtol=0, atol=1e-9)
    many = np.repeat(mixed[:1], 900, axis=0)
    many[:, 0] = rng.normal(size=900)
    assert trees._known.answers(many) is None
    np.testing.assert_allclose(trees.predict(many), model.predict_proba(many), rtol=0, atol=1e-9)


def test_functions_and_records_that_ask_trees_say_what_is_slow():
    rows = np.random.default_rng(0).normal(size=(60, 3))
    classes = (rows[:, 0] > 0).astype(int)
    forest = RandomForestClassifier(3, random_state=0).fit(rows, np.column_stack([classes, 1 - classes]))
    path = path_for(verax.as_model(forest, reference=rows, label=1))
    assert path.fallback == "one of the several answers that it gives is picked"
    boosted = hist().fit(rows, classes)
    model = verax.as_model(boosted.predict_proba, reference=rows, class_names=["no", "yes"])
    (said,) = fallback_notes(model, path_for(model))
    assert said.startswith("The trees of this HistGradientBoostingClassifier could not be read")
    assert said.endswith("it was given as a function; give the fitted model itself.")
    plain = LogisticRegression().fit(rows, classes).predict_proba
    assert path_for(verax.as_model(plain, reference=rows, class_names=["no", "yes"])).fallback == ""

    frame = pd.DataFrame({"review": ["good food", "bad food"] * 10, "age": np.arange(20.0)})
    columns = ColumnTransformer([("words", CountVectorizer(), "review"), ("age", "passthrough", ["age"])])
    as_a_whole = "rows that hold texts are asked about as a whole"
    for last, why in ((RandomForestClassifier(3, random_state=0), as_a_whole), (LogisticRegression(), "")):
        fitted = make_pipeline(columns, last).fit(frame, [0, 1] * 10)
        assert path_for(verax.as_model(fitted, reference=frame)).fallback == why


def test_without_numba_models_with_trees_say_what_they_lack(monkeypatch):
    monkeypatch.setattr("verax.perturb.paths.background_trees.HAS_NUMBA", False)
    monkeypatch.setattr("verax.perturb.paths.encoded_columns.HAS_NUMBA", False)
    rows = np.random.default_rng(0).normal(size=(60, 3))
    said = known_to_be_slow(hist(), rows, (rows[:, 0] > 0).astype(int))
    assert said == "numba is not installed (pip install 'verax-xai[fast]')"
    assert known_to_be_slow(LogisticRegression(), rows, (rows[:, 0] > 0).astype(int)) == ""


def test_a_step_that_refuses_some_rows_is_told_afterwards():
    """The trees are walked until a row comes that a step before them refuses; the model is asked about that one."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.uniform(size=(80, 3)), columns=list("abc"))

    def checked(frame):
        if (frame["a"] > 2).any() and len(frame) > 1:
            raise ValueError("a is too large")
        return frame

    fitted = make_pipeline(FunctionTransformer(checked), RandomForestClassifier(5, random_state=0))
    fitted.fit(rows, (rows.a > 0.5).astype(int))
    model = verax.as_model(fitted, reference=rows)
    path = path_for(model)
    assert path.trees is not None
    assert path.fallback == ""
    assert verax.explainer("shap").explain(model, rows[:1])[0].details["path"] == "table, background"
    odd = model.schema.encode(rows[:2])
    odd[1, 0] = 3.0
    assert path.prepare(odd)[0].read is None
    assert path.fallback == "a step before its trees raised ValueError (a is too large) on some rows"
    conditional = verax.as_model(fitted, reference=rows, resampling="conditional")
    assert path_for(conditional).fallback == ""


@pytest.mark.parametrize("inner", ["histograms", "pipeline"])
def test_a_logarithm_around_trees_is_undone(inner):
    rows = np.random.default_rng(0).normal(size=(80, 4))
    trees = HistGradientBoostingRegressor(max_iter=8)
    made = trees if inner == "histograms" else make_pipeline(StandardScaler(), trees)
    fitted = TransformedTargetRegressor(made, func=np.log1p, inverse_func=np.expm1)
    fitted.fit(rows, np.exp(rows[:, 0] + rows[:, 1]))
    check_averages(verax.as_model(fitted, reference=rows), rows[:2], 1e-9)

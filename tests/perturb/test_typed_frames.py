"""Random frames of every type through every path: a model is asked with the very cells that it was fitted on."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier, XGBRegressor

import verax
from verax.data import Schema
from verax.perturb import Masks, path_for

# The days on which something happened, to the microsecond.
DAYS = pd.to_datetime(
    ["2023-05-01 10:00:00.000001", "2024-02-29", "1969-12-31 23:59:59", "2031-01-01"], format="ISO8601"
)
NUMBERS = {
    "float": lambda rng, n: pd.Series(rng.normal(size=n)),
    "float with NaN": lambda rng, n: _gaps(rng, pd.Series(rng.normal(size=n)), np.nan),
    "float32": lambda rng, n: pd.Series(rng.normal(size=n), dtype="float32"),
    "int": lambda rng, n: pd.Series(rng.integers(-5, 60, n)),
    "int8": lambda rng, n: pd.Series(rng.integers(-5, 9, n), dtype="int8"),
    "Int64": lambda rng, n: _gaps(rng, pd.Series(rng.integers(0, 9, n), dtype="Int64"), pd.NA),
    "Float64": lambda rng, n: _gaps(rng, pd.Series(rng.normal(size=n), dtype="Float64"), pd.NA),
}
CATEGORIES = {
    "category": lambda rng, n: _categories(rng, n, ["b", "never", "a", "c"]),
    "ordered category": lambda rng, n: _categories(rng, n, ["low", "mid", "never", "high"], ordered=True),
    "category of numbers": lambda rng, n: _categories(rng, n, [30, 7, 2]),
}
TEXTS = {
    "text with NaN": lambda rng, n: _gaps(rng, pd.Series(rng.choice(["x", "y", "?", "nan"], n)), np.nan),
    "text with None": lambda rng, n: _cells(rng, n, ["x", " x", "y", None]),
    "numbers as text": lambda rng, n: pd.Series(rng.choice(["1", "01", "2.0", "7"], n)),
    "bool": lambda rng, n: pd.Series(rng.random(n) < 0.5),
}
OTHERS = {
    "string": lambda rng, n: _gaps(rng, pd.Series(rng.choice(["x", "", "z"], n), dtype="string"), pd.NA),
    "boolean": lambda rng, n: _gaps(rng, pd.Series(rng.random(n) < 0.5, dtype="boolean"), pd.NA),
    "mixed": lambda rng, n: _cells(rng, n, ["3", 3, 3.0, True, None, np.nan, pd.NA, "missing", (1, 2)]),
    "objects of numbers": lambda rng, n: _cells(rng, n, [3, 2.5, 7, np.nan]),
    "None beside NaN": lambda rng, n: _cells(rng, n, [3.0, 2.5, None, np.nan]),
    "true, false, nothing": lambda rng, n: _cells(rng, n, [True, False, None]),
    "large": lambda rng, n: pd.Series(rng.choice([2**53 + 1, 2**53, 2**60 + 7], n)),
    "dates": lambda rng, n: _gaps(rng, pd.Series(rng.choice(DAYS, n)), pd.NaT),
    "dates in nanoseconds": lambda rng, n: pd.Series(rng.choice(DAYS, n)).astype("datetime64[ns]"),
    "dates of a zone": lambda rng, n: pd.Series(rng.choice(DAYS, n)).dt.tz_localize("Europe/Berlin"),
    "durations": lambda rng, n: pd.Series(rng.choice(DAYS - DAYS[0], n)),
}


def _gaps(rng, values, missing):
    gaps = rng.random(len(values)) < 0.25
    values[gaps] = missing
    return values


def _cells(rng, n, cells):
    column = np.empty(n, dtype=object)
    column[:] = [cells[place] for place in rng.integers(len(cells), size=n)]
    return pd.Series(column, dtype=object)


def _categories(rng, n, categories, *, ordered=False):
    used = [place for place, category in enumerate(categories) if category != "never"]
    codes = rng.choice([*used, -1], n) if rng.random() < 0.5 else rng.choice(used, n)
    return pd.Series(pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(categories, ordered=ordered)))


def make_frame(seed, kinds, n=14):
    """A frame of three to five columns of random types, in which no type is met twice; labels; and rows to explain.

    The rows are made of cells of the frame; where numbers need not have been seen, some are others.
    """
    rng = np.random.default_rng(seed)
    chosen = rng.choice(list(kinds), min(len(kinds), int(rng.integers(3, 6))), replace=False)
    frame = pd.DataFrame({kind: kinds[kind](rng, n) for kind in chosen})
    rows = pd.DataFrame(
        {kind: frame[kind].iloc[rng.integers(n, size=3)].reset_index(drop=True) for kind in chosen}
    )
    for kind in ("float", "int"):
        if kind in rows:
            rows[kind] = (rows[kind] + 1).astype(rows[kind].dtype)
    labels = rng.permutation(np.arange(n) % 2)
    return frame, labels, rows


def same_frames(some, others):
    """To the type and the cell; pandas counts None, NaN and NA as one."""
    pd.testing.assert_frame_equal(
        some.reset_index(drop=True), others.reset_index(drop=True), check_exact=True, check_column_type=True
    )
    for name in some:
        kinds = [[type(cell) for cell in frame[name].astype(object)] for frame in (some, others)]
        assert kinds[0] == kinds[1]


def masked(rows, number, background, present):
    """A row in which the absent columns take the values of each background row, made by pandas alone."""
    n = len(background)
    return pd.DataFrame(
        {
            name: rows[name].iloc[[number] * n].reset_index(drop=True) if there else background[name]
            for name, there in zip(rows, present, strict=True)
        }
    )


def check_paths(fitted, model, frame, rows, seed, tolerance):
    """Probabilities of rows, and of masked ones, are those of the fitted model on the user's own frames."""
    own = fitted.predict_proba(rows)
    assert np.array_equal(model.predict_proba(rows), own)
    path = path_for(model)
    prepared = path.prepare(model.schema.encode(rows))
    rng = np.random.default_rng(seed)
    present = np.vstack([np.ones((1, rows.shape[1]), dtype=bool), rng.random((2, rows.shape[1])) < 0.5])
    answers = path.evaluate(prepared, [Masks.from_rows(present)] * len(rows))
    for number, answer in enumerate(answers):
        assert np.array_equal(answer.probabilities[0], own[number])  # nothing is masked: bit for bit
        for mask, answered in zip(present[1:], answer.probabilities[1:], strict=True):
            expected = fitted.predict_proba(masked(rows, number, frame, mask)).mean(axis=0)
            assert np.allclose(answered, expected, rtol=0, atol=tolerance)


ALL = NUMBERS | CATEGORIES | TEXTS | OTHERS


def test_encoding_and_decoding_gives_the_frame_back():
    for seed in range(1150):
        frame, _, rows = make_frame(seed, ALL)
        frame.columns = [*frame.columns[:-1], 7]  # labels need not be texts
        rows.columns = frame.columns
        model = verax.as_model(lambda asked: np.full((len(asked), 2), 0.5), reference=frame)
        same_frames(model.schema.decode(model.reference), frame)
        same_frames(model.schema.decode(model.schema.encode(rows)), rows)


def test_a_function_of_frames_is_asked_with_mixtures_of_the_users_own_cells():
    asked = []

    def remember(frame):
        asked.append(frame)
        yes = frame.isna().to_numpy().mean(axis=1)
        return np.stack([1 - yes, yes], axis=1)

    for seed in range(2000, 2650):
        frame, _, rows = make_frame(seed, ALL)
        model = verax.as_model(remember, reference=frame, class_names=("no", "yes"))
        asked.clear()
        model.predict_proba(rows)
        same_frames(asked[0], rows)
        path = path_for(model)
        present = np.random.default_rng(seed).random(rows.shape[1]) < 0.5
        answers = path.evaluate(path.prepare(rows[:1]), [Masks.from_rows(present[None])])
        expected = masked(rows, 0, frame, present).isna().to_numpy().mean()
        assert next(iter(answers)).probabilities[0, 1] == pytest.approx(expected)
        for batch in asked:
            assert batch.dtypes.equals(frame.dtypes)
        for explainer in (verax.explain.Lime(samples=40), verax.explain.Greedy()) if seed % 10 == 0 else ():
            asked.clear()
            explainer.explain(model, rows[:1])
            for batch in asked:
                assert batch.dtypes.equals(frame.dtypes)


def _pipeline(frame, rng, classifier):
    """Columns prepared as people do it, by one of the ways that fit their type."""

    def encoder():
        unknown = {"handle_unknown": "ignore"} if rng.random() < 0.5 else {}
        ordinal = OrdinalEncoder(encoded_missing_value=-1)
        return OneHotEncoder(**unknown) if rng.random() < 0.6 else ordinal

    steps = []
    for name in frame:
        if name in NUMBERS:
            step = make_pipeline(SimpleImputer(add_indicator=rng.random() < 0.5), StandardScaler())
        elif name.startswith("dates"):
            years = FunctionTransformer(lambda dates: dates.apply(lambda date: date.dt.year.fillna(2000)))
            step = make_pipeline(years, StandardScaler())
        else:
            step = encoder()
        steps.append((name, step, [name]))
    return make_pipeline(ColumnTransformer(steps), classifier)


PIPELINES = {
    "linear": lambda: LogisticRegression(max_iter=1000),
    "tree": lambda: DecisionTreeClassifier(random_state=0),
    "forest": lambda: RandomForestClassifier(3, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(3, random_state=0),
    "adaboost": lambda: AdaBoostClassifier(n_estimators=3, random_state=0),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_are_asked_with_what_they_were_fitted_on(name):
    kinds = NUMBERS | CATEGORIES | TEXTS | {"dates": OTHERS["dates"]}
    kinds = {kind: make for kind, make in kinds.items() if kind not in ("Int64", "Float64")}
    for seed in range(25):
        frame, labels, rows = make_frame(seed, kinds)
        fitted = _pipeline(frame, np.random.default_rng(seed), PIPELINES[name]()).fit(frame, labels)
        model = verax.as_model(fitted, reference=frame)
        check_paths(fitted, model, frame, rows, seed, 1e-9)
        if seed % 5 == 0:
            for output in ("probability", "log-odds"):
                explained = verax.explainer("shap", output=output).explain(model, rows)
                sampled = verax.explainer("shap", output=output, route="kernel").explain(model, rows)
                own = fitted.predict_proba(rows).argmax(axis=1)
                for row, (one, other, target) in enumerate(zip(explained, sampled, own, strict=True)):
                    assert one.target == other.target == target
                    if output == "probability" or name == "linear":
                        chance = fitted.predict_proba(rows)[row, target]
                        whole = chance if output == "probability" else np.log(chance / (1 - chance))
                        assert one.details["base"] + one.scores.sum() == pytest.approx(whole, abs=1e-6)
                    if output == "probability":  # log-odds are those of a mean, or a mean of them
                        assert one.scores == pytest.approx(other.scores, abs=1e-6)


NATIVE = {
    "histograms": lambda: HistGradientBoostingClassifier(
        categorical_features="from_dtype", max_iter=2, min_samples_leaf=2, early_stopping=False
    ),
    "lightgbm": lambda: LGBMClassifier(
        n_estimators=3, min_child_samples=1, min_data_per_group=1, min_data_in_bin=1, verbose=-1, n_jobs=1
    ),
    "xgboost": lambda: XGBClassifier(enable_categorical=True, n_estimators=3, n_jobs=1),
    "calibrated": lambda: CalibratedClassifierCV(NATIVE["lightgbm"](), cv=2, method="isotonic"),
    "calibrated smoothly": lambda: CalibratedClassifierCV(NATIVE["lightgbm"](), cv=2, method="sigmoid"),
    "voting": lambda: VotingClassifier(
        [("a", NATIVE["lightgbm"]()), ("b", NATIVE["lightgbm"]().set_params(num_leaves=3))], voting="soft"
    ),
}


@pytest.mark.parametrize("name", NATIVE)
def test_models_of_native_categories_get_them(name):
    kinds = (
        {"bool": TEXTS["bool"]} | CATEGORIES | {k: NUMBERS[k] for k in ("float with NaN", "float32", "int")}
    )
    walked = 0
    for seed in range(30):
        frame, labels, rows = make_frame(seed, kinds, n=24)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = NATIVE[name]().fit(frame, labels)
        model = verax.as_model(fitted, reference=frame)
        check_paths(fitted, model, frame, rows, seed, 1e-6)
        walked += path_for(model).trees is not None
    # The steps of isotonic regression stand at scores of training rows: where a sum that differs in its last digit
    # falls on the other side of one, the trees are not walked, and the model itself is asked.
    assert walked == 30 if name != "calibrated" else walked >= 15


NUMBERS_OF = {
    "histograms": lambda: HistGradientBoostingRegressor(
        categorical_features="from_dtype", max_iter=2, min_samples_leaf=2
    ),
    "lightgbm": lambda: LGBMRegressor(
        n_estimators=3, min_child_samples=1, min_data_per_group=1, min_data_in_bin=1, verbose=-1, n_jobs=1
    ),
    "xgboost": lambda: XGBRegressor(enable_categorical=True, n_estimators=3, n_jobs=1),
}


@pytest.mark.parametrize("name", NUMBERS_OF)
def test_regressors_predict_what_they_predict_themselves(name):
    kinds = (
        {"bool": TEXTS["bool"]} | CATEGORIES | {k: NUMBERS[k] for k in ("float with NaN", "float32", "int")}
    )
    for seed in range(10):
        frame, _, rows = make_frame(seed, kinds, n=24)
        goal = np.random.default_rng(seed).normal(100, 30, 24)
        fitted = NUMBERS_OF[name]().fit(frame, goal)
        model = verax.as_model(fitted, reference=frame)
        own = fitted.predict(rows)
        assert np.array_equal(model.predict_proba(rows)[:, 0], own)
        path = path_for(model)
        assert path.trees is not None
        present = np.vstack([np.ones((1, rows.shape[1]), dtype=bool), np.eye(rows.shape[1], dtype=bool)[:2]])
        answers = path.evaluate(
            path.prepare(model.schema.encode(rows)), [Masks.from_rows(present)] * len(rows)
        )
        for number, answer in enumerate(answers):
            assert answer.probabilities[0, 0] == own[number]
            for mask, answered in zip(present[1:], answer.probabilities[1:, 0], strict=True):
                expected = fitted.predict(masked(rows, number, frame, mask)).mean()
                assert answered == pytest.approx(expected, rel=1e-5 if name == "xgboost" else 1e-9)


def test_catboost_gets_the_frame_it_was_fitted_on():
    kinds = {k: ALL[k] for k in ("float with NaN", "float32", "int", "numbers as text", "bool", "category")}
    walked = 0
    for seed in range(30):
        frame, labels, rows = make_frame(seed, kinds, n=24)
        if "category" in frame and frame["category"].isna().any():
            continue  # which CatBoost refuses
        categorical = [name for name in frame if name in ("numbers as text", "category", "bool")]
        fitted = CatBoostClassifier(
            iterations=4, depth=3, cat_features=categorical, one_hot_max_size=1 + seed % 4, verbose=0,
            allow_writing_files=False, thread_count=1, max_ctr_complexity=1 + seed % 2,
        ).fit(frame, labels)  # fmt: skip
        model = verax.as_model(fitted, reference=frame)
        check_paths(fitted, model, frame, rows, seed, 1e-9)
        walked += path_for(model).trees is not None
    assert walked > 15


def test_a_saved_frame_becomes_a_dataset_whose_rows_are_its_own(tmp_path):
    """Frames in Parquet keep their types, those in CSV get pandas' own."""
    for seed in range(30):
        frame, labels, _ = make_frame(seed, NUMBERS | CATEGORIES | TEXTS | {"dates": OTHERS["dates"]})
        frame = frame.assign(label=labels)
        frame.to_csv(tmp_path / "a.csv", index=False)
        frame.to_parquet(tmp_path / "a.parquet")
        for path, read in (("a.csv", pd.read_csv), ("a.parquet", pd.read_parquet)):
            own = read(tmp_path / path)
            data = verax.load_dataset(tmp_path / path, label="label", split=(1, 0, 0))
            back = data.schema.decode(data.train.inputs)
            expected = own.drop(columns="label")
            if not all(column.original.exact for column in data.schema.columns):
                continue
            assert back.dtypes.equals(expected.dtypes)
            assert _bag(back) == _bag(expected)
            assert data.schema == Schema.learn(expected)


def _bag(frame):
    return sorted(repr(row) for row in frame.astype(object).to_numpy().tolist())


@pytest.mark.parametrize(
    "fitted",
    [
        HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=3, categorical_features="from_dtype"),
        LGBMClassifier(n_estimators=5, min_child_samples=3, verbose=-1, n_jobs=1),
        XGBClassifier(n_estimators=5, enable_categorical=True, n_jobs=1),
        CatBoostClassifier(
            iterations=5, verbose=0, allow_writing_files=False, thread_count=1, cat_features=["same"]
        ),
    ],
    ids=lambda one: type(one).__name__,
)
def test_columns_that_are_constant_or_empty_are_explained_and_do_nothing(fitted):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "real": rng.normal(size=60),
            "constant": np.full(60, 3),
            "empty": np.full(60, np.nan),
            "same": pd.Categorical(["only"] * 60),
            "whole": rng.integers(0, 9, 60),
        }
    )
    if isinstance(fitted, HistGradientBoostingClassifier):
        frame.loc[0, "empty"] = 1.0  # without any value its own fit fails
    labels = (frame.real > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's own about a column without values
        fitted = fitted.fit(frame, labels)
        model = verax.as_model(fitted, reference=frame)
        check_paths(fitted, model, frame, frame[:3], 0, 1e-6)
        (found,) = verax.explainer("shap").explain(model, frame[:1])
    scores = dict(zip(found.features, found.scores, strict=True))
    assert max(abs(scores[name]) for name in ("constant", "empty", "same")) < 1e-7
    assert abs(scores["real"]) > 0.1

"""Tables of other libraries in, and explanations out as a frame and as shap's object."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
import shap
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import verax
from verax.errors import VeraxError
from verax.explain import to_frame, to_shap

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(18, 70, 120),
        "town": RNG.choice(["A", "B", "C"], 120),
        "income": RNG.normal(40, 9, 120),
    }
)
LABELS = ((FRAME["age"] > 40) ^ (FRAME["town"] == "B")).to_numpy(dtype=int)


def model_on(frame):
    columns = make_column_transformer((OrdinalEncoder(), ["town"]), remainder="passthrough")
    fitted = make_pipeline(columns, HistGradientBoostingClassifier(max_iter=8)).fit(frame, LABELS)
    return verax.as_model(fitted, reference=frame)


KINDS = {
    "nullable": lambda frame: frame.convert_dtypes(),
    "arrow types": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "polars": polars.from_pandas,
    "arrow": pyarrow.Table.from_pandas,
    "structured array": lambda frame: frame.to_records(index=False),
    "list of dicts": lambda frame: frame.to_dict("records"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_any_library_are_explained_as_those_of_pandas(kind):
    model = model_on(FRAME)
    expected = verax.explainer("shap").explain(model, FRAME[:3])
    found = verax.explainer("shap").explain(model, KINDS[kind](FRAME[:3]))
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one.scores, other.scores)
        assert one.input == other.input


@pytest.mark.parametrize("kind", ["nullable", "arrow types"])
def test_a_model_of_other_types_is_asked_with_them(kind):
    frame = KINDS[kind](FRAME)
    model = model_on(frame)
    own = model.estimator.predict_proba(frame[:5])
    assert np.array_equal(model.predict_proba(frame[:5]), own)
    (found,) = verax.explainer("shap").explain(model, frame[:1])
    assert found.details["base"] + found.scores.sum() == pytest.approx(own[0].max(), abs=1e-9)


def test_scores_stand_beside_the_inputs():
    model = model_on(FRAME)
    rows = FRAME[7:10]
    found = verax.explainer("shap").explain(model, rows)
    frame = to_frame(found, rows)
    pd.testing.assert_frame_equal(frame[list(FRAME)], rows)
    assert list(frame["explained"]) == [one.target_name for one in found]
    assert np.array_equal(frame["score of age"], [one.scores[0] for one in found])
    assert list(frame.columns) == [
        "age", "town", "income", "explained", "base", "score of age", "score of town", "score of income",
    ]  # fmt: skip
    assert len(to_frame(verax.explainer("lime").explain(model, rows))) == 3
    with pytest.raises(VeraxError, match="give the rows that were explained"):
        to_frame(found, FRAME)


def test_explanations_become_those_of_the_shap_package():
    model = model_on(FRAME)
    found = verax.explainer("shap").explain(model, FRAME[:4])
    theirs = to_shap(found, FRAME[:4])
    assert isinstance(theirs, shap.Explanation)
    assert np.array_equal(theirs.values, [one.scores for one in found])
    whole = theirs.base_values + theirs.values.sum(axis=1)
    assert whole == pytest.approx(model.predict_proba(FRAME[:4]).max(axis=1))
    assert theirs.feature_names == ["age", "town", "income"]
    assert theirs.data[0, 1] == FRAME["town"][0]


def test_explanations_of_texts_have_no_common_columns():
    model = verax.as_model(lambda texts: np.full((len(texts), 2), 0.5), kind="text")
    found = verax.explainer("greedy").explain(model, ["good film", "bad"])
    with pytest.raises(VeraxError, match="different features"):
        to_frame(found)


def test_a_row_of_ones_own_file_by_its_number(tmp_path):
    from verax.data import read_rows

    FRAME.to_csv(tmp_path / "new.csv", index=False)
    FRAME.to_parquet(tmp_path / "new.parquet")
    model = model_on(FRAME)
    expected = verax.explainer("shap").explain(model, FRAME[7:8])[0]
    for name in ("new.csv", "new.parquet"):
        (found,) = verax.explainer("shap").explain(model, read_rows(tmp_path / name, 7))
        assert found.scores == pytest.approx(expected.scores, abs=1e-12)
    assert len(read_rows(tmp_path / "new.csv")) == 120
    with pytest.raises(VeraxError, match=r"There is no row 120; .* has the rows 0 to 119"):
        read_rows(tmp_path / "new.csv", [3, 120])
    with pytest.raises(VeraxError, match="There is no file"):
        read_rows(tmp_path / "other.csv")


def test_files_that_match_a_pattern_are_read_one_after_the_other(tmp_path):
    from verax.data import read_rows

    pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_csv(tmp_path / "part-1.csv", index=False)
    pd.DataFrame({"b": ["z"], "a": [3]}).to_csv(tmp_path / "part-2.csv", index=False)
    rows = read_rows(tmp_path / "part-*.csv")
    assert rows["a"].astype(int).tolist() == [1, 2, 3]
    assert rows["b"].tolist() == ["x", "y", "z"]
    assert read_rows(tmp_path / "part-*.csv", 2)["b"].tolist() == ["z"]
    with pytest.raises(verax.VeraxError, match="No file matches"):
        read_rows(tmp_path / "none-*.csv")
    pd.DataFrame({"c": [1]}).to_csv(tmp_path / "part-3.csv", index=False)
    with pytest.raises(verax.VeraxError, match="have the same columns"):
        read_rows(tmp_path / "part-*.csv")

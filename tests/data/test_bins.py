"""The quartile bins of verax.data.table against lime's discretiser and against numbers worked by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lime.discretize import QuartileDiscretizer
from lime.lime_tabular import LimeTabularExplainer

from verax.data import Bins, Column, Schema, load_dataset
from verax.errors import VeraxError


def test_quartiles_names_and_statistics_by_hand():
    schema = Schema((Column("Age"), Column("Sex", ("F", "M"))))
    rows = np.array([[10, 0], [20, 1], [30, 1], [40, 1], [50, 0]], dtype=float)
    bins = Bins.learn(schema, rows)
    np.testing.assert_array_equal(bins.edges[0], [20, 30, 40])
    assert bins.names[0] == ("Age <= 20.00", "20.00 < Age <= 30.00", "30.00 < Age <= 40.00", "Age > 40.00")
    assert bins.names[1] == ("Sex = F", "Sex = M")
    np.testing.assert_array_equal(bins.assign(rows), [[0, 0], [0, 1], [1, 1], [2, 1], [3, 0]])
    np.testing.assert_array_equal(bins.means[0], [15, 30, 40, 50])
    np.testing.assert_allclose(bins.stds[0], [5 + 1e-11, 1e-11, 1e-11, 1e-11])
    np.testing.assert_array_equal(bins.mins[0], [10, 20, 30, 40])
    np.testing.assert_array_equal(bins.maxs[0], [20, 30, 40, 50])
    np.testing.assert_array_equal(bins.values[1], [0, 1])
    np.testing.assert_array_equal(bins.counts[1], [2, 3])
    np.testing.assert_allclose(bins.frequencies[0], [0.4, 0.2, 0.2, 0.2])
    # A value on an edge belongs below it; values outside the training range to the outer bins.
    np.testing.assert_array_equal(bins.assign([[20, 0], [20.1, 0], [-99, 0], [99, 0]])[:, 0], [0, 1, 0, 3])


def _equals_lime(bins, schema, rows):
    lime = QuartileDiscretizer(rows, list(schema.categorical), list(schema.names))
    np.testing.assert_array_equal(bins.assign(rows), lime.discretize(rows))
    for place in schema.numeric:
        assert list(bins.names[place]) == lime.names[place]
        np.testing.assert_array_equal(bins.means[place], lime.means[place])
        np.testing.assert_array_equal(bins.stds[place], lime.stds[place])
        np.testing.assert_array_equal(bins.mins[place], lime.mins[place])
        np.testing.assert_array_equal(bins.maxs[place], lime.maxs[place])


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(-5, 5), st.floats(-1e6, 1e6), st.integers(0, 2)), min_size=1, max_size=40)
)
def test_bins_equal_those_of_lime_on_any_table(rows):
    rows = np.array(rows, dtype=float)
    schema = Schema((Column("few values"), Column("numbers"), Column("c", ("x", "y", "z"))))
    _equals_lime(Bins.learn(schema, rows), schema, rows)


def test_bins_and_frequencies_equal_those_of_limes_explainer_on_adult(needs_package):
    needs_package("mglearn")
    data = load_dataset("adult-raw")
    rows = data.train.inputs
    bins = Bins.learn(data.schema, rows)
    _equals_lime(bins, data.schema, rows)
    lime = LimeTabularExplainer(rows, categorical_features=list(data.schema.categorical), random_state=0)
    for place in range(len(data.schema)):
        assert bins.values[place].tolist() == lime.feature_values[place]
        np.testing.assert_array_equal(bins.frequencies[place], lime.feature_frequencies[place])


def test_equal_quartiles_make_fewer_bins():
    rows = np.array([[0], [0], [0], [0], [7]], dtype=float)
    bins = Bins.learn(Schema((Column("Gain"),)), rows)
    assert bins.names[0] == ("Gain <= 0.00", "Gain > 0.00")
    assert bins.assign(rows)[:, 0].tolist() == [0, 0, 0, 0, 1]


def test_missing_numbers_have_the_last_bin_and_do_not_move_the_quartiles():
    schema = Schema((Column("Age", missing=True),))
    rows = np.array([[10], [np.nan], [20], [30], [np.nan], [40], [50]])
    bins = Bins.learn(schema, rows)
    np.testing.assert_array_equal(bins.edges[0], [20, 30, 40])
    assert bins.names[0][-1] == "Age is missing"
    assert bins.assign(rows)[:, 0].tolist() == [0, 4, 0, 1, 4, 2, 3]
    assert len(bins.names[0]) == len(bins.means[0]) == len(bins.mins[0]) == len(bins.maxs[0]) == 5
    assert np.isnan([bins.means[0][4], bins.stds[0][4], bins.mins[0][4], bins.maxs[0][4]]).all()
    np.testing.assert_array_equal(bins.maxs[0][:4], [20, 30, 40, 50])
    np.testing.assert_allclose(bins.frequencies[0], np.array([2, 1, 1, 1, 2]) / 7)


def test_a_column_of_missing_values_only_has_two_bins():
    schema = Schema((Column("Age", missing=True),))
    bins = Bins.learn(schema, np.array([[np.nan], [np.nan]]))
    assert bins.names[0] == ("Age is known", "Age is missing")
    assert bins.assign([[np.nan], [3.0]])[:, 0].tolist() == [1, 0]


def test_bins_refuse_rows_that_do_not_fit():
    schema = Schema((Column("Age"),))
    with pytest.raises(VeraxError, match="quartiles of no rows"):
        Bins.learn(schema, np.empty((0, 1)))
    bins = Bins.learn(schema, [[1.0]])
    with pytest.raises(VeraxError, match="Row 0 has a missing value in column 'Age'"):
        bins.assign([[np.nan]])

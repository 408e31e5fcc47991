import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verax.data import Column, Schema
from verax.errors import VeraxError

SCHEMA = Schema(
    (
        Column("Age"),
        Column("Job", ("?", "Clerk", "Sailor")),
        Column("Income", missing=True),
    )
)


def test_rows_are_encoded_as_numbers_and_places_of_categories():
    rows = [[37, "Sailor", 1200.5], ["41", "Clerk", None], [18.0, None, "?"]]
    expected = [[37, 2, 1200.5], [41, 1, np.nan], [18, 0, np.nan]]
    np.testing.assert_array_equal(SCHEMA.encode(rows), expected)
    np.testing.assert_array_equal(SCHEMA.encode(np.array(rows, dtype=object)), expected)


def test_a_data_frame_is_read_by_column_name_in_any_order():
    frame = pd.DataFrame({"Job": ["Clerk"], "other": ["x"], "Income": [1.0], "Age": [30]})
    np.testing.assert_array_equal(SCHEMA.encode(frame), [[30, 1, 1]])


def test_pandas_missing_values_and_categories_are_understood():
    frame = pd.DataFrame(
        {
            "Age": pd.array([1, 2], dtype="Int64"),
            "Job": pd.Categorical(["Clerk", None]),
            "Income": pd.array([None, 3.5], dtype="Float64"),
        }
    )
    np.testing.assert_array_equal(SCHEMA.encode(frame), [[1, 1, np.nan], [2, 0, 3.5]])


def test_decoding_gives_back_the_raw_values():
    raw = pd.DataFrame({"Age": [37.0, 18.0], "Job": ["Sailor", "?"], "Income": [np.nan, 2.5]})
    decoded = SCHEMA.decode(SCHEMA.encode(raw))
    assert list(decoded.columns) == ["Age", "Job", "Income"]
    assert decoded["Job"].tolist() == ["Sailor", "?"]
    np.testing.assert_array_equal(decoded[["Age", "Income"]], raw[["Age", "Income"]])


@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False),
            st.sampled_from(["a", "b c", "ü", "?"]),
            st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_learning_encoding_and_decoding_return_the_table(rows):
    schema = Schema.learn(rows, names=["x", "c", "y"], categorical=["c"])
    encoded = schema.encode(rows)
    assert schema.check(encoded) is encoded
    decoded = schema.decode(encoded)
    assert decoded["c"].tolist() == [row[1] for row in rows]
    np.testing.assert_array_equal(decoded["x"], [row[0] for row in rows])
    np.testing.assert_array_equal(decoded["y"], [np.nan if row[2] is None else row[2] for row in rows])
    np.testing.assert_array_equal(schema.encode(decoded), encoded)


def test_a_column_is_learned_as_numeric_if_every_value_is_a_number_or_missing():
    frame = pd.DataFrame(
        {
            "number": [1, 2.5, 3],
            "text of numbers": ["1", " 2.5", "-3e2"],
            "with gaps": ["1", "?", "NA"],
            "words": ["x", "None", ""],
            "flag": [True, False, True],
        }
    )
    schema = Schema.learn(frame)
    assert schema.numeric == (0, 1, 2)
    assert schema.categorical == (3, 4)
    assert [column.missing for column in schema.columns] == [False, False, True, False, False]
    assert schema.columns[3].categories == ("''", "None", "x")
    assert schema.columns[4].categories == ("False", "True")


def test_declared_categories_of_numbers_are_ordered_as_numbers():
    schema = Schema.learn([[10.0, 1], [2, 1], [10, 1], [1, 1]], names=["grade", "x"], categorical=[0])
    assert schema.columns[0].categories == ("1", "2", "10")
    assert schema.columns[1].is_numeric
    np.testing.assert_array_equal(schema.encode([["2", 1], [10, 1]])[:, 0], [1, 2])


def test_values_are_described_for_people():
    assert SCHEMA.describe(0, 37.0) == "Age = 37"
    assert SCHEMA.describe(0, 0.123456) == "Age = 0.1235"
    assert SCHEMA.describe(0, 12345.678) == "Age = 12345.68"
    assert SCHEMA.describe(1, 2.0) == "Job = Sailor"
    assert SCHEMA.describe(2, np.nan) == "Income is missing"
    binned = Schema((Column("Age", ("Age <= 28.00", "Age > 28.00"), binned=True),))
    assert binned.describe(0, 1) == "Age > 28.00"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [[1, "Clerk", 1], [float("inf"), "Clerk", 1]],
            "Row 1 has an infinite value in column 'Age'; replace",
        ),
        ([["inf", "Clerk", 1]], "Row 0 has an infinite value in column 'Age'"),
        ([[None, "Clerk", 1]], "Row 0 has a missing value in column 'Age', where none was seen before; fill"),
        (
            [[1, "Clerk", 1], [2, "Pirate", 1]],
            "Row 1 has the unseen category 'Pirate' in column 'Job'; use one of: ",
        ),
        ([[1, "Clerk"]], r"Row 0 of the table has 2 values but there are 3 columns \(Age, Job, Income\)"),
        ([["old", "Clerk", 1]], "Row 0 has 'old' in the numeric column 'Age'; give a number"),
        (["abc"], "Row 0 of the table is 'abc'; give a list of rows"),
        (np.zeros(3), r"The table has shape \(3,\); give a list of rows"),
        (pd.DataFrame({"Age": [1]}), "The table has no column 'Job'; it has: Age"),
    ],
)
def test_raw_rows_that_do_not_fit_are_named_with_row_and_column(rows, message):
    with pytest.raises(VeraxError, match=message):
        SCHEMA.encode(rows)


def test_a_missing_category_that_was_never_seen_is_named():
    schema = Schema((Column("Job", ("Clerk", "Sailor")),))
    with pytest.raises(VeraxError, match="Row 0 has no value in column 'Job'; use one of: Clerk, Sailor"):
        schema.encode([[None]])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, 3, 1]], "Row 0 has 3 in the categorical column 'Job', whose encoded values are 0 to 2"),
        ([[1, 0.5, 1]], "Row 0 has 0.5 in the categorical column 'Job'"),
        ([[1, np.nan, 1]], "Row 0 has a missing value in column 'Job'"),
        ([[-np.inf, 0, np.inf]], "Row 0 has an infinite value in column 'Age'"),
        ([[1, 0, -np.inf]], "Row 0 has an infinite value in column 'Income'"),
        ([[1, 0]], r"The rows have shape \(1, 2\) but the table has 3 columns"),
        ([["a", 0, 1]], "These rows are not encoded; call schema.encode"),
    ],
)
def test_encoded_rows_that_do_not_fit_are_named(rows, message):
    with pytest.raises(VeraxError, match=message):
        SCHEMA.check(rows)


def test_no_rows_are_a_table_of_no_rows():
    assert SCHEMA.encode([]).shape == (0, 3)
    assert SCHEMA.decode(np.empty((0, 3))).shape == (0, 3)


def test_a_schema_needs_names_that_differ():
    with pytest.raises(VeraxError, match="two columns called 'x'"):
        Schema((Column("x"), Column("x")))
    with pytest.raises(VeraxError, match="pass names="):
        Schema.learn([[1, 2]])
    with pytest.raises(VeraxError, match="no column 'z' to be categorical; there are: x, y"):
        Schema.learn([[1, 2]], names=["x", "y"], categorical=["z"])

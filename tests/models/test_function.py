import operator
import pickle

import numpy as np
import pandas as pd
import pytest

from verax.data.table import Column, Schema
from verax.errors import VeraxError
from verax.models import CallableModel, as_model


def by_length(texts):
    """Longer texts are more positive: probabilities that can be read off."""
    positive = np.array([min(len(text), 10) / 10 for text in texts])
    return np.column_stack([1 - positive, positive])


def by_first_column(rows):
    return np.column_stack([1 - rows[:, 0], rows[:, 0]])


def test_a_function_on_texts_is_called_with_a_list_and_names_its_classes_by_number():
    model = as_model(by_length)
    assert (model.kind, model.class_names) == ("text", ())
    assert model.predict_proba(("abc", "")).tolist() == [[0.7, 0.3], [1.0, 0.0]]
    assert model.class_names == ("class 0", "class 1")


def test_given_class_names_are_kept_and_must_fit_the_answer():
    assert as_model(by_length, class_names=["short", "long"]).class_names == ("short", "long")
    wrong = as_model(by_length, class_names=["short", "middle", "long"])
    with pytest.raises(VeraxError, match="returned 2 probabilities per input but has 3 classes"):
        wrong.predict_proba(["abc"])


def test_no_inputs_do_not_call_the_function():
    assert as_model(operator.neg).predict_proba([]).shape == (0, 0)
    assert as_model(operator.neg, class_names=["a", "b"]).predict_proba([]).shape == (0, 2)


def test_a_function_on_a_table_gets_frames_like_the_one_it_was_given_with():
    frame = pd.DataFrame({"share": [0.25, 0.5], "job": ["cook", "clerk"], "member": [True, False]})
    seen = []

    def remember(rows):
        seen.append(rows)
        return by_first_column(rows.to_numpy())

    model = as_model(remember, reference=frame)
    assert model.kind == "table"
    assert model.reference.tolist() == [[0.25, 1.0, 1.0], [0.5, 0.0, 0.0]]
    raw = [[0.25, "cook", True], [0.5, "clerk", False]]
    for rows in (frame, raw, model.reference, list(model.reference)):
        assert model.predict_proba(rows).tolist() == [[0.75, 0.25], [0.5, 0.5]]
        pd.testing.assert_frame_equal(seen.pop(), frame)


def test_a_function_with_a_schema_gets_encoded_rows_whatever_it_is_asked_with():
    frame = pd.DataFrame({"share": [0.25, 0.5], "job": ["cook", "clerk"]})
    seen = []

    def remember(rows):
        seen.append(rows)
        return by_first_column(rows)

    model = as_model(remember, reference=frame, schema=Schema.learn(frame))
    for rows in (frame, [[0.25, "cook"], [0.5, "clerk"]], model.reference, list(model.reference)):
        assert model.predict_proba(rows).tolist() == [[0.75, 0.25], [0.5, 0.5]]
        assert seen.pop().tolist() == [[0.25, 1.0], [0.5, 0.0]]


def test_a_declared_schema_is_enough_for_a_table():
    model = as_model(by_first_column, schema=Schema((Column("share"),)))
    assert model.predict_proba(np.array([[0.5]])).tolist() == [[0.5, 0.5]]
    with pytest.raises(VeraxError, match="Row 0 has a missing value in column 'share'"):
        model.predict_proba(np.array([[np.nan]]))


def test_a_table_without_columns_is_told():
    with pytest.raises(
        VeraxError, match=r"needs to know its columns; give reference= \(training rows\) or schema="
    ):
        as_model(by_first_column, kind="table")


def test_a_text_with_a_table_is_told():
    with pytest.raises(VeraxError, match="describe a table but kind is 'text'"):
        as_model(by_length, kind="text", reference=[[1.0]])


def test_what_the_function_raises_or_returns_wrongly_is_told():
    with pytest.raises(
        VeraxError, match=r"The model raised TypeError \(bad operand .* on a batch of 1 input, the"
    ):
        as_model(operator.neg).predict_proba(["abc"])
    with pytest.raises(VeraxError, match="sum to 3 instead of 1"):
        as_model(lambda texts: [[1.0, 2.0]] * len(texts)).predict_proba(["abc"])


def test_it_survives_pickling_and_says_what_it_is():
    model = pickle.loads(pickle.dumps(as_model(by_length, class_names=["short", "long"])))
    assert model.predict_proba(["abc"]).tolist() == [[0.7, 0.3]]
    assert repr(model) == "CallableModel(by_length, kind='text', class_names=('short', 'long'))"
    assert isinstance(model, CallableModel)

"""Responses: numbered by sorted names whatever the order of rows, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from verax.errors import VeraxError
from verax.stats.responses import responses


def small():
    return responses(
        participant=["bo", "bo", "al", "al", "cy"],
        item=["q2", "q1", "q1", "q2", "q1"],
        method=["shap", "shap", "lime", "lime", "lime"],
        pre=[1, 0, 0, None, 1],
        post=[1, 1, 0, 1, float("nan")],
    )


def test_names_are_sorted_and_rows_keep_their_order():
    rows = small()
    assert rows.participants == ("al", "bo", "cy")
    assert rows.methods == ("lime", "shap")
    assert rows.participant.tolist() == [1, 1, 0, 0, 2]
    assert rows.item.tolist() == [1, 0, 0, 1, 0]
    assert rows.method_of.tolist() == [0, 1, 0]
    assert rows.strata == (0,)


def test_the_value_is_post_minus_pre_and_missing_where_either_is():
    rows = small()
    assert rows.value[:3].tolist() == [0, 1, 0]
    assert np.isnan(rows.value[3:]).all()
    assert rows.missing == 2


def test_without_pre_the_value_is_the_score():
    rows = responses([1, 2], ["a", "a"], ["x", "y"], [0.25, -1])
    assert rows.pre is None
    assert rows.value.tolist() == [0.25, -1]


def test_a_participant_of_two_methods_is_refused_by_name():
    with pytest.raises(
        VeraxError, match=r"Participant al is in several methods \(lime, shap; 2 such in all\)"
    ):
        responses(["al", "al", "bo", "bo"], [1, 2, 1, 2], ["lime", "shap", "shap", "lime"], [1, 1, 1, 1])


def test_two_rows_of_one_participant_and_item_are_refused_but_not_in_two_strata():
    columns = {"participant": ["al"] * 3, "item": [7, 8, 7], "method": ["lime"] * 3, "post": [1, 1, 0]}
    with pytest.raises(VeraxError, match=r"Participant al has item 7 2 times \(1 such pairs in all\)"):
        responses(**columns)
    assert responses(**columns, stratum=["a", "a", "b"]).strata == ("a", "b")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"post": [1, 0]}, "differ in length"),
        ({"post": ["right"]}, "not a number"),
        ({"post": [float("inf")]}, "infinite"),
        ({"participant": [None]}, "missing"),
    ],
)
def test_other_bad_columns_get_a_sentence(change, sentence):
    columns = {"participant": ["al"], "item": ["q"], "method": ["lime"], "post": [1]} | change
    with pytest.raises(VeraxError, match=sentence):
        responses(**columns)

"""Columns of answers: what is paired, what is dropped and counted, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from verax.errors import VeraxError
from verax.stats.responses import check_lengths, coded, joint, numbers, paired_answers, zero_or_one


def test_only_answers_with_pre_and_post_stay_and_the_others_are_counted():
    answers = paired_answers(
        ["u2", "u1", "u2", "u3"],
        [7, 7, 9, 8],
        ["b", "a", "b", "a"],
        [1, None, True, 0],
        [0, 1, False, math.nan],
    )
    assert answers.participant.tolist() == [0, 0]
    assert answers.item.tolist() == [0, 1]
    assert answers.methods == ("b",)
    assert (answers.pre.tolist(), answers.post.tolist()) == ([1, 1], [0, 0])
    assert answers.dropped == 2


def test_names_are_places_among_the_sorted_ones():
    names, codes = coded("method", ["shap", "lime", "shap", "anchor"])
    assert names == ("anchor", "lime", "shap")
    assert codes.tolist() == [2, 1, 2, 0]
    assert coded("item", np.array([30, 4]))[0] == (4, 30)


def test_joint_tells_all_combinations_apart():
    first, second, third = np.array([0, 0, 1, 1, 0]), np.array([2, 0, 2, 0, 2]), np.array([0, 1, 0, 1, 0])
    found = joint(first, second, third)
    assert found[0] == found[4]
    assert sorted(set(found.tolist())) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: check_lengths(pre=[1, 0], post=[1]), r"differ in length \(pre 2, post 1\)"),
        (lambda: check_lengths(pre=[]), "no answers"),
        (lambda: coded("item", ["a", None, None]), r"Column item, entry 2 of 3 is missing \(2 such in all\)"),
        (lambda: coded("item", [1.0, math.nan]), "Column item, entry 2 of 2 is missing"),
        (lambda: coded("item", np.array(["a", 1], dtype=object)), "mixes text and numbers"),
        (lambda: zero_or_one("pre", [0, 1, 0.5]), r"Column pre, entry 3 of 3 is 0.5 \(1 such in all\)"),
        (lambda: zero_or_one("pre", ["yes"]), "not a number"),
        (lambda: numbers("rating", [1, math.inf]), "Column rating, entry 2 of 2 is infinite"),
        (lambda: paired_answers([1], [1], ["a"], [1], [None]), "None of the 1 answers has both Pre and Post"),
    ],
)
def test_bad_input_gets_one_sentence_that_names_it(call, sentence):
    with pytest.raises(VeraxError, match=sentence):
        call()

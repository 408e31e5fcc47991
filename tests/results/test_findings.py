"""Findings: one form for all that is found, as rows of a table, in JSON and back."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verax.errors import VeraxError
from verax.results.findings import (
    Finding,
    against_random,
    findings_json,
    is_compared,
    read_findings,
    to_frame,
    with_estimate,
)
from verax.results.units import Unit
from verax.stats import Difference, Estimate

LIME = Finding("lime(samples=10)", "area", 70.0, 60.0, 80.0, unit=Unit("per cent"), n=6, counted="stains")
numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
FINDINGS = st.builds(
    Finding,
    method=st.text(),
    measure=st.text(),
    estimate=numbers,
    low=numbers,
    high=numbers,
    unit=st.sampled_from([Unit("points"), Unit("")]),
    p=numbers,
    sign=st.sampled_from(["yes", "part", "no", "open"]),
    source=st.sampled_from(["benchmark", "study"]),
    scope=st.sampled_from(["overall", "part"]),
    simulated=st.booleans(),
)


@given(st.lists(FINDINGS, max_size=4))
def test_what_is_written_is_read_again(rows):
    text = json.dumps(findings_json(rows))
    read = read_findings(json.loads(text), "here")
    assert read == tuple(rows)
    assert all(isinstance(one.unit, Unit) for one in read)


def test_a_value_that_is_none_of_the_known_ones_is_refused_in_a_sentence():
    written = findings_json([LIME])
    written["findings"][0]["scope"] = "whole"
    with pytest.raises(VeraxError, match=r"here: findings\[0\]\.scope is 'whole', which is none of"):
        read_findings(written, "here")


def test_a_frame_has_a_row_for_each_and_a_column_for_each_attribute_even_without_rows():
    names = [one.name for one in fields(Finding)]
    assert list(to_frame([]).columns) == names
    frame = to_frame([LIME, replace(LIME, method="shap", estimate=None)])
    assert list(frame.columns) == names
    assert frame["method"].tolist() == ["lime(samples=10)", "shap"]
    assert frame["estimate"].isna().tolist() == [False, True]
    assert type(frame["unit"][0]) is str


def test_shares_are_written_in_per_cent_and_scores_as_they_are():
    share = Estimate(0.25, 0.125, None, 8, None, 0.9)
    found = with_estimate(LIME, share)
    assert (found.estimate, found.low, found.high, found.n, found.level) == (25.0, 12.5, None, 8, 0.9)
    assert with_estimate(replace(LIME, unit=Unit("words")), share).estimate == 0.25


def difference(first, second, mean, p, p_holm):
    return Difference(first, second, mean, None, None, 6, 0, p, p_holm, 0, 0, 0)


@pytest.mark.parametrize(
    ("tests", "sign", "p", "adjusted"),
    [
        ([], "open", None, None),
        ([("lime", "random", 0.3, 0.001, 0.01)], "yes", 0.001, 0.01),
        ([("random", "lime", -0.3, 0.001, 0.01)], "yes", 0.001, 0.01),
        # Behind random is not ahead of it.
        ([("lime", "random", -0.3, 0.001, 0.01)], "no", 0.001, 0.01),
        # Ahead with one model and not with the other: nothing is claimed, and the larger p is what a claim would need.
        ([("lime", "random", 0.3, 0.001, 0.01), ("lime", "random", 0.1, 0.1, 0.4)], "open", 0.1, 0.4),
        ([("lime", "random", 0.1, 0.1, 0.4)], "no", 0.1, 0.4),
        # Others' tests and tests that could not be made say nothing of it.
        ([("shap", "random", 0.3, 0.001, 0.01), ("lime", "random", 0.3, None, None)], "open", None, None),
    ],
)
def test_who_is_ahead_of_random_with_every_model_passes(tests, sign, p, adjusted):
    lime = replace(LIME, method="lime")
    found = against_random(lime, [[difference(*one)] for one in tests], "the run")
    assert (found.sign, found.p, found.p_adjusted) == (sign, p, adjusted)
    assert found.compared_with == ("random" if adjusted is not None else "")


def test_ceilings_and_nothing_are_not_compared():
    assert [
        is_compared(name) for name in ("lime(samples=3)", "random", "ground-truth", "oracle", "none")
    ] == [
        True,
        True,
        False,
        False,
        False,
    ]

"""The sentences and lines of a verification's verdict, from estimates by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from verax.benchmarks.rationale.spec import RationaleSpec
from verax.benchmarks.rationale.summarise import _over_targets
from verax.benchmarks.rationale.summary import Group, GroupSet, Scored, Summary
from verax.report.common.verdict import Judged
from verax.report.rationale.verdict import HARDLY_EVER, UNSHOWN, _answer, _group_verdict, rationale_verdict

LESS = "errs, but less than chance on every target"
T_2 = 4.302652729911275  # Student's t, 95%, two degrees of freedom


def summary_of(*groups):
    """A summary of groups of targets, each given as the share of misranked inputs by target, by explainer."""
    made = []
    for difficulty, shares in zip(("easy", "hard"), groups, strict=False):
        found = found_of(shares)
        made.append(Group("films", difficulty, 3, {"strict": found, "published": found}))
    labels = tuple(groups[0])
    return Summary(RationaleSpec(), labels, dict.fromkeys(labels, "none"), {}, (), tuple(made), ())


def found_of(shares):
    """What three targets found, from the share of misranked inputs by target, by explainer."""
    scored = {label: Scored(*[_over_targets("misranked", several)] * 4) for label, several in shares.items()}
    return GroupSet(3, scored, (), ())


def lines(summary):
    return {row.name: (row.estimate, row.low, row.high) for row in rationale_verdict(summary).judged}


def test_an_interval_near_the_end_of_the_scale_is_as_wide_as_students():
    shares = [0.84, 0.90, 0.94]
    (estimate, low, high) = lines(summary_of({"anchor": shares, "random": shares}))["anchor"]
    half = 100 * T_2 * 0.0503322295684717 / 3**0.5
    assert (estimate, low, high) == (pytest.approx(89.3333333), pytest.approx(89.3333333 - half), 100.0)


def test_groups_of_targets_are_averaged_and_one_without_an_interval_leaves_none():
    many, other, same = [0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.2, 0.2, 0.2]
    both = lines(summary_of({"lime": many, "shap": same}, {"lime": other, "shap": other}))
    half = 100 * T_2 * 0.1 / 3**0.5
    assert both["lime"] == (
        pytest.approx(35),
        pytest.approx(35 - half / 2**0.5),
        pytest.approx(35 + half / 2**0.5),
    )
    assert both["shap"] == (pytest.approx(35), None, None)


def test_everybody_is_told_in_one_sentence_and_chance_is_named_once():
    rows = [
        Judged("greedy", "yes", HARDLY_EVER, 0.0),
        Judged("lrp", "yes", HARDLY_EVER, 0.4),
        Judged("shap", "open", LESS, 3.0),
        Judged("lime", "open", LESS, 5.2),
        Judged("anchor", "no", UNSHOWN, 89.3),
    ]
    assert _answer(rows, [0.92, 0.94]) == (
        "greedy and lrp hardly ever rank a word that the model ignores above one that it needs (0%; chance 93%); shap "
        "and lime err, but less often than chance on every target (3–5% of inputs); anchor is not shown to err less "
        "than chance (89%)."
    )


def test_where_strict_inputs_are_too_easy_all_inputs_are_told_too():
    strict = found_of({"lime": [0.0, 0.01, 0.005], "shap": [0.0, 0.0, 0.0], "random": [0.8, 0.9, 0.8]})
    everything = found_of({"lime": [0.2, 0.3, 0.25], "shap": [0.1, 0.2, 0.15], "random": [0.9, 0.9, 0.9]})
    summary = summary_of({"lime": [0.0], "shap": [0.0], "random": [0.8]})
    group = Group("films", "hard", 3, {"strict": strict, "published": everything})
    said = _group_verdict(replace(summary, groups=(group,)), group, {"lime": "lime", "shap": "shap"})
    assert said == (
        "On films (hard targets), all of shap and lime misrank at the most 0.5% of strict inputs: these are too easy "
        "to tell them apart. Of all inputs that the paper keeps the shares are: shap 15.0% and lime 25.0%."
    )


def test_one_explainer_alone_and_nobody():
    alone = [Judged("lime", "open", "errs less than chance on 1 of 3 targets", 40.0)]
    assert _answer(alone, []) == (
        "lime ranks a word that the model ignores above one that it needs less often than chance on 1 of 3 targets "
        "(40% of inputs)."
    )
    assert _answer([], [0.9]) == "No explainer could be scored, so none is judged."

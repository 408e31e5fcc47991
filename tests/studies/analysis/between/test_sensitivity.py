"""Leaving out one item or participant at a time, and counting everybody."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from studies.analysis.frames import (
    THREE,
    collected,
    drawn,
    everybody,
    sample_study,
    simulated_answers,
    summarised,
)
from verax.studies.analysis import Options
from verax.studies.analysis.between.effects import effects, paired, primary_changes

ONLY = Options(estimator="crossed", replicates=100)


@pytest.fixture(scope="module")
def study():
    return sample_study(
        {"name": "forward", "learning": 4, "test": 16}, {"learning": 4, "test": 16}, conditions=THREE[:2]
    )


def primary(study, people, right):
    """The primary estimate of these people alone."""
    answers = collected(study, people, simulated_answers(study, right)).responses
    found = effects(paired(answers, "prediction"), study.spec.conditions, "random", 0.95)
    (one,) = primary_changes(found).estimates
    return one


def test_leaving_out_each_participant_is_analysing_the_others(study):
    right = drawn((6, 6), 16, seed=1)
    people = everybody(study, 6)
    found = summarised(collected(study, people, simulated_answers(study, right)), ONLY)["sensitivity"]
    others = [primary(study, [p for p in people if p != out], right) for out in people]
    (row,) = (one for one in found["leave_one_out"] if one["left_out"] == "participant")
    assert row["tried"] == 12
    assert row["lowest"] == pytest.approx(min(one.estimate for one in others))
    assert row["highest"] == pytest.approx(max(one.estimate for one in others))
    whole = primary(study, people, right)
    turned = [p.name for p, one in zip(people, others, strict=True) if excludes(one) != excludes(whole)]
    assert (row["turns"], row["turned_by"]) == (bool(turned), turned)
    (items,) = (one for one in found["leave_one_out"] if one["left_out"] == "item")
    assert items["tried"] == 16
    assert items["lowest"] < whole.estimate < items["highest"]


def excludes(one):
    return (one.low > 0) - (one.high < 0)


def test_one_participant_who_carries_the_conclusion_is_named(study):
    """Without the one person of lime who gained nothing, the gain is clear; with that person it is not."""
    right = drawn((6, 6), 16)
    pre, post = right.pre.copy(), right.post.copy()
    pre[:], post[:] = 0.0, 0.0
    for person in range(6):
        post[0, person, : 1 + person % 2] = 1  # people without explanations gain one item or two
    for person in range(6, 11):
        post[0, person, : 8 + person % 3] = 1
    pre[0, 11], post[0, 11] = 1, 0  # the last loses everything
    planted = replace(right, pre=pre, post=post)
    summary = summarised(collected(study, everybody(study, 6), simulated_answers(study, planted)), ONLY)
    (row,) = (one for one in summary["sensitivity"]["leave_one_out"] if one["left_out"] == "participant")
    assert "p000000000c" in row["turned_by"]
    table = next(table for table in summary["tables"] if table["key"] == "sensitivity")
    assert "when one participant is left out (lime)" in table["sentence"]


def test_who_stopped_before_the_second_round_is_counted_as_unchanged_beside(study):
    right = drawn((5, 5), 16, 0.2, seed=3)
    people = [
        replace(p, status="active", left=True, until="about-post") if p.number in (7, 8) else p
        for p in everybody(study, 5)
    ]
    summary = summarised(collected(study, people, simulated_answers(study, right)), ONLY)
    by_variant = {one["variant"]: one["estimate"] for one in summary["sensitivity"]["variants"]}
    kept = np.delete(right.change[0], [6, 7], axis=0).mean(axis=1)
    assert by_variant["everybody who answered (intention to treat)"] == pytest.approx(
        100 * (kept[5:].mean() - kept[:5].mean())
    )
    assert by_variant["everybody, missing second answers as no change"] == pytest.approx(
        100 * (kept[5:].sum() / 5 - kept[:5].mean())
    )
    table = next(table for table in summary["tables"] if table["key"] == "sensitivity")
    assert any("2 participants answered no item in both rounds" in note for note in table["notes"])


def test_a_conclusion_is_that_of_the_corrected_test():
    """Where the interval alone excludes 0 and the corrected one does not, nothing was claimed that could be lost."""
    three = sample_study({"name": "forward", "learning": 4, "test": 16}, {"learning": 4, "test": 16})
    right = drawn((8, 8, 8), 16, (0.0, 0.2, 0.0), seed=21)
    answered = collected(three, everybody(three, 8), simulated_answers(three, right))
    summary = summarised(answered, ONLY)
    lime = summary["primary"]["estimates"][0]
    assert lime["low"] > 0 > lime["low_adjusted"]
    assert "0 is outside one, but not once all conditions are counted" in summary["primary"]["sentence"]
    (row,) = (
        one
        for one in summary["sensitivity"]["leave_one_out"]
        if (one["left_out"], one["condition"]) == ("participant", "lime")
    )
    pairs = paired(answered.responses, "prediction")
    turned = []
    for out in answered.participants["participant"]:
        found = effects(pairs[pairs["participant"] != out], three.spec.conditions, "random", 0.95)
        if primary_changes(found).estimates[0].p_adjusted <= 0.05:
            turned.append(out)
    assert row["turned_by"] == turned


def test_intention_to_treat_counts_the_excluded_and_those_who_left(study):
    right = drawn((5, 5), 16, 0.2, seed=3)
    people = [replace(p, rules=("late",)) if p.number == 2 else p for p in everybody(study, 5)]
    summary = summarised(collected(study, people, simulated_answers(study, right)), ONLY)
    by_variant = {one["variant"]: one["estimate"] for one in summary["sensitivity"]["variants"]}
    whole = primary(study, everybody(study, 5), right)
    kept = primary(study, [p for p in everybody(study, 5) if p.number != 2], right)
    assert by_variant["everybody who answered (intention to treat)"] == pytest.approx(whole.estimate)
    assert by_variant["as analysed"] == pytest.approx(kept.estimate)
    assert summary["primary"]["estimates"][0]["estimate"] == pytest.approx(kept.estimate)

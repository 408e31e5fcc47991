"""The gain of machines over what there was to gain: by hand, beside the matched condition, rarely claimed by chance."""

import numpy as np
import pandas as pd
import pytest

from verax.studies.analysis.between.effects import normalised_gains, normalised_table
from verax.studies.definition.spec_tables import Condition

CONDITIONS = (Condition(name="plain"), Condition(name="lime", explainer="lime"))


def pairs(plain, lime, pre=0.0):
    """A row for each item and condition; the answers of one machine each."""
    return pd.DataFrame(
        [
            {"participant": name, "item": f"i{n}", "condition": name, "pre": pre, "post": float(score)}
            for name, scores in (("plain", plain), ("lime", lime))
            for n, score in enumerate(scores)
        ]
    )


def test_the_gain_is_divided_by_what_was_left():
    (found,) = normalised_gains(pairs([1, 1, 0, 0, 0], [1, 1, 1, 0, 0]), CONDITIONS)
    assert (found.condition, found.items) == ("lime", 5)
    assert found.p == 1.0  # of the two signs of one difference, both are as far from 0
    assert (found.without, found.with_explanations) == (pytest.approx(0.4), pytest.approx(0.6))
    assert found.normalised == pytest.approx(0.2 / 0.6)


def test_without_a_condition_that_shows_nothing_first_answers_are_the_baseline():
    rows = pairs([], [1, 1, 1, 0], pre=0.5)
    (found,) = normalised_gains(rows, CONDITIONS[1:])
    assert found.normalised == pytest.approx((0.75 - 0.5) / 0.5)
    assert 'add one (explainer = "none")' in normalised_table(rows, CONDITIONS[1:]).notes[0]


def test_a_machine_that_knows_the_task_is_seen_and_one_that_cannot_is_not():
    rng = np.random.default_rng(0)
    helped = rng.random(40) < 0.9
    # On a known task the answers are right without explanations; with masked labels they are chance.
    known, masked = np.ones(40) - (np.arange(40) % 20 == 0), rng.random(40) < 0.5
    warned = normalised_table(pairs(known, helped), CONDITIONS)
    assert any("they know the task" in note for note in warned.notes)
    assert warned.sentence == "No condition is known to have helped the machines."
    fair = normalised_table(pairs(masked, helped), CONDITIONS)
    assert not any("they know the task" in note for note in fair.notes)
    assert fair.sentence == "With explanations the machines predicted the model better: lime."


def test_where_nothing_was_left_there_is_no_gain_to_speak_of():
    (found,) = normalised_gains(pairs([1] * 10, [1] * 10), CONDITIONS)
    assert (found.normalised, found.p) == (None, 1.0)


def test_of_two_conditions_that_are_alike_hardly_any_is_claimed_to_help():
    rng = np.random.default_rng(1)
    claimed = 0
    for _ in range(100):
        ease = rng.random(24)  # items differ, and a condition changes nothing
        (found,) = normalised_gains(pairs(rng.random(24) < ease, rng.random(24) < ease), CONDITIONS)
        claimed += found.p < 0.05
    assert claimed <= 0.05 * 100


def test_many_machines_that_answer_alike_are_no_more_evidence_than_one():
    one = pairs([0, 1] * 6, [1, 1, 0] * 4)
    many = pd.concat([one.assign(participant=one["participant"] + str(n)) for n in range(10)])
    assert normalised_gains(one, CONDITIONS) == normalised_gains(many, CONDITIONS)

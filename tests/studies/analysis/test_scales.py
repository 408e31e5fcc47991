"""Scales among one's own questions: scores by hand, turned items, contrasts as scipy has them, reliability."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_ind

from small_study import small_study
from verax.stats.agreement import cronbach_alpha
from verax.studies.analysis.scales import scale_tables, scored
from verax.studies.answers.schema import PARTICIPANTS, RESPONSES, shown, to_frame
from verax.studies.protocol.contract import Analysed
from verax.studies.results.study_summary import Options

SUS = {"block": "sus"}
MOOD = {"name": "mood", "kind": "scale", "question": "How are you?", "points": 5, "place": "test"}


def analysed(questions, answers) -> Analysed:
    """Somebody's answers by (person, condition, phase): values of the items of the one scale that is asked."""
    study = small_study(questions=questions)
    blank = {column.name: None for column in shown(RESPONSES, identifying=False)}
    about = {column.name: None for column in shown(PARTICIPANTS, identifying=False)}
    rows = [
        blank
        | {"participant": who, "condition": condition, "phase": phase, "question": name, "answer": str(value)}
        | {"bot": False, "step": 1, "number_in_phase": 1, "late": False, "withheld": False, "views": 1}
        for (who, condition, phase), values in answers.items()
        for name, value in values.items()
    ]
    people = [
        about
        | {
            "participant": who,
            "bot": False,
            "condition": None,
            "steps": 1,
            "done": 1,
            "left": False,
            "excluded": False,
        }
        for who in dict.fromkeys(who for who, *_ in answers)
    ]
    responses = to_frame(iter(rows), shown(RESPONSES, identifying=False))
    participants = to_frame(iter(people), shown(PARTICIPANTS, identifying=False))
    return Analysed(
        study,
        "prediction",
        {},
        responses,
        participants,
        responses,
        participants,
        tuple(study.spec.conditions),
    )


def test_the_usability_scale_is_scored_as_its_author_did():
    # Brooke's rule: odd items minus 1, 5 minus even items, times 2.5.
    values = [4, 2, 5, 1, 3, 3, 4, 2, 5, 1]
    expected = 2.5 * sum(value - 1 if place % 2 == 0 else 5 - value for place, value in enumerate(values))
    answers = {("p1", "none", "own-after"): {f"sus-{item}": value for item, value in enumerate(values, 1)}}
    (one,) = scored(analysed([SUS], answers))
    assert one.scores.tolist() == [expected] == [80.0]


def test_who_left_an_item_out_has_no_score():
    answers = {("p1", "none", "own-after"): {f"sus-{item}": 3 for item in range(1, 10)}}
    assert list(scored(analysed([SUS], answers))) == []


def test_conditions_are_compared_between_people_by_welchs_test():
    rng = np.random.default_rng(4)
    none, shown_to = rng.integers(1, 4, 12), rng.integers(3, 6, 9)
    answers = {(f"n{who}", "none", "own-test"): {"mood": value} for who, value in enumerate(none)}
    answers |= {(f"s{who}", "shown", "own-test"): {"mood": value} for who, value in enumerate(shown_to)}
    (table,) = scale_tables(analysed([MOOD], answers), Options())
    control, condition = table.rows
    tested = ttest_ind(shown_to, none, equal_var=False)
    assert (control["n"], control["mean"], control["difference"]) == (12, pytest.approx(none.mean()), None)
    assert condition["difference"] == pytest.approx(shown_to.mean() - none.mean())
    assert condition["p"] == pytest.approx(tested.pvalue)
    assert "mood differs in shown" in table.sentence


def test_few_people_get_an_estimate_and_no_claim():
    answers = {(f"n{who}", "none", "own-test"): {"mood": 1 + who % 2} for who in range(4)}
    answers |= {(f"s{who}", "shown", "own-test"): {"mood": 4 + who % 2} for who in range(4)}
    (table,) = scale_tables(analysed([MOOD], answers), Options())
    assert table.rows[1]["difference"] == pytest.approx(3)
    assert table.rows[1]["p"] is None


def test_the_same_people_in_both_conditions_are_paired():
    answers = {
        (f"p{who}", condition, f"own-{condition}"): {"mood": value}
        for who, pair in enumerate([(1, 2), (2, 2), (3, 5), (1, 3), (2, 3), (4, 5), (2, 4)])
        for condition, value in zip(("none", "shown"), pair, strict=True)
    }
    (table,) = scale_tables(analysed([MOOD], answers), Options())
    assert table.rows[1]["difference"] == pytest.approx(9 / 7)  # 1, 0, 2, 2, 1, 1, 2
    assert table.rows[1]["p"] < 0.01


def test_reliability_is_of_items_turned_in_one_direction():
    rng = np.random.default_rng(2)
    level = rng.integers(1, 5, 40)
    values = np.clip(level[:, None] + rng.integers(0, 2, (40, 10)), 1, 5)
    given = {
        (f"p{who}", "none", "own-after"): {
            f"sus-{item}": 6 - row[item - 1] if item % 2 == 0 else row[item - 1] for item in range(1, 11)
        }
        for who, row in enumerate(values)
    }
    _, table = scale_tables(analysed([SUS], given), Options())
    assert table.rows[0]["alpha"] == pytest.approx(cronbach_alpha(values).estimate)
    assert table.rows[0]["omega"] > 0.8

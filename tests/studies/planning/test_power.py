"""Planning: the design that is simulated is the spec's, power grows, and the whole pipeline keeps its promises."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from verax.cli.study_make import _print_power
from verax.errors import VeraxError
from verax.stats.crossed.within import ConditionResponses, difference_claims
from verax.stats.power import Design, Spreads, analysis, power, simulate
from verax.studies.definition.spec import make_study_spec, read_study_spec
from verax.studies.planning.check import check_pipeline, simulated_study
from verax.studies.planning.planned_study import (
    planning_of,
    question_of,
    share_of,
    sized,
    toy_study,
    values_of,
)
from verax.studies.planning.power import People, design_power, plan_power, planned, shown_conditions
from verax.studies.protocol.contract import make_protocol

NONE, LIME, SHAP, RANDOM = (
    {"name": "none"},
    {"name": "lime", "explainer": "lime"},
    {"name": "shap", "explainer": "shap"},
    {"name": "random", "like": "lime"},
)
PROTOCOLS = {
    "forward": {"test": 16},
    "counterfactual": {"test": 16},
    "user-test": {"learning": 4, "test": 8, "changed": 8},
    "reverse-turing": {"training": 4, "evaluation": 8},
    "model-choice": {"test": 24, "items_per_participant": 12},
    "class-from-evidence": {"test": 24, "items_per_participant": 12},
    "uncertain-case": {"test": 24, "items_per_participant": 12},
}


def a_spec(name, conditions=(LIME, SHAP, RANDOM), participants=3, **parameters):
    if name in ("forward", "counterfactual", "user-test", "reverse-turing"):
        conditions = (NONE, *conditions[:1], RANDOM)
    return make_study_spec(
        {
            "title": "A study",
            "dataset": "made-up",
            "protocol": {"name": name, **PROTOCOLS[name], **parameters},
            "conditions": [dict(one) for one in conditions],
            "participants": participants,
        }
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("forward", ("lime", "none", 2, "points")),
        ("reverse-turing", ("lime", "none", 2, "points")),
        ("class-from-evidence", ("lime", "random", 2, "hundredths of the score")),
    ],
)
def test_the_question_is_that_of_the_primary_analysis(name, expected):
    asked = question_of(a_spec(name))
    assert (asked.method, asked.reference, asked.comparisons, asked.unit) == expected


def test_a_user_test_is_planned_over_the_items_of_both_parts():
    spec = a_spec("user-test")
    assert shown_conditions(spec).shape[1] == 8 + 8
    found = plan_power(spec, effect=30, participants=[4], studies=4)
    assert {row.items for row in found.rows} == {16}


def test_without_a_condition_that_shows_nothing_change_is_tested():
    spec = a_spec("forward").model_copy(update={"conditions": a_spec("model-choice").conditions})
    asked = question_of(spec)
    assert asked.reference is None
    assert asked.comparisons == 3


@pytest.mark.parametrize("name", PROTOCOLS)
def test_simulated_people_take_the_steps_of_the_protocol(name):
    spec = a_spec(name)
    study, protocol = toy_study(spec), make_protocol(spec.protocol)
    found = simulated_study(study, People(), 0)
    tests = {key for key, phase in study.phases.items() if phase.kind == "test"}
    expected = sorted(
        (row.number, step.phase, step.item, step.condition)
        for row in study.rows
        for step in protocol.steps(study, row, 1)
        if step.phase in tests and step.item
        for _ in range(spec.participants)
    )
    answers = found.responses
    given = sorted(
        zip(answers["design_row"], answers["phase"], answers["item"], answers["condition"], strict=True)
    )
    assert given == expected
    known = answers[answers["answer"].notna()]
    assert 0.9 < len(known) / len(answers) < 1
    scores = [
        protocol.score(study.items[row.item], _meaning(row.answer)) for row in known.itertuples(index=False)
    ]
    assert scores == known["score"].tolist()


def _meaning(answer):
    return int(answer) if answer.isdigit() else answer


@pytest.mark.parametrize("name", ["reverse-turing", "uncertain-case"])
def test_each_item_is_shown_under_each_condition_equally_often(name):
    spec = a_spec(name)
    shown = shown_conditions(spec)
    counts = [(shown == place).sum(axis=0) for place in range(3)]
    for one in counts:
        np.testing.assert_array_equal(one, counts[0])
    assert shown.shape[1] == 24
    assert len(shown) == len(toy_study(spec).rows) * 3


def test_between_people_it_is_the_power_of_the_crossed_contrast():
    spec = sized(a_spec("forward", participants=8))
    plan = planned(spec, People())
    expected = power(
        Design((8, 8, 8), 16, 0.66), 0.2, Spreads(), analysis("contrast", "random", "Holm"), 100, 3
    )
    assert power(plan.design, 0.2, People().spreads(), plan.analyse, 100, 3) == expected
    assert plan.people == 24


def test_an_effect_on_the_score_is_twice_that_on_right_answers_times_their_worth():
    # Half of the answers are sure: they are worth 0.75 on average, and 0.9 of that where a tenth cannot say.
    assert share_of(10, planning_of(a_spec("reverse-turing"))) == pytest.approx(0.1)
    assert share_of(15, planning_of(a_spec("uncertain-case"))) == pytest.approx(0.1)
    assert share_of(13.5, planning_of(a_spec("model-choice"))) == pytest.approx(0.1)


def test_how_sure_people_are_is_drawn_anew_in_every_study():
    spec = a_spec("class-from-evidence")
    shown = shown_conditions(spec)
    drawn = simulate(Design((len(shown),), shown.shape[1], 0.55, missing=0.0), 0.0, Spreads(), 40, 1)
    worth = np.abs(values_of(drawn, shown, 1, planning_of(spec)))
    assert (worth[0] != worth[1])[shown >= 0].mean() > 0.3
    assert np.nanmean(worth) == pytest.approx(0.9 * 0.75, abs=0.01)


def test_power_grows_with_people_and_the_needed_number_reaches_it():
    plan = plan_power(a_spec("reverse-turing"), effect=20, participants=(1, 6), studies=100)
    powers = [row.power for row in plan.rows]
    assert powers == sorted(powers)
    assert [row.participants for row in plan.rows] == [1, 3, 6]
    (needed,) = plan.needed
    again = plan_power(
        a_spec("reverse-turing", participants=needed.participants), effect=20, participants=(), studies=100
    )
    assert again.size.power >= 0.8
    assert again.size.people == needed.people
    assert 5 < plan.detectable < 60
    assert json.loads(json.dumps(plan.to_dict()))["sentence"] == plan.sentence()
    assert "(lime against none, within people)" in plan.sentence()


def test_more_items_give_more_power():
    plan = plan_power(a_spec("forward", participants=6), effect=15, participants=(), items=(64,), studies=60)
    assert [row.items for row in plan.rows] == [16, 64]
    assert plan.rows[1].power > plan.rows[0].power


def test_people_who_differ_more_need_more_of_them():
    spec = a_spec("forward", participants=8)
    alike, apart = (planned(spec, People(between_people=spread)) for spread in (0.1, 2.0))
    found = [
        power(plan.design, 0.15, People(between_people=spread).spreads(), plan.analyse, 100, 0).power
        for plan, spread in ((alike, 0.1), (apart, 2.0))
    ]
    assert found[0] > found[1]


def test_a_planted_effect_goes_through_the_whole_pipeline():
    from verax.studies.analysis import Options, analyse

    study = toy_study(a_spec("class-from-evidence", participants=6))
    found = analyse(simulated_study(study, People(), 1, effect=0.35), Options(replicates=20))
    line = found.primary.estimates[0]
    assert line.key == "lime-vs-random"
    assert line.low < 2 * 0.35 * 0.675 < line.high
    assert line.p_adjusted < 0.05


def test_between_people_only_the_method_is_helped():
    study = toy_study(a_spec("forward", participants=12))
    answers = simulated_study(study, People(), 2, effect=0.3).responses
    means = answers.groupby(["condition", "phase"])["score"].mean()
    assert means["lime", "post"] - means["lime", "pre"] > 0.15
    assert abs(means["none", "post"] - means["none", "pre"]) < 0.12


def test_the_check_counts_claims_and_coverage():
    found = check_pipeline(a_spec("reverse-turing", participants=2), studies=3, seed=1)
    assert (found.claims.of, found.coverage.of, found.families.of) == (3, 3, 3)
    assert found.claims.found == 3 - found.coverage.found  # an interval leaves out 0 where p is at most 5%
    assert found.claims.low <= found.claims.share <= found.claims.high
    assert found.people == 12
    assert "3 simulated studies of 12 people" in found.sentence()
    assert "do not trust" not in found.sentence()
    assert found.sentence().endswith("As far as 3 studies can tell, it keeps its promises.")


def test_where_the_analysis_claims_nothing_there_is_no_power():
    few_items = planned(a_spec("reverse-turing", participants=8, evaluation=4), People())
    assert few_items.design.items == 12
    assert power(few_items.design, 0.4, People().spreads(), few_items.analyse, 20, 0).power == 0
    plan = plan_power(a_spec("reverse-turing", evaluation=4), participants=(), studies=2)
    assert (
        "With 12 items (4 in each of 3 sessions) nothing can be claimed about items like" in plan.sentence()
    )
    enough = planned(a_spec("reverse-turing", participants=8, evaluation=8), People())
    assert power(enough.design, 0.4, People().spreads(), enough.analyse, 20, 0).power > 0.9


def test_with_a_random_control_alone_only_methods_are_compared():
    spec = a_spec("reverse-turing").model_copy(update={"conditions": list(a_spec("model-choice").conditions)})
    asked = question_of(spec)
    assert (asked.method, asked.reference, asked.comparisons) == ("lime", "random", 2)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("reverse-turing", {"evaluation": 15, "participants": 5}),
        ("class-from-evidence", {"test": 60, "items_per_participant": 20}),
    ],
)
def test_without_an_effect_five_per_cent_of_studies_of_an_example_claim_one(name, sizes):
    spec = a_spec(name, **sizes)
    shown = shown_conditions(spec)
    people, items = shown.shape
    drawn = simulate(Design((people,), items, 0.55), 0.0, Spreads(), 800, 31)
    value = values_of(drawn, shown, 1, planning_of(spec))
    claims = difference_claims(
        ConditionResponses(tuple(range(people)), tuple(range(items)), (0, 1, 2), shown, value), 1, 0
    )
    low, high = claims.interval()
    assert 0.03 <= (claims.p <= 0.05).mean() <= 0.07
    assert 0.93 <= ((low <= 0) & (high >= 0)).mean() <= 0.97


def test_the_sentence_does_not_contradict_its_own_table():
    plan = plan_power(
        a_spec("reverse-turing", participants=4), effect=20, participants=(), studies=40, seed=2
    )
    close = replace(plan, effect=20, size=replace(plan.size, power=0.72), detectable=20.4)
    assert "is about 21 points" in close.sentence()  # 20 are found in 72% of cases
    assert "24 items (8 in each of 3 sessions)" in close.sentence()


def test_the_check_says_when_more_is_claimed_than_promised():
    found = check_pipeline(a_spec("reverse-turing", participants=1), studies=1)
    bad = replace(found, claims=replace(found.claims, low=0.2, share=0.4, high=0.6))
    assert bad.sentence().endswith("do not trust this analysis of this design.")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"effect": 0}, "The effect is 0 points"),
        ({"effect": 80}, "no room for an effect of 0.80 in the mean score .* give --effect below 61"),
        ({"power": 1.0}, "power must be less than 1"),
        ({"participants": (0,)}, "participants.0 must be at least 1"),
        ({"items": (13,)}, "are not blocks of 12"),
        ({"between_items": -1}, "between_items must be at least 0"),
        ({"accuracy": 1.2}, "accuracy must be less than 1"),
    ],
)
def test_bad_input_is_one_sentence(change, said):
    with pytest.raises(VeraxError, match=said):
        plan_power(a_spec("model-choice"), **{"studies": 1, "participants": (), **change})


def test_what_cannot_be_planned_says_why():
    with pytest.raises(VeraxError, match="nothing to compare it with; add a control"):
        plan_power(a_spec("model-choice", conditions=(LIME,)), studies=1)
    with pytest.raises(VeraxError, match="tests no explanation against another"):
        check_pipeline(a_spec("model-choice", conditions=(LIME, SHAP)), studies=1)
    with pytest.raises(VeraxError, match="at least 1"):
        check_pipeline(a_spec("forward"), studies=0)
    spec = a_spec("forward").model_copy(update={"protocol": {"name": "small_study:Small"}})
    with pytest.raises(VeraxError, match="cannot be planned"):
        plan_power(spec, studies=1)


def test_a_build_says_how_often_the_design_finds_ten_points_and_warns_below_a_half(capsys):
    """The example with 10 people in each condition and 16 items finds them in about a quarter of studies."""
    example = read_study_spec(Path(__file__).parents[3] / "examples" / "forward.toml")
    _print_power(example, Path("forward.toml"))
    said = " ".join(capsys.readouterr().out.split())
    found = design_power(example)
    assert found.power.low < 0.24 < found.power.high
    assert "more often than not it would miss it" in said
    assert (
        "Plan more people or items before you recruit: verax study power forward.toml says how many." in said
    )

    _print_power(a_spec("forward", participants=60, test=32), Path("large.toml"))
    said = capsys.readouterr().out
    assert said.startswith("power         finds an effect of 10 points")
    assert "more often than not" not in said
    assert "Plan more people" not in said

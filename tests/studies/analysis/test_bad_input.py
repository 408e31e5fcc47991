"""What cannot be estimated is one sentence, and the rest is still reported."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from studies.analysis.frames import (
    THREE,
    Person,
    collected,
    drawn,
    everybody,
    sample_study,
    simulated_answers,
    summarised,
)
from verax.studies.analysis import Options
from verax.studies.definition.study import Study
from verax.studies.definition.study_files import Frozen

FAST = Options(replicates=100)


@pytest.fixture(scope="module", params=["forward", "counterfactual"])
def study(request) -> Study:
    roles = {"learning": 4, "test": 16} if request.param == "forward" else {"test": 16}
    return sample_study({"name": request.param, **roles}, roles)


def summary_of(study, people, answer=None, options=FAST):
    given = answer or simulated_answers(study, drawn((40, 40, 40), 16, seed=2))
    found = summarised(collected(study, people, given), options)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    for table in found["tables"]:
        assert table["sentence"].endswith(".")
        for row in table["rows"]:
            assert {column["key"] for column in table["columns"]} <= set(row)
    return found


def said(summary, words):
    return [problem for problem in summary["problems"] if words in problem]


def keys(summary):
    return {table["key"] for table in summary["tables"]}


def test_nobody_came(study):
    summary = summary_of(study, [])
    assert said(summary, "No participant has come yet: nothing can be estimated.")
    assert (summary["primary"], summary["tables"], summary["methods"]) == (None, [], [])
    assert summary["flow"]["arrived"] == 0


def test_only_bots_came(study):
    summary = summary_of(study, [replace(p, bot=True) for p in everybody(study, 2)])
    assert said(summary, "6 bots did: use --bots")
    assert summary["primary"] is None


def test_nobody_got_as_far_as_a_test(study):
    summary = summary_of(
        study, [Person(1, 0, status="active", left=True, until="about-pre"), Person(2, 1, status="declined")]
    )
    assert said(summary, "No participant of 2 answered anything in a test")


def test_everybody_is_excluded(study):
    summary = summary_of(study, everybody(study, 4, rules=("too-fast",)))
    assert said(summary, "All 12 participants who completed the study are excluded")
    assert summary["primary"] is None
    assert summary["flow"]["excluded"] == {"too-fast": 12}
    (table,) = summary["tables"]
    assert "nothing that these estimates could be compared with" in table["sentence"]
    assert {row["turns"] for row in table["rows"]} == {""}
    whole = summary_of(study, everybody(study, 4))
    estimates = {one["condition"]: one["estimate"] for one in whole["primary"]["estimates"]}
    assert {row["condition"]: row["estimate"] for row in table["rows"]} == pytest.approx(estimates)


def test_bots_that_are_all_excluded_are_analysed_all_the_same(study):
    bots = [replace(p, bot=True) for p in everybody(study, 4, rules=("too-fast",))]
    options = replace(FAST, bots=True)
    summary = summary_of(study, bots, options=options)
    assert said(
        summary, "All 12 bots who completed the study are excluded. So that a rehearsal shows something"
    )
    assert said(summary, "--pace human")
    assert summary["flow"]["analysed"] == 0
    kept = summary_of(study, [replace(p, rules=()) for p in bots], options=options)
    assert summary["primary"] == kept["primary"]


def test_two_participants_in_a_condition_allow_no_claim(study):
    right = drawn((2, 2, 2), 16, (0.0, 0.3, 0.0), seed=3)
    given = simulated_answers(study, right)

    def rated(person, step, question):  # higher where the model is right, by everybody
        if question.name == "rating":
            return 7 - person.number % 2 if study.items[step.item].correct else 1
        return given(person, step, question)

    summary = summary_of(study, everybody(study, 2), rated)
    sentences = {table["key"]: table["sentence"] for table in summary["tables"]}
    for key in ("contrast", "change", "pairs"):
        assert sentences[key].startswith("Nothing is claimed: "), key
    assert sentences["ratings-by-correctness"].startswith("Too few participants for a claim")
    assert sentences["sensitivity"] == "Nothing is claimed, so no conclusion can turn."


def test_everybody_gains_the_same_items(study):
    right = drawn((4, 4, 4), 16)
    pre, post = np.zeros_like(right.pre), np.zeros_like(right.post)
    post[..., :4] = 1
    same = simulated_answers(study, replace(right, pre=pre, post=post))
    summary = summary_of(study, everybody(study, 4), same)
    assert said(summary, "The linear mixed model cannot be estimated")
    sentences = {table["key"]: table["sentence"] for table in summary["tables"]}
    assert sentences["contrast"].startswith("Nothing is claimed: ")
    assert "all were alike before" in sentences["regression-to-mean"]


def test_one_participant(study):
    summary = summary_of(study, [Person(1, 1)])
    assert said(summary, "Nobody in the conditions none and shap is analysed")
    assert said(summary, "The condition 'none' is empty, so Change is reported in place of the contrast")
    assert said(summary, "lime: no interval and no test.")
    assert not any(re.search(r"\. and |\b1\.0 |\.\.", problem) for problem in summary["problems"])
    assert said(summary, "Change as published (hase2020) cannot be estimated")
    (estimate,) = summary["primary"]["estimates"]
    right = drawn((40, 40, 40), 16, seed=2).change[0, 0]
    assert estimate["estimate"] == pytest.approx(100 * right.mean())
    assert (estimate["low"], estimate["p"]) == (None, None)
    assert {"change", "ratings", "sensitivity"} <= keys(summary)


def test_one_participant_in_each_condition(study):
    summary = summary_of(study, everybody(study, 1))
    assert all(one["low"] is None for one in summary["primary"]["estimates"])
    assert "no interval can be given" in summary["primary"]["sentence"]


def test_a_condition_that_nobody_finished(study):
    people = [
        replace(person, status="active", left=True) if person.row == 1 else person
        for person in everybody(study, 8)
    ]
    summary = summary_of(study, people)
    name = study.rows[1].condition
    assert said(summary, f"Nobody in the condition {name} is analysed: nothing is estimated of it.")
    assert name not in {one["condition"] for one in summary["primary"]["estimates"]}
    rest = {one["condition"]: one["low"] is not None for one in summary["primary"]["estimates"]}
    assert rest
    assert all(rest.values())


def test_one_condition():
    roles = {"learning": 4, "test": 16}
    study = sample_study({"name": "forward", **roles}, roles, conditions=THREE[1:2])
    summary = summary_of(study, everybody(study, 6))
    (estimate,) = summary["primary"]["estimates"]
    assert estimate["key"] == "lime-change"
    assert estimate["low"] < estimate["estimate"] < estimate["high"]
    assert "Change alone includes practice" in summary["primary"]["sentence"]
    assert said(
        summary, "Change as published (hase2020) cannot be estimated: All answers have the method 'lime'"
    )
    assert "pairs" not in keys(summary)


def test_only_the_condition_without_explanations():
    roles = {"learning": 4, "test": 16}
    study = sample_study({"name": "forward", **roles}, roles, conditions=THREE[:1])
    summary = summary_of(study, everybody(study, 6))
    assert said(summary, "Only the condition 'none' is analysed: there is nothing to compare with it.")
    assert summary["methods"] == []


def test_all_answers_equal(study):
    def always(person, step, question):
        return question.options[0].means if question.options else "a word"

    summary = summary_of(study, everybody(study, 4), always)
    for one in summary["primary"]["estimates"]:
        assert (one["estimate"], one["low"], one["p_adjusted"]) == (0, None, None)
    assert said(summary, "lime: no interval and no test. The scores do not vary")
    assert said(summary, "The linear mixed model cannot be estimated")
    assert "no interval can be given" in summary["primary"]["sentence"]


def test_all_answers_right(study):
    right = drawn((4, 4, 4), 16)
    ones = replace(right, pre=np.ones_like(right.pre), post=np.ones_like(right.post))
    summary = summary_of(study, everybody(study, 4), simulated_answers(study, ones))
    rows = {
        row["condition"]: row
        for table in summary["tables"]
        if table["key"] == "change"
        for row in table["rows"]
    }
    assert (rows["lime"]["pre"], rows["lime"]["post"], rows["lime"]["change"]) == (1, 1, 0)


def test_nobody_answered_the_second_round(study):
    summary = summary_of(study, everybody(study, 3, status="active", left=True, until="about-post"))
    assert summary["primary"] is None
    assert said(summary, "No participant has completed the study")


def test_no_rating_was_given():
    study = sample_study({"name": "forward", "learning": 4, "test": 16}, {"learning": 4, "test": 16})
    given = simulated_answers(study, drawn((4, 4, 4), 16))
    summary = summary_of(
        study, everybody(study, 4), lambda p, s, q: None if q.name == "rating" else given(p, s, q)
    )
    assert said(summary, "There is no rating of an explanation")
    assert not {"ratings", "ratings-by-correctness"} & keys(summary)
    assert summary["primary"]["estimates"][0]["low"] is not None


def test_few_items_allow_claims_about_these_items_only():
    study = sample_study({"name": "forward", "learning": 4, "test": 8}, {"learning": 4, "test": 8})
    summary = summary_of(study, everybody(study, 6), simulated_answers(study, drawn((6, 6, 6), 8)))
    assert summary["estimators"]["crossed"]["items"] == "fixed"
    table = next(table for table in summary["tables"] if table["key"] == "change")
    assert any("these very items" in note for note in table["notes"])


def test_a_protocol_without_an_analysis_still_has_its_flow():
    study = sample_study({"name": "forward", "learning": 4, "test": 4}, {"learning": 4, "test": 4})
    found = collected(study, everybody(study, 2), simulated_answers(study, drawn((2, 2, 2), 4)))
    table = {"name": "small_study:Small"}
    other = replace(study, spec=study.spec.model_copy(update={"protocol": table}))
    summary = summarised(replace(found, study=other), FAST)
    assert summary["flow"]["analysed"] == 6
    assert said(summary, "There is no analysis of the protocol 'small_study:Small'")


def test_freezing_after_the_first_answers_is_said():
    study = sample_study({"name": "forward", "learning": 4, "test": 4}, {"learning": 4, "test": 4})
    found = collected(study, everybody(study, 2), simulated_answers(study, drawn((2, 2, 2), 4)))
    late = Frozen(study.hash, {}, "2030-01-01T00:00:00Z", 3, "0")
    assert said(summarised(found, FAST, frozen=late), "frozen when 3 people had already agreed")
    early = replace(late, people=0)
    summary = summarised(found, FAST, frozen=early)
    assert not said(summary, "frozen")
    assert summary["frozen"] == "2030-01-01T00:00:00Z"

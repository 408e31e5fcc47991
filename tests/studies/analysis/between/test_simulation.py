"""Forward and counterfactual simulation: numbers worked by hand, direct calls of the stats layer, planted effects."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from studies.analysis.frames import (
    THREE,
    collected,
    drawn,
    everybody,
    sample_study,
    simulated_answers,
    summarised,
)
from verax.errors import VeraxError
from verax.stats import changes as crossed_changes
from verax.stats import contrasts_with, hase2020, linear_contrasts, responses
from verax.studies.analysis import Options
from verax.studies.analysis.between.effects import effects, primary_changes

FAST = Options(replicates=150)
ONLY = Options(estimator="crossed", replicates=150)
TWO = THREE[:2]


def forward(test=16, conditions=THREE, **options):
    return sample_study(
        {"name": "forward", "learning": 4, "test": test},
        {"learning": 4, "test": test},
        conditions=conditions,
        **options,
    )


def table_of(summary, key):
    return next(table for table in summary["tables"] if table["key"] == key)


def rows_of(summary, key, by="condition"):
    return {row[by]: row for row in table_of(summary, key)["rows"]}


def by_hand(study):
    """Three people see nothing and three see lime; each answers two items before and after."""
    right = {
        1: {"pre": (1, 0), "post": (1, 1)},
        2: {"pre": (1, 1), "post": (1, 1)},
        3: {"pre": (1, 0), "post": (1, 1)},
        4: {"pre": (0, 0), "post": (1, 1)},
        5: {"pre": (1, 0), "post": (1, 1)},
        6: {"pre": (0, 0), "post": (1, 1)},
    }
    tests = [item.id for item in study.items.values() if item.role == "test"]

    def answer(person, step, question):
        if question.name == "rating":
            return 4
        said = study.items[step.item].prediction
        return said if right[person.number][step.phase][tests.index(step.item)] else 1 - said

    return answer


def test_three_people_two_items_two_conditions_by_hand():
    study = forward(test=2, conditions=TWO)
    summary = summarised(collected(study, everybody(study, 3), by_hand(study)), ONLY)
    rows = rows_of(summary, "change")
    # Changes of people: .5, 0, .5 without and 1, .5, 1 with; both variances are 1/12, each with 2 degrees of freedom.
    none, lime = rows["none"], rows["lime"]
    assert (none["pre"], none["post"], none["change"]) == pytest.approx((2 / 3, 1.0, 100 / 3))
    assert (lime["pre"], lime["post"], lime["change"]) == pytest.approx((1 / 6, 1.0, 250 / 3))
    assert lime["interval"] == pytest.approx([250 / 3 - 71.71088, 250 / 3 + 71.71088], abs=1e-4)
    # Student's t with 2 degrees of freedom: p = 1 - t / sqrt(2 + t²); here t is 2 and 5.
    assert none["p"] == pytest.approx(1 - 2 / np.sqrt(6))
    assert lime["p"] == pytest.approx(1 - 5 / np.sqrt(27))
    (contrast,) = table_of(summary, "contrast")["rows"]
    assert contrast["difference"] == pytest.approx(50.0)
    # With 4 degrees of freedom p = 1 - t (t² + 6) / (t² + 4)^1.5; here t² is 4.5.
    assert contrast["p"] == pytest.approx(1 - np.sqrt(4.5) * 10.5 / 8.5**1.5)
    assert contrast["interval"] == pytest.approx([50 - 65.4414, 50 + 65.4414], abs=1e-3)
    assert contrast["p_permutation"] == pytest.approx(6 / 20)
    (first,) = (row for row in table_of(summary, "change")["rows"] if row["condition"] == "all conditions")
    assert (first["n"], first["pre"]) == (12, pytest.approx(5 / 12))
    assert "too little data for a claim" in summary["primary"]["sentence"]


def test_a_condition_that_nobody_met_still_counts_in_dunnetts_family():
    roles = {"learning": 4, "test": 16}
    study = sample_study({"name": "forward", **roles}, roles)
    right = drawn((6, 6, 6), 16, (0.0, 0.2, 0.0), seed=3)
    everyone = collected(study, everybody(study, 6), simulated_answers(study, right))
    shown = {row.number: row.cells.in_words() for row in study.rows}
    there = [person for person in everybody(study, 6) if "shap" not in shown[person.row]]
    assert len(there) == 12
    without = collected(study, there, simulated_answers(study, right))
    whole, part = (summarised(given, FAST)["primary"]["estimates"] for given in (everyone, without))
    alone = next(one for one in part if one["condition"] == "lime")
    assert [one["condition"] for one in whole] == ["lime", "shap"]
    assert alone["adjustment"] == "Dunnett"
    assert alone["p_adjusted"] > 1.5 * alone["p"]  # two comparisons were planned


@pytest.mark.parametrize("protocol", ["forward", "counterfactual"])
def test_the_numbers_are_those_of_the_stats_layer(protocol):
    roles = {"learning": 4, "test": 16} if protocol == "forward" else {"test": 16}
    study = sample_study({"name": protocol, **roles}, roles)
    right = drawn((5, 5, 5), 16, (0.0, 0.2, 0.0), seed=3, missing=0.05)
    summary = summarised(collected(study, everybody(study, 5), simulated_answers(study, right)), FAST)
    names = np.array(["none", "lime", "shap"])[right.method]
    flips = [item.flips for item in study.items.values() if item.role == "test"]
    assert set(flips) == {True, False}
    rows = responses(
        np.repeat(np.arange(15), 16),
        np.tile(np.arange(16), 15),
        np.repeat(names, 16),
        right.post[0].ravel(),
        right.pre[0].ravel(),
        np.tile(flips, 15) if protocol == "counterfactual" else None,  # its items are balanced over flips
    )
    for one in crossed_changes(rows):
        row = rows_of(summary, "change")[one.name]
        assert row["change"] == pytest.approx(100 * one.estimate)
        assert row["interval"] == pytest.approx([100 * one.low, 100 * one.high])
        assert (row["p"], row["p_adjusted"]) == pytest.approx((one.p, one.p_family))
        assert row["n"] == one.n_answers
    by_key = {one["key"]: one for one in summary["primary"]["estimates"]}
    for one, mixed in zip(
        contrasts_with(rows, "none"),
        linear_contrasts(rows, [("lime", "none"), ("shap", "none")]),
        strict=True,
    ):
        name = one.name.split(" - ")[0]
        estimate = by_key[f"{name}-vs-none"]
        assert estimate["estimate"] == pytest.approx(100 * one.estimate)
        assert (estimate["p"], estimate["p_adjusted"]) == pytest.approx((one.p, one.p_family))
        assert estimate["low_adjusted"] == pytest.approx(100 * one.low_family)
        assert estimate["detectable"] == pytest.approx(100 * one.detectable)
        assert estimate["adjustment"] == "Dunnett"
        assert rows_of(summary, "cross-check")[name]["mixed"] == pytest.approx(100 * mixed.estimate)
        assert rows_of(summary, "cross-check")[name]["mixed_p"] == pytest.approx(mixed.p)


def test_the_published_procedure_is_that_of_the_stats_layer_and_labelled():
    study = forward()
    right = drawn((4, 4, 4), 16, 0.1, seed=5)
    found = collected(study, everybody(study, 4), simulated_answers(study, right))
    summary = summarised(found, FAST)
    people = [f"p{number:010x}" for number in range(1, 13)]
    tests = [item.id for item in study.items.values() if item.role == "test"]
    columns = (
        np.repeat(people, 16),
        np.tile(tests, 12),
        np.repeat(np.array(["none", "lime", "shap"])[right.method], 16),
        right.pre[0].ravel(),
        right.post[0].ravel(),
    )
    order = np.lexsort((columns[1], columns[0]))
    direct = hase2020.change(*(column[order] for column in columns), replicates=150)
    rows = rows_of(summary, "change-hase2020")
    for one in direct.methods:
        assert rows[one.method]["change"] == pytest.approx(100 * one.change.estimate)
        assert rows[one.method]["ci"] == pytest.approx(100 * one.change.half_width)
        assert rows[one.method]["p"] == pytest.approx(one.change.p)
    assert rows["User Avg."]["pre"] == pytest.approx(np.nanmean(right.pre))
    assert "Reproduction" in table_of(summary, "change-hase2020")["sentence"]
    assert summary["estimators"]["hase2020"]["label"].startswith("a reproduction")
    mended = summarised(found, replace(FAST, mended=("drop_singular", "across_methods")))
    kept = mended["estimators"]["hase2020"]["change"]["defects"]
    assert kept == {
        "across_methods": False, "shared_names": True, "items_as_participants": True, "drop_singular": False
    }  # fmt: skip
    assert "hase2020" not in summarised(found, ONLY)["estimators"]


def test_an_unknown_defect_is_one_sentence():
    study = forward(test=4)
    found = collected(study, everybody(study, 2), simulated_answers(study, drawn((2, 2, 2), 4)))
    summary = summarised(found, replace(FAST, mended=("everything",)))
    assert any("no defect 'everything'" in problem for problem in summary["problems"])


def test_a_planted_effect_is_found_and_said():
    study = forward(test=32, participants=25)
    right = drawn((25, 25, 25), 32, (0.05, 0.25, 0.05), seed=11)
    summary = summarised(collected(study, everybody(study, 25), simulated_answers(study, right)), ONLY)
    lime, shap = summary["primary"]["estimates"]
    assert lime["low"] < 20 < lime["high"]
    assert shap["low"] < 0 < shap["high"]
    assert lime["p_adjusted"] < 0.05 < shap["p_adjusted"]
    assert summary["primary"]["sentence"].startswith("With lime the change of accuracy was ")
    assert "points higher than with none (95% interval" in summary["primary"]["sentence"]
    assert "No clear effect was found of shap" in summary["primary"]["sentence"]
    assert f"about {shap['detectable']:.0f} points in 80% of cases" in summary["primary"]["sentence"]
    lines = {one["condition"]: one for one in summary["methods"]}
    assert (lines["lime"]["explainer"], lines["lime"]["estimate"]) == ("lime", lime["estimate"])
    assert lines["lime"]["unit"] == "points"


def test_a_gain_over_a_control_that_fell_is_not_called_a_rise():
    study = forward(conditions=TWO)
    right = drawn((8, 8), 16, (-0.4, 0.0), seed=3)
    summary = summarised(collected(study, everybody(study, 8), simulated_answers(study, right)), ONLY)
    (lime,) = summary["primary"]["estimates"]
    assert lime["p_adjusted"] < 0.05
    assert rows_of(summary, "change")["lime"]["change"] < 5
    said = f"With lime the change of accuracy was {lime['estimate']:.1f} points higher than with none (95% interval"
    assert summary["primary"]["sentence"].startswith(said)
    assert "corrected" not in summary["primary"]["sentence"]  # there is one line
    assert "points higher in lime" in table_of(summary, "contrast")["sentence"]


def test_what_is_found_in_80_percent_of_studies_is_found_by_the_corrected_test():
    """The power of the corrected two-sided test at that effect, by the normal distribution: many degrees of freedom."""
    right = drawn((60, 60, 60), 16, seed=1)
    pairs = pd.DataFrame(
        {
            "participant": np.repeat(np.arange(180), 16),
            "item": np.tile(np.arange(16), 180),
            "condition": np.repeat(np.array(["none", "lime", "shap"])[right.method], 16),
            "pre": right.pre[0].ravel(),
            "post": right.post[0].ravel(),
        }
    )
    for one in primary_changes(effects(pairs, forward(test=4).spec.conditions, "random", 0.95)).estimates:
        wide, margin = one.high_adjusted - one.low_adjusted, one.high - one.low
        se = margin / 2 / norm.ppf(0.975)
        assert wide > 1.1 * margin
        assert 1 - norm.cdf(wide / 2 / se - one.detectable / se) == pytest.approx(0.8, abs=0.01)


def test_change_in_place_of_the_planned_contrast_is_not_planned():
    study = forward(analysis={"primary": "each method against none"})
    right = drawn((4, 4, 4), 16)
    people = [replace(p, rules=("late",)) if p.row == 0 else p for p in everybody(study, 4)]
    summary = summarised(collected(study, people, simulated_answers(study, right)), ONLY)
    assert [one["key"] for one in summary["primary"]["estimates"]] == ["lime-change", "shap-change"]
    assert not any(one["planned"] for one in summary["primary"]["estimates"])
    without = forward(conditions=THREE[1:], analysis={"primary": "Change"})
    found = collected(without, everybody(without, 4), simulated_answers(without, right))
    assert all(one["planned"] for one in summarised(found, ONLY)["primary"]["estimates"])


def test_items_without_both_answers_are_counted_beside_n():
    study = forward()
    right = drawn((3, 3, 3), 16, missing=0.2, seed=1)
    summary = summarised(collected(study, everybody(study, 3), simulated_answers(study, right)), ONLY)
    lacking = int(np.isnan(right.change[0]).sum())
    assert lacking > 0
    assert f"({lacking} of 144 are not)" in table_of(summary, "change")["notes"][0]


def test_without_a_control_change_is_primary_and_practice_is_named():
    study = forward(conditions=THREE[1:])
    summary = summarised(
        collected(study, everybody(study, 5), simulated_answers(study, drawn((5, 5), 16, 0.3, seed=2))), ONLY
    )
    assert [one["key"] for one in summary["primary"]["estimates"]] == ["lime-change", "shap-change"]
    assert {one["adjustment"] for one in summary["primary"]["estimates"]} == {"Holm"}
    assert "Change alone includes practice" in summary["primary"]["sentence"]
    assert not [table for table in summary["tables"] if table["key"] == "contrast"]
    assert summary["methods"][0]["measure"] == "change of accuracy, practice included"


def test_a_random_control_stands_among_the_methods_as_random():
    study = forward(test=4, conditions=[*TWO, {"name": "shuffled", "like": "lime"}])
    summary = summarised(
        collected(study, everybody(study, 3), simulated_answers(study, drawn((3, 3, 3), 4))), ONLY
    )
    assert [one["explainer"] for one in summary["methods"]] == ["lime", "random"]


def test_what_the_plan_names_is_planned_and_the_rest_exploratory():
    plan = {"primary": "the contrast", "shap-vs-lime": "which is better", "ratings": "", "nonsense": "?"}
    study = forward(analysis=plan)
    summary = summarised(
        collected(study, everybody(study, 3), simulated_answers(study, drawn((3, 3, 3), 16))), ONLY
    )
    planned = {table["key"] for table in summary["tables"] if table["planned"]}
    assert planned == {"contrast", "pairs", "ratings"}
    assert all(one["planned"] for one in summary["primary"]["estimates"])
    (pair,) = table_of(summary, "pairs")["rows"]
    assert (pair["key"], pair["planned"]) == ("shap-vs-lime", True)
    assert any("'nonsense'" in problem and "lime-vs-none" in problem for problem in summary["problems"])
    without = summarised(
        replace(
            collected(study, everybody(study, 3), simulated_answers(study, drawn((3, 3, 3), 16))),
            study=replace(study, spec=study.spec.model_copy(update={"analysis": {}})),
        ),
        ONLY,
    )
    assert not any(table["planned"] for table in without["tables"])
    assert not any(one["planned"] for one in without["primary"]["estimates"])


def test_a_margin_of_the_plan_is_tested_and_one_without_a_number_is_a_sentence():
    right = drawn((30, 30, 30), 32, seed=4)
    study = forward(test=32, analysis={"equivalence": "within 15 points"})
    summary = summarised(collected(study, everybody(study, 30), simulated_answers(study, right)), ONLY)
    rows = rows_of(summary, "equivalence")
    for name, row in rows.items():
        low, high = row["interval"]
        assert (row["equivalent"] == "yes") == (low > -15 and high < 15), name
    assert rows["shap"]["equivalent"] == "yes"
    vague = forward(test=4, analysis={"equivalence": "hardly any difference"})
    found = collected(vague, everybody(vague, 3), simulated_answers(vague, drawn((3, 3, 3), 4)))
    assert any("no margin above 0" in problem for problem in summarised(found, ONLY)["problems"])


@cache
def in_order():
    study = sample_study({"name": "counterfactual", "test": 8}, {"test": 8})
    found = collected(study, everybody(study, 3), simulated_answers(study, drawn((3, 3, 3), 8, missing=0.1)))
    return found, json.dumps(summarised(found, FAST))


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 2**31))
def test_the_order_of_rows_does_not_matter(seed):
    found, expected = in_order()
    mixed = replace(
        found,
        responses=found.responses.sample(frac=1, random_state=seed),
        participants=found.participants.sample(frac=1, random_state=seed),
    )
    assert json.dumps(summarised(mixed, FAST)) == expected


@settings(max_examples=3, deadline=None)
@given(st.permutations(range(12)))
def test_names_of_participants_do_not_matter(order):
    study = forward(test=8)
    found = collected(study, everybody(study, 4), simulated_answers(study, drawn((4, 4, 4), 8, missing=0.1)))
    names = [f"p{number:010x}" for number in range(1, 13)]
    other = {name: f"q{place}" for name, place in zip(names, order, strict=True)}
    renamed = replace(
        found,
        responses=found.responses.assign(participant=found.responses["participant"].map(other)),
        participants=found.participants.assign(participant=found.participants["participant"].map(other)),
    )
    before, after = summarised(found, ONLY), summarised(renamed, ONLY)
    for key in ("contrast", "change", "pairs", "ratings", "regression-to-mean"):
        assert flat(table_of(after, key)["rows"]) == pytest.approx(
            flat(table_of(before, key)["rows"]), nan_ok=True
        )


def flat(rows):
    """All numbers of a table, in order."""
    found = []
    for row in rows:
        for value in row.values():
            found += [
                x for x in (value if isinstance(value, list) else [value]) if isinstance(x, int | float)
            ]
    return found


def test_an_answer_that_stands_twice_is_refused_with_its_place():
    study = forward(test=4)
    found = collected(study, everybody(study, 2), simulated_answers(study, drawn((2, 2, 2), 4)))
    scored = found.responses[found.responses["score"].notna()]
    twice = replace(found, responses=pd.concat([found.responses, scored.head(1)]))
    with pytest.raises(VeraxError, match=r"has two answers to 'prediction' in step \d+ \(1 such in all\)"):
        summarised(twice, ONLY)
    moved = replace(found, responses=pd.concat([found.responses, scored.head(1).assign(step=999)]))
    with pytest.raises(VeraxError, match=r"two answers on item i\d+ in the phase 'pre' \(1 such in all\)"):
        summarised(moved, ONLY)


def test_an_answer_of_another_kind_or_condition_than_its_participant_is_refused():
    study = forward(test=4)
    found = collected(study, everybody(study, 2), simulated_answers(study, drawn((2, 2, 2), 4)))
    first = found.responses.index[found.responses["score"].notna()][:1]
    for column, value, words in (
        ("bot", True, r"where bot is True, but False in the table of participants \(1 such"),
        ("condition", "shap", r"where the condition is shap, but none in the table of participants \(1 such"),
    ):
        answers = found.responses.copy()
        answers.loc[first, column] = value
        with pytest.raises(VeraxError, match=words):
            summarised(replace(found, responses=answers), ONLY)


def test_late_answers_are_analysed_and_left_out_beside():
    study = forward()
    people = [replace(p, late=p.number == 6) for p in everybody(study, 5)]
    summary = summarised(collected(study, people, simulated_answers(study, drawn((5, 5, 5), 16))), ONLY)
    assert summary["sensitivity"]["late_answers"] == 16
    by_name = {
        (one["variant"], one["condition"]): one["estimate"] for one in summary["sensitivity"]["variants"]
    }
    without = [p for p in people if p.number != 6]
    alone = summarised(collected(study, without, simulated_answers(study, drawn((5, 5, 5), 16))), ONLY)
    estimates = {one["condition"]: one["estimate"] for one in alone["primary"]["estimates"]}
    for name in ("lime", "shap"):
        assert by_name["late answers left out", name] == pytest.approx(estimates[name])


def test_everything_is_strict_json():
    study = forward(test=2, conditions=TWO)
    summary = summarised(collected(study, everybody(study, 2), by_hand(study)), FAST)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary

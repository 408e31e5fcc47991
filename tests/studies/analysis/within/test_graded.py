"""The three graded tasks: scores by hand, the best conditions, agreement, confidence, and what cannot be estimated."""

from __future__ import annotations

import json

import numpy as np
import pytest

from studies.analysis.frames import Person, collected, everybody, sample_study, summarised
from verax.stats.crossed.within import condition_differences, met
from verax.studies.analysis import Options
from verax.studies.analysis.within.graded_tables import beside_best, without_confidence

CONDITIONS = (
    {"name": "lime", "explainer": "lime"},
    {"name": "shap", "explainer": "shap"},
    {"name": "random", "like": "lime"},
)
FAST = Options(replicates=50)
TASKS = ("model-choice", "class-from-evidence", "uncertain-case")


def a_study(name="class-from-evidence", conditions=CONDITIONS, test=60, each=20, **options):
    protocol = {"name": name, "test": test, "items_per_participant": each}
    return sample_study(protocol, {"test": each}, groups=test // each, conditions=conditions, **options)


def meaning(study, item, right, sure):
    name = study.spec.protocol["name"]
    if name == "model-choice":
        return (1.0 if sure else 0.5) * (1 if right else -1)
    target = study.items[item].label if name == "uncertain-case" else study.items[item].prediction
    return f"{target if right else 1 - target}:{'certain' if sure else 'likely'}"


def graded(study, share, seed=0, sure=0.5):
    """Answers that are right with a share that depends on the condition."""
    rng = np.random.default_rng(seed)

    def answer(person, step, question):
        return meaning(study, step.item, rng.random() < share[step.condition], rng.random() < sure)

    return answer


def summary(study, people, answer, options=FAST):
    found = summarised(collected(study, people, answer), options)
    json.dumps(found, allow_nan=False)
    return found


def table(found, key):
    return next(one for one in found["tables"] if one["key"] == key)


def by_condition(found, key):
    return {row["condition"]: row for row in table(found, key)["rows"]}


@pytest.mark.parametrize("task", TASKS)
def test_a_planted_difference_is_found_in_every_task(task):
    study = a_study(task)
    share = {"lime": 0.85, "shap": 0.5, "random": 0.5}
    found = summary(study, everybody(study, 3), graded(study, share, seed=1))
    lines = {one["condition"]: one for one in found["primary"]["estimates"]}
    truth = 0.75 * (2 * 0.85 - 1)  # half of the answers are sure: 0.75 is the mean worth of an answer
    assert lines["lime"]["low"] < truth < lines["lime"]["high"]
    assert lines["lime"]["p_adjusted"] < 0.01
    assert lines["shap"]["low"] < 0 < lines["shap"]["high"]
    assert found["primary"]["unit"] == "score"
    assert [one["condition"] for one in found["methods"]] == ["lime", "shap"]
    assert by_condition(found, "best")["lime"]["may_be_best"] == "yes"
    assert by_condition(found, "best")["random"]["may_be_best"] == "no"
    assert found["problems"] == []


def test_mean_scores_are_means_over_people_for_right_and_wrong_items():
    study = a_study()
    taken = collected(study, everybody(study, 2), graded(study, {"lime": 0.8, "shap": 0.6, "random": 0.5}))
    found = summarised(taken, FAST)
    answers = taken.responses[taken.responses["phase_kind"] == "test"]
    for name, row in by_condition(found, "scores").items():
        own = answers[answers["condition"] == name]
        right = own[own["model_correct"].astype(bool)]
        wrong = own[~own["model_correct"].astype(bool)]
        for key, part in (("all", own), ("right", right), ("wrong", wrong)):
            assert row[key] == pytest.approx(part.groupby("participant")["score"].mean().mean())
            assert row[f"{key}_interval"][0] < row[key] < row[f"{key}_interval"][1]


def test_the_difference_from_the_control_is_within_people():
    study = a_study()
    taken = collected(study, everybody(study, 2), graded(study, {"lime": 0.8, "shap": 0.6, "random": 0.5}))
    answers = taken.responses[taken.responses["phase_kind"] == "test"]
    each = answers.pivot_table(index="participant", columns="condition", values="score", aggfunc="mean")
    found = summarised(taken, FAST)
    for one in found["primary"]["estimates"]:
        expected = (each[one["condition"]] - each["random"]).mean()
        assert one["estimate"] == pytest.approx(expected)
        assert one["participants"] == 18


def test_who_may_be_the_best_is_decided_by_the_others():
    # Eight people, sixteen items: a beats c clearly, b is close to a.
    rng = np.random.default_rng(0)
    rows, value = [], []
    for person in range(8):
        for item in range(18):
            name = "abc"[(person + item) % 3]
            rows.append((person, item, name))
            value.append({"a": 1.0, "b": 0.9, "c": 0.0}[name] + rng.normal(0, 0.3))
    people, items, names = zip(*rows, strict=True)
    laid = met(people, items, names, value)
    found = {one.name: one for one in beside_best(laid, ["a", "b", "c"], [1.0, 0.9, 0.0], 0.95)}
    assert found["a"].may_be_best
    assert found["a"].estimate == 0
    assert found["b"].may_be_best
    assert not found["c"].may_be_best
    assert found["c"].differs_as_published
    assert found["c"].high < 0
    alone = [one.p for one in condition_differences(laid, [("a", "c"), ("b", "c")])]
    assert found["c"].p == pytest.approx(alone[0])
    assert found["c"].p_best == pytest.approx(2 * min(alone))
    assert found["a"].p_best == 1


def test_too_few_people_rule_nothing_out():
    laid = met([0, 0, 1, 1], ["i", "j", "i", "j"], ["a", "b", "b", "a"], [1.0, 0.0, 0.1, 0.9])
    found = beside_best(laid, ["a", "b"], [0.95, 0.05], 0.95)
    assert [one.may_be_best for one in found] == [True, True]
    assert [one.p_best for one in found] == [None, None]


@pytest.mark.parametrize(
    ("answer", "score", "expected"),
    [
        ("1:certain", 1.0, "1"),
        ("1:likely", -0.5, "1"),
        ("none", 0.0, "none"),
        ("-0.5", -0.5, "worse"),
        ("1.0", 1.0, "better"),
        ("0.0", 0.0, "none"),
    ],
)
def test_answers_without_how_sure_they_are(answer, score, expected):
    assert without_confidence(answer, score) == expected


def test_kappa_equals_statsmodels_with_and_without_confidence():
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    study = a_study()
    taken = collected(study, everybody(study, 3), graded(study, {"lime": 0.9, "shap": 0.6, "random": 0.5}))
    found = summarised(taken, FAST)
    answers = taken.responses[taken.responses["phase_kind"] == "test"]
    for place, column in enumerate((answers["answer"], answers["answer"].str.split(":").str[0])):
        wide = answers.assign(said=column).groupby(["item", "condition"])["said"].apply(list)
        expected = fleiss_kappa(aggregate_raters(np.array(wide.tolist()))[0])
        row = table(found, "agreement")["rows"][place]
        assert row["condition"] == "all conditions"
        assert row["kappa"] == pytest.approx(expected)
        assert row["kappa_items"][0] <= row["kappa"] <= row["kappa_items"][1]
        assert (row["questions"], row["ratings"], row["raters"]) == (180, 540, 27)


def test_people_who_all_agree_have_a_kappa_of_one():
    study = a_study(test=20)

    def answer(person, step, question):
        return meaning(study, step.item, True, True)

    found = summary(study, everybody(study, 2), answer)
    assert table(found, "agreement")["rows"][0]["kappa"] == pytest.approx(1.0)


def test_confidence_is_worth_something_where_sure_answers_are_right():
    study = a_study()
    rng = np.random.default_rng(3)

    def answer(person, step, question):
        sure = rng.random() < 0.5
        return meaning(study, step.item, rng.random() < (0.9 if sure else 0.5), sure)

    taken = collected(study, everybody(study, 3), answer)
    found = summarised(taken, FAST)
    rows = {(row["condition"], row["confidence"]): row for row in table(found, "confidence")["rows"]}
    answers = taken.responses[taken.responses["score"].abs() == 1]
    assert rows["all conditions", "sure"]["answers"] == len(answers)
    expected = (answers["score"] > 0).groupby(answers["participant"]).mean().mean()
    assert rows["all conditions", "sure"]["right"] == pytest.approx(100 * expected)
    assert "confidence tells something" in table(found, "confidence")["sentence"]


def test_the_distribution_of_scores_counts_every_level():
    study = a_study(test=20)

    def answer(person, step, question):
        return (
            "none"
            if step.condition == "random"
            else meaning(study, step.item, True, step.condition == "lime")
        )

    found = summary(study, everybody(study, 2), answer)
    figure = next(one for one in found["figures"] if one["kind"] == "distribution")["data"]
    assert figure["levels"] == [-1.0, -0.5, 0.0, 0.5, 1.0]
    assert {row["label"]: row["shares"] for row in figure["rows"]} == {
        "lime": [0, 0, 0, 0, 1],
        "shap": [0, 0, 0, 1, 0],
        "random": [0, 0, 1, 0, 0],
    }


def test_without_a_control_mean_scores_are_held_against_zero():
    study = a_study(conditions=CONDITIONS[:2])
    found = summary(study, everybody(study, 4), graded(study, {"lime": 0.9, "shap": 0.5}))
    keys = [one["key"] for one in found["primary"]["estimates"]]
    assert keys == ["lime-score", "shap-score"]
    assert "The mean score with lime is above 0" in found["primary"]["sentence"]
    assert found["primary"]["sentence"].endswith("There is no control to compare with.")
    assert found["methods"][0]["measure"] == "mean score"


def test_the_uncertain_case_may_have_a_condition_without_explanations():
    conditions = ({"name": "none"}, *CONDITIONS)
    study = a_study("uncertain-case", conditions=conditions)
    found = summary(
        study, everybody(study, 2), graded(study, dict.fromkeys(("none", "lime", "shap", "random"), 0.6))
    )
    assert [one["key"] for one in found["primary"]["estimates"]] == [
        "lime-vs-none",
        "shap-vs-none",
        "random-vs-none",
    ]
    assert found["methods"][0]["measure"] == "mean score, against no explanation"


def test_one_participant_gives_means_and_says_what_is_missing():
    study = a_study()
    found = summary(study, [Person(1, 0)], graded(study, {"lime": 0.8, "shap": 0.5, "random": 0.5}))
    assert all(row["all"] is not None for row in table(found, "scores")["rows"])
    assert all(row["all_best"] == "yes" for row in table(found, "scores")["rows"])
    assert all(one["low"] is None for one in found["primary"]["estimates"])
    assert "No question was answered by two people: agreement cannot be told." in found["problems"]
    assert any("no interval of the mean score" in said for said in found["problems"])


def test_one_condition_alone_is_described():
    study = a_study(conditions=CONDITIONS[:1])
    found = summary(study, everybody(study, 4), graded(study, {"lime": 0.8}))
    assert found["tables"][0]["key"] == "scores"
    assert "best" not in [one["key"] for one in found["tables"]]
    assert any("nothing to compare it with" in said for said in found["problems"])


def test_equal_answers_have_no_test():
    study = a_study()

    def answer(person, step, question):
        return "0:certain" if study.items[step.item].prediction == 0 else "1:certain"

    found = summary(study, everybody(study, 2), answer)
    assert [one["estimate"] for one in found["primary"]["estimates"]] == [0.0, 0.0]
    assert all(one["p"] is None for one in found["primary"]["estimates"])
    assert any("mixed model cannot be estimated" in said for said in found["problems"])
    assert "None can be ruled out as the best" in table(found, "scores")["sentence"]


def test_everybody_excluded_leaves_a_sentence():
    study = a_study()
    share = {"lime": 0.8, "shap": 0.5, "random": 0.5}
    found = summary(study, everybody(study, 1, rules=("too-fast",)), graded(study, share))
    assert found["primary"] is None
    assert any("Nobody who is analysed answered" in said for said in found["problems"])
    kept = summary(study, everybody(study, 1), graded(study, share))
    lines = found["sensitivity"]["variants"]
    assert [one["estimate"] for one in lines] == [one["estimate"] for one in kept["primary"]["estimates"]]
    assert found["sensitivity"]["unit"] == "score"


def test_who_stopped_early_counts_in_the_intention_to_treat_only():
    study = a_study()
    people = everybody(study, 2)
    people[0] = Person(1, 0, status="active", left=True)
    found = summary(study, people, graded(study, {"lime": 0.9, "shap": 0.5, "random": 0.5}))
    assert found["primary"]["estimates"][0]["participants"] == 17
    variants = [one for one in found["sensitivity"]["variants"] if one["condition"] == "lime"]
    assert variants[1]["estimate"] != pytest.approx(variants[0]["estimate"])


def test_a_planned_margin_is_on_the_scale_of_scores():
    study = a_study(analysis={"equivalence": "a difference of 0.9 does not matter"})
    found = summary(study, everybody(study, 2), graded(study, {"lime": 0.6, "shap": 0.5, "random": 0.5}))
    assert table(found, "equivalence")["planned"]
    assert [row["equivalent"] for row in table(found, "equivalence")["rows"]] == ["yes", "yes"]
    assert "smaller than 0.9 for lime and shap" in table(found, "equivalence")["sentence"]


def test_a_margin_in_points_is_refused_where_scores_end_at_one():
    study = a_study(analysis={"equivalence": "within 5 points"})
    found = summary(study, everybody(study, 2), graded(study, {"lime": 0.9, "shap": 0.5, "random": 0.1}))
    assert "equivalence" not in {one["key"] for one in found["tables"]}
    assert any("margin of equivalence is 5, but scores go from -1 to 1" in said for said in found["problems"])


def test_few_items_rule_no_condition_out():
    # Twelve people agree, but on 8 items: about items like these nothing is shown.
    people, items = (part.ravel() for part in np.indices((12, 8)))
    names = np.array(list("ab"))[(items + people) % 2]
    value = np.where(names == "a", 1.0, -1.0) + 0.1 * np.random.default_rng(0).normal(size=len(names))
    found = beside_best(met(people, items, names, value), ["a", "b"], [1.0, -1.0], 0.95)
    assert [one.p_best for one in found] == [None, None]
    assert all(one.may_be_best for one in found)


def test_the_sentence_names_who_is_lower():
    study = a_study()
    found = summary(study, everybody(study, 3), graded(study, {"lime": 0.9, "shap": 0.9, "random": 0.2}))
    assert "lime and shap may be the best; random is shown to be lower" in table(found, "scores")["sentence"]


def test_equal_means_have_no_best():
    study = a_study()
    same = dict.fromkeys(("lime", "shap", "random"), 1.0)
    found = summary(study, everybody(study, 2), graded(study, same, sure=1.0))
    assert (
        table(found, "best")["sentence"]
        == "All mean scores are the same. No condition can be ruled out as the best."
    )


def test_the_truly_best_condition_is_rarely_ruled_out():
    # All three are equally good, so each of them is the best; picking the best from the data must not matter.
    rng = np.random.default_rng(6)
    group = np.arange(24) % 3
    people, items = (part.ravel() for part in np.indices((12, 24)))
    names = np.array(list("abc"))[(group[items] + people) % 3]
    ruled_out = 0
    for _ in range(200):
        value = rng.normal(size=(12, 1)) + rng.normal(size=(1, 24)) + rng.normal(size=(12, 24))
        laid = met(people, items, names, value.ravel())
        means = [value.ravel()[names == name].mean() for name in "abc"]
        ruled_out += not beside_best(laid, list("abc"), means, 0.95)[0].may_be_best
    assert ruled_out <= 0.08 * 200

"""The Reverse Turing Test's analysis: tables by hand, planted effects, sentences, and what cannot be estimated."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from studies.analysis.frames import Person, collected, everybody, sample_study, summarised
from verax.errors import VeraxError
from verax.studies.analysis import Options, analysed
from verax.studies.protocols.reverse_turing.analysis import coded_file, strategies_of, strategy_table

CONDITIONS = ({"name": "none"}, {"name": "lime", "explainer": "lime"}, {"name": "random", "like": "lime"})
FAST = Options(replicates=20)


def a_study(training=0, evaluation=15, conditions=CONDITIONS, **options):
    protocol = {"name": "reverse-turing", "training": training, "evaluation": evaluation}
    protocol |= options.pop("protocol", {})
    roles = {"training": training, "evaluation": evaluation}
    return sample_study(protocol, roles, groups=len(conditions), conditions=conditions, **options)


def guesses(study, share, seed=0, truth=0.0):
    """Answers like the model's with a share that depends on the condition; else, or by belief, the other class."""
    rng = np.random.default_rng(seed)

    def answer(person, step, question):
        if question.name != "prediction":
            return question.options[0].means if question.options else "a word"
        item = study.items[step.item]
        if rng.random() < truth:
            return item.label
        return item.prediction if rng.random() < share[step.condition] else 1 - item.prediction

    return answer


def summary(study, people, answer, options=FAST):
    found = summarised(collected(study, people, answer), options)
    json.dumps(found, allow_nan=False)
    return found


def table(found, key):
    return next(one for one in found["tables"] if one["key"] == key)


def by_condition(found, key):
    return {row["condition"]: row for row in table(found, key)["rows"]}


@pytest.fixture(scope="module")
def helped():
    """Thirty people; LIME helps by 25 points."""
    study = a_study(training=10, participants=5, analysis={"primary": "x", "times": "y"})
    share = {"none": 0.5, "lime": 0.75, "random": 0.5}
    taken = collected(study, everybody(study, 5), guesses(study, share, seed=2))
    taken.responses["seconds"] = taken.responses["condition"].map({"none": 4.0, "lime": 2.0, "random": 4.0})
    rng = np.random.default_rng(0)
    taken.responses["seconds"] *= np.exp(rng.normal(0, 0.3, len(taken.responses)))
    return taken, summarised(taken, FAST)


def test_a_planted_effect_is_found_and_the_control_is_not(helped):
    _, found = helped
    lines = {one["condition"]: one for one in found["primary"]["estimates"]}
    assert set(lines) == {"lime", "random"}
    assert lines["lime"]["low"] < 25 < lines["lime"]["high"]
    assert lines["lime"]["p_adjusted"] < 0.001
    assert lines["random"]["low"] < 0 < lines["random"]["high"]
    assert found["primary"]["sentence"].startswith("lime raised people's agreement with the model by")
    assert "No clear difference from none: random" in found["primary"]["sentence"]
    assert lines["lime"]["key"] == "lime-vs-none"
    assert found["problems"] == []


def test_accuracy_is_the_mean_over_people_of_what_they_agree_with_the_model(helped):
    taken, found = helped
    answers = taken.responses[taken.responses["phase_kind"] == "test"]
    answers = answers.assign(
        like=answers["answer"].astype(int) == answers["prediction"],
        true=answers["answer"].astype(int) == answers["label"],
    )
    each = answers.groupby(["condition", "participant"])[["like", "true"]].mean().groupby("condition").mean()
    for name, row in by_condition(found, "accuracy").items():
        assert row["model"] == pytest.approx(100 * each.loc[name, "like"])
        assert row["truth"] == pytest.approx(100 * each.loc[name, "true"])
        assert row["bias"] == pytest.approx(row["truth"] - row["model"])
        assert row["task"] == "known"


def test_mann_whitney_equals_scipy_on_sessions(helped):
    taken, found = helped
    answers = taken.responses[taken.responses["phase_kind"] == "test"]
    each = answers.groupby(["condition", "participant"])["score"].mean()
    row = next(
        one
        for one in table(found, "mann-whitney")["rows"]
        if (one["condition"], one["measure"]) == ("random", "like the model")
    )
    expected = stats.mannwhitneyu(each["random"].astype(float), each["none"].astype(float))
    assert row["u"] == expected.statistic
    assert row["p"] == pytest.approx(expected.pvalue, rel=0.05)  # ours is exact, with ties
    assert "as those of two people" in table(found, "mann-whitney")["notes"][0]


def test_times_are_sums_of_pages_and_ratios_find_who_is_faster(helped):
    taken, found = helped
    answers = taken.responses[taken.responses["phase_kind"] == "test"]
    minutes = answers.groupby(["condition", "participant"])["seconds"].sum().groupby("condition").mean() / 60
    rows = by_condition(found, "times")
    for name, row in rows.items():
        assert row["minutes"] == pytest.approx(minutes[name])
    assert rows["lime"]["ratio_interval"][0] < 0.5 < rows["lime"]["ratio_interval"][1]
    assert "Answers were faster with lime" in table(found, "times")["sentence"]
    assert table(found, "times")["planned"]
    assert not table(found, "accuracy")["planned"]


def test_the_mixed_models_stand_beside_the_contrast(helped):
    _, found = helped
    for row in table(found, "cross-check")["rows"]:
        assert row["model0"] == pytest.approx(row["crossed"], abs=0.5)
        assert row["model1"] == pytest.approx(row["crossed"], abs=1.5)


def test_methods_are_also_compared_with_the_random_control(helped):
    _, found = helped
    rows = by_condition(found, "control-contrast")
    assert list(rows) == ["lime"]
    accuracy = by_condition(found, "accuracy")
    expected = accuracy["lime"]["model"] - accuracy["random"]["model"]
    assert rows["lime"]["difference"] == pytest.approx(expected)


def test_methods_hold_one_line_for_each_condition_that_shows_something(helped):
    _, found = helped
    assert [(one["explainer"], one["condition"], one["unit"]) for one in found["methods"]] == [
        ("lime", "lime", "points"),
        ("random", "random", "points"),
    ]
    assert found["methods"][0]["estimate"] == found["primary"]["estimates"][0]["estimate"]


def test_learning_shows_in_the_training_curve():
    study = a_study(training=10, evaluation=15)
    rng = np.random.default_rng(5)

    def answer(person, step, question):
        if question.name != "prediction":
            return "a word"
        item = study.items[step.item]
        seen = counts.setdefault((person.number, step.phase), 0)
        counts[person.number, step.phase] = seen + 1
        share = 0.5 if not step.phase.startswith("training") else 1.0 if seen >= 5 else 0.0
        return item.prediction if rng.random() < share else 1 - item.prediction

    counts = {}
    found = summary(study, everybody(study, 2), answer)
    for row in table(found, "training")["rows"]:
        assert (row["first"], row["second"], row["gained"]) == (0.0, 1.0, 100.0)
        assert row["interval"] is None  # all gained alike: an interval without width would claim too much
    curve = next(one for one in found["figures"] if one["key"] == "training")["data"]["lines"]
    assert [line["label"] for line in curve] == ["none", "lime", "random"]
    assert curve[0]["x"] == [1.5, 3.5, 5.5, 7.5, 9.5]
    assert curve[0]["y"] == [0.0, 0.0, 50.0, 100.0, 100.0]
    assert curve[0]["low"][0] == 0.0 < curve[0]["high"][0] < 100
    assert 0 < curve[0]["low"][-1] < curve[0]["high"][-1] == 100.0


def test_belief_bias_shows_who_follows_the_truth():
    study = a_study(evaluation=16)
    always_true = guesses(study, dict.fromkeys(("none", "lime", "random"), 1.0), truth=1.0)
    found = summary(study, everybody(study, 2), always_true)
    for row in by_condition(found, "accuracy").values():
        assert row["truth"] == 100
        assert row["bias"] == pytest.approx(100 - row["model"])
        assert row["model"] == pytest.approx(row["model_accuracy"])
    # Everybody answers alike, which says nothing of how much others would vary; with a little noise there is a claim.
    assert "than like the model" not in table(found, "accuracy")["sentence"]
    often_true = guesses(study, dict.fromkeys(("none", "lime", "random"), 0.95), truth=0.95)
    noisy = summary(study, everybody(study, 4), often_true)
    assert "more like the true label than like the model" in table(noisy, "accuracy")["sentence"]


def test_three_people_show_no_belief_bias():
    study = a_study(evaluation=16)
    always_true = guesses(study, dict.fromkeys(("none", "lime", "random"), 0.95), truth=0.9)
    found = summary(study, everybody(study, 1)[:3], always_true)
    assert by_condition(found, "accuracy")["none"]["bias"] > 20
    assert "than like" not in table(found, "accuracy")["sentence"]


def test_three_people_are_too_few_for_any_claim_and_any_model():
    study = a_study()
    found = summary(study, everybody(study, 1)[:3], guesses(study, {"none": 0.5, "lime": 0.9, "random": 0.5}))
    assert "(it needs 6 people and 16 items): lime" in found["primary"]["sentence"]
    assert table(found, "cross-check")["sentence"] == "There is too little data for a claim by any model."


def test_the_pre_experiment_says_what_was_shown():
    study = a_study(protocol={"only_wrong": True, "masked": True})
    found = summary(study, everybody(study, 1), guesses(study, {"none": 0.5, "lime": 0.5, "random": 0.5}))
    notes = " ".join(table(found, "accuracy")["notes"])
    assert "Only items that the model gets wrong" in notes
    assert "There were no training sessions" in notes
    assert table(found, "accuracy")["rows"][0]["task"] == "masked"


def test_one_participant_gives_estimates_and_says_what_is_missing():
    study = a_study()
    found = summary(study, [Person(1, 0)], guesses(study, {"none": 0.5, "lime": 0.8, "random": 0.5}))
    assert len(table(found, "accuracy")["rows"]) == 3
    for one in found["primary"]["estimates"]:
        assert one["estimate"] is not None
        assert one["low"] is None
        assert one["p"] is None
        assert not one["conclusive"]
    assert "No interval can be given against none" in found["primary"]["sentence"]
    assert any("no interval and no test" in said for said in found["problems"])


def test_one_condition_alone_is_described_and_nothing_is_compared():
    study = a_study(conditions=CONDITIONS[1:2], evaluation=16)
    found = summary(study, everybody(study, 4), guesses(study, {"lime": 0.8}))
    assert found["primary"]["estimates"][0]["p"] is None
    assert found["primary"]["sentence"].endswith("Nothing is compared.")
    assert any("nothing to compare it with" in said for said in found["problems"])
    assert found["methods"][0]["condition"] == "lime"


def test_accuracies_near_the_end_of_the_scale_have_intervals_inside_it():
    study = a_study(conditions=({"name": "lime", "explainer": "lime"}, {"name": "shap", "explainer": "shap"}))
    found = summary(study, everybody(study, 4), guesses(study, {"lime": 0.99, "shap": 0.5}, seed=1))
    lines = {one["condition"]: one for one in found["primary"]["estimates"]}
    for line in lines.values():
        assert 0 < line["low"] < line["estimate"] < line["high"] < 100
        assert (line["low_adjusted"], line["high_adjusted"]) == (line["low"], line["high"])
    near = lines["lime"]
    # Not a t interval: the end that has no room is the nearer one.
    assert near["high"] - near["estimate"] < near["estimate"] - near["low"]
    assert by_condition(found, "accuracy")["lime"]["model_interval"] == [near["low"], near["high"]]


def test_a_condition_that_nobody_finished_is_said_and_the_rest_is_compared():
    study = a_study()
    people = everybody(study, 2)
    taken = collected(study, people, guesses(study, {"none": 0.5, "lime": 0.8, "random": 0.5}))
    taken.responses.drop(taken.responses.index[taken.responses["condition"] == "random"], inplace=True)
    found = summarised(taken, FAST)
    assert any("Nobody who is analysed answered under random" in said for said in found["problems"])
    assert [one["condition"] for one in found["primary"]["estimates"]] == ["lime"]


def test_equal_answers_have_no_test_and_say_so():
    study = a_study()
    found = summary(
        study, everybody(study, 2), guesses(study, dict.fromkeys(("none", "lime", "random"), 1.0))
    )
    assert [one["estimate"] for one in found["primary"]["estimates"]] == [0.0, 0.0]
    assert all(one["p"] is None for one in found["primary"]["estimates"])
    assert any("mixed model cannot be estimated" in said for said in found["problems"])
    assert by_condition(found, "accuracy")["lime"]["model"] == 100


def test_everybody_excluded_leaves_a_sentence():
    study = a_study()
    found = summary(
        study,
        everybody(study, 1, rules=("too-fast",)),
        guesses(study, dict.fromkeys(("none", "lime", "random"), 0.5)),
    )
    assert found["primary"] is None
    assert any(
        "Nobody who is analysed answered" in said and "6 participants" in said for said in found["problems"]
    )
    # What everybody who answered says is still there: the same numbers as if nobody were excluded.
    kept = summary(study, everybody(study, 1), guesses(study, dict.fromkeys(("none", "lime", "random"), 0.5)))
    lines = found["sensitivity"]["variants"]
    assert [one["condition"] for one in lines] == ["lime", "random"]
    assert [one["estimate"] for one in lines] == [one["estimate"] for one in kept["primary"]["estimates"]]
    assert "Nobody is analysed per protocol" in table(found, "sensitivity")["sentence"]


def test_expired_pages_are_left_out_and_counted():
    study = a_study()
    inner = guesses(study, {"none": 0.5, "lime": 0.8, "random": 0.5})
    lost = sorted(study.items)[-1]

    def answer(person, step, question):
        return None if step.item == lost else inner(person, step, question)

    found = summary(study, everybody(study, 2), answer)
    assert any("12 pages expired" in said for said in table(found, "accuracy")["notes"])
    assert sum(row["answers"] for row in table(found, "accuracy")["rows"]) == 12 * 44
    # Pages that expire take time too: every session is as long as the others, in the test as in the table.
    times = [row for row in table(found, "mann-whitney")["rows"] if row["measure"] == "session time"]
    assert [row["delta"] for row in times] == [0.0, 0.0]


def test_sensitivity_has_everybody_who_answered():
    study = a_study()
    people = everybody(study, 2)
    people.append(Person(len(people) + 1, 0, rules=("too-fast",)))
    found = summary(study, people, guesses(study, {"none": 0.5, "lime": 0.9, "random": 0.5}))
    variants = [one for one in found["sensitivity"]["variants"] if one["condition"] == "lime"]
    assert variants[0]["estimate"] == pytest.approx(found["primary"]["estimates"][0]["estimate"])
    assert variants[1]["estimate"] != variants[0]["estimate"]
    left = found["sensitivity"]["leave_one_out"]
    assert [(one["left_out"], one["tried"]) for one in left if one["condition"] == "lime"] == [
        ("item", 45),
        ("participant", 12),
    ]


def test_a_planned_margin_is_tested_and_the_order_of_answers_does_not_matter():
    study = a_study(participants=3, analysis={"equivalence": "5 points"})
    taken = collected(study, everybody(study, 3), guesses(study, {"none": 0.5, "lime": 0.9, "random": 0.5}))
    found = summarised(taken, FAST)
    rows = by_condition(found, "equivalence")
    line = next(one for one in found["primary"]["estimates"] if one["condition"] == "lime")
    assert rows["lime"]["estimate"] == pytest.approx(line["estimate"])
    assert rows["lime"]["equivalent"] == "not shown"
    assert line["low"] < rows["lime"]["interval"][0]  # 90% lies inside 95%
    taken.responses.sort_values("item", inplace=True, kind="stable")
    again = summarised(taken, FAST)
    for one, other in zip(found["primary"]["estimates"], again["primary"]["estimates"], strict=True):
        assert one["estimate"] == pytest.approx(other["estimate"])
        assert one["p"] == pytest.approx(other["p"])


def test_f1_is_the_mean_over_people_of_sklearns(helped):
    from sklearn.metrics import f1_score

    taken, found = helped
    rows = taken.responses[(taken.responses["phase_kind"] == "test") & taken.responses["score"].notna()]
    for name, row in by_condition(found, "accuracy").items():
        own = rows[rows["condition"] == name]
        each = [
            f1_score(one["prediction"].astype(int), one["answer"].astype(int), average="macro")
            for _, one in own.groupby("participant")
        ]
        assert row["f1"] == pytest.approx(np.mean(each))
        low, high = row["f1_interval"]
        assert 0 <= low < row["f1"] < high <= 1


def test_the_models_accuracy_is_that_on_its_test_part_beside_the_shown_items():
    study = replace(a_study(evaluation=4), models={"model": {"name": "logistic", "accuracy": 0.81}})
    found = summary(
        study, everybody(study, 1), guesses(study, dict.fromkeys(("none", "lime", "random"), 0.5))
    )
    for row in by_condition(found, "accuracy").values():
        assert row["model_test_accuracy"] == pytest.approx(81)
        assert row["model_accuracy"] == pytest.approx(50)


def written(study, texts):
    """Everybody guesses the model's answer; what is written depends on the condition."""

    def answer(person, step, question):
        if question.name == "strategy":
            return texts.get(step.condition, "")
        return study.items[step.item].prediction if step.item else question.options[0].means

    return answer


def test_strategies_are_counted_by_condition_and_coded_in_a_file(tmp_path):
    study = a_study(evaluation=2, protocol={"strategy": True, "task": "sentiment"})
    taken = collected(
        study, everybody(study, 1), written(study, {"none": "=guessed", "lime": "the grey words"})
    )
    found = summarised(taken, FAST)
    rows = by_condition(found, "strategies")
    assert {name: (row["asked"], row["wrote"]) for name, row in rows.items()} == {
        "none": (6, 6), "lime": (6, 6), "random": (6, 0)
    }  # fmt: skip
    assert "grey words" not in json.dumps(found)
    path = tmp_path / "strategies.csv"
    asked = strategies_of(analysed(taken))
    coded_file(path, asked)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "task,kind,condition,participant,strategy,code"
    assert len(lines) == 1 + 12
    coded = [line + "marks" if "grey words" in line else line for line in lines]
    path.write_text("\n".join(coded), encoding="utf-8")
    again = strategy_table(coded_file(path, asked))
    by_name = {row["condition"]: row for row in again.rows}
    assert (by_name["lime"]["code_marks"], by_name["none"]["code_marks"]) == (6, 0)
    assert by_name["lime"]["task"] == "sentiment"
    # What was coded is there when the file is written once more, and a guarded text is read back as it was.
    assert strategy_table(coded_file(path, asked)) == again
    assert any(one.text == "=guessed" for one in asked)


def test_pages_of_the_question_that_were_left_empty_count_as_asked():
    """A page without an answer leaves no row; whoever had the round was asked."""
    study = a_study(evaluation=2, protocol={"strategy": True})
    data = analysed(collected(study, everybody(study, 1), written(study, {"lime": "the grey words"})))
    answers = data.responses
    empty = (answers["question"] == "strategy") & (answers["condition"] != "lime")
    assert empty.any()
    asked = strategies_of(replace(data, responses=answers[~empty]))
    rows = {row["condition"]: (row["asked"], row["wrote"]) for row in strategy_table(asked).rows}
    assert rows == {"none": (6, 0), "lime": (6, 6), "random": (6, 0)}


def test_codes_of_other_people_are_refused(tmp_path):
    study = a_study(evaluation=2, protocol={"strategy": True})
    taken = collected(study, everybody(study, 1), written(study, {"none": "a word"}))
    asked = strategies_of(analysed(taken))
    path = tmp_path / "strategies.csv"
    path.write_text("task,kind,condition,participant,strategy,code\nx,known,none,p9,a,b\n", encoding="utf-8")
    with pytest.raises(VeraxError, match="has a code for p9"):
        coded_file(path, asked)
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(VeraxError, match="is no file of strategies"):
        coded_file(path, asked)


def test_the_pre_experiment_compares_with_and_without_training():
    """Ten people who are right on half of the items without training, and on all with it."""
    study = sample_study(
        {"name": "reverse-turing", "training": 4, "evaluation": 8, "untrained_first": True, "strategy": True},
        {"training": 4, "evaluation": 8},
        groups=2,
        conditions=CONDITIONS[:1],
        participants=10,
    )
    places = {name: place for place, name in enumerate(study.items)}

    def answer(person, step, question):
        if question.name != "prediction":
            return question.options[0].means if question.options else "a word"
        said = study.items[step.item].prediction
        knows = step.phase != "evaluation-1" or (places[step.item] + person.number) % 2
        return said if knows else 1 - said

    found = summary(study, everybody(study, 10), answer)
    rows = by_condition(found, "accuracy")
    assert (rows["untrained"]["model"], rows["trained"]["model"]) == pytest.approx((50, 100))
    (line,) = found["primary"]["estimates"]
    assert (line["condition"], line["estimate"]) == ("trained", pytest.approx(50))
    assert "against no training" in table(found, "contrast")["title"]
    assert set(by_condition(found, "times")) == {"untrained", "trained"}
    assert set(by_condition(found, "strategies")) == {"untrained", "trained"}
    assert found["methods"] == []

"""Several Reverse Turing Tests side by side: the paper's Table 1 and its Figure 3, by hand and by scipy."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from studies.analysis.frames import collected, everybody, sample_study, summarised
from verax.errors import VeraxError
from verax.studies.analysis import Options, analysed
from verax.studies.analysis.analyse import pooled_findings
from verax.studies.protocols.reverse_turing.accuracy import task_name
from verax.studies.protocols.reverse_turing.pooled_analysis import pooled_imitation

CONDITIONS = ({"name": "none"}, {"name": "lime", "explainer": "lime"}, {"name": "random", "like": "lime"})
SHARES = {
    "known": {"none": 0.5, "lime": 0.9, "random": 0.5},
    "masked": {"none": 0.5, "lime": 0.5, "random": 0.5},
}
ACCURACY = {"known": 0.822, "masked": 0.942}
SECONDS = {"known": 4.0, "masked": 12.0}


def a_study(kind, each=4, **texts):
    protocol = {"name": "reverse-turing", "training": 0, "evaluation": 12, "masked": kind == "masked"}
    study = sample_study(
        protocol, {"evaluation": 12}, groups=3, conditions=CONDITIONS, participants=each, **texts
    )
    study = replace(study, models={"model": {"name": "logistic", "accuracy": ACCURACY[kind]}})
    rng = np.random.default_rng(len(kind))

    def answer(person, step, question):
        if question.name != "prediction":
            return question.options[0].means if question.options else "a word"
        right = rng.random() < SHARES[kind][step.condition]
        said = study.items[step.item].prediction
        return said if right else 1 - said

    found = collected(study, everybody(study, each), answer)
    found.responses["seconds"] = SECONDS[kind] * np.exp(rng.normal(0, 0.2, len(found.responses)))
    return found


@pytest.fixture(scope="module")
def both():
    known, masked = a_study("known"), a_study("masked")
    found = summarised(masked, Options(replicates=20), others=[known])
    json.dumps(found, allow_nan=False)
    return {"known": known, "masked": masked}, found


def table(found, key):
    return next(one for one in found["tables"] if one["key"] == key)


def scored(taken):
    rows = taken.responses
    return rows[(rows["phase_kind"] == "test") & rows["score"].notna()]


def test_table_1_has_each_task_and_condition_with_known_tasks_first(both):
    taken, found = both
    rows = table(found, "tasks")["rows"]
    assert [(row["kind"], row["condition"]) for row in rows] == [
        ("known", "none"),
        ("known", "lime"),
        ("known", "random"),
        ("masked", "none"),
        ("masked", "lime"),
        ("masked", "random"),
    ]
    for row in rows:
        assert row["model_test_accuracy"] == pytest.approx(100 * ACCURACY[row["kind"]])
        own = scored(taken[row["kind"]])
        own = own[own["condition"] == row["condition"]]
        assert row["model"] == pytest.approx(100 * own["score"].astype(float).mean())  # all answered as many
        truth = own["answer"].astype(int) == own["label"].astype(int)
        assert row["truth"] == pytest.approx(100 * truth.mean())
        assert row["bias"] == pytest.approx(row["truth"] - row["model"])
        assert row["minutes"] == pytest.approx(own.groupby("participant")["seconds"].sum().mean() / 60)
        assert row["model_accuracy"] == pytest.approx(100 * own["model_correct"].astype(float).mean())
    assert "lime in " in table(found, "tasks")["sentence"]
    assert "known (+" in table(found, "tasks")["sentence"]
    assert "masked" not in table(found, "tasks")["sentence"]


def test_its_stars_are_scipys_mann_whitney_on_sessions(both):
    taken, found = both
    row = table(found, "tasks")["rows"][1]
    each = scored(taken["known"]).groupby(["participant", "condition"])["seconds"].sum().unstack()
    expected = stats.mannwhitneyu(each["lime"], each["none"], method="exact").pvalue
    assert row["p_minutes"] == pytest.approx(expected)


def test_figure_3_compares_the_sessions_of_known_and_masked_tasks(both):
    taken, found = both
    rows = {row["condition"]: row for row in table(found, "known-and-masked")["rows"]}
    lengths = {}
    for kind, one in taken.items():
        sessions = scored(one).groupby(["participant", "condition"])["seconds"].sum().unstack()
        lengths[kind] = sessions[["none", "lime"]].mean(axis=1)  # the paper's figure has no control
        assert rows["lime"][kind] == pytest.approx(sessions["lime"].mean())
        assert rows["all conditions"][kind] == pytest.approx(lengths[kind].mean())
    exact = stats.mannwhitneyu(lengths["masked"], lengths["known"], method="exact").pvalue
    assert rows["all conditions"]["p"] == pytest.approx(exact)
    assert "masked tasks were clearly longer" in table(found, "known-and-masked")["sentence"]
    figure = next(one for one in found["figures"] if one["key"] == "known-and-masked")
    assert [bar["label"] for bar in figure["data"]["bars"]] == ["known tasks", "masked tasks"]
    assert figure["data"]["groups"] == ["lime", "none", "all conditions"]


def test_people_are_compared_with_the_model_on_the_truth_of_the_same_items(both):
    taken, found = both
    rows = {(row["task"], row["condition"]): row for row in table(found, "people-and-model")["rows"]}
    assert len(rows) == 6
    known = next(row["task"] for row in table(found, "tasks")["rows"] if row["kind"] == "known")
    row = rows[known, "lime"]
    own = scored(taken["known"])
    own = own[own["condition"] == "lime"]
    right = (own["answer"].astype(int) == own["label"].astype(int)).groupby(own["participant"]).mean()
    models = own["model_correct"].astype(float).groupby(own["participant"]).mean()
    ahead = (right - models).to_numpy()
    assert row["difference"] == pytest.approx(100 * ahead.mean())
    signs = np.array(np.meshgrid(*[[-1, 1]] * len(ahead))).reshape(len(ahead), -1)
    sums = np.abs(signs.T @ ahead)
    assert row["p"] == pytest.approx(np.mean(sums >= abs(ahead.sum()) - 1e-9))
    assert row["p_adjusted"] >= row["p"]


def test_table_1_is_printed_as_in_the_paper(both):
    taken, found = both
    printed = table(found, "table-1")
    assert [column["title"] for column in printed["columns"]] == [
        "Task",
        "Human acc. (p\u0302), x",
        "Human acc. (p\u0302), LIME(x)",
        "Human time (p\u0302), x",
        "Human time (p\u0302), LIME(x)",
        "Model acc. (p)",
        "Human acc. (p), x",
        "Human acc. (p), LIME(x)",
    ]
    names = [row["task"] for row in printed["rows"]]
    assert (names[0], names[2]) == ("KNOWN TASKS", "UNKNOWN TASKS")
    for kind, row in (("known", printed["rows"][1]), ("masked", printed["rows"][3])):
        own = scored(taken[kind])
        each = own.groupby(["participant", "condition"]).agg(
            score=("score", "mean"), seconds=("seconds", "sum")
        )
        for key, name in (("x", "none"), ("lime", "lime")):
            mine = own[own["condition"] == name]
            assert row[f"model_{key}"].lstrip("*") == f"{mine['score'].astype(float).mean():.3f}"
            minutes, seconds = row[f"time_{key}"].lstrip("*").split(":")
            whole = each.xs(name, level="condition")["seconds"].mean()
            assert 60 * int(minutes) + int(seconds) == round(whole)
        test = stats.mannwhitneyu(
            each.xs("lime", level="condition")["score"], each.xs("none", level="condition")["score"]
        )
        assert row["model_lime"].startswith("*") == (test.pvalue < 0.05 and row["model_lime_number"] > 0.5)
        assert row["model_accuracy"] == f"{ACCURACY[kind]:.3f}"
    assert printed["rows"][1]["model_lime"].startswith("*")
    assert printed["rows"][1]["model_lime_mark"] == "best"
    assert "model_x_mark" not in printed["rows"][1]


def test_tasks_are_named_by_what_they_are_and_never_by_a_path():
    named = [
        ({"dataset": "data/sst", "source": {"format": "sst"}}, "sst"),
        (
            {"dataset": "data/probing/past_present.txt", "source": {"format": "senteval-probing"}},
            "past_present",
        ),
        ({"dataset": "/home/me/reviews.csv"}, "reviews"),
    ]
    for entries, name in named:
        data = analysed(a_study("known", each=1))
        spec = data.study.spec.model_copy(update=entries)
        assert task_name(replace(data, study=replace(data.study, spec=spec))) == name
        assert task_name(replace(data, parameters={**data.parameters, "task": "Tense"})) == "Tense"


def test_two_known_tasks_have_a_table_and_no_comparison_with_masked_ones():
    studies = [analysed(a_study("known")), analysed(a_study("known", each=3))]
    found = pooled_imitation(studies, Options())
    assert [(one.key, len(one.rows)) for one in found.tables] == [
        ("table-1", 3),
        ("tasks", 6),
        ("people-and-model", 6),
    ]
    assert not found.figures
    assert "No study with times has a masked task" in found.problems[0]


def test_what_cannot_stand_together_is_refused(both):
    taken, _ = both
    forward = {"name": "forward", "learning": 4, "test": 4}
    other = sample_study(forward, {"learning": 4, "test": 4}, conditions=CONDITIONS)
    simulation = collected(
        other, everybody(other, 1), lambda person, step, question: question.options[0].means
    )
    with pytest.raises(VeraxError, match="is a forward study"):
        pooled_findings([analysed(taken["known"]), analysed(simulation)], Options())
    with pytest.raises(VeraxError, match="given twice"):
        pooled_findings([analysed(taken["known"])] * 2, Options())

"""What an atlas says of values: verdicts, families, the first sentence, and how much more data would decide."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from verax.benchmarks.atlas import plan
from verax.benchmarks.atlas.findings import (
    ALL,
    AtlasSummary,
    Value,
    leaders,
    needed_units,
    summarise,
)
from verax.benchmarks.atlas.plan import cell_command, measure_for, plan_atlas
from verax.benchmarks.atlas.spec import AtlasSpec
from verax.codec import decode, encode
from verax.measures.evidence import Evidence
from verax.stats import Difference

SPEC = AtlasSpec(size="small", datasets=["breast-cancer"], models=["tree"], explainers=["lime", "shap"])
# Per stain, in the order of the stains: best clearly ahead, middle ahead of random, useless like random.
SCORES = {
    "best": [0.90, 0.85, 0.95, 0.80, 0.90, 0.88, 0.93, 0.91],
    "middle": [0.60, 0.50, 0.55, 0.52, 0.58, 0.61, 0.49, 0.57],
    "useless": [0.20, 0.10, 0.15, 0.22, 0.18, 0.11, 0.19, 0.15],
    "random": [0.15, 0.16, 0.14, 0.17, 0.21, 0.13, 0.15, 0.19],
}


def values(scores=SCORES, test="planted", model="tree", dataset="one"):
    return [
        Value(test, dataset, model, method, f"stain {place}", (f"a{place}", f"b{place}"), value)
        for method, own in scores.items()
        for place, value in enumerate(own)
    ]


def made(given):
    return summarise(SPEC, (), given, [], ())


def headline(summary, method):
    return next(cell for cell in summary.headline if cell.finding.method == method)


def test_verdicts_say_what_is_shown_and_not_who_comes_first():
    summary = made(values())
    signs = {cell.finding.method: cell.finding.sign for cell in summary.headline}
    assert signs["best"] == "yes"
    assert signs["middle"] == "part"
    assert headline(summary, "middle").beaten_by == ("best",)
    assert headline(summary, "best").beats == ("middle", "useless")
    assert leaders(summary.headline) == ["best"]
    assert summary.sentences[0] == "Reasons known to be in a model are found best in decision trees by best."


def test_what_is_like_random_is_not_called_better():
    cell = headline(made(values()), "useless")
    assert cell.above_random == pytest.approx(100 * (sum(SCORES["useless"]) - sum(SCORES["random"])) / 8)
    # Its interval ends below five points, which is too little to be of use.
    assert cell.above_high < 5
    assert cell.finding.sign == "no"


def test_what_two_leaders_leave_open_is_said_with_what_would_decide_it():
    near = [value - delta for value, delta in zip(SCORES["best"], [0.03, -0.02] * 4, strict=True)]
    summary = made(values({"best": SCORES["best"], "near": near, "random": SCORES["random"]}))
    assert "by best and near, of which none is shown to be better than another." in summary.sentences[0]
    (pair,) = summary.undecided
    assert (pair.ahead, pair.behind, pair.n, pair.alike) == ("best", "near", 8, True)
    assert pair.difference == pytest.approx(0.5)
    # By hand: the standard error is 0.0267 / sqrt(8) = 0.945 points; three claims in the family, power 0.8.
    assert pair.needed == math.ceil(8 * ((2.393980 + 0.841621) * 0.9449112 / 0.5) ** 2) == 300
    lower = [0.5 * value for value in SCORES["best"]]
    far = [value - delta for value, delta in zip(lower, [0.08, -0.07] * 4, strict=True)]
    (pair,) = made(values({"best": lower, "far": far, "random": SCORES["random"]})).undecided
    assert not pair.alike
    assert made(values()).undecided == ()


def test_of_many_leaders_those_are_named_that_are_none():
    five = {f"good{number}": SCORES["best"] for number in range(5)}
    summary = made(values(five | {"middle": SCORES["middle"], "random": SCORES["random"]}))
    assert summary.sentences[0].endswith("in decision trees by all explainers but middle.")


def test_benchmarks_that_show_the_same_stand_together_in_the_sentence_on_a_model():
    given = values() + values(test="students")
    assert made(given).sentences[1] == (
        "Decision trees: by planted reasons and learners better than chance: best and middle."
    )


def test_below_six_stains_nothing_is_claimed():
    few = {method: own[:5] for method, own in SCORES.items()}
    summary = made(values(few))
    assert {cell.finding.sign for cell in summary.headline} <= {"open", "no"}
    assert "too few planted reasons" in summary.sentences[0]
    assert headline(summary, "best").needed == 6


def test_stains_that_share_a_word_count_for_less():
    alone = headline(made(values()), "best").finding
    shared = [
        Value(one.test, one.dataset, one.model, one.method, one.unit, ("same", *one.parts), one.value)
        for one in values()
    ]
    together = headline(made(shared), "best").finding
    assert together.estimate == alone.estimate
    assert together.high - together.low > alone.high - alone.low


def test_less_is_better_where_a_benchmark_says_so():
    errors = {method: [1 - value for value in own] for method, own in SCORES.items()}
    summary = made(values(errors, test="rationale", model="rationale"))
    best = next(cell for cell in summary.cells if cell.finding.method == "best")
    assert best.finding.sign == "yes"
    assert best.above_random > 0
    assert best.finding.better == "lower"


def test_every_claim_names_its_family_and_each_sentence_is_one():
    given = values() + values(test="students") + values(dataset="two") + values(model="forest")
    summary = made(given)
    families = {cell.finding.family for cell in summary.headline if cell.finding.family}
    assert len(families) == 1
    per_model = {
        (cell.finding.model, cell.finding.family)
        for cell in summary.cells
        if cell.finding.scope == "overall" and cell.finding.family
    }
    assert {model for model, _ in per_model} == {"tree", "forest"}
    assert len(per_model) == 2
    assert set(summary.families) >= families
    assert all(
        cell.finding.p_adjusted >= cell.finding.p for cell in summary.headline if cell.finding.p is not None
    )


def test_a_larger_family_makes_claims_harder():
    few = headline(made(values()), "middle").finding
    more = values() + [one for number in range(6) for one in values(model=f"model {number}", dataset="two")]
    assert headline(made(more), "middle").finding.p_adjusted >= few.p_adjusted


def test_datasets_are_put_together_for_a_sort_of_model():
    summary = made(values() + values(dataset="two"))
    cell = headline(summary, "best")
    assert cell.finding.dataset == ALL
    assert cell.finding.n == 16


def test_needed_units_by_hand():
    # n = 9, mean 1, standard error 1 (t with 8 degrees of freedom: 2.306): (1.96 + 0.84)² · 9 = 70.6.
    against = Difference("a", "random", 1.0, 1 - 2.306004, 1 + 2.306004, 9, 0, 0.3, 0.3, 6, 3, 0)
    assert needed_units(against, 1) == math.ceil(9 * (1.959964 + 0.841621) ** 2) == 71
    assert needed_units(against, 20) > 71
    # Seven stains that agree: the approximation says eight, but 0.123 falls below 0.05 after two more at the earliest.
    agree = Difference("a", "random", 0.6, 0.55, 0.65, 7, 0, 0.016, 0.123, 7, 0, 0)
    assert needed_units(agree, 20) == 9
    behind = Difference("a", "random", -1.0, -3.3, 1.3, 9, 0, 0.3, 0.3, 3, 6, 0)
    assert needed_units(behind, 1) is None


def test_randomised_weights_are_judged_by_their_limit_and_not_by_random():
    scores = {
        "lime": [0.1, 0.0, -0.1, 0.05, 0.1, 0.0],
        "stuck": [0.9, 0.95, 0.9, 0.92, 0.9, 0.9],
        "random": [1.0] * 6,
    }
    summary = made(values() + values(scores, test="sanity"))
    signs = {
        cell.finding.method: cell.finding.sign
        for cell in summary.cells
        if cell.finding.name == "sanity" and cell.finding.scope == "part"
    }
    assert signs["lime"] == "yes"
    assert signs["stuck"] == "no"


def test_a_summary_comes_back_from_its_file():
    summary = made(values())
    assert decode(AtlasSummary, encode(summary)) == summary


def test_the_plan_has_only_what_applies():
    runs = plan_atlas(AtlasSpec(size="small"))
    sorts = {(run.kind, run.sort) for run in runs}
    assert ("text", "hist-gradient-boosting") not in sorts
    assert ("table", "cnn") not in sorts
    assert all("lrp" not in run.explainers for run in runs if run.sort != "cnn")
    assert len({run.folder for run in runs}) == len(runs)


def test_other_budgets_are_in_the_runs_that_are_timed_and_in_no_family():
    planted = next(run for run in plan_atlas(AtlasSpec(size="small")) if run.test == "planted")
    assert "lime(samples=64)" in planted.explainers
    given = {**SCORES, "lime(samples=64)": SCORES["best"]}
    summary = made(values(given))
    assert all(cell.finding.method != "lime(samples=64)" for cell in summary.headline)
    assert "lime(samples=64)" in {one.method for one in summary.findings}


def test_a_cell_has_a_command_of_its_own():
    run = next(run for run in plan_atlas(SPEC) if run.test == "students")
    assert cell_command(run, "lime") == (
        "verax bench students --dataset breast-cancer --model tree --explainers lime --sizes 16,32,64 --reasons and "
        "--stains 12 --samples 256 --seed 0 --draws 1 --inputs 20 --out runs/students-breast-cancer-tree"
    )


def test_measures_are_those_that_known_reasons_support(monkeypatch):
    rows = [
        Evidence("text", "all", "deletion", "believable", 0.9, 0.8, 1.0, 10),
        Evidence("text", "forest", "deletion", "believable", 0.9, 0.7, 1.0, 10),
        Evidence("text", "forest", "insertion", "believable", 0.85, 0.75, 0.95, 10),
        Evidence("text", "forest", "gini", "weak", 0.95, 0.9, 1.0, 10),
    ]
    monkeypatch.setattr(plan, "stored_evidence", lambda: rows)
    assert measure_for("text", "forest") == "insertion"  # what is surest, of what is believable
    assert measure_for("text", "no such sort") == "deletion"
    assert measure_for("table", "forest") == plan.FALLBACK_MEASURE


def test_values_of_two_measures_are_not_put_together():
    higher = [replace(one, measure="comprehensiveness") for one in values(test="measures")]
    lower = [
        replace(one, measure="infidelity", dataset="two", value=1 - one.value)
        for one in values(test="measures")
    ]
    cells = [
        cell
        for cell in made(higher + lower).cells
        if cell.finding.scope == "overall" and cell.finding.method == "best"
    ]
    assert [(cell.finding.better, cell.finding.n, cell.finding.sign) for cell in cells] == [
        ("higher", 8, "yes"),
        ("lower", 8, "yes"),
    ]


def test_the_answer_is_by_planted_reasons_and_errors_on_rationale_models_stand_apart():
    errors = {"best": [0.1] * 8, "random": [0.9] * 8}
    summary = made(values() + values(errors, test="rationale", model="rationale"))
    assert {cell.finding.name for cell in summary.headline} == {"planted"}
    assert "rationale" not in summary.sentences[0]
    assert any(cell.finding.name == "rationale" for cell in summary.cells)
    assert any(sentence.startswith("Rationale models: ") for sentence in summary.sentences[1:])

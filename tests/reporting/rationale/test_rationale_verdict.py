"""The sentences and lines of a verification's verdict, from estimates by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from verax.benchmarks.rationale.estimates import _over_targets
from verax.benchmarks.rationale.findings import (
    ExplainerErrors,
    Group,
    GroupSet,
    OnInputs,
    RationaleSummary,
    TargetSet,
    TargetSummary,
    Texts,
)
from verax.benchmarks.rationale.rankings import TestSet
from verax.benchmarks.rationale.spec import RationaleSpec
from verax.reporting.rationale.verdict import (
    Standing,
    _answer,
    _group_verdict,
    rationale_verdict,
)
from verax.results.verdict import Judged
from verax.stats import binomial_share, paired_differences

HARDLY_EVER, UNSHOWN = "hardly ever errs", "not shown to err less than chance"
NONE_SEEN = "no error seen, on too few inputs to say hardly ever"
LESS = "errs, but less than chance on every target"


def summary_of(*groups):
    """A summary of groups of targets, each given as the share of misranked inputs by target, by explainer."""
    made = []
    for difficulty, shares in zip(("easy", "hard"), groups, strict=False):
        found = found_of(shares)
        made.append(Group("films", difficulty, 3, {"strict": found, "published": found}))
    labels = tuple(groups[0])
    return RationaleSummary(RationaleSpec(), labels, dict.fromkeys(labels, "none"), {}, (), tuple(made), ())


def found_of(shares):
    """What three targets found, from the share of misranked inputs by target, by explainer."""
    scored = {
        label: ExplainerErrors(*[_over_targets("misranked", several)] * 4)
        for label, several in shares.items()
    }
    return GroupSet(3, scored, (), ())


def lines(summary):
    return {row.name: (row.estimate, row.low, row.high) for row in rationale_verdict(summary).judged}


def test_three_targets_have_no_interval_whatever_they_score():
    shares = [0.84, 0.90, 0.94]
    found = lines(summary_of({"anchor": shares, "random": shares}))["anchor"]
    assert found == (pytest.approx(89.3333333), None, None)


def test_groups_of_targets_are_averaged_and_one_without_an_interval_leaves_none():
    none, wrong, few = [0.0] * 5, [1.0] * 5, [0.4, 0.5, 0.6]
    both = lines(summary_of({"lime": none, "shap": none}, {"lime": wrong, "shap": few}))
    # Five targets without an error: up to 1 - .025^(1/5) is open (Clopper and Pearson); two groups are halved in root.
    open_end = 100 * (1 - 0.025**0.2) / 2
    assert both["lime"] == (
        50,
        pytest.approx(50 - open_end, abs=0.01),
        pytest.approx(50 + open_end, abs=0.01),
    )
    assert both["shap"] == (25, None, None)


def explained(erred, inputs):
    """One target's set in which an explainer errs on so many inputs, random on all of them."""
    found = {"lime": [1.0] * erred + [0.0] * (inputs - erred), "random": [1.0] * inputs}
    differences = paired_differences(
        {label: {n: 1.0 - each for n, each in enumerate(wrong)} for label, wrong in found.items()}
    )
    on_inputs = {
        label: OnInputs(ExplainerErrors(*[binomial_share(wrong)] * 4), 0, ())
        for label, wrong in found.items()
    }
    return TargetSet(inputs, on_inputs, tuple(differences))


def judged(erred, inputs, targets=3):
    """The line of an explainer that errs on so many of the inputs of each target; all have texts of their own."""
    sets = {name: explained(erred, inputs) for name in ("strict", "published")}
    target = TargetSummary(
        "films", "a", "easy", 0, 0.8, None, 0.3,
        TestSet(inputs, 0, 0, inputs, *[None] * 4, 0.0, 0.0, 0.0), binomial_share([1] * inputs), sets, {}, {}, (),
    )  # fmt: skip
    group = found_of(
        {label: [one.scored.misranked.mean] * targets for label, one in sets["strict"].explainers.items()}
    )
    texts = {name: {"lime": Texts(targets * inputs, targets * erred)} for name in sets}
    found = RationaleSummary(
        RationaleSpec(), ("lime", "random"), {}, {}, (target,) * targets,
        (Group("films", "easy", targets, {"strict": group, "published": group}),), (), texts,
    )  # fmt: skip
    verdict = rationale_verdict(found)
    return verdict.judged[0], verdict


def test_hardly_ever_needs_the_upper_limit_and_speaks_of_these_models():
    """By hand: 0 of 99 has p = .97^99 = .049, 0 of 98 has .0506."""
    line, verdict = judged(0, 33)
    assert (line.sign, line.words) == ("yes", HARDLY_EVER)
    assert verdict.sentence.startswith("For these three models, lime hardly ever ranks a word")
    assert "others, trained on the same data with other seeds, may differ" in verdict.rests_on[1]
    line, verdict = judged(0, 32)
    assert (line.sign, line.words) == ("open", NONE_SEEN)
    assert verdict.sentence.startswith(
        "lime made no such error, on too few inputs to say that it hardly ever does"
    )
    # 1% of inputs, which was enough once, with 300 texts: 3 errors have p = .02, 2% of them are too many.
    assert judged(1, 100)[0].words == HARDLY_EVER
    assert judged(2, 100)[0].words == LESS


def test_who_is_always_right_where_random_is_always_wrong_is_shown_to_beat_it():
    """The differences do not vary, so that a t test has nothing to say; coins have."""
    assert judged(0, 30)[0].words == NONE_SEEN
    assert judged(0, 4)[0].words == UNSHOWN  # four coins: p = 1/16


def test_every_explainer_has_its_part_of_the_five_per_cent():
    """Six inputs with one explainer: p = 1/64 is enough; with four it is not, since together they would err in 6%."""
    one, _ = judged(0, 6, targets=1)
    assert one.words == NONE_SEEN
    sets = explained(0, 6)
    many = [f"lime{n}" for n in range(4)]
    right = {label: dict.fromkeys(range(6), 1.0) for label in many} | {"random": dict.fromkeys(range(6), 0.0)}
    wide = TargetSet(
        6, dict.fromkeys(many, sets.explainers["lime"]) | {"random": sets.explainers["random"]},
        tuple(paired_differences(right)),
    )  # fmt: skip
    target = TargetSummary(
        "films", "a", "easy", 0, 0.8, None, 0.3, TestSet(6, 0, 0, 6, *[None] * 4, 0.0, 0.0, 0.0),
        binomial_share([1] * 6),
        {"strict": wide, "published": wide}, {}, {}, (),
    )  # fmt: skip
    group = found_of({label: [0.0] for label in many} | {"random": [1.0]})
    found = RationaleSummary(
        RationaleSpec(), (*many, "random"), {}, {}, (target,),
        (Group("films", "easy", 1, {"strict": group, "published": group}),), (),
    )  # fmt: skip
    assert {row.words for row in rationale_verdict(found).judged} == {UNSHOWN}


def test_everybody_is_told_in_one_sentence_and_chance_is_named_once():
    rows = [
        Standing("hardly-ever", Judged("greedy", "yes", HARDLY_EVER, 0.0)),
        Standing("hardly-ever", Judged("lrp", "yes", HARDLY_EVER, 0.4)),
        Standing("less", Judged("shap", "open", LESS, 3.0)),
        Standing("less", Judged("lime", "open", LESS, 5.2)),
        Standing("not-shown", Judged("anchor", "no", UNSHOWN, 89.3)),
    ]
    assert _answer(rows, [0.92, 0.94], 3) == (
        "For these three models, greedy and lrp hardly ever rank a word that the model ignores above one that it needs "
        "(0%; chance 93%); shap and lime err, but less often than chance on every target (3–5% of inputs); anchor is "
        "not shown to err less than chance (89%)."
    )


def test_where_strict_inputs_are_too_easy_all_inputs_are_told_too():
    strict = found_of({"lime": [0.0, 0.01, 0.005], "shap": [0.0, 0.0, 0.0], "random": [0.8, 0.9, 0.8]})
    everything = found_of({"lime": [0.2, 0.3, 0.25], "shap": [0.1, 0.2, 0.15], "random": [0.9, 0.9, 0.9]})
    summary = summary_of({"lime": [0.0], "shap": [0.0], "random": [0.8]})
    group = Group("films", "hard", 3, {"strict": strict, "published": everything})
    said = _group_verdict(replace(summary, groups=(group,)), group, {"lime": "lime", "shap": "shap"})
    assert said == (
        "On films (hard targets), all of shap and lime misrank at the most 0.5% of strict inputs: these are too easy "
        "to tell them apart. Of all inputs that the paper keeps the shares are: shap 15.0% and lime 25.0%."
    )


def test_one_explainer_alone_and_nobody():
    line = Judged("lime", "open", "errs less than chance on 1 of 3 targets", 40.0)
    alone = [Standing("less-on-some", line, {"better": 1, "targets": 3})]
    assert _answer(alone, [], 3) == (
        "lime ranks a word that the model ignores above one that it needs less often than chance on 1 of 3 targets "
        "(40% of inputs)."
    )
    assert _answer([], [0.9], 0) == "No explainer could be scored, so none is judged."

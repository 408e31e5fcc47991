"""Benchmarks and studies together: names matched, estimates averaged by hand, correlations by enumeration, one page."""

import json
import re
from dataclasses import replace
from html import unescape

import pytest

from reporting.run_summaries import written
from reporting.study.test_study_page import Balance, read
from reporting.study_summaries import HOSTILE, method_line, summary
from verax.codec import encoded
from verax.errors import VeraxError
from verax.reporting.joint.evaluations import Evaluation, Standing, read_evaluations
from verax.reporting.joint.order import agreements, average_ranks, compare, comparisons, measure_orders
from verax.reporting.joint.page import compare_evaluations, explainer_order, places, write_joint_report
from verax.results.findings import Finding, bare_name, findings_json
from verax.results.units import Unit


def scored(mean, margin=0.1, n=5):
    return {"auc": {"mean": mean, "low": mean - margin, "high": mean + margin, "n": n}}


def stain(cells, explainers=("lime(samples=300)", "shap", "greedy", "random", "ground-truth")):
    """A staining summary from {(dataset, model): {label: auc}}."""
    return {
        "benchmark": "stain",
        "spec": {"datasets": list(dict.fromkeys(dataset for dataset, _ in cells))},
        "explainers": list(explainers),
        "cells": [
            {
                "dataset": dataset,
                "model": model,
                "explainers": {label: scored(value) for label, value in row.items()},
            }
            for (dataset, model), row in cells.items()
        ],
    }


FOUR = {"lime(samples=300)": 0.9, "shap": 0.8, "greedy": 0.7, "random": 0.2, "ground-truth": 1.0}
STUDY = summary(
    methods=[
        method_line("lime", 7.3, 1.2, 13.5),
        method_line("shap", 3.1, -2.2, 8.4),
        method_line("greedy", 5.0, -1.0, 11.0),
        method_line("random", 0.4, -5.0, 6.0),
        method_line("none", 0.0, 0.0, 0.0),
    ]
)


@pytest.fixture
def folders(tmp_path):
    def make(**summaries):
        made = []
        for name, given in summaries.items():
            (tmp_path / name).mkdir()
            (tmp_path / name / "summary.json").write_text(json.dumps(written(given)))
            made.append(tmp_path / name)
        return made

    return make


def test_names_are_matched_without_package_and_parameters():
    assert bare_name("lime(samples=1000, seed=1)") == "lime"
    assert bare_name("my_package.mine:Mine(depth=2)") == "Mine"
    assert bare_name("greedy-path") == "greedy-path"


def test_a_benchmark_is_the_mean_over_cells_with_dependent_errors_inside_a_dataset(folders):
    row = {"lime": 0.9, "random": 0.1}
    other = {"lime": 0.7, "random": 0.3}
    cells = {("a", "tree"): row, ("a", "mlp"): other, ("b", "tree"): row}
    (found,), notes = read_evaluations(folders(run=stain(cells, ["lime", "random"])))
    lime = found.standings[0]
    assert lime.estimate == pytest.approx(100 * 2.5 / 3)
    # Margins of 10: in a, two dependent ones add to 20; with b's 10, sqrt(20² + 10²) / 3.
    assert lime.high - lime.estimate == pytest.approx((20**2 + 10**2) ** 0.5 / 3)
    assert dict(lime.parts) == pytest.approx({"tree, a": 90, "mlp, a": 70, "tree, b": 90})
    assert notes == []


def test_cells_that_an_explainer_lacks_are_left_out_and_counted(folders):
    cells = {("a", "tree"): {"lime": 0.9, "random": 0.1}, ("a", "mlp"): {"lime": 0.5}}
    (found,), notes = read_evaluations(folders(run=stain(cells, ["lime", "random", "broken"])))
    assert found.standings[0].estimate == pytest.approx(90)
    assert any("1 of 2 pairs of dataset and model" in note for note in notes)
    assert any(note.endswith("for broken.") for note in notes)


def test_the_ceiling_and_no_explanation_are_not_on_trial_but_random_is(folders):
    evaluations, _ = read_evaluations(folders(run=stain({("a", "tree"): FOUR}), study=STUDY))
    assert [[one.explainer for one in found.standings] for found in evaluations] == [
        ["lime", "shap", "greedy", "random"],
        ["lime", "shap", "greedy", "random"],
    ]


def test_an_explainer_that_stood_twice_is_matched_with_nobody_and_said_so(folders):
    labels = ["lime(samples=10)", "lime(samples=90)", "random"]
    cells = {("a", "tree"): {"lime(samples=10)": 0.5, "lime(samples=90)": 0.9, "random": 0.1}}
    (found,), notes = read_evaluations(folders(run=stain(cells, labels)))
    assert [one.explainer for one in found.standings] == labels
    assert any("lime was evaluated more than once" in note for note in notes)


def test_lines_without_an_estimate_are_counted(folders):
    given = summary(methods=[method_line("lime", None, None, None), method_line("shap", 1.0, 0.0, 2.0)])
    (found,), notes = read_evaluations(folders(study=given))
    assert [one.explainer for one in found.standings] == ["shap"]
    assert "for lime." in notes[0]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "holds no summary.json, so it is neither"),
        ('{"kind": "report"}', "neither of a benchmark"),
        ("[]", "neither of a benchmark"),
        ("{", "cannot be read"),
        ('{"benchmark": "stain", "cells": []}', "written by an older version of Verax and has no findings"),
        ('{"kind": "study", "methods": []}', "written by an older version of Verax and has no findings"),
        ('{"benchmark": "x", "findings_format": 99, "findings": []}', "has findings of format 99"),
        ('{"benchmark": "x", "findings_format": 1, "findings": {}}', "findings is no list"),
        (
            '{"benchmark": "x", "findings_format": 1, "findings": [{"method": "lime"}]}',
            r"findings\[0\] lacks",
        ),
    ],
)
def test_a_folder_that_is_neither_is_a_sentence(tmp_path, content, says):
    if content is not None:
        (tmp_path / "summary.json").write_text(content)
    with pytest.raises(VeraxError, match=says):
        read_evaluations([tmp_path])


def test_hints_where_the_summary_may_be(tmp_path):
    with pytest.raises(VeraxError, match="There is no folder"):
        read_evaluations([tmp_path / "absent"])
    (tmp_path / "study.json").write_text("{}")
    with pytest.raises(VeraxError, match="not analysed; run verax study analyze"):
        read_evaluations([tmp_path])
    (tmp_path / "analysis").mkdir()
    (tmp_path / "analysis" / "summary.json").write_text("{}")
    with pytest.raises(VeraxError, match=r"has no summary\.json of its own; name .*analysis"):
        read_evaluations([tmp_path])


def made(name, kind, scores, *, simulated=False, higher=True, margin=0.5):
    standings = tuple(Standing(one, one, x, x - margin, x + margin) for one, x in scores.items())
    return Evaluation(name, kind, "", "measure", Unit("points"), simulated, higher, standings)


def test_the_correlation_is_over_the_methods_in_both_sorts_of_evaluation():
    benchmark = made("B", "benchmark", {"a": 4, "b": 3, "c": 2, "d": 1, "only": 9})
    study = made("S", "study", {"b": 30, "a": 40, "d": 20, "c": 10})
    found = compare(benchmark, study)
    assert found.methods == ("a", "b", "c", "d")
    # Ranks 1 2 3 4 against 1 2 4 3: rho = 1 - 6 * 2 / (4 * 15) = 0.8, tau = 4 / 6.
    assert found.correlation.spearman == pytest.approx(0.8)
    assert found.correlation.kendall == pytest.approx(4 / 6)
    # 8 of the 24 arrangements are at least as far from 0: one 1, one -1, three of 0.8 and three of -0.8.
    assert found.correlation.p_spearman == pytest.approx(8 / 24)
    assert found.first_error == pytest.approx((0.5 / 1.959964,) * 4)
    assert found.sentence.startswith("Neither shown nor excluded: over 4 methods (a, b, c and d)")
    assert "(no interval; exact p = 0.333)" in found.sentence
    assert found.sentence.endswith("Four methods cannot show agreement: the smallest possible p is .083.")


def test_a_measure_of_which_less_is_better_is_turned_round():
    benchmark = made("B", "benchmark", {"a": 3, "b": 2, "c": 1})
    errors = made("S", "study", {"a": 1, "b": 2, "c": 3}, higher=False)
    assert compare(benchmark, errors).correlation.spearman == pytest.approx(1)


def test_a_significant_agreement_and_its_reverse_are_said():
    names = "abcdefg"
    benchmark = made("B", "benchmark", {name: place for place, name in enumerate(names)}, margin=0.01)
    for sign, says in ((1, "Yes, among methods like these"), (-1, "The reverse, among methods like these")):
        study = made("S", "study", {name: sign * p for p, name in enumerate(names)}, margin=0.01)
        assert compare(benchmark, study).sentence.startswith(says)


def test_the_same_order_of_few_methods_has_no_interval_and_of_seven_one_with_width():
    names = "abcdefg"
    for methods in (4, 7):
        scores = {name: place for place, name in enumerate(names[:methods])}
        found = compare(made("B", "benchmark", scores, margin=0.01), made("S", "study", scores, margin=0.01))
        assert found.correlation.spearman == pytest.approx(1)
        ends = found.correlation.spearman_low, found.correlation.spearman_high
        if methods == 4:
            assert ends == (None, None)
        else:
            assert 0.5 < ends[0] < 0.9
            assert ends[1] == pytest.approx(1)
            assert "+1.00 (95% interval +0." in found.sentence


def test_scores_without_intervals_leave_the_correlation_without_one():
    scores = {name: place for place, name in enumerate("abcdefg")}
    bare = replace(
        made("B", "benchmark", scores),
        standings=tuple(Standing(name, name, x, None, None) for name, x in scores.items()),
    )
    found = compare(bare, made("S", "study", scores))
    assert found.correlation.spearman_low is None
    assert found.sentence.endswith(
        "One of the two gives its scores without intervals, so that their errors cannot be reckoned with."
    )
    averaged = average_ranks([bare, made("B2", "benchmark", scores)], "benchmarks")
    assert {one.low for one in averaged.standings} == {None}


def test_claims_of_several_evaluations_are_one_family(folders):
    """With p = .04 in each of two evaluations neither is claimed: together they would err in 8%."""
    tests = [{"first": "lime", "second": "random", "verdict": "first", "p_holm": 0.04}]
    run = verification({("rt", "easy"): {"lime": (0.2, 0.05), "random": (0.9, 0.05)}})
    run["targets"] = [{"sets": {"strict": {"inputs": 100, "differences": tests}}}]
    alone, _ = read_evaluations(folders(alone=run))
    assert [evaluation.standings[0].sign for evaluation in alone] == ["yes"]
    both, _ = read_evaluations(folders(one=run, two=run))
    assert [evaluation.standings[0].sign for evaluation in both] == ["open", "open"]
    tests[0]["p_holm"] = 0.02
    sure, _ = read_evaluations(folders(three=run, four=run))
    assert [evaluation.standings[0].sign for evaluation in sure] == ["yes", "yes"]


def test_fewer_than_three_methods_say_nothing_and_how_many_it_takes():
    found = compare(made("B", "benchmark", {"a": 1, "b": 2}), made("S", "study", {"a": 1, "b": 2, "c": 3}))
    assert found.correlation is None
    assert found.sentence == "Nothing can be said yet: only a and b were evaluated in both (B; S)."
    assert "needs 3 methods in both evaluations to exist, 5 before" in found.needs
    assert f"{found.needed_at_best.methods} to see a true correlation of 0.7" in found.needs


def test_more_studies_need_fewer_methods():
    benchmark = made("B", "benchmark", {"a": 4, "b": 3, "c": 2, "d": 1}, margin=0.1)
    study = made("S", "study", {"a": 4, "b": 3, "c": 2, "d": 1}, margin=1.8)
    found = compare(benchmark, study)
    assert found.needed.methods > found.needed_with_more.methods > found.needed_at_best.methods
    assert f"takes {found.needed.methods} methods" in found.needs


def test_several_evaluations_are_compared_in_pairs_and_by_average_rank():
    benchmarks = [
        made("B1", "benchmark", {"a": 3, "b": 2, "c": 1}),
        made("B2", "benchmark", {"a": 1, "b": 2, "c": 3}),
    ]
    study = made("S", "study", {"a": 3, "b": 2, "c": 1})
    mean = average_ranks(benchmarks, "benchmarks")
    assert {one.explainer: one.estimate for one in mean.standings} == {"a": 2.0, "b": 2.0, "c": 2.0}
    found = comparisons([*benchmarks, study])
    assert [(one.benchmark, one.study) for one in found] == [
        ("average over 2 benchmarks", "S"),
        ("B1", "S"),
        ("B2", "S"),
    ]
    assert found[0].sentence.startswith(
        "Nothing can be said: over 3 methods (a, b and c) one of the two evaluations"
    )
    assert [one.correlation.spearman for one in found[1:]] == pytest.approx([1, -1])


def test_bots_are_never_averaged_with_people():
    benchmark = made("B", "benchmark", {"a": 3, "b": 2, "c": 1})
    people = [made(name, "study", {"a": 3, "b": 2, "c": 1}) for name in ("P1", "P2")]
    bots = made("bots", "study", {"a": 1, "b": 2, "c": 3}, simulated=True)
    found = comparisons([benchmark, bots, *people])
    assert [(one.study, one.simulated) for one in found] == [
        ("average over 2 studies", False),
        ("P1", False),
        ("P2", False),
        ("bots", True),
    ]
    assert found[0].correlation.spearman == pytest.approx(1)
    assert "what helped bots" in found[-1].sentence


def test_explainers_are_ordered_by_their_mean_place_and_random_is_last():
    evaluations = [
        made("B", "benchmark", {"random": 9, "a": 1, "b": 2}),
        made("S", "study", {"b": 2, "a": 1}),
    ]
    assert explainer_order(evaluations) == ["b", "a", "random"]


def test_the_page_has_every_estimate_and_the_file_beside_it_every_number(folders, tmp_path):
    given = folders(run=stain({("a", "tree"): FOUR}), study=STUDY)
    page = tmp_path / "out" / "both.html"
    written = write_joint_report(given, page)
    assert json.loads((tmp_path / "out" / "both.json").read_text()) == encoded(written)
    seen = read(page.read_text(encoding="utf-8"))
    for row in (
        "Evaluation Better is lime greedy shap random Staining, a more 90.0 [80.0, 100.0] 70.0 [60.0, 80.0]",
        "more 7.3 [1.2, 13.5] 5.0 [−1.0, 11.0] 3.1 [−2.2, 8.4] 0.4 [−5.0, 6.0]",
        "4 +0.80 0.333",  # four methods have no interval
        "0.333",
    ):
        assert row in seen
    assert "Simulated" not in seen
    assert written.comparisons[0].correlation.p_spearman == pytest.approx(8 / 24)


def test_a_folder_gets_figures_too_and_the_same_bytes_each_time(folders, tmp_path):
    given = folders(run=stain({("a", "tree"): FOUR}), study={**STUDY, "people": "bots"})
    for name in ("one", "two"):
        write_joint_report(given, tmp_path / name)
    for part in ("report.html", "summary.json", "figures/evaluations.svg", "figures/against-1.svg"):
        assert (tmp_path / "one" / part).read_bytes() == (tmp_path / "two" / part).read_bytes()
    assert "Simulated people." in read((tmp_path / "one" / "report.html").read_text(encoding="utf-8"))


def test_one_evaluation_alone_says_which_is_missing(folders):
    alone = folders(run=stain({("a", "tree"): FOUR}))
    assert "there is no study with people here" in compare_evaluations(alone).answer


def test_a_hostile_title_stays_text(folders, tmp_path):
    given = folders(run=stain({("a", "tree"): FOUR}), study={**STUDY, "title": HOSTILE})
    write_joint_report(given, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert Balance(page).tags.count("script") == 1  # our own
    assert HOSTILE in unescape(page)
    assert not re.search(r'(src|href)="(https?:)?//', page)


def test_the_reports_of_the_evaluations_are_linked_from_where_the_page_lies(folders, tmp_path):
    given = folders(run=stain({("a", "tree"): FOUR}))
    (given[0] / "report.html").write_text("own")
    write_joint_report(given, tmp_path / "deep" / "page.html")
    assert 'href="../run/report.html"' in (tmp_path / "deep" / "page.html").read_text(encoding="utf-8")


def test_the_report_of_a_run_is_not_written_over(folders):
    given = folders(run=stain({("a", "tree"): FOUR}))
    with pytest.raises(VeraxError, match="has a report of its own"):
        write_joint_report(given, given[0] / "report.html")


def test_where_the_files_go(tmp_path):
    assert places(tmp_path / "a.html") == (tmp_path / "a.html", tmp_path / "a.json", None)
    assert places(tmp_path / "a") == (
        tmp_path / "a" / "report.html",
        tmp_path / "a" / "summary.json",
        tmp_path / "a" / "figures",
    )


def misranked(mean, margin, n=3):
    ends = (None, None) if margin is None else (mean - margin, mean + margin)
    return {"misranked": {"mean": mean, "low": ends[0], "high": ends[1], "n": n}}


def verification(groups, strict=100):
    """The summary of a verification from {(dataset, difficulty): {label: (share, margin)}}; so many are strict."""
    sets = {
        place: {"targets": 3, "explainers": {label: misranked(*value) for label, value in row.items()}}
        for place, row in groups.items()
    }
    return {
        "benchmark": "rationale",
        "spec": {"datasets": list(dict.fromkeys(dataset for dataset, _ in groups))},
        "explainers": [*next(iter(groups.values()))],
        "groups": [
            {
                "dataset": dataset,
                "difficulty": difficulty,
                "sets": {"strict": given, "published": given},
            }
            for (dataset, difficulty), given in sets.items()
        ],
        "targets": [{"sets": {"strict": {"inputs": strict}, "published": {"inputs": 200}}}],
    }


ERRING = {
    "lime": (0.3, 0.03),
    "shap": (0.2, 0.06),
    "greedy": (0.4, None),
    "random": (0.9, 0.1),
    "oracle": (0.0, 0.0),
}


def test_a_share_over_groups_of_targets_never_leaves_0_to_100(folders):
    """Ends of shares are cut at 0 and 1: what lies below the mean is not what lies above it."""
    run = verification({("rt", "easy"): {"lime": (0.02, None), "random": (0.97, None)}})
    explainers = run["groups"][0]["sets"]["strict"]["explainers"]
    explainers["lime"]["misranked"] |= {"low": 0.0, "high": 0.1}
    explainers["random"]["misranked"] |= {"low": 0.8, "high": 1.0}
    (found,), _ = read_evaluations(folders(run=run))
    ends = {one.explainer: (one.low, one.high) for one in found.standings}
    assert ends["lime"] == pytest.approx((0.0, 10.0), abs=1e-9)
    assert ends["random"] == pytest.approx((80.0, 100.0), abs=1e-9)


@pytest.mark.parametrize(
    ("verdicts", "sign"),
    [(("first", "first"), "yes"), (("first", "none"), "open"), (("none", "none"), "no"), ((), "open")],
)
def test_who_errs_less_than_chance_on_every_target_passes_a_verification(folders, verdicts, sign):
    run = verification({("rt", "easy"): {"lime": (0.2, 0.05), "random": (0.9, 0.05)}})
    tests = [{"first": "lime", "second": "random", "verdict": said, "p_holm": 0.01} for said in verdicts]
    run["targets"] = [{"sets": {"strict": {"inputs": 100, "differences": [each]}}} for each in tests]
    (found,), _ = read_evaluations(folders(run=run))
    assert found.standings[0].sign == sign


def test_a_verification_is_a_evaluation_in_which_less_is_better(folders):
    other = {label: (share / 2, margin) for label, (share, margin) in ERRING.items()}
    (found,), notes = read_evaluations(
        folders(run=verification({("rt", "easy"): ERRING, ("rt", "hard"): other}))
    )
    assert (found.kind, found.higher_is_better, notes) == ("benchmark", False, [])
    assert found.measure.startswith("strict inputs with")
    by_name = {standing.explainer: standing for standing in found.standings}
    assert list(by_name) == ["lime", "shap", "greedy", "random"]  # the oracle is not on trial
    assert by_name["lime"].estimate == pytest.approx(22.5)
    # Two groups of targets with a margin of 3 points each, independent of each other.
    assert by_name["lime"].high - 22.5 == pytest.approx(100 * (2 * 0.03**2) ** 0.5 / 2)
    assert by_name["greedy"].high is None
    assert by_name["shap"].parts == pytest.approx({"easy targets, rt": 20.0, "hard targets, rt": 10.0})
    (found,), _ = read_evaluations(folders(other=verification({("rt", "easy"): ERRING}, strict=19)))
    assert found.measure.startswith("inputs with")  # too few are strict for a verdict on them


def test_an_interval_that_is_cut_on_one_side_is_as_wide_on_the_other(folders):
    cut = verification({("rt", "easy"): {"anchor": (0.9, 0.2), "random": (0.9, 0.2)}})
    for found in cut["groups"][0]["sets"].values():
        for scored in found["explainers"].values():
            scored["misranked"]["high"] = 1.0
    (evaluation,), _ = read_evaluations(folders(run=cut))
    assert (evaluation.standings[0].low, evaluation.standings[0].high) == (pytest.approx(70), 100.0)


def test_two_benchmarks_are_asked_whether_they_order_explainers_alike(folders, tmp_path):
    staining = stain({("rt", "tree"): {"lime": 0.7, "shap": 0.8, "greedy": 0.6, "random": 0.1}},
                     ["lime", "shap", "greedy", "random"])  # fmt: skip
    made = folders(stain=staining, rationale=verification({("rt", "easy"): ERRING}))
    both = write_joint_report(made, tmp_path / "report.html")
    (agreement,) = both.agreements
    assert agreement.methods == ("lime", "shap", "greedy")
    assert (
        agreement.correlation.spearman == 1.0
    )  # shap, lime, greedy in both: fewest errors, most of the stain
    assert "have a rank correlation of +1.00" in agreement.sentence
    assert "Three methods cannot show agreement: the smallest possible p is .333." in agreement.sentence
    assert "Do the benchmarks order explainers alike?" in (tmp_path / "report.html").read_text()


def test_too_few_common_explainers_say_nothing_of_two_benchmarks(folders):
    evaluations, _ = read_evaluations(
        folders(
            stain=stain({("rt", "tree"): {"lime": 0.7, "random": 0.1}}, ["lime", "random"]),
            rationale=verification({("rt", "easy"): ERRING}),
        )
    )
    (agreement,) = agreements(evaluations)
    assert "cannot be said: only lime was evaluated in both" in agreement.sentence


def test_measures_are_asked_whether_they_order_methods_as_they_helped_people():
    names = "abcdefg"
    study = made("S", "study", {name: place for place, name in enumerate(names)}, margin=0.01)
    right = replace(
        made("right", "measure", {name: -p for p, name in enumerate(names)}, higher=False),
        order=(0.5, 0.4, 0.6),
    )
    noise = replace(
        made("noise", "measure", dict(zip(names, (3, 1, 6, 0, 5, 2, 4), strict=True))),
        order=(0.9, None, None),
    )
    found = measure_orders([right, study, noise])
    assert found.measures == (
        "noise",
        "right",
    )  # by what is known of them, which need not be what helps people
    assert found.others == ("S",)
    # The same order of seven: 2 of 5,040 arrangements are as far from 0; the smaller of two p counts twice.
    assert found.p[1][0] == pytest.approx(2 * 2 / 5040)
    assert found.p[0][0] > 0.5
    assert found.sentences == (
        "Automatic measures shown to order 7 methods as they helped people in S, or against it: right (rho +1.00); "
        "2 were compared.",
    )
    few = {name: place for place, name in enumerate("abcd")}
    (said,) = measure_orders([made("m", "measure", few), made("S", "study", few)]).sentences
    assert said == (
        "The automatic measure is not shown to order 4 methods as they helped people in S; "
        "so few methods cannot show it."
    )
    (said,) = measure_orders([made("m", "measure", {"a": 1, "b": 2}), study]).sentences
    assert "cannot be said: only a and b were in both, and it takes 3." in said
    (said,) = measure_orders([made("m", "measure", few)]).sentences
    assert "there is no study with people here" in said
    assert measure_orders([study]) is None


def test_a_run_of_measures_stands_beside_studies_and_claims_nothing(folders, tmp_path):
    values = {"lime": 0.4, "shap": 0.5, "greedy": 0.2, "random": 0.1}
    rows = [
        Finding(name, "value of deletion", value, value - 0.01, value + 0.01, better="lower", name="measures",
                title="deletion", n=20, counted="stains")
        for name, value in values.items()
    ]  # fmt: skip
    rows.append(
        Finding("deletion", "order as the truth", 0.9, 0.8, 1.0, name="measures", model="all", scope="part")
    )
    (tmp_path / "measures").mkdir()
    text = json.dumps({"benchmark": "measures", **findings_json(rows)})
    (tmp_path / "measures" / "summary.json").write_text(text)
    staining = stain({("rt", "tree"): {"lime": 0.7, "shap": 0.8, "greedy": 0.6, "random": 0.1}},
                     ["lime", "shap", "greedy", "random"])  # fmt: skip
    both = write_joint_report(
        [*folders(stain=staining, study=STUDY), tmp_path / "measures"], tmp_path / "page.html"
    )
    assert [one.kind for one in both.evaluations] == ["benchmark", "study"]
    assert both.measures.measures == ("deletion",)
    assert both.measures.known == ((0.9, 0.8, 1.0),)
    assert len(both.measures.others) == 2
    # Helped most first: lime, greedy, shap, random; least deleted first: random, greedy, lime, shap.
    assert both.measures.compared[0][0].correlation.spearman == pytest.approx(-0.4)
    page = read((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "Do automatic measures predict what helps people?" in page
    # One table holds all: with planted reasons, with people, and by the measure.
    for row in (
        "Evaluation Better is lime shap greedy random",
        "Staining, rt more 70.0 [60.0, 80.0] 80.0 [70.0, 90.0] 60.0 [50.0, 70.0] 10.0 [0.0, 20.0]",
        "more 7.3 [1.2, 13.5] 3.1 [−2.2, 8.4] 5.0 [−1.0, 11.0] 0.4 [−5.0, 6.0]",
        "deletion less 0.40 [0.39, 0.41] 0.50 [0.49, 0.51] 0.20 [0.19, 0.21] 0.10 [0.09, 0.11]",
    ):
        assert row in page
    assert "−0.40 over 4 methods" in page
    assert "The automatic measure is not shown to order 4 methods" in page


def test_findings_of_a_benchmark_that_nobody_here_knows_stand_beside_the_others(folders, tmp_path):
    rows = [
        Finding("lime(samples=9)", "seconds saved", 3.0, 2.0, 4.0, unit=Unit("seconds"), n=7, counted="runs",
                title="Savings", sign="yes", p_adjusted=0.001),
        Finding("shap", "seconds saved", 1.0, 0.5, 1.5, unit=Unit("seconds"), title="Savings", sign="no",
                p_adjusted=0.5),
        Finding("greedy", "seconds saved", None, unit=Unit("seconds"), title="Savings"),
        Finding("oracle", "seconds saved", 9.0, unit=Unit("seconds"), title="Savings"),
        Finding("lime(samples=9)", "seconds saved", 5.0, scope="part", model="tree"),
        Finding("shap", "seconds saved", 1.0, scope="part", model="tree"),
        Finding("lime(samples=9)", "seconds saved", 1.0, scope="part", model="forest"),
    ]  # fmt: skip
    (tmp_path / "savings").mkdir()
    text = json.dumps({"benchmark": "savings", **findings_json(rows)})
    (tmp_path / "savings" / "summary.json").write_text(text)
    (evaluation,), notes = read_evaluations([tmp_path / "savings"])
    assert (evaluation.name, evaluation.kind, evaluation.unit, evaluation.higher_is_better) == (
        "Savings",
        "benchmark",
        "seconds",
        True,
    )
    assert [(one.explainer, one.estimate, one.sign, one.p) for one in evaluation.standings] == [
        ("lime", 3.0, "yes", 0.001),
        ("shap", 1.0, "no", 0.5),
    ]
    assert evaluation.standings[0].parts == {"tree": 5.0}  # shap has no number with the forest
    assert evaluation.standings[0].rests_on == "7 runs"
    assert [note.split(" of the run")[0] for note in notes[1:]] == ["1 of 2 pairs of dataset and model"]
    assert notes[0].endswith("for greedy.")
    both = write_joint_report([tmp_path / "savings", *folders(study=STUDY)], tmp_path / "page.html")
    assert both.comparisons[0].methods == ("lime", "shap")
    page = read((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "lime passes the benchmark" in page
    assert "Savings more 3.0 [2.0, 4.0]" in page

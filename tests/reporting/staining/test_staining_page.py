"""The report of a staining run: sentences and tables from numbers worked by hand; escaped, whole, reproducible."""

import copy
import re
import tomllib
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import stats

from verax.benchmarks.contract import Found
from verax.benchmarks.staining.estimates import most_recall
from verax.benchmarks.staining.findings import Pair, StainSummary
from verax.benchmarks.staining.run import KeptExample, Timing
from verax.benchmarks.staining.spec import StainSpec
from verax.codec import decode
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain import Attribution
from verax.reporting.page import page_script, spec_toml
from verax.reporting.run_page import render_run, view_of, write_run
from verax.reporting.staining.answers import (
    answers,
    best_answer,
    chance_answer,
    cost_answer,
    learnt_answer,
    left_out_answer,
    rank_answer,
    rank_notes,
    short_names,
    truth_answer,
    turned,
    winner_of,
)
from verax.reporting.staining.figures import recall_looks
from verax.reporting.staining.page import (
    asked,
    boxed,
    notes,
    ordinal,
    stain_ranks,
    worked_examples,
)
from verax.reporting.staining.tables import (
    compared,
    cost_table,
    difference_table,
    learnt_table,
    recall_table,
)
from verax.reporting.staining.verdict import staining_verdict
from verax.results.tables import CLEAR, rows_of
from verax.stats import mean_interval, mean_share, paired_differences

NAMES = ["lime(samples=200)", "greedy", "random", "ground-truth"]
HOSTILE = "<script>alert(1)</script>"


def scored(per_stain):
    """Estimates of one explainer whose recall is the same at each budget."""
    estimate = mean_share(np.minimum(per_stain, 1.0)).to_dict()
    return {
        "stains": len(per_stain),
        "inputs": 10 * len(per_stain),
        "recall": [estimate] * 10,
        "auc": estimate,
        "mrr": estimate,
        "rows": 100.0,
    }


def cell(dataset, model, values, left_out=(), failed=(), errors=None, accuracy=(1.0, 1.0, 0.96)):
    """A pair of dataset and model from one recall per stain and explainer, as summary.json has it."""
    table = {label: dict(enumerate(row)) for label, row in values.items() if label != "ground-truth"}
    compared = [one.to_dict() for one in paired_differences(table)] if len(table) > 1 else []
    took = {
        name: mean_interval([share + shift for share in accuracy]).to_dict()
        for name, shift in (("stained_region", 0), ("original_region", -0.5), ("outside", -0.2))
    }
    took["twin"] = {name: mean_interval([0.8, 0.8, 0.8]).to_dict() for name in ("original_region", "outside")}
    return {
        "dataset": dataset,
        "model": model,
        "stains_used": max((len(row) for row in values.values()), default=0),
        "stains_left_out": list(left_out),
        "stains_failed": list(failed),
        "took": took,
        "explainers": {label: scored(row) for label, row in values.items()},
        "errors": errors or {},
        "differences": {"auc": compared, "mrr": compared},
    }


def pair_of(given):
    """The same as reports read it."""
    return decode(Pair, given)


def summary_of(*cells, **options):
    return StainSummary.from_dict(summary_dict(*cells, **options))


def summary_dict(*cells, ranks=None, failures=(), **options):
    datasets = list(dict.fromkeys(one["dataset"] for one in cells))
    models = list(dict.fromkeys(one["model"] for one in cells))
    spec = StainSpec(**{"datasets": datasets, "models": models, "stains": 3} | options)
    facts = {
        "hash": "abc123",
        "stains": ["“the” and “not”: positive", "“a” and “b”: negative", "“a” and “b”: negative"],
        "distinct_stains": 2,
        "region": [40, 31, 31],
        "redrawn": {"region too small": 7},
        "correlated": [["“ping”", "“pong”"]],
    }
    return {
        "benchmark": "stain",
        "spec": spec.model_dump(),
        "explainers": NAMES,
        "budgets": list(range(1, 11)),
        "datasets": {name: copy.deepcopy(facts) for name in datasets},
        "cells": list(cells),
        "ranks": ranks,
        "failures": list(failures),
    }


def clear():
    """Greedy above lime above random by nearly the same on each of six stains, of which three equal the others."""
    return cell(
        "reviews",
        "xgboost",
        {
            "lime(samples=200)": [0.60, 0.70, 0.80] * 2,
            "greedy": [0.80, 0.90, 1.01] * 2,
            "random": [0.10, 0.20, 0.29] * 2,
        },
    )


def unclear():
    """Lime and greedy take turns; the ground truth is known."""
    return cell(
        "reviews",
        "tree",
        {
            "lime(samples=200)": [0.60, 0.90, 0.70, 0.60, 0.90, 0.70],
            "greedy": [0.90, 0.60, 0.70, 0.90, 0.60, 0.70],
            "random": [0.10, 0.95, 0.60, 0.90, 0.20, 0.90],
            "ground-truth": [1.0] * 6,
        },
    )


def example(label="greedy", text="not the best film", wanted=("not", "the"), **place):
    words = split_words(text).distinct
    scores = [1.0 / (rank + 1) for rank in range(len(words))]
    kept = {
        "dataset": "reviews",
        "model": "tree",
        "stain": 0,
        "shown": "“the” and “not”: positive",
        "wanted": tuple(wanted),
        "explainer": label,
        "explanation": Attribution(words, scores, 1, "positive", text).to_dict(),
    } | place
    return KeptExample(**kept)


def timing(label, seconds, rows, model="tree"):
    return Timing("reviews", model, label, seconds, rows, fit_seconds=1.5)


def page_of(summary, examples=(), timings=(), manifest=None):
    found = found_of(summary, 120, examples, timings)
    return render_run(view_of(summary).page(found), summary, manifest or {})


def found_of(summary, measurements=0, examples=(), timings=()):
    return Found(summary, [{}] * measurements, list(timings), list(examples))


class Words(HTMLParser):
    """The words and the tags of a page, without its style."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.words, self.style = [], [], [], False
        self.feed(page)
        self.text = " ".join("".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.style = tag == "style"

    def handle_endtag(self, tag):
        self.style = False

    def handle_data(self, data):
        if not self.style:
            self.words.append(data)


# Sentences.


def test_the_lowest_accuracy_and_the_largest_change_outside_are_named():
    # Means: tree (1 + 1 + 0.96) / 3 = 98.7%, linear 97%; outside 0.787 and 0.770 against 0.8 of the twins.
    summary = summary_of(unclear(), cell("reviews", "linear", {"greedy": [1, 1, 1]}, accuracy=(0.97,) * 3))
    assert learnt_answer(summary) == (
        "Yes: all 9 stained models reached 95% on the stained region; the lowest mean accuracy there is 97.0% "
        "(linear). Outside the region they are at the most 3.0 percentage points less accurate than their "
        "unstained twins."
    )


def test_models_that_did_not_learn_are_counted():
    left_out = [
        {"stain": 4, "shown": "“x”: no", "stained_region": 0.9, "original_region": 0.5, "outside": 0.7}
    ]
    summary = summary_of(cell("reviews", "tree", {"greedy": [1, 1]}, left_out=left_out))
    assert learnt_answer(summary).startswith(
        "Not all: 2 of 3 stained models reached 95% on the stained region;"
    )
    assert left_out_answer(summary) == (
        "Yes: 1 stained model had not learnt the stain and is not scored; the list is below."
    )


def test_a_run_in_which_nothing_was_trained_says_so():
    broken = cell("reviews", "tree", {}, failed=[0, 1, 2]) | {"took": {}}
    summary = summary_of(broken, failures=[{"job": "reviews, stain 0, tree", "error": "ValueError: no"}])
    assert learnt_answer(summary) == "No stained model could be trained; the reasons are below."
    assert best_answer(summary, short_names(NAMES)) == "No explainer could be scored."
    assert left_out_answer(summary) == "Yes: 1 training job failed; the list is below."
    text = Words(page_of(summary)).text
    assert "reviews, stain 0, tree: ValueError: no" in text
    assert "tree: training failed on stain 0, 1, 2." in text


def test_the_ground_truth_is_named_with_the_budget_of_the_stain():
    assert truth_answer(summary_of(unclear(), clear())) == (
        "Where they can be read, they reach a recall of 100.0% (tree) with b = |F| = 2 features shown."
    )
    assert truth_answer(summary_of(clear())) == ""


def test_a_winner_beats_all_others_after_correction_and_random_does_not_count():
    assert winner_of(pair_of(clear())) == "greedy"
    assert winner_of(pair_of(unclear())) is None
    assert best_answer(summary_of(unclear(), clear()), short_names(NAMES)) == (
        "greedy beats all others for xgboost; no explainer beats all others for tree."
    )
    assert best_answer(summary_of(unclear()), short_names(NAMES)) == "No explainer beats all others for tree."


def test_datasets_are_named_where_there_are_several():
    other = clear() | {"dataset": "films"}
    assert best_answer(summary_of(clear(), other), short_names(NAMES)) == (
        "greedy beats all others for xgboost on reviews and xgboost on films."
    )


def test_explainers_that_are_not_shown_to_beat_random_are_named():
    assert chance_answer(summary_of(clear()), short_names(NAMES)) == (
        "Yes: after correction every explainer beats random everywhere."
    )
    assert chance_answer(summary_of(unclear(), clear()), short_names(NAMES)) == (
        "Not everywhere: not shown to beat random: lime for tree and greedy for tree; in 2 of 4 cases random is beaten."
    )


def test_an_explainer_below_random_is_called_worse():
    hiding = cell("reviews", "tree", {"greedy": [0.0, 0.01, 0.0] * 2, "random": [0.2, 0.22, 0.21] * 2})
    assert chance_answer(summary_of(hiding), short_names(NAMES)).startswith(
        "Not everywhere: worse than random: greedy for tree;"
    )


def test_the_best_rank_is_named_with_the_number_of_cells():
    ranks = {
        "ranks": {"lime(samples=200)": 1.5, "greedy": 1.5, "random": 3.0},
        "cells": 2,
        "left_out": 1,
        "p": 0.04,  # of an older version
    }
    summary = summary_of(clear(), ranks=ranks)
    assert rank_answer(summary, short_names(NAMES)) == (
        "On average lime and greedy share the best rank, 1.5 of 3 over 2 pairs of dataset and model."
    )
    assert "Not counted: 1 pair of dataset and model that some explainer lacks." in rank_notes(summary)
    assert "This describes and tests nothing" in rank_notes(summary)
    assert "0.04" not in rank_notes(summary)


def test_costs_go_from_the_fastest_to_the_slowest_without_floor_and_ceiling():
    timings = [
        timing("lime(samples=200)", 0.004, 200),
        timing("lime(samples=200)", 0.006, 400, "forest"),
        timing("greedy", 0.0005, 20),
        timing("random", 0.0001, 0),
    ]
    assert cost_answer(timings, short_names(NAMES)) == "greedy 0.5 ms and 20 rows; lime 5 ms and 300 rows."
    assert cost_answer([], {}) == ""


def test_nothing_left_out_is_said_too():
    assert left_out_answer(summary_of(clear())) == "No: nothing failed and nothing was left out."


def test_errors_of_explainers_are_counted():
    errors = {"greedy": ["stain 0: ValueError: a", "stain 2: ValueError: b"]}
    summary = summary_of(cell("reviews", "tree", {"lime(samples=200)": [1, 1]}, errors=errors))
    assert left_out_answer(summary) == "Yes: explainers failed on 2 stained models; the list is below."
    text = Words(page_of(summary)).text
    assert "greedy failed on 2 stains:" in text
    assert "stain 2: ValueError: b" in text


def test_what_was_asked_is_one_sentence():
    assert asked(summary_of(clear()), 1200) == (
        "3 stains of |F| = 2 features on reviews, 1 model (xgboost), the explainers lime, greedy, random and "
        "ground-truth; 1,200 explanations scored."
    )


def test_short_names_are_used_where_they_tell_explainers_apart():
    assert short_names(
        ["lime(samples=200)", "my.package:Mine(k=1)", "shap(samples=1)", "shap(samples=2)"]
    ) == {
        "lime(samples=200)": "lime",
        "my.package:Mine(k=1)": "Mine",
        "shap(samples=1)": "shap(samples=1)",
        "shap(samples=2)": "shap(samples=2)",
    }


# Tables.


def test_a_difference_is_in_points_with_interval_and_corrected_p():
    # lime - greedy is -0.20, -0.20, -0.21, twice: mean -0.2033, spread 0.005164, standard error 0.002108,
    # t(0.975, 5) = 2.570582, so the interval is -0.2033 -+ 0.00542.
    shown = compared(pair_of(clear()), "lime(samples=200)", "greedy", short_names(NAMES), "auc")
    assert shown == "−20.3 [−20.9, −19.8]\np < 0.001, greedy"
    assert shown.mark == CLEAR


def test_p_is_the_corrected_one():
    # scipy's paired t tests give lime - random 0.476, greedy - random 0.498 and lime - greedy 1: times 3 is above 1.
    for label in ("greedy", "lime(samples=200)"):
        assert "\np = 1" in compared(pair_of(unclear()), label, "random", short_names(NAMES), "auc")
    values = [0.60, 0.90, 0.70, 0.60, 0.90, 0.70], [0.55, 0.65, 0.70, 0.50, 0.80, 0.66]
    two = cell("reviews", "tree", {"lime(samples=200)": values[0], "greedy": values[1]})
    expected = stats.ttest_rel(*values).pvalue
    assert 0.01 < expected < 0.1
    shown = compared(pair_of(two), "lime(samples=200)", "greedy", short_names(NAMES), "auc")
    assert shown.endswith(f"]\np = {expected:.3f}")


def test_without_a_verdict_nobody_is_ahead():
    shown = compared(pair_of(unclear()), "lime(samples=200)", "greedy", short_names(NAMES), "auc")
    assert re.fullmatch(r"0\.0 \[−[\d.]+, [\d.]+\]\np = 1", shown)
    assert not shown.mark


def test_pairs_with_random_come_last_and_random_is_always_second():
    first = cell(
        "reviews",
        "tree",
        {"random": [0.1, 0.2, 0.3], "greedy": [0.9, 0.8, 1.0], "lime(samples=200)": [0.5, 0.5, 0.6]},
    )
    table = difference_table([pair_of(first)], short_names(NAMES), "auc")
    shown = rows_of(table)
    assert [row[0] for row in shown] == ["lime − greedy", "lime − random", "greedy − random"]
    # 0.8, 0.6, 0.7 on the three stains.
    assert shown[2][1].startswith("+70.0")


def test_a_difference_turned_round_has_all_its_signs_turned():
    one = pair_of(clear()).differences["auc"][0]
    other = turned(one)
    assert (other.first, other.mean, other.low, other.high) == (one.second, -one.mean, -one.high, -one.low)
    assert (one.verdict, other.verdict) == ("second", "first")
    assert (other.wins, other.losses) == (6, 0)
    assert turned(other) == one


def test_stains_that_only_one_explainer_has_are_counted_in_the_cell():
    lacking = cell("reviews", "tree", {"lime(samples=200)": [0.5, 0.6, 0.8], "greedy": [0.7, 0.9]})
    shown = compared(pair_of(lacking), "lime(samples=200)", "greedy", short_names(NAMES), "auc")
    assert shown.endswith("\n(2 of 3 stains)")


def test_recall_is_listed_at_the_size_of_the_stain():
    table = recall_table([pair_of(clear())], short_names(NAMES), 3)
    assert [column.title for column in table.columns][4:] == [
        "b = 1, at most 33",
        "b = 3 = |F|, at most 100",
        "b = 5, at most 100",
        "b = 10, at most 100",
        "area, b = 1 to 10, at most 90",
        "reciprocal rank, at most 61",
    ]
    shown = rows_of(table)
    assert [row[:2] for row in shown] == [[name, "xgboost"] for name in ("lime", "greedy", "random")]
    # 0.6, 0.7, 0.8, twice: phi = (5 * 0.008 / 0.21 + 0.4) / 7 = 0.08435, n = 6 / phi * (1.959964 / 2.570582)² = 41.35,
    # and the beta quantiles of 0.7 * n of n.
    assert shown[0][4] == "70.0 [53.8, 83.2]"


def test_accuracies_without_a_twin_leave_its_columns_empty():
    lonely = clear()
    del lonely["took"]["twin"]
    (row,) = rows_of(learnt_table([pair_of(lonely)], 6))
    assert (row[1], row[4], row[6]) == ("6 of 6", "–", "–")
    assert row[3].startswith("48.7 [")
    assert "xgboost" in Words(page_of(summary_of(lonely))).text


def test_costs_have_a_cell_for_each_model_and_the_time_of_training():
    table = cost_table("reviews", ["tree", "forest"], [timing("greedy", 0.002, 20.4)], short_names(NAMES))
    assert rows_of(table) == [["greedy", "2 ms, 20 rows", "–"], ["training one stained model", "1.5 s", "–"]]


def test_only_a_difference_that_survives_is_bold():
    page = page_of(summary_of(unclear(), clear()))
    bold = re.findall(r"<strong>([^<]*)</strong>", page.split("<details><summary>The same by", 1)[0])
    assert [(one.split()[0], one.rsplit(", ", 1)[1]) for one in bold] == [
        ("−20.3", "greedy"),
        ("+50.3", "lime"),
        ("+70.7", "greedy"),
    ]


# One stain.


def test_one_stain_has_no_interval_and_the_page_says_so():
    one = cell(
        "reviews", "tree", {"lime(samples=200)": [0.5], "greedy": [0.7], "random": [0.1]}, accuracy=(1.0,)
    )
    one["took"]["twin"] = {name: mean_interval([0.8]).to_dict() for name in ("original_region", "outside")}
    summary = summary_of(one, stains=1)
    assert notes(summary)[0].startswith("One stain only: there are no intervals and no tests")
    found = dict(answers(summary, []))
    assert found["Which explainer shows the stain best?"] == (
        "No explainer beats all others for tree; no difference can be tested below 6 stains."
    )
    assert found["Is every explainer better than chance?"] == (
        "It could not be tested: that takes 6 stains, made of as many words."
    )
    assert learnt_answer(summary).startswith("Yes: the one stained model reached 95% on the stained region;")
    page = page_of(summary)
    assert "with its 95% interval" not in page
    assert "+60.0" in page
    assert "<strong>" not in page
    assert "None" not in Words(page).text


def test_a_stain_drawn_twice_is_mentioned():
    assert notes(summary_of(clear(), stains=6)) == [
        "A stain that was drawn twice counts once: reviews (2 of 3 differ)."
    ]


# Examples.


def test_words_of_the_stain_are_boxed_whether_or_not_they_are_marked_and_the_text_is_as_written():
    text = "Not the film, but the  end."
    explanation = Attribution(("film", "end", "the"), [1.0, 0.0, -0.5], 1, "positive", text)
    pieces = boxed(explanation, ["the", "end"])
    assert "".join(piece.text for piece in pieces) == text
    assert [(piece.text, piece.mark is not None) for piece in pieces if piece.stained] == [
        ("the", True),
        ("the", True),
        ("end", False),
    ]
    assert [piece.text for piece in pieces if piece.mark is not None and not piece.stained] == ["film"]


def test_columns_of_the_stain_are_boxed():
    row = Attribution(("age", "sex"), [1.0, 0.0], 1, "yes", ("age = 30", "sex = f"))
    assert [(piece.text, piece.stained) for piece in boxed(row, ["sex"])] == [
        ("age = 30", False),
        ("sex = f", True),
    ]
    whole = Attribution(("30 < age",), [1.0], 1, "yes", ("age = 30", "sex = f"))
    assert [piece.stained for piece in boxed(whole, ["sex"])] == [False, False]


def test_ranks_of_the_stain_share_ties():
    explanation = Attribution(("a", "b", "c", "d"), [0.5, -1.0, 0.0, 0.0], 1, "x", "a b c d z")
    # The word "other" is of another rule: the text does not have it.
    assert stain_ranks(explanation, ["c", "b", "z", "other"]) == (
        "“b” 1st, “c” tied 3rd to 4th of 4 features; “z” not named"
    )


def test_ordinals():
    assert [ordinal(number) for number in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == [
        *("1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th"),
    ]


def test_three_examples_differ_in_model_then_dataset_then_stain_and_are_short():
    found = [
        example(model="tree", stain=0, text="a long text that is not the best"),
        example(model="tree", stain=1, text="not the film"),
        example(model="tree", stain=1, label="lime(samples=200)", text="not the film"),
        example(model="forest", stain=1, text="not the one"),
        example(model="forest", stain=2, text="not the longest one of all"),
        example(model="forest", stain=2, dataset="films", text="not the longest one of all films"),
    ]
    chosen = worked_examples(found, short_names(NAMES))
    assert [(one.model, one.dataset) for one in chosen] == [
        ("forest", "reviews"),
        ("tree", "reviews"),
        ("forest", "films"),
    ]
    # Stain 1 was shown with the forest, so the tree has stain 0, though its text is longer.
    assert chosen[1].answers[0].attribution.input == "a long text that is not the best"
    assert worked_examples([], {}) == []


def test_explainers_stand_side_by_side_in_the_order_of_the_run():
    found = [example(label) for label in ("random", "greedy", "lime(samples=200)")]
    (one,) = worked_examples(found, short_names(NAMES))
    assert [(answer.name, answer.control) for answer in one.answers] == [
        ("lime", False),
        ("greedy", False),
        ("random", True),
    ]


# The page and its files.


def test_html_in_stains_texts_names_and_errors_is_escaped():
    summary = summary_dict(
        clear() | {"model": HOSTILE, "errors": {HOSTILE: [HOSTILE]}},
        failures=[{"job": HOSTILE, "error": HOSTILE}],
    )
    summary["spec"]["datasets"] = [HOSTILE]
    summary["datasets"] = {HOSTILE: summary["datasets"]["reviews"]}
    summary["datasets"][HOSTILE]["stains"][0] = HOSTILE
    summary["datasets"][HOSTILE]["correlated"] = [[HOSTILE, HOSTILE]]
    summary["cells"][0]["dataset"] = HOSTILE
    shown = example(text=f"{HOSTILE} the", wanted=["script"], shown=HOSTILE, model=HOSTILE, dataset=HOSTILE)
    costs = [timing("greedy", 1, 1, HOSTILE)]
    page = page_of(StainSummary.from_dict(summary), [shown], costs, {"command": HOSTILE})
    read = Words(page)
    assert read.tags.count("script") == 1  # our own
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    assert read.text.count(HOSTILE) >= 8


def test_the_page_needs_nothing_from_elsewhere():
    page = page_of(summary_of(unclear(), clear()), [example()], [timing("greedy", 0.001, 3)])
    read = Words(page)
    assert not {"link", "img", "iframe", "object"} & set(read.tags)
    assert "http" not in page
    assert not re.search(r"fetch|XMLHttp|import\(|eval", page_script())
    assert "url(" not in page.replace("url(#", "")
    assert "@import" not in page
    assert all(value.startswith("#") for name, value in read.attributes if name in ("href", "src"))


def test_sections_stand_in_the_order_of_the_questions():
    page = page_of(summary_of(unclear(), clear()), [example()], [timing("greedy", 0.001, 3)])
    assert [unescape(heading) for heading in re.findall(r"<h2>([^<]*)</h2>", page)] == [
        "What it rests on",
        "Reasons found, against the number of features shown",
        "Who beats whom",
        "A worked example",
        "Were the reasons planted? Accuracy of the stained models",
        "What an explanation costs",
        "What was left out, drawn again or dropped",
        "How to run it again",
    ]


def test_what_was_redrawn_and_correlated_is_told():
    text = Words(page_of(summary_of(clear()))).text
    assert "Stains drawn again: 7 for “region too small”." in text
    assert "1 copy taken out of what every model sees" in text
    assert "of a feature that stains may be made of: “ping” (as “pong”)." in text


def test_ids_of_the_page_are_unique():
    other = clear() | {"dataset": "re/views"}
    third = clear() | {"dataset": "re-views"}
    ids = re.findall(r'\sid="([^"]+)"', page_of(summary_of(unclear(), clear(), other, third)))
    assert ids
    assert len(ids) == len(set(ids))


def test_floor_and_ceiling_are_drawn_without_markers_and_the_most_possible_follows_the_stain():
    styles = recall_looks(short_names(NAMES))
    assert (styles["random"].marker, styles["ground-truth"].marker) == ("", "")
    assert styles["greedy"].marker
    assert most_recall(summary_of(clear(), size=4, negated=1).spec)[:4] == pytest.approx([1 / 3, 2 / 3, 1, 1])


def test_the_spec_in_the_report_asks_for_the_same_run():
    spec = StainSpec(datasets=['odd "name"\\é.csv'], limit=100, text="Review", min_share=0.1)
    assert StainSpec(**tomllib.loads(spec_toml(spec.model_dump(), "stain"))["stain"]) == spec


def test_versions_machine_and_command_are_told_as_far_as_they_are_known():
    manifest = {
        "command": "verax bench stain --stains 3",
        "versions": {"python": "3.11.1", "numpy": "2.0.0", "torch": None},
        "machine": {"system": "Linux", "processors": 2},
        "started": "2020-01-01",
        "finished": None,
        "continued": [{}, {}],
    }
    text = Words(page_of(summary_of(clear()), manifest=manifest)).text
    assert "verax bench stain --stains 3" in text
    assert "Versions: python 3.11.1, numpy 2.0.0." in text
    assert "Machine: system Linux, processors 2." in text
    assert "Run: 2020-01-01, continued 2 times." in text
    assert "Versions" not in Words(page_of(summary_of(clear()))).text


def test_the_same_run_gives_the_same_bytes_in_all_files(tmp_path):
    summary = summary_of(unclear(), clear())
    for folder in ("a", "b"):
        found = found_of(copy.deepcopy(summary), 5, [example()], [timing("greedy", 0.001, 3)])
        write_run(tmp_path / folder, found, {})
    tables = ("accuracy", "cost", "differences-auc", "differences-mrr", "recall")
    names = [
        "figures/recall.svg",
        "figures/took.svg",
        "report.html",
        *(f"tables/{name}.{ending}" for name in tables for ending in ("md", "tex")),
    ]
    assert sorted(str(path.relative_to(tmp_path / "a")) for path in (tmp_path / "a").rglob("*.*")) == names
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert "5 explanations scored" in (tmp_path / "a" / "report.html").read_text(encoding="utf-8")


def test_every_explainer_is_labelled_in_the_figure(tmp_path):
    write_run(tmp_path, found_of(summary_of(unclear())), {})
    figure = (tmp_path / "figures" / "recall.svg").read_text(encoding="utf-8")
    for label in ("lime", "greedy", "random", "ground-truth"):
        assert figure.count(f">{label}</text>") == 1


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(VeraxError, match="cannot be written to"):
        write_run(tmp_path / "file", found_of(summary_of(clear())), {})


# The verdict.


def test_the_verdict_names_who_finds_the_reasons_who_leads_and_where():
    found = staining_verdict(summary_of(clear(), stains=6))
    assert found.sentence == (
        "greedy and lime find the planted reasons (70–90%; chance 20%, at most 95%); greedy leads on xgboost."
    )
    assert [(row.name, row.sign, row.words) for row in found.judged] == [
        ("greedy", "yes", "finds them"),
        ("lime", "yes", "finds them"),
    ]
    assert found.reference.value == pytest.approx(100 * np.mean([0.10, 0.20, 0.29]))
    assert all(0 <= row.low < row.estimate < row.high <= 100 for row in found.judged)


def test_the_verdict_says_where_nothing_was_shown_and_where_chance_is_not_beaten():
    found = staining_verdict(summary_of(unclear(), stains=6))
    assert found.sentence == (
        "lime and greedy are not shown to beat chance (73%; chance 61%, at most 95%); no clear difference between them."
    )
    both = staining_verdict(summary_of(unclear(), clear(), stains=6))
    assert both.sentence.startswith(
        "greedy and lime find the planted reasons for some models only (72–82%; chance"
    )
    assert "no clear difference between them, except on xgboost, where greedy leads" in both.sentence
    assert both.judged[0].words == "beats chance for 1 of 2 models"


def test_with_too_few_stains_there_are_values_and_no_verdict():
    few = cell("reviews", "tree", {"lime(samples=200)": [0.6, 0.9], "random": [0.1, 0.2]})
    found = staining_verdict(summary_of(few, stains=2))
    assert found.sentence == (
        "Nothing is claimed of lime (75%; chance 15%, at most 95%): there are 2 stains, and a test needs 6."
    )
    assert [(row.sign, row.low, row.high) for row in found.judged] == [("open", None, None)]
    dropped = staining_verdict(
        summary_of(few, stains=3)
    )  # of three stains that were drawn the tree learnt two
    assert dropped.sentence.endswith("with some model only 2 of 3 stains can be scored, and a test needs 6.")
    assert found.rests_on[1].startswith("There are no intervals: that takes 5 stains that a model learnt.")
    mixed = staining_verdict(summary_of(few, clear(), stains=6))
    assert mixed.rests_on[1] == (
        "The means over all models have no interval, since below 5 stains there are values only: tree (2 stains). The "
        "other models' intervals are in the tables."
    )
    nothing = staining_verdict(summary_of(cell("reviews", "tree", {}, failed=[0, 1, 2]) | {"took": {}}))
    assert nothing.sentence == "No explainer could be scored, so none is judged."


def test_mean_and_rank_that_disagree_say_why():
    often = {"lime(samples=200)": [0.80] * 6, "greedy": [0.82] * 6, "random": [0.2] * 6}
    once = {"lime(samples=200)": [0.80] * 6, "greedy": [0.40] * 6, "random": [0.2] * 6}
    cells = [cell("reviews", model, often) for model in ("forest", "mlp")] + [cell("reviews", "tree", once)]
    ranks = {
        "ranks": {"lime(samples=200)": 5 / 3, "greedy": 4 / 3, "random": 3.0},
        "cells": 3,
        "left_out": 0,
        "p": 0.1,
    }
    found = staining_verdict(summary_of(*cells, ranks=ranks, stains=6))
    assert found.rests_on[-1] == (
        "By the mean lime is first, by average rank greedy: greedy is ahead more often, but far behind on tree (40 "
        "points), which a mean counts and a rank does not."
    )

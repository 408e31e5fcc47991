"""The tables of Hase and Bansal (2020) count what the paper counts: worked by hand, with people who left early."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from studies.analysis.frames import Person, collected, sample_study, summarised
from verax.stats import hase2020
from verax.studies.analysis import Options, analyse
from verax.studies.analysis.analyse import analysed, write_items
from verax.studies.analysis.between.hase2020 import before_of_highest
from verax.studies.analysis.between.pooled_simulation import pooled_simulation

FAST = Options(replicates=150)
FOUR = (
    {"name": "none"},
    {"name": "lime", "explainer": "lime"},
    {"name": "shap", "explainer": "shap"},
    {"name": "random", "like": "lime"},
)
NONE, LIME, SHAP, RANDOM = range(4)
ITEMS = 8
# Who left in the middle of the second round, after so many of its eight pages.
LEFT_AFTER = {3: 5, 6: 2}


def people():
    """Two in each condition who stayed, and: two who left early, one who was too fast, one who failed the screening."""
    return [
        Person(1, NONE),
        Person(2, LIME),
        Person(3, LIME, status="active", left=True, rules=("left",)),
        Person(4, SHAP),
        Person(5, RANDOM),
        Person(6, SHAP, status="active", left=True),
        Person(7, LIME, rules=("too-fast",)),
        Person(8, NONE),
        Person(9, LIME, status="screened-out", until="pre"),
        Person(10, RANDOM),
        Person(11, SHAP, status="active", left=True, rules=("left", "too-fast")),
        Person(12, LIME, until="post", status="active", left=True),  # went before the second round
    ]


def right(number, item, phase):
    """Which answers are right."""
    return (number + item) % 3 != 0 if phase == "pre" else (number + item) % 4 != 0


def rating(number, item):
    return 1 + (number * item) % 7


def taken(kind="text"):
    study = sample_study(
        {"name": "counterfactual", "test": ITEMS}, {"test": ITEMS}, conditions=FOUR, kind=kind
    )
    places = {name: place for place, name in enumerate(study.items)}

    def answer(person, step, question):
        if question.name == "rating":
            return rating(person.number, places[step.item])
        said = study.items[step.item].variant.prediction
        return said if right(person.number, places[step.item], step.phase) else 1 - said

    found = collected(study, people(), answer)
    rows = found.responses
    left = {f"p{number:010x}": pages for number, pages in LEFT_AFTER.items()}
    gone = rows["participant"].map(left).lt(rows["number_in_phase"]) & (rows["phase"] == "post")
    # Whom pages of the second round are left of, by the place of the item in the study.
    seen = {
        number: [
            places[item]
            for item in rows.loc[
                (rows["participant"] == f"p{number:010x}") & (rows["phase"] == "post") & ~gone, "item"
            ].unique()
        ]
        for number in range(1, 13)
    }
    return study, replace(found, responses=rows[~gone].reset_index(drop=True)), seen


@pytest.fixture(scope="module")
def study_and_answers():
    return taken()


COUNTED = (
    1,
    2,
    3,
    4,
    5,
    6,
    8,
    10,
)  # everybody but the too fast and the screened out; the last one answered no pair
CONDITION = {
    1: "none", 8: "none", 2: "lime", 3: "lime", 4: "shap", 6: "shap", 5: "random", 10: "random"
}  # fmt: skip


def hand_rows(seen):
    """(participant, item, condition, pre, post) of every item answered in both rounds by those who count."""
    return [
        (number, item, CONDITION[number], right(number, item, "pre"), right(number, item, "post"))
        for number in COUNTED
        for item in sorted(seen[number])
    ]


def table_of(summary, key):
    return next(table for table in summary["tables"] if table["key"] == key)


def rows_of(summary, key, by="condition"):
    return {row[by]: row for row in table_of(summary, key)["rows"]}


def test_every_item_answered_in_both_rounds_counts_also_of_those_who_left(study_and_answers):
    _, found, seen = study_and_answers
    summary = summarised(found, FAST)
    rows = rows_of(summary, "change-hase2020")
    # 8 items of each who stayed; lime has one more person with 5, shap one with 2.
    assert {name: row["n"] for name, row in rows.items()} == {
        "User Avg.": 16 + 13 + 10 + 16, "none": 16, "lime": 13, "shap": 10, "random": 16
    }  # fmt: skip
    hand = hand_rows(seen)
    assert rows["User Avg."]["pre"] == pytest.approx(np.mean([pre for *_, pre, _ in hand]))
    direct = hase2020.change(*np.array(hand, dtype=object).T[:3], *np.array([r[3:] for r in hand], float).T)
    by_name = {one.method: one for one in direct.methods}
    published = summary["estimators"]["hase2020"]["change"]["methods"]
    for one in published:
        assert (one["pre"], one["post"]) == pytest.approx(
            (by_name[one["method"]].pre, by_name[one["method"]].post)
        )
    # Our own estimate is of those who completed the study, and stands in a table of its own.
    assert rows_of(summary, "change")["lime"]["n"] == ITEMS
    assert "also by people who left early" in table_of(summary, "change-hase2020")["notes"][0]


def test_ratings_are_plain_means_without_the_random_control(study_and_answers):
    _, found, seen = study_and_answers
    summary = summarised(found, FAST)
    rows = rows_of(summary, "ratings-hase2020")
    assert list(rows) == ["lime", "shap"]
    for name, numbers in (("lime", (2, 3)), ("shap", (4, 6))):
        given = [rating(number, item) for number in numbers for item in seen[number]]
        assert rows[name]["n"] == len(given)
        assert rows[name]["mean"] == pytest.approx(np.mean(given))
        assert rows[name]["spread"] == pytest.approx(np.std(given, ddof=1))
    assert "random" in rows_of(summary, "ratings")  # ours keeps it, to compare with


def test_ratings_by_correctness_are_plain_means_without_the_random_control(study_and_answers):
    study, found, seen = study_and_answers
    rows = rows_of(summarised(found, FAST), "ratings-by-correctness-hase2020", "model")
    items = list(study.items.values())
    for side, is_right in (("Correct", True), ("Incorrect", False)):
        given = [
            rating(number, item)
            for number in (2, 3, 4, 6)
            for item in seen[number]
            if items[item].correct == is_right
        ]
        assert rows[side]["n"] == len(given)
        assert rows[side]["mean"] == pytest.approx(np.mean(given))


def test_the_regression_on_ratings_counts_the_same_answers(study_and_answers):
    _, found, _ = study_and_answers
    rows = table_of(summarised(found, FAST), "rating-and-correctness")["rows"]
    published = [row for row in rows if "as published" in row["predictor"]]
    # 23 ratings beside an item answered twice; the script leaves out those whose method and item has one rating only,
    # or equal ones: their normalised rating does not exist.
    both = {}
    _, found, seen = study_and_answers
    for number in (2, 3, 4, 6):
        for item in seen[number]:
            both.setdefault((CONDITION[number], item), []).append(rating(number, item))
    assert sum(len(values) for values in both.values()) == 23
    kept = sum(len(values) for values in both.values() if len(set(values)) > 1)
    assert [row["n"] for row in published] == [kept, kept]


def test_without_a_number_the_published_tables_draw_the_published_replicates():
    options = Options()
    assert (options.change_replicates, options.mean_replicates, options.regression_replicates) == (
        25_000, 10_000, 15_000
    )  # fmt: skip
    assert options.own_replicates == 5_000
    assert replace(options, replicates=7).change_replicates == 7


def test_p_below_5_per_cent_is_bold_and_nothing_else():
    """Everybody in lime learns all items, nobody in none learns any."""
    study = sample_study({"name": "counterfactual", "test": 16}, {"test": 16}, conditions=FOUR[:2])
    places = {name: place for place, name in enumerate(study.items)}

    def answer(person, step, question):
        if question.name == "rating":
            return 4
        said = study.items[step.item].variant.prediction
        knows = (places[step.item] + person.number) % 2 == 0 or (step.phase == "post" and person.row == 1)
        return said if knows else 1 - said

    found = collected(study, [Person(n, row) for n, row in enumerate([0, 1] * 4, start=1)], answer)
    rows = rows_of(summarised(found, replace(FAST, mended=("drop_singular",))), "change-hase2020")
    assert rows["lime"]["p"] < 0.05
    assert {key for key in rows["lime"] if key.endswith("_mark")} == {"change_mark", "ci_mark", "p_mark"}
    assert rows["none"]["p"] >= 0.05
    assert not any(key.endswith("_mark") for key in rows["none"])


def test_pooled_tables_count_the_same_and_stand_side_by_side():
    both = [taken("text"), taken("table")]
    tables = {
        table.key: table for table in pooled_simulation([analysed(one) for _, one, _ in both], FAST).tables
    }
    for key in ("paper-1", "paper-2", "paper-3", "paper-5"):
        assert len({column.key for column in tables[key].columns}) == len(tables[key].columns)
    one = {row["condition"]: row for row in tables["paper-1"].rows}
    assert (one["lime"]["text_n"], one["lime"]["tabular_n"], one["lime"].get("text_pre")) == (13, 13, None)
    assert one["User Avg."]["text_n"] == 55
    two = {row["condition"]: row for row in tables["paper-2"].rows}
    assert two["shap"]["counterfactual_n"] == 20
    three = {row["condition"]: row for row in tables["paper-3"].rows}
    assert list(three) == ["lime", "shap"]
    assert [column.title for column in tables["paper-3"].columns] == [
        "Method",
        *(f"{what}, {domain}" for domain in ("text", "tabular") for what in ("n", "μ", "CI", "σ")),
    ]
    own = {row["condition"]: row for row in tables["change-by-domain"].rows}
    assert own["lime"]["text_n"] == ITEMS
    assert "our own estimate" in tables["change-by-domain"].title


def test_single_items_are_counted_by_condition_with_what_was_shown(study_and_answers):
    study, found, seen = study_and_answers
    summary = summarised(found, FAST)
    assert [one["item"] for one in summary["items"]] == list(study.items)
    for place, one in enumerate(summary["items"]):
        own = study.items[one["item"]]
        assert one["changed"] == own.variant.input
        assert one["right"] == study.class_names[own.variant.prediction]
        by_name = {count["condition"]: count for count in one["counts"]}
        for name in ("none", "lime", "shap", "random"):
            numbers = [n for n in COUNTED if CONDITION[n] == name and place in seen[n]]
            count = by_name[name]
            assert count["people"] == len(numbers)
            assert count["before"] == sum(right(n, place, "pre") for n in numbers)
            assert count["after"] == sum(right(n, place, "post") for n in numbers)
        assert by_name["none"]["explanation"] == ""
        assert by_name["lime"]["explanation"]


def test_single_items_stand_in_a_file_that_no_spreadsheet_runs(study_and_answers, tmp_path):
    _, found, _ = study_and_answers
    items = list(analyse(found, FAST).items)
    items[0] = replace(items[0], input="=1+1")
    write_items(tmp_path / "items.csv", items)
    with (tmp_path / "items.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 4 * ITEMS
    assert lines[0]["input"] == "'=1+1"
    of_lime = [line for line in lines if line["condition"] == "lime"]
    assert sum(int(line["people"]) for line in of_lime) == 13


def test_conditions_that_the_paper_had_not_can_be_left_out_of_user_average(study_and_answers):
    _, found, _ = study_and_answers
    both = rows_of(summarised(found, FAST), "change-hase2020")
    methods = rows_of(summarised(found, replace(FAST, methods_only=True)), "change-hase2020")
    assert set(both) == {"User Avg.", "none", "lime", "shap", "random"}
    assert set(methods) == {"User Avg.", "lime", "shap"}
    assert methods["User Avg."]["n"] == both["lime"]["n"] + both["shap"]["n"] < both["User Avg."]["n"]


def test_ratings_and_right_answers_are_compared_in_every_study_of_several():
    both = [taken("text"), taken("table")]
    keys = [table.key for table in pooled_simulation([analysed(one) for _, one, _ in both], FAST).tables]
    # The first study has its own among its tables.
    assert [key for key in keys if key.startswith("rating-and-correctness")] == ["rating-and-correctness-2"]


def test_the_condition_with_the_highest_change_is_compared_with_all_before_explanations():
    """As the paper argues: 4 of 8 before with shap, whose Change is the highest, and 10 of 16 in all."""
    rows = pd.DataFrame(
        {
            "condition": ["lime"] * 8 + ["shap"] * 8,
            "pre": [True] * 6 + [False] * 2 + [True] * 4 + [False] * 4,
            "post": [True] * 6 + [False] * 2 + [True] * 7 + [False],
        }
    )
    assert before_of_highest(rows) == (
        "As the paper compares it: the highest mean Change is that of shap, with 50.00% right before explanations, "
        "12.50 points below the mean of all (62.50%), so that part of it may be regression to the mean."
    )
    rows["condition"] = ["shap"] * 8 + ["lime"] * 8
    rows["post"] = [True] * 8 + [True] * 4 + [False] * 4
    assert (
        "that of shap, with 75.00% right before explanations, not below the mean of all"
        in before_of_highest(rows)
    )
    assert before_of_highest(rows[rows["condition"] == "lime"]) is None


def test_the_comparison_stands_under_the_tables_by_domain_and_by_test(study_and_answers):
    data = [analysed(study_and_answers[1])]
    tables = {table.key: table for table in pooled_simulation(data, FAST).tables}
    assert any(note.startswith("Text: As the paper compares it") for note in tables["paper-1"].notes)
    assert any(note.startswith("Counterfactual: As the paper") for note in tables["paper-2"].notes)

"""The flow of participants, losses by condition and the balance reached: counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from studies.analysis.frames import (
    Person,
    collected,
    drawn,
    everybody,
    sample_study,
    simulated_answers,
    summarised,
)
from verax.studies.analysis import Options, analysed
from verax.studies.analysis.participation import MOST_TABLES, equal_losses, flow_of

FORWARD = {"name": "forward", "learning": 4, "test": 4}
FAST = Options(estimator="crossed", replicates=100)


@pytest.fixture(scope="module")
def study():
    return sample_study(FORWARD, {"learning": 4, "test": 4}, participants=2)


def answers_of(study, people):
    counts = tuple(max(1, len(people)) for _ in range(3))
    return simulated_answers(study, drawn(counts, 4))


def crowd():
    """One of everything; three complete, of whom one is excluded by two rules."""
    return [
        Person(1, 0),
        Person(2, 1),
        Person(3, 2, rules=("too-fast", "same-answer")),
        Person(4, 0, status="invited"),
        Person(5, 0, status="declined"),
        Person(6, 0, status="full"),
        Person(7, 1, status="screened-out", until="pre"),
        Person(8, 1, status="active", left=True, until="post"),
        Person(9, 2, status="active", until="pre"),
        Person(10, 2, status="withdrawn"),
        Person(11, 0, bot=True),
        Person(12, 1, bot=True, rules=("late",)),
    ]


def test_everybody_is_counted_once_and_bots_apart(study):
    people = crowd()
    found = collected(study, people, answers_of(study, people))
    flow = flow_of(found, analysed(found))
    assert (flow.arrived, flow.undecided, flow.declined, flow.no_place) == (10, 1, 1, 1)
    assert (flow.screened_out, flow.withdrawn, flow.left, flow.under_way, flow.complete) == (1, 1, 1, 1, 3)
    assert (flow.excluded, flow.excluded_people) == ({"same-answer": 1, "too-fast": 1}, 1)
    assert (flow.analysed, flow.intended, flow.of_the_others) == (2, 4, 2)
    parts = (flow.undecided, flow.declined, flow.no_place, flow.screened_out, flow.withdrawn, flow.left)
    assert sum(parts) + flow.under_way + flow.complete == flow.arrived
    bots = flow_of(found, analysed(found, bots=True))
    assert (bots.arrived, bots.complete, bots.excluded, bots.analysed) == (2, 2, {"late": 1}, 1)


def test_who_was_deleted_in_time_is_counted_and_not_analysed(study):
    people = crowd()
    found = collected(study, people, answers_of(study, people))
    purged = found.participants["number"] == 1
    found.participants.loc[purged, "steps"] = 0
    flow = flow_of(found, analysed(found))
    assert (flow.complete, flow.deleted, flow.excluded_people, flow.analysed) == (3, 1, 1, 1)
    assert "1 deleted at the end of the retention time" in flow.sentence


def test_the_flow_in_one_line(study):
    people = crowd()
    summary = summarised(collected(study, people, answers_of(study, people)), FAST)
    assert summary["flow"]["sentence"] == (
        "10 arrived, 1 undecided, 1 declined, 1 found no place, 1 screened out, 1 withdrew, 1 left, 1 still under way, "
        "3 complete, 1 excluded (same-answer 1, too-fast 1), 2 analysed."
    )
    assert summary["figures"][0]["data"]["boxes"]["arrived"] == 10
    assert any("1 participant still under way" in problem for problem in summary["problems"])


def test_bots_and_people_are_never_in_one_analysis(study):
    people = everybody(study, 2)
    both = [*people, *(Person(p.number + 100, p.row, bot=True) for p in people)]
    right = drawn((40, 40, 40), 4, seed=1)
    found = collected(study, both, simulated_answers(study, right))
    alone = collected(study, people, simulated_answers(study, right))
    assert summarised(found, FAST)["primary"] == summarised(alone, FAST)["primary"]
    of_bots = summarised(found, Options(estimator="crossed", replicates=100, bots=True))
    assert of_bots["people"] == "bots"
    assert of_bots["flow"]["arrived"] == 6
    assert set(analysed(found, bots=True).responses["participant"]) == {p.name for p in both if p.bot}


def test_losses_by_condition_are_counted_and_screened_out_ones_apart(study):
    people = crowd()
    table = summarised(collected(study, people, answers_of(study, people)), FAST)["attrition"]
    rows = {row["condition"]: row for row in table["rows"]}
    assert [rows[name]["placed"] for name in ("none", "lime", "shap")] == [1, 3, 3]
    assert (rows["lime"]["left"], rows["lime"]["screened_out"], rows["lime"]["lost"]) == (1, 1, 0.5)
    assert (rows["shap"]["withdrawn"], rows["shap"]["excluded"], rows["shap"]["lost"]) == (1, 1, 0.5)
    assert [rows[name]["under_way"] for name in ("none", "lime", "shap")] == [0, 0, 1]
    assert table["sentence"].endswith("1 still under way is in no share.")
    assert table["test"] == "Fisher's exact test"
    assert "no sign that they differ" in table["sentence"]


def test_unequal_losses_are_said_to_be_a_danger(study):
    gone = [Person(n, 1, status="active", left=True, until="post") for n in range(1, 9)]
    stayed = [Person(n, 0) for n in range(9, 17)] + [Person(n, 2) for n in range(17, 25)]
    people = [*gone, *stayed, Person(25, 1)]
    table = summarised(collected(study, people, answers_of(study, people)), FAST)["attrition"]
    assert table["p"] < 0.001
    assert "those who stayed may differ" in table["sentence"]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 8), st.integers(0, 8))
def test_two_groups_are_fishers_exact_test(a, b, c, d):
    p, test = equal_losses((a, b), (c, d))
    if test == "none":
        assert a + b == 0 or c + d == 0 or a + c == 0 or b + d == 0
    else:
        assert p == pytest.approx(stats.fisher_exact([[a, b], [c, d]]).pvalue, abs=1e-9)


def test_three_groups_by_counting_all_tables():
    lost, stayed = (4, 0, 1), (1, 4, 3)
    sizes = np.array(lost) + np.array(stayed)
    weight = stats.multivariate_hypergeom(sizes, sum(lost)).pmf
    tables = [(x, y, 5 - x - y) for x in range(6) for y in range(5) if 0 <= 5 - x - y <= 4]
    seen = weight(lost)
    expected = sum(weight(table) for table in tables if weight(table) <= seen * (1 + 1e-9))
    p, test = equal_losses(lost, stayed)
    assert (p, test) == (pytest.approx(expected), "Fisher's exact test")


def test_too_many_tables_are_left_to_chi_square():
    lost, stayed = (60, 50, 40, 30, 20), (40, 50, 60, 70, 80)
    p, test = equal_losses(lost, stayed)
    assert test == "chi-square test"
    assert p == pytest.approx(stats.chi2_contingency([lost, stayed], correction=False).pvalue)
    assert MOST_TABLES > 1000


def test_balance_compares_with_what_was_wanted(study):
    people = [Person(1, 0), Person(2, 0), Person(3, 1)]
    found = summarised(collected(study, people, answers_of(study, people)), FAST)["balance"]
    assert [(row["target"], row["analysed"]) for row in found["rows"]] == [(2, 2), (2, 1), (2, 0)]
    assert found["sentence"].startswith("3 participants fewer than wanted, in 2 of 3 rows.")
    by_name = {one["condition"]: one for one in found["answers"]}
    # Everybody answers four items in Pre and in Post.
    assert (by_name["none"]["answers"], by_name["none"]["fewest_per_item"]) == (16, 4)
    assert (by_name["shap"]["answers"], by_name["shap"]["items"]) == (0, 0)

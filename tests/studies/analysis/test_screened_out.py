from __future__ import annotations

import math

import pytest

from studies.analysis.frames import Person, collected, sample_study
from verax.stats.estimate import binomial_share, share_difference
from verax.studies.analysis.analyse import analyse, analysed
from verax.studies.analysis.participation import screened_out

FORWARD = {"name": "forward", "learning": 4, "test": 4}
ROLES = {"learning": 4, "test": 4}


def first_answer(_person, _step, question):
    return question.options[0].means if question.options else "a word"


def with_screened_out(counts, method="excludes", each=20):
    """So many of each condition's people were screened out."""
    study = sample_study(FORWARD, ROLES, screening={"method": method})
    people = []
    for row, out in enumerate(counts):
        for place in range(each):
            status = "screened-out" if place < out else "complete"
            people.append(Person(len(people) + 1, row, status=status))
    return collected(study, people, first_answer)


def test_newcombes_interval_is_that_of_the_paper():
    # Newcombe (1998), Statistics in Medicine 17, Table II, (a): 56/70 - 48/80, method 10.
    first, second = (binomial_share([1.0] * k + [0.0] * (n - k)) for k, n in ((56, 70), (48, 80)))
    difference = share_difference(first, second)
    assert (round(difference.mean, 4), round(difference.low, 4), round(difference.high, 4)) == (
        0.2,
        0.0524,
        0.3339,
    )
    # (h): 10/10 - 0/10
    first, second = (binomial_share([float(one)] * 10) for one in (1, 0))
    difference = share_difference(first, second)
    assert (round(difference.low, 4), difference.high) == (0.6075, pytest.approx(1.0))


def test_uneven_losses_weaken_the_claims_that_compare_these_conditions_and_no_others():
    taken = with_screened_out([0, 10, 1])
    found = screened_out(taken, analysed(taken))
    assert "0% in plain" in found.said or "0% in none" in found.said
    names = [condition.name for condition in taken.study.spec.conditions]
    assert len(found.problems) == 2
    assert all(f"in {names[1]} than in" in problem and "weakened" in problem for problem in found.problems)
    summary = analyse(taken)
    assert set(found.problems) <= set(summary.problems)
    assert found.said in summary.procedure


def test_even_losses_weaken_nothing_but_say_what_cannot_be_ruled_out():
    taken = with_screened_out([2, 2, 2])
    found = screened_out(taken, analysed(taken))
    assert found.problems == ()
    share = binomial_share([1.0] * 2 + [0.0] * 18)
    high = math.hypot(share.high - share.mean, share.mean - share.low)
    assert f"{100 * high:.0f} points cannot be ruled out" in found.said


def test_a_test_before_conditions_are_given_cannot_make_them_differ():
    taken = with_screened_out([0, 10, 1], method="teaches")
    found = screened_out(taken, analysed(taken))
    assert found.problems == ()
    assert "came before anybody was given a condition" in found.said
    assert "11 people failed" in found.said

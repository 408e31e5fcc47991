"""Tests of one family by flipped signs: by enumeration, at the fewest units, and how often they err together."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from verax.stats import joint_differences, paired_differences
from verax.stats.tests.multiplicity import Claim, westfall_young


def by_enumeration(columns):
    """The step-down maximum as its definition says it: all signs, one test after the other."""
    table = np.array(columns, dtype=float).T
    scaled = table / np.sqrt((table**2).sum(axis=0))
    far = np.abs(scaled.sum(axis=0))
    order = sorted(range(len(columns)), key=lambda test: -far[test])
    signs = list(product((1, -1), repeat=len(table)))
    alone = [
        np.mean([abs(np.dot(sign, scaled[:, test])) >= far[test] - 1e-9 for sign in signs])
        for test in range(len(far))
    ]
    family, least = [0.0] * len(far), 0.0
    for place, test in enumerate(order):
        rest = order[place:]
        share = np.mean(
            [max(abs(np.dot(sign, scaled[:, one])) for one in rest) >= far[test] - 1e-9 for sign in signs]
        )
        least = family[test] = max(least, share)
    return alone, family


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_step_down_maximum_over_all_signs(seed):
    rng = np.random.default_rng(seed)
    columns = rng.normal([0.0, 0.5, 1.5, 0.2], 1.0, (7, 4)).T
    found = westfall_young([Claim(dict(enumerate(column))) for column in columns])
    alone, family = by_enumeration(columns)
    assert [each.p for each in found] == pytest.approx(alone)
    assert [each.p_family for each in found] == pytest.approx(family)


def test_drawn_signs_come_close_to_all_of_them():
    rng = np.random.default_rng(0)
    columns = rng.normal(0.5, 1.0, (16, 3)).T
    (drawn, *_) = westfall_young([Claim(dict(enumerate(column))) for column in columns])
    alone, _ = by_enumeration(columns[:1])
    assert drawn.p == pytest.approx(alone[0], abs=0.01)
    assert westfall_young([Claim(dict.fromkeys(range(40), 1.0))])[0].p == 1 / 10_000


def units(number):
    return {f"stain {place}": {f"a{place}", f"b{place}"} for place in range(number)}


@pytest.mark.parametrize(("stains", "verdict"), [(5, "none"), (6, "first"), (20, "first")])
def test_equal_differences_have_no_spread_and_are_claimed_from_six_stains_on(stains, verdict):
    """Perfect everywhere against always the same: with Student's t there was no spread, and so no claim."""
    values = {"first": dict.fromkeys(units(stains), 0.95), "second": dict.fromkeys(units(stains), 0.6)}
    found = joint_differences([values] * 5, units(stains))
    assert {each.verdict for (each,) in found} == {verdict}
    if stains == 6:
        assert {(each.p, each.p_holm) for (each,) in found} == {(2 / 64, 2 / 64)}  # five models cost nothing


def test_explainers_that_tie_everywhere_do_not_differ():
    values = {"first": dict.fromkeys(units(8), 0.95), "second": dict.fromkeys(units(8), 0.95)}
    ((found,),) = joint_differences([values], units(8))
    assert (found.p, found.p_holm, found.verdict) == (1.0, 1.0, "none")


def test_stains_of_fewer_than_six_words_are_not_tested():
    pairs = list(combinations("abcde", 2))
    values = {
        "first": dict.fromkeys(pairs, 0.9),
        "second": {pair: 0.1 * (k % 3) for k, pair in enumerate(pairs)},
    }
    ((found,),) = joint_differences([values], {pair: pair for pair in pairs})
    assert (found.n, found.parts, found.p, found.verdict) == (10, 5, None, "none")


def areas(rng, stains, words, models):
    """Three equal explainers: effects of words and stains on each, with each model; cut at the ceiling."""
    drawn = (
        [(f"a{place}", f"b{place}") for place in range(stains)]
        if words is None
        else list({tuple(sorted(rng.choice(words, 2, replace=False).tolist())) for _ in range(stains)})
    )
    tables = []
    for _ in range(models):
        table = {}
        for label in ("first", "second", "third"):
            effect = {word: rng.normal(0, 0.05) for stain in drawn for word in stain}
            table[label] = {
                stain: min(0.85 + effect[stain[0]] + effect[stain[1]] + rng.normal(0, 0.03), 0.95)
                for stain in drawn
            }
        tables.append(table)
    return tables, {stain: stain for stain in drawn}


@pytest.mark.parametrize(("stains", "words"), [(12, None), (20, 9), (10, 9)])
def test_five_models_of_equal_explainers_are_all_left_alone_in_nineteen_of_twenty_runs(stains, words):
    """Corrected model by model, some false claim was made in a fifth to a half of runs."""
    rng = np.random.default_rng(1)
    runs, false, by_model = 120, 0, 0
    for _ in range(runs):
        tables, parts = areas(rng, stains, words, 5)
        false += any(each.verdict != "none" for found in joint_differences(tables, parts) for each in found)
        by_model += any(each.verdict != "none" for table in tables for each in paired_differences(table))
    assert false / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)
    assert by_model / runs > 0.12


def test_more_stains_never_weaken_a_true_claim():
    rng = np.random.default_rng(2)
    shown = []
    for stains in (6, 12, 24):
        count = 0
        for _ in range(40):
            tables, parts = areas(rng, stains, None, 2)
            better = [
                table | {"first": {unit: area + 0.1 for unit, area in table["first"].items()}}
                for table in tables
            ]
            found = joint_differences(better, parts)
            count += sum(each.verdict == "first" for one in found for each in one if each.first == "first")
        shown.append(count)
    assert shown[0] < shown[1] < shown[2]

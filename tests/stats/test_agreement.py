"""Agreement: published examples, statsmodels, pairs counted one by one, bootstraps written out, and the laws."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verax.errors import VeraxError
from verax.stats.agreement import Agreement, fleiss_kappa, krippendorff_alpha

# Krippendorff's own example of four observers and twelve units with missing values (Computing Krippendorff's
# Alpha-Reliability, part D); unit 12 has one value only.
KRIPPENDORFF = """
1 2 3 3 2 1 4 1 2 * * *
1 2 3 3 2 2 4 1 2 5 * 3
* 3 3 3 2 3 4 2 2 5 1 *
1 2 3 3 2 4 4 1 2 5 1 *
"""

# Fleiss (1971) as printed in textbooks: ten subjects, fourteen raters, five categories; kappa 0.210.
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def columns(table):
    """item, rater, value of a table with one row of text per rater, * where missing."""
    rows = [line.split() for line in table.strip().splitlines()]
    return zip(
        *[(i, r, int(v)) for r, row in enumerate(rows) for i, v in enumerate(row) if v != "*"], strict=True
    )


def random_ratings(seed, items=8, raters=5, values=4, missing=0.3):
    """Ratings that agree more than by chance, with gaps."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, values, items)
    item, rater, value = [], [], []
    for i in range(items):
        for r in range(raters):
            if rng.random() >= missing:
                item.append(f"item {i}")
                rater.append(f"rater {r}")
                value.append(int(truth[i] if rng.random() < 0.5 else rng.integers(0, values)))
    return item, rater, value


def plain_alpha(item, rater, value, distance):
    """1 - observed / expected, over all pairs of ratings one by one; distance gets two values and all pairable ones."""
    units = {}
    for i, v in zip(item, value, strict=True):
        units.setdefault(i, []).append(v)
    units = [vs for vs in units.values() if len(vs) > 1]
    everything = [v for vs in units for v in vs]
    n = len(everything)
    observed = sum(
        distance(a, b, everything) / (len(vs) - 1)
        for vs in units
        for x, a in enumerate(vs)
        for y, b in enumerate(vs)
        if x != y
    )
    expected = sum(
        distance(a, b, everything)
        for x, a in enumerate(everything)
        for y, b in enumerate(everything)
        if x != y
    )
    return 1 - (observed / n) / (expected / (n * (n - 1)))


def ordinal(a, b, everything):
    low, high = min(a, b), max(a, b)
    between = sum(low <= v <= high for v in everything)
    return (between - (everything.count(a) + everything.count(b)) / 2) ** 2 if a != b else 0.0


DISTANCES = {
    "nominal": lambda a, b, _: float(a != b),
    "ordinal": ordinal,
    "interval": lambda a, b, _: float((a - b) ** 2),
}


@pytest.mark.parametrize(("scale", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_published_example(scale, expected):
    item, rater, value = columns(KRIPPENDORFF)
    found = krippendorff_alpha(item, rater, value, scale, replicates=10)
    assert found.value == pytest.approx(expected, abs=5e-4)
    assert found.value == pytest.approx(plain_alpha(item, rater, value, DISTANCES[scale]), abs=1e-12)
    assert (found.n_items, found.n_raters, found.n_ratings, found.single) == (11, 4, 40, 1)


@pytest.mark.parametrize("scale", list(DISTANCES))
@pytest.mark.parametrize("seed", range(5))
def test_alpha_equals_all_pairs_one_by_one(scale, seed):
    item, rater, value = random_ratings(seed)
    value = [v**2 for v in value]  # uneven steps, so that ordinal and interval differ
    found = krippendorff_alpha(item, rater, value, scale, replicates=5)
    assert found.value == pytest.approx(plain_alpha(item, rater, value, DISTANCES[scale]), abs=1e-12)


def long_form(counts):
    """Ratings with the given counts per item and category; who rated does not matter for kappa."""
    rows = [
        (i, r, c)
        for i, row in enumerate(counts)
        for r, c in enumerate(c for c, times in enumerate(row) for _ in range(times))
    ]
    return zip(*rows, strict=True)


def test_fleiss_published_example_and_statsmodels():
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    found = fleiss_kappa(*long_form(FLEISS), replicates=5)
    assert found.value == pytest.approx(0.210, abs=5e-4)
    assert found.observed == pytest.approx(0.378, abs=5e-4)
    assert found.expected == pytest.approx(0.213, abs=5e-4)
    assert found.value == pytest.approx(inter_rater.fleiss_kappa(FLEISS), abs=1e-12)
    for seed in range(5):
        table = np.random.default_rng(seed).multinomial(4, [0.2, 0.3, 0.5], size=25)
        expected = inter_rater.fleiss_kappa(table)
        assert fleiss_kappa(*long_form(table.tolist()), replicates=5).value == pytest.approx(
            expected, abs=1e-10
        )


def test_kappa_with_unequal_numbers_of_raters_by_hand():
    # a: x x y, 1 of 3 pairs agree; b: x x, 1 of 1; c: y y y x, 3 of 6. observed (1/3 + 1 + 1/2) / 3 = 11/18.
    # Shares of x: 2/3, 1, 1/4, mean 23/36; expected (23² + 13²) / 36² = 698/1296. d has one rating and is left out.
    item = list("aaabbccccd")
    rater = [1, 2, 3, 1, 4, 2, 3, 4, 5, 1]
    found = fleiss_kappa(item, rater, list("xxyxxyyyxx"), replicates=5)
    observed, expected = 11 / 18, 698 / 1296
    assert (found.observed, found.expected) == pytest.approx((observed, expected))
    assert found.value == pytest.approx((observed - expected) / (1 - expected))
    assert (found.n_items, found.n_raters, found.n_ratings, found.single) == (3, 5, 9, 1)


def plain_kappa(units):
    """Kappa of a list of items, each a list of (rater, value); pairs of one rater with himself do not count."""
    shares, agree = [], []
    for ratings in units:
        pairs = [
            (a, b)
            for x, (r, a) in enumerate(ratings)
            for y, (q, b) in enumerate(ratings)
            if x != y and r != q
        ]
        if pairs:
            agree.append(np.mean([a == b for a, b in pairs]))
            shares.append([sum(v == c for _, v in ratings) / len(ratings) for c in range(4)])
    if not agree:
        return math.nan
    expected = (np.mean(shares, axis=0) ** 2).sum()
    return (np.mean(agree) - expected) / (1 - expected) if expected < 1 else math.nan


def test_bootstraps_written_out_rating_by_rating():
    """Items and raters drawn with replacement as lists, with the same draws."""
    from verax.stats.resample import pigeonhole_weights

    item, rater, value = random_ratings(3, missing=0.2)
    found = fleiss_kappa(item, rater, value, replicates=200, seed=4)
    items, raters = sorted(set(item)), sorted(set(rater))
    units = {i: [(r, v) for j, r, v in zip(item, rater, value, strict=True) if j == i] for i in items}
    assert all(len(ratings) > 1 for ratings in units.values())
    nobody = np.zeros(len(raters), dtype=int), np.zeros(len(items), dtype=int)
    over_items, over_raters = [], []
    for of_raters, of_items in pigeonhole_weights(*nobody, 200, 4):
        for weights in of_items.astype(int):
            over_items.append(
                plain_kappa([units[i] for i, w in zip(items, weights, strict=True) for _ in range(w)])
            )
        for weights in of_raters.astype(int):
            times = dict(zip(raters, weights, strict=True))
            over_raters.append(
                plain_kappa([[(r, v) for r, v in units[i] for _ in range(times[r])] for i in items])
            )
    for boots, low, high, number in (
        (over_items, found.items_low, found.items_high, found.items_boots),
        (over_raters, found.raters_low, found.raters_high, found.raters_boots),
    ):
        known = np.array(boots)[~np.isnan(boots)]
        assert number == len(known)
        assert (low, high) == pytest.approx(np.quantile(known, [0.025, 0.975]), abs=1e-12)


def test_alphas_bootstrap_over_items_written_out():
    from verax.stats.resample import pigeonhole_weights

    item, rater, value = random_ratings(6)
    counts = {i: item.count(i) for i in item}
    kept = [place for place, i in enumerate(item) if counts[i] > 1]
    item, rater, value = ([column[place] for place in kept] for column in (item, rater, value))
    found = krippendorff_alpha(item, rater, value, "ordinal", replicates=40, seed=1)
    items = sorted(set(item))
    boots = []
    for _, of_items in pigeonhole_weights(np.zeros(5, dtype=int), np.zeros(len(items), dtype=int), 40, 1):
        for weights in of_items.astype(int):
            drawn = [(i, copy) for i, w in zip(items, weights, strict=True) for copy in range(w)]
            rows = [((i, copy), v) for i, copy in drawn for j, v in zip(item, value, strict=True) if i == j]
            boots.append(plain_alpha([key for key, _ in rows], None, [v for _, v in rows], ordinal))
    assert (found.items_low, found.items_high) == pytest.approx(np.quantile(boots, [0.025, 0.975]), abs=1e-12)


def test_intervals_hold_a_known_agreement_in_most_studies():
    """Raters who copy the truth with chance q and else guess among two have kappa q²; items are the sample."""
    rng = np.random.default_rng(0)
    held, studies, q = 0, 150, 0.7
    for _ in range(studies):
        truth = rng.integers(0, 2, (60, 1))
        value = np.where(rng.random((60, 4)) < q, truth, rng.integers(0, 2, (60, 4)))
        found = fleiss_kappa(
            np.repeat(np.arange(60), 4), np.tile(np.arange(4), 60), value.reshape(-1), replicates=256
        )
        held += found.items_low <= q**2 <= found.items_high
    assert 0.88 < held / studies <= 1


def test_perfect_agreement_and_none():
    item, rater = np.repeat(np.arange(6), 3), np.tile(np.arange(3), 6)
    perfect = np.repeat([0, 1, 2, 0, 1, 2], 3)
    assert fleiss_kappa(item, rater, perfect, replicates=20).value == pytest.approx(1)
    assert krippendorff_alpha(item, rater, perfect, "ordinal", replicates=20).value == 1
    never = fleiss_kappa([1, 1, 2, 2], [1, 2, 1, 2], ["x", "y", "y", "x"], replicates=20)
    assert never.value == pytest.approx(-1)


def test_one_value_only_or_nothing_to_pair_has_no_coefficient():
    for call in (fleiss_kappa, krippendorff_alpha):
        same = call([1, 1, 2, 2], [1, 2, 1, 2], ["x"] * 4, replicates=20)
        assert (same.value, same.items_low, same.raters_high, same.items_boots) == (None, None, None, 0)
        lonely = call([1, 2, 3], [1, 1, 2], ["x", "y", "x"], replicates=20)
        assert (lonely.value, lonely.n_items, lonely.single) == (None, 0, 3)


def test_names_and_order_do_not_matter_and_the_seed_only_for_intervals():
    item, rater, value = random_ratings(2)
    found = fleiss_kappa(item, rater, value, replicates=50)
    order = np.random.default_rng(0).permutation(len(item))
    shuffled = fleiss_kappa(*(np.array(column)[order] for column in (item, rater, value)), replicates=50)
    assert shuffled.value == pytest.approx(found.value)
    assert shuffled.items_low == pytest.approx(found.items_low)
    other = fleiss_kappa(item, rater, value, replicates=50, seed=1)
    assert other.value == found.value
    assert other.items_low != found.items_low
    named = fleiss_kappa(item, rater, [f"class {v}" for v in value], replicates=50)
    assert named == found


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(-5, 5))
def test_interval_alpha_knows_no_unit_and_ordinal_no_spacing(seed, scale, move):
    item, rater, value = random_ratings(seed)
    if len(set(value)) < 2:
        return
    moved = [scale * v + move for v in value]
    cubed = [(v + 1) ** 3 for v in value]
    for kind, other in (("interval", moved), ("ordinal", moved), ("ordinal", cubed), ("nominal", cubed)):
        before, after = (krippendorff_alpha(item, rater, v, kind, replicates=3) for v in (value, other))
        if before.value is None:
            assert after.value is None
        else:
            assert after.value == pytest.approx(before.value, abs=1e-9)


def test_many_values_are_cut_into_pieces_without_changing_a_digit(monkeypatch):
    from verax.stats import agreement

    item, rater, value = random_ratings(5)
    whole = krippendorff_alpha(item, rater, value, "interval", replicates=300)
    monkeypatch.setattr(agreement, "MOST_COUNTS", 100)
    assert krippendorff_alpha(item, rater, value, "interval", replicates=300) == whole


def test_json():
    found = fleiss_kappa(*random_ratings(1), replicates=20)
    assert Agreement(**json.loads(json.dumps(found.to_dict()))) == found


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: fleiss_kappa([1, 1, 1], [1, 1, 2], "xyx"), "columns differ in length"),
        (lambda: fleiss_kappa([1, 1, 1], [1, 1, 2], list("xyx")), "Rater 1 rated item 1 several times"),
        (lambda: krippendorff_alpha([1, 1], [1, 2], ["a", "b"], "ordinal"), "not a number"),
        (lambda: krippendorff_alpha([1, 1], [1, 2], [1, 2], "ratio"), "scale 'ratio' is not known"),
        (lambda: krippendorff_alpha([1, 1], [1, 2], [1, None], "interval"), "value, entry 2 of 2 is missing"),
        (lambda: fleiss_kappa([], [], []), "no answers"),
        (lambda: fleiss_kappa([1, 1], [1, 2], [1, 2], replicates=0), "replicates is 0"),
        (lambda: fleiss_kappa([1, 1], [1, 2], [1, 2], level=2), "between 0 and 1"),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises(VeraxError, match=sentence):
        call()

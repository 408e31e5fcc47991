"""Rules, regions, stained labels and recall, against numbers worked by hand."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from verax.benchmarks.staining.scores import recall, reciprocal_rank
from verax.benchmarks.staining.spec import StainRequest
from verax.benchmarks.staining.stains import Candidates, Literal, Rule, Stain, draw_stain, without_copies
from verax.errors import VeraxError
from verax.explain import Attribution

#                 cotton candy sweet
CELLS = np.array([[1, 1, 0], [2, 0, 1], [0, 1, 1], [1, 3, 0], [0, 0, 0]], dtype=float)
LABELS = np.array([0, 0, 1, 1, 1])


def word(column: int, name: str, at_least: int = 1, negated: bool = False) -> Literal:
    return Literal(column, name, at_least - 1.0, np.inf, negated, name)


@pytest.mark.parametrize("cells", [CELLS, scipy.sparse.csc_matrix(CELLS)], ids=["dense", "sparse"])
def test_a_rule_applies_where_all_its_words_occur(cells):
    stain = Stain((Rule((word(0, "cotton"), word(1, "candy")), 1),))
    fired = stain.fired(cells)
    assert fired.tolist() == [0, -1, -1, 0, -1]
    assert stain.labels(fired, LABELS).tolist() == [1, 0, 1, 1, 1]


def test_counts_negation_and_the_order_of_rules():
    twice = Rule((word(0, "cotton", at_least=2),), 1)
    no_sweet = Rule((word(2, "sweet", negated=True), word(1, "candy")), 0)
    stain = Stain((twice, no_sweet))
    assert stain.fired(CELLS).tolist() == [1, 0, -1, 1, -1]
    assert Stain((no_sweet, twice)).fired(CELLS).tolist() == [0, 1, -1, 0, -1]
    assert no_sweet.features == ("candy",)  # an absent word cannot be named by an explanation
    assert stain.describe(("no", "yes")) == "cotton: yes; else sweet and candy: no"


def test_equality_on_codes_is_an_interval():
    literal = Literal(0, "kind", 1.0, 2.0)
    assert literal.holds(np.array([[0.0], [1.0], [2.0], [3.0]])).tolist() == [False, False, True, False]


def explanation(**scores: float) -> Attribution:
    return Attribution(tuple(scores), np.array(list(scores.values())), 1)


def test_recall_counts_the_stains_words_among_the_top():
    found = explanation(a=0.5, cotton=-0.4, b=0.3, candy=0.2, c=0.1)
    assert recall(found, ("cotton", "candy")).tolist() == [0.0, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert reciprocal_rank(found, ("cotton", "candy")) == pytest.approx((1 / 2 + 1 / 4) / 2)


def test_an_ideal_explanation_is_limited_by_its_budget():
    found = explanation(cotton=0.5, candy=0.4, a=0.1)
    assert recall(found, ("cotton", "candy")).tolist()[:3] == [0.5, 1.0, 1.0]


def test_ties_share_their_chances():
    # cotton is first; candy ties with a, b and c for the places 2 to 5.
    found = explanation(a=0.0, cotton=0.9, b=0.0, candy=0.0, c=0.0)
    assert recall(found, ("cotton", "candy"))[:5].tolist() == [0.5, 0.625, 0.75, 0.875, 1.0]
    assert reciprocal_rank(found, ("candy",)) == pytest.approx((1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 4)


def test_no_scores_at_all_is_chance():
    found = explanation(**dict.fromkeys("abcde", 0.0))
    assert np.allclose(recall(found, ("a", "b"))[:5], [0.2, 0.4, 0.6, 0.8, 1.0])


@given(st.lists(st.sampled_from([0.0, 0.1, 0.1, 0.2]), min_size=3, max_size=5))
def test_expected_recall_is_the_mean_over_all_orders_of_ties(scores):
    names = [f"w{number}" for number in range(len(scores))]
    wanted = ("w0", "w1")
    expected = np.zeros(10)
    orders = [
        order
        for order in permutations(range(len(scores)))
        if all(scores[order[i]] >= scores[order[i + 1]] for i in range(len(order) - 1))
    ]
    for order in orders:
        for b in range(1, 11):
            expected[b - 1] += len({names[i] for i in order[:b]} & set(wanted)) / 2
    found = Attribution(tuple(names), np.array(scores), 1)
    assert np.allclose(recall(found, wanted), expected / len(orders))


def test_a_word_that_is_not_among_the_features_is_never_recalled():
    assert recall(explanation(a=1.0), ("cotton",)).tolist() == [0.0] * 10
    assert reciprocal_rank(explanation(a=1.0), ("cotton",)) == 0.0


def test_perfectly_correlated_conditions_are_left_out_and_told():
    cells = np.array([[1, 1, 0, 1], [0, 0, 1, 1], [1, 1, 0, 0]], dtype=float)
    literals = [word(column, name) for column, name in enumerate("abcd")]
    found = without_copies(literals, cells)
    assert [literal.name for literal in found.literals] == ["a", "d"]
    assert found.correlated == (("b", "a"), ("c", "a"))  # b is a, c is its opposite


def data(count: int = 400, seed: int = 0):
    rng = np.random.default_rng(seed)
    return (rng.random((count, 6)) < 0.5).astype(float), rng.integers(0, 2, count)


def draw(asked: StainRequest, seed: int = 0, cells=None, labels=None):
    base, own = data()
    cells, labels = (base if cells is None else cells), (own if labels is None else labels)
    literals = tuple(word(column, name) for column, name in enumerate("abcdef"))
    return draw_stain(
        Candidates(literals, ()), asked, (cells, labels), (cells, labels), 2, np.random.default_rng(seed)
    )


def test_the_stained_label_is_the_regions_minority():
    cells, labels = data()
    for seed in range(20):
        rule = draw(StainRequest(), seed).stain.rules[0]
        counts = np.bincount(labels[rule.holds(cells)], minlength=2)
        assert counts[rule.label] == counts.min()
        assert len({literal.name for literal in rule.literals}) == 2


def test_all_pairs_are_drawn_alike():
    from collections import Counter

    from scipy.stats import chisquare

    pairs = Counter(frozenset(draw(StainRequest(), seed).stain.rules[0].features) for seed in range(1500))
    assert len(pairs) == 15
    assert chisquare(list(pairs.values())).pvalue > 1e-3


def test_several_rules_have_regions_of_their_own():
    cells, _ = data()
    stain = draw(StainRequest(rules=3, size=2, negated=1)).stain
    assert len(stain.rules) == 3
    assert set(stain.fired(cells)) == {-1, 0, 1, 2}
    assert all(sum(literal.negated for literal in rule.literals) == 1 for rule in stain.rules)


def test_a_region_too_small_or_of_one_class_is_drawn_again_and_counted():
    cells, labels = data()
    cells[:, 0] = 0  # a never occurs: any stain with a is too small
    labels = np.where(cells[:, 1] > 0, 1, labels)  # b's region has one class
    rejected = sum(
        (draw(StainRequest(), seed, cells, labels).rejected for seed in range(30)),
        start=draw(StainRequest()).rejected,
    )
    assert rejected["region too small"] > 0
    assert rejected["region of one class"] > 0


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (
            StainRequest(size=4, min_region=10_000),
            r"No stain was found in 1000 draws \(region too small: 1000\)",
        ),
        (StainRequest(min_flipped=10_000), "too few flipped test inputs: 1000"),
    ],
)
def test_what_cannot_be_had_is_a_sentence(asked, sentence):
    with pytest.raises(VeraxError, match=sentence):
        draw(asked)


def test_too_few_frequent_features_is_a_sentence():
    cells, labels = data()
    with pytest.raises(VeraxError, match=r"Only 1 features occur in at least 15%.*needs 2; lower min_share="):
        draw_stain(
            Candidates((word(0, "a"),), ()),
            StainRequest(),
            (cells, labels),
            (cells, labels),
            2,
            np.random.default_rng(0),
        )

from itertools import pairwise, permutations

import numpy as np
import pytest

import verax
from verax.benchmarks.rationale.rankings import errors, oracle_scores, position_scores, ranks
from verax.errors import VeraxError
from verax.explain import explainers
from verax.explain.composite import Composite, Part
from verax.models import as_model

TEXT = "a fine film, a film"


def attribution(features, scores, spans=None):
    return verax.Attribution(tuple(features), np.array(scores, dtype=float), 1, input=TEXT, spans=spans)


def test_a_distinct_word_gives_every_occurrence_its_score():
    given = attribution(["film", "a", "fine"], [3, -1, 2])
    assert position_scores(given, TEXT).tolist() == [-1, 2, 3, -1, 3]


def test_positions_keep_their_own_scores_and_the_larger_of_two_spans_counts():
    spans = tuple(((start, end),) for start, end in [(0, 1), (2, 6), (7, 11), (13, 14), (15, 19)])
    given = attribution(["a", "fine", "film", "a", "film"], [1, 2, 3, 4, 5], spans)
    assert position_scores(given, TEXT).tolist() == [1, 2, 3, 4, 5]
    pairs = (((0, 6),), ((2, 11),), ((7, 14),), ((13, 19),))
    given = attribution(["a fine", "fine film", "film, a", "a film"], [1, -5, 3, 4], pairs)
    assert position_scores(given, TEXT).tolist() == [1, -5, -5, 4, 4]


def test_fewer_scores_than_words_are_told():
    with pytest.raises(VeraxError, match=r"scored 3 of 5 words \('film' not\); every word needs a score"):
        position_scores(attribution(["a", "fine"], [1, 2]), TEXT)


def test_what_has_no_scores_cannot_rank():
    with pytest.raises(VeraxError, match=r"A ranking of words is needed, and a str has none"):
        position_scores("good", TEXT)
    both = Composite((Part("LIME", attribution(["a", "fine", "film"], [1, 2, 3])),), 1, input=TEXT)
    with pytest.raises(VeraxError, match=r"a Composite has none; leave this explainer out"):
        position_scores(both, TEXT)


def test_signed_and_absolute_orders_differ():
    scores = np.array([-3.0, 1.0, 2.0])
    assert ranks(scores, "absolute", 0, "x")[0].tolist() == [0, 2, 1]
    assert ranks(scores, "signed", 0, "x")[0].tolist() == [2, 1, 0]


def test_ties_are_broken_at_random_by_the_seed_and_the_text():
    scores = np.array([0.0, 0.0, 1.0, 0.0])
    orders = {tuple(ranks(scores, "absolute", seed, "x")[0].tolist()) for seed in range(60)}
    assert orders == {order for order in permutations(range(4)) if order[2] == 0}
    rank, tied = ranks(scores, "absolute", 0, "x")
    assert np.array_equal(rank, ranks(scores, "absolute", 0, "x")[0])
    assert tied.tolist() == [True, True, False, True]


def metrics(order, relevant, irrelevant):
    """The paper's A, B and C from their definitions, for a ranking as a list of positions."""
    first = order[0] in irrelevant
    misranked = any(
        order[i] in irrelevant and order[j] in relevant for j in range(len(order)) for i in range(j)
    )
    last = max(place for place, position in enumerate(order) if position in relevant)
    return first, misranked, sum(position in irrelevant for position in order[:last])


@pytest.mark.parametrize("seed", range(20))
def test_errors_are_those_of_the_definitions(seed):
    rng = np.random.default_rng(seed)
    kinds = rng.permutation([0, 0, 0, 0, 1, 1, 2, 2])  # N, SDK, SR
    order = rng.permutation(8)
    scores = np.empty(8)
    scores[order] = np.arange(8, 0, -1)
    relevant, irrelevant = kinds == 2, kinds == 0
    found = errors(scores, relevant, irrelevant, "absolute", 0, "x")
    wanted = metrics(order.tolist(), set(np.flatnonzero(relevant)), set(np.flatnonzero(irrelevant)))
    assert (found.first, found.misranked, found.above) == wanted
    pairs = [
        scores[one] > scores[other]
        for one in np.flatnonzero(relevant)
        for other in np.flatnonzero(irrelevant)
    ]
    assert found.auc == pytest.approx(np.mean(pairs))
    assert not found.tied


def test_the_oracle_makes_no_error_and_its_opposite_all_of_them():
    kinds = np.array([0, 2, 0, 1, 2, 0])
    relevant, irrelevant = kinds == 2, kinds == 0
    best = errors(oracle_scores(relevant, irrelevant), relevant, irrelevant, "absolute", 0, "x")
    assert (best.first, best.misranked, best.above, best.auc) == (False, False, 0, 1.0)
    worst = errors(2 - oracle_scores(relevant, irrelevant), relevant, irrelevant, "absolute", 0, "x")
    assert (worst.first, worst.misranked, worst.above, worst.auc) == (True, True, 3, 0.0)


def test_a_tie_between_the_two_sets_is_counted():
    relevant, irrelevant = np.array([True, False]), np.array([False, True])
    found = errors(np.zeros(2), relevant, irrelevant, "absolute", 0, "x")
    assert found.tied
    assert found.auc == 0.5


def figure_1(texts):
    """The model of the paper's Figure 1."""
    outputs = []
    for text in texts:
        words = text.lower().replace(",", " ").replace(".", " ").split()
        very_good = ("very", "good") in pairwise(words)
        outputs.append(0.9 if very_good else 0.7 if "nice" in words else 0.6 if "good" in words else 0.0)
    return np.column_stack([1 - np.array(outputs), outputs])


FIRST = "The movie was good, it was actually nice."
SECOND = "The movie was nice, in fact, it was very good."


def scores_of(name, text):
    model = as_model(figure_1, kind="text", class_names=("negative", "positive"))
    explanation = verax.explainer(name).explain(model, [text], targets=[1])[0]
    known = dict(zip(explanation.features, explanation.scores.tolist(), strict=True))
    return {word: pytest.approx(score, abs=5e-4) for word, score in known.items() if abs(score) > 1e-9}


def test_figure_1_additive_scores_share_the_output_and_selective_ones_name_what_was_used():
    assert scores_of("shap", FIRST) == {"nice": 0.4, "good": 0.3}
    assert scores_of("shap", SECOND) == {"good": 0.4167, "nice": 0.3667, "very": 0.1167}
    assert set(scores_of("greedy", FIRST)) == {"nice"}
    assert set(scores_of("greedy", SECOND)) == {"good", "very"}
    assert explainers.get("shap").claim == "additive"
    assert explainers.get("greedy").claim == "selective"


def test_figure_1_an_additive_ranking_errs_under_the_selective_claim():
    """Of its second text the model used "very" and "good"; what "nice" would do elsewhere is no error of SHAP's."""
    model = as_model(figure_1, kind="text", class_names=("negative", "positive"))
    words = ["the", "movie", "was", "nice", "in", "fact", "it", "was", "very", "good"]
    used = np.isin(words, ["very", "good"])
    for name, above in (("shap", 1), ("greedy", 0)):
        scores = position_scores(verax.explainer(name).explain(model, [SECOND], [1])[0], SECOND)
        found = errors(scores, used, ~used, "absolute", 0, SECOND)
        assert (found.first, found.above) == (False, above)


CLAIMS = {
    "additive": ["lime", "shap", "lrp", "deeplift", "gradient-x-input", "integrated-gradients"],
    "selective": ["greedy", "greedy-path", "anchor", "l2x", "invase", "grad-cam-text", "decision-trees"],
    "none": ["random", "random-fragments"],
}


@pytest.mark.parametrize(
    ("claim", "name"), [(claim, name) for claim, names in CLAIMS.items() for name in names]
)
def test_explainers_declare_their_claims(claim, name):
    assert explainers.get(name).claim == claim

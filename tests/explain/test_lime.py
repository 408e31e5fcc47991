"""LIME gives lime's numbers on lime's samples, and draws samples with lime's distribution."""

from __future__ import annotations

from itertools import compress, product
from math import comb

import numpy as np
import pytest
import xgboost
from lime.lime_base import LimeBase
from lime.lime_tabular import LimeTabularExplainer
from lime.lime_text import LimeTextExplainer
from scipy.stats import chisquare
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import verax
from helpers import BAD, GOOD, PLAIN, fitted
from verax.data.bins import Bins
from verax.data.table import Schema
from verax.errors import VeraxError
from verax.explain import lime as module
from verax.explain.lime import Lime, build_bank, limit_bank, sample_masks
from verax.perturb import path_for

MODELS = {
    "logistic": lambda: fitted(LogisticRegression()),
    "tfidf": lambda: fitted(LogisticRegression(), TfidfVectorizer()),
    "tree": lambda: fitted(DecisionTreeClassifier(random_state=0)),
    "forest": lambda: fitted(RandomForestClassifier(20, random_state=0)),
    "xgboost": lambda: fitted(xgboost.XGBClassifier(n_estimators=10, n_jobs=1)),
    "mlp": lambda: fitted(MLPClassifier(10, max_iter=5, solver="lbfgs", random_state=0)),
}


@pytest.fixture
def captured(monkeypatch):
    """What lime fits its local model to: the masks (or equal bins) it drew and its answers."""
    seen = {}
    original = LimeBase.explain_instance_with_data

    def spy(self, data, labels, *args, **kwargs):
        seen["data"], seen["labels"] = np.array(data), np.array(labels)
        return original(self, data, labels, *args, **kwargs)

    monkeypatch.setattr(LimeBase, "explain_instance_with_data", spy)
    return seen


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("features", "selection"),
    [(None, "none"), (6, "auto"), (8, "auto"), (4, "lasso_path"), (3, "highest_weights")],
)
def test_equals_the_package_on_its_own_samples(name, features, selection, captured, reviews):
    pipeline = MODELS[name]()
    model = verax.as_model(pipeline)
    path = path_for(model)
    explainer = LimeTextExplainer(feature_selection=selection, random_state=0)
    for text in [*reviews[0][:3], "The good THE bad the film was fine, and slow"]:
        found = explainer.explain_instance(
            text, pipeline.predict_proba, num_features=features or 1000, num_samples=600, labels=(1,)
        )
        expected = np.zeros(captured["data"].shape[1])
        for number, weight in found.local_exp[1]:
            expected[number] = weight
        bank = build_bank(captured["data"].T.astype(bool), 25.0)
        answer = next(iter(path.evaluate(path.prepare([text]), [bank.masks])))
        scored = Lime(features=features, selection=selection).score(bank, answer.probabilities[:, 1])
        assert np.abs(scored.scores - expected).max() <= 1e-6
        assert scored.details["intercept"] == pytest.approx(found.intercept[1], abs=1e-6)
        assert scored.details["r2"] == pytest.approx(found.score, abs=1e-5)


def table() -> tuple[np.ndarray, Schema, np.ndarray]:
    rng = np.random.default_rng(0)
    rows = np.stack(
        [
            rng.normal(40, 12, 500).round(),
            rng.integers(0, 4, 500),
            rng.exponential(3, 500),
            rng.integers(0, 2, 500),
        ],
        axis=1,
    )
    labels = (rows[:, 0] / 20 + rows[:, 1] - rows[:, 2] / 2 + rng.normal(size=500) > 2).astype(int)
    schema = Schema.learn(rows, names=("age", "kind", "wait", "sex"), categorical=("kind", "sex"))
    return rows, schema, labels


@pytest.mark.parametrize("selection", [(None, "none"), (2, "auto"), (3, "highest_weights")])
def test_tables_equal_the_package_on_its_own_samples(selection):
    rows, schema, labels = table()
    classifier = RandomForestClassifier(20, random_state=0).fit(rows, labels)
    model = verax.as_model(classifier, schema=schema, reference=rows)
    explainer = LimeTabularExplainer(
        rows, categorical_features=[1, 3], feature_selection=selection[1], random_state=0
    )
    asked = {}

    def predict(sampled):
        asked["rows"] = sampled
        return classifier.predict_proba(sampled)

    bins = Bins.learn(schema, rows)
    for row in rows[:5]:
        found = explainer.explain_instance(
            row, predict, num_features=selection[0] or 4, num_samples=800, labels=(1,)
        )
        expected = np.zeros(4)
        for number, weight in found.local_exp[1]:
            expected[number] = weight
        drawn = bins.assign(asked["rows"][1:]).T
        pool = module.DrawnRows(bins, drawn, model.predict_proba(asked["rows"][1:]))
        own = bins.assign(row[None])[0]
        answers = np.append(model.predict_proba(row[None])[0, 1], pool.answers[:, 1])
        lime = Lime(features=selection[0], selection=selection[1])
        fit = lime.fit(*module.local_sums(pool, own, answers, 0.75 * 2.0, np.arange(len(own))))
        assert np.abs(fit.coefficients - expected).max() <= 1e-6
        assert fit.r2 == pytest.approx(found.score, abs=1e-6)


def test_tables_draw_from_the_training_bins():
    rows, schema, labels = table()
    model = verax.as_model(LogisticRegression(max_iter=1000).fit(rows, labels), schema=schema, reference=rows)
    pool = module.draw_pool(model, 20_000, 0)
    for column, values in enumerate(pool.bins.values):
        counts = [np.count_nonzero(pool.drawn[column] == value) for value in values]
        assert chisquare(counts, pool.bins.frequencies[column] * 20_000).pvalue > 1e-3


def test_numbers_drawn_in_a_bin_have_its_mean_and_stay_inside():
    rows, schema, _ = table()
    bins = Bins.learn(schema, rows)
    rng = np.random.default_rng(0)
    from scipy.stats import truncnorm

    for column in schema.numeric:
        for place in range(len(bins.means[column])):
            drawn = module.values_in_bins(bins, column, np.full(20_000, place), rng)
            low, high = bins.mins[column][place], bins.maxs[column][place]
            mean, std = bins.means[column][place], bins.stds[column][place]
            assert low <= drawn.min()
            assert drawn.max() <= high
            expected = truncnorm((low - mean) / std, (high - mean) / std, loc=mean, scale=std)
            assert drawn.mean() == pytest.approx(expected.mean(), abs=5 * expected.std() / np.sqrt(20_000))


def test_a_bin_of_one_value_gives_that_value():
    schema = Schema.learn([[5.0], [5.0], [5.0], [5.0], [9.0]], names=("x",))
    bins = Bins.learn(schema, np.array([[5.0], [5.0], [5.0], [5.0], [9.0]]))
    drawn = module.values_in_bins(bins, 0, np.zeros(10, dtype=int), np.random.default_rng(0))
    assert drawn.tolist() == [5.0] * 10


@pytest.mark.parametrize("n_features", [1, 2, 7, 40])
def test_masks_have_the_originals_distribution(n_features):
    columns = sample_masks(n_features, 20_001, np.random.default_rng(0))
    assert columns[:, 0].all()
    removed = (~columns[:, 1:]).sum(axis=0)
    sizes = np.bincount(removed, minlength=n_features + 1)
    assert sizes[0] == 0
    if n_features > 1:
        assert chisquare(sizes[1:]).pvalue > 1e-3  # every number of removed words is equally likely
        per_word = (~columns[:, 1:]).sum(axis=1)
        assert chisquare(per_word).pvalue > 1e-3  # and so is every word


def test_pairs_of_words_are_removed_as_often_as_the_original_removes_them():
    rng = np.random.RandomState(0)
    original = np.ones((4000, 6), dtype=bool)
    for row in range(4000):
        original[row, rng.choice(range(6), rng.randint(1, 7), replace=False)] = False
    ours = sample_masks(6, 4001, np.random.default_rng(0))[:, 1:].T
    both = [(~masks[:, 0] & ~masks[:, 1]).mean() for masks in (original, ours)]
    assert both[0] == pytest.approx(both[1], abs=5 * np.sqrt(0.5 / 4000))


def test_own_samples_agree_with_the_package_within_its_own_noise(reviews):
    pipeline = MODELS["forest"]()
    model = verax.as_model(pipeline)
    text = reviews[0][0]
    runs = []
    for seed in range(6):
        explainer = LimeTextExplainer(feature_selection="none", random_state=seed)
        found = explainer.explain_instance(text, pipeline.predict_proba, num_features=99, num_samples=800)
        runs.append([weight for _, weight in sorted(found.local_exp[1])])
    ours = [Lime(samples=800, seed=seed).explain(model, [text], [1])[0].scores for seed in range(6)]
    noise = np.std(runs, axis=0).max()
    assert np.abs(np.mean(runs, axis=0) - np.mean(ours, axis=0)).max() < 4 * noise / np.sqrt(3)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"samples": 0}, "samples=0 is too small"),
        ({"features": 0}, "features=0 is too small"),
        ({"selection": "best"}, "There is no selection 'best'"),
        ({"kernel_width": -1.0}, "kernel_width=-1.0 must be above 0"),
    ],
)
def test_bad_parameters_are_a_sentence(parameters, sentence):
    with pytest.raises(VeraxError, match=sentence):
        Lime(**parameters)


# --- infinitely many samples ----------------------------------------------------------------------------------


def normal_equations(model, text, kernel_width=25.0):
    """Straight from the definition: every variant with its chance and kernel, and weighted least squares."""
    words = text.split()
    n = len(words)
    rows, weights = [], []
    for bits in product([0, 1], repeat=n):
        kept = sum(bits)
        if kept < n:
            distance = 100.0 * (1.0 - np.sqrt(kept / n))
            rows.append(bits)
            weights.append(np.exp(-(distance**2) / kernel_width**2 / 2) / (n * comb(n, kept)))
    texts = [" ".join(compress(words, bits)) for bits in rows]
    answers = model.predict_proba(texts)[:, 1]
    design = np.column_stack([np.ones(len(rows)), np.array(rows)])
    root = np.sqrt(weights)
    solved = np.linalg.lstsq(design * root[:, None], answers * root, rcond=None)[0]
    return dict(zip(words, solved[1:], strict=True))


def some_words(count: int) -> str:
    """A text of so many distinct words of the made-up reviews, none of them twice in another case."""
    return " ".join((*PLAIN, *GOOD, *BAD)[:count])


@pytest.mark.parametrize("name", ["forest", "tree", "logistic"])
def test_infinitely_many_samples_are_weighted_least_squares_on_all_variants(name):
    model = verax.as_model(MODELS[name]())
    text = some_words(9)
    [explanation] = Lime(samples="exact").explain(model, [text], [1])
    expected = normal_equations(model, text)
    assert explanation.details["route"] == ("enumeration" if name == "logistic" else "trees")
    assert dict(zip(explanation.features, explanation.scores, strict=True)) == pytest.approx(
        expected, abs=1e-7
    )


def test_the_closed_form_is_where_samples_go():
    model = verax.as_model(MODELS["forest"]())
    text = some_words(20)
    [exact] = Lime(samples="exact").explain(model, [text])
    [many] = Lime(samples=1_000_000).explain(model, [text])
    [few] = Lime(samples=2_000).explain(model, [text])
    assert exact.target == many.target
    assert np.abs(exact.scores - many.scores).max() < 0.001  # the largest score is 0.09
    assert np.abs(exact.scores - many.scores).max() < np.abs(exact.scores - few.scores).max()
    assert exact.cost.rows == 0


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_text_of_hardly_a_word_has_the_limit_of_what_samples_give(count):
    model = verax.as_model(MODELS["forest"]())
    [exact] = Lime(samples="exact").explain(model, [some_words(count)], [1])
    [sampled] = Lime(samples=200_000).explain(model, [some_words(count)], [1])
    assert exact.scores == pytest.approx(sampled.scores, abs=1e-3)


@pytest.mark.parametrize("target", [0, 1, 2])
def test_each_of_three_classes_has_its_limit(target):
    model = verax.as_model(fitted(RandomForestClassifier(20, random_state=0), classes=3))
    [closed] = Lime(samples="exact").explain(model, [some_words(10)], [target])
    bank = limit_bank(10, 25.0)
    path = path_for(model)
    [answer] = path.evaluate(path.prepare([some_words(10)]), iter([bank.masks]))
    enumerated = Lime(samples="exact").score(bank, answer.probabilities[:, target])
    assert closed.scores == pytest.approx(enumerated.scores, abs=1e-9)
    assert closed.details["intercept"] == pytest.approx(enumerated.details["intercept"], abs=1e-9)


def test_what_has_no_limit_is_a_sentence():
    rows, schema, labels = table()
    of_rows = verax.as_model(
        DecisionTreeClassifier(max_depth=2).fit(rows, labels), schema=schema, reference=rows
    )
    with pytest.raises(VeraxError, match="'exact' is for texts"):
        Lime(samples="exact").explain(of_rows, rows[:1])
    with pytest.raises(VeraxError, match="has 13 words"):
        Lime(samples="exact").explain(verax.as_model(MODELS["logistic"]()), [some_words(13)])
    with pytest.raises(VeraxError, match="must be a number or 'exact'"):
        Lime(samples="many")


def test_exact_may_be_asked_for_by_name():
    assert (
        verax.explainer("lime", samples="exact")
        == verax.explainer("lime(samples=exact)")
        == Lime(samples="exact")
    )
    with pytest.raises(VeraxError, match="'samples' of the explainer 'lime' is a whole number, not 'all'"):
        verax.explainer("lime", samples="all")

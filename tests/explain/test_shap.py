"""Shapley values against the definition, and against the shap package's own."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
import shap
import xgboost
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import verax
from helpers import fitted, make_texts
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain import shap_exact
from verax.explain.composite import AS_PUBLISHED
from verax.explain.shap import Shap, all_of_size, build_kernel_bank, draw_pairs, random_subsets
from verax.explain.shap_exact import log_odds
from verax.perturb import path_for
from verax.perturb.masks import Masks, all_masks
from verax.perturb.shapley import shapley_from_all


def by_permutations(value, n: int) -> np.ndarray:
    """The definition: the mean over all orders of what each feature adds."""
    totals = np.zeros(n)
    orders = list(permutations(range(n)))
    for order in orders:
        present = [False] * n
        before = value(tuple(present))
        for feature in order:
            present[feature] = True
            after = value(tuple(present))
            totals[feature] += after - before
            before = after
    return totals / len(orders)


def game_of(model, text: str, target: int):
    """The target's probability for the words that are present, from the strings."""
    words = split_words(text)

    def value(present):
        kept = [word for word, there in zip(words.distinct, present, strict=True) if there]
        return model.predict_proba([words.keep(kept)])[0, target]

    return value


def exact(model, text: str, target: int, output: str = "probability") -> np.ndarray:
    """All coalitions through the model's own predictions."""
    words = split_words(text).distinct
    masks = all_masks(len(words))
    texts = [
        split_words(text).keep(word for word, there in zip(words, row, strict=True) if there)
        for row in masks.rows()
    ]
    answers = model.predict_proba(texts)[:, target]
    return shapley_from_all(masks, log_odds(answers) if output == "log-odds" else answers)


def very_good_model():
    """The toy model of Camburu et al. 2020, Figure 1."""

    def score(text: str) -> float:
        if "very good" in text:
            return 0.9
        if "nice" in text:
            return 0.7
        return 0.6 if "good" in text else 0.0

    def probabilities(texts):
        positive = np.array([score(text) for text in texts])
        return np.stack([1 - positive, positive], axis=1)

    return verax.as_model(probabilities, class_names=("negative", "positive"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The movie was good, it was actually nice.", {"nice": 0.4, "good": 0.3}),
        ("The movie was nice, in fact, it was very good.", {"good": 0.417, "nice": 0.367, "very": 0.116}),
    ],
)
def test_additive_scores_of_figure_1(text, expected):
    found = verax.explainer("shap").explain(very_good_model(), [text], ["positive"])[0]
    assert found.details["route"] == "enumeration"
    for word, score in zip(found.features, found.scores, strict=True):
        assert score == pytest.approx(expected.get(word, 0.0), abs=1e-3)
    kernel = verax.explainer("shap", route="kernel", samples=100_000).explain(very_good_model(), [text], [1])[
        0
    ]
    assert np.allclose(kernel.scores, found.scores, atol=1e-10)  # every coalition drawn: the same values


def test_enumeration_is_the_definition():
    rng = np.random.default_rng(0)
    values = {present: rng.random() for present in map(tuple, all_masks(5).rows().tolist())}
    masks = Masks.from_rows(np.array(list(values)))
    assert np.allclose(
        shapley_from_all(masks, np.array(list(values.values()))), by_permutations(values.get, 5)
    )


@pytest.mark.parametrize("output", ["probability", "log-odds"])
@pytest.mark.parametrize("words", ["counts", "presence", "tfidf"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "classifier",
    [
        LogisticRegression(max_iter=1000),
        DecisionTreeClassifier(max_depth=4, random_state=0),
        RandomForestClassifier(10, max_depth=5, random_state=0),
        xgboost.XGBClassifier(n_estimators=10, max_depth=3, n_jobs=1),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
def test_every_route_gives_the_exact_values(classifier, classes, words, output, reviews):
    vectorizer = TfidfVectorizer() if words == "tfidf" else CountVectorizer(binary=words == "presence")
    model = verax.as_model(fitted(classifier, vectorizer, classes=classes))
    texts = [" ".join(text.split()[:9]) for text in reviews[0][:3]] + ["The film the good THE plot good"]
    single = isinstance(classifier, xgboost.XGBClassifier)
    for text in texts:
        found = Shap(output=output).explain(model, [text])[0]
        expected = exact(model, text, found.target, output)
        assert np.abs(found.scores - expected).max() <= (2e-6 if single else 1e-8), found.details
        assert found.target == np.argmax(model.predict_proba([text])[0])


def test_routes_are_told(reviews):
    text = reviews[0][0]
    forest = verax.as_model(fitted(RandomForestClassifier(5, random_state=0)))
    logistic = verax.as_model(fitted(LogisticRegression()))
    boosted = verax.as_model(fitted(xgboost.XGBClassifier(n_estimators=5, n_jobs=1)))
    routes = {
        ("forest", "probability"): "trees",
        ("boosted", "log-odds"): "trees",
        ("logistic", "log-odds"): "linear",
        ("logistic", "probability"): "enumeration",
        ("boosted", "probability"): "enumeration",
    }
    models = {"forest": forest, "logistic": logistic, "boosted": boosted}
    short = " ".join(text.split()[:6])
    for (name, output), route in routes.items():
        assert Shap(output=output).explain(models[name], [short])[0].details["route"] == route
    long = " ".join(f"{text} w{number}" for number in range(30))
    assert Shap().explain(logistic, [long])[0].details["route"] == "kernel"
    assert Shap(route="kernel").explain(forest, [long])[0].details["route"] == "kernel"


def test_text_forests_equal_the_package(reviews):
    pipeline = fitted(RandomForestClassifier(30, random_state=0), CountVectorizer(binary=True))
    model = verax.as_model(pipeline)
    vectorizer, forest = pipeline[0], pipeline[1]
    zeros = np.zeros((1, len(vectorizer.vocabulary_)))
    reference = shap.TreeExplainer(forest, zeros, feature_perturbation="interventional")
    for text in reviews[0][:5]:
        lower = text.lower()
        found = Shap().explain(model, [lower], [1])[0]
        expected = reference.shap_values(vectorizer.transform([lower]).toarray())[0, :, 1]
        columns = [vectorizer.vocabulary_.get(word) for word in found.features]
        for column, score in zip(columns, found.scores, strict=True):
            assert score == pytest.approx(0.0 if column is None else expected[column], abs=1e-6)


def test_text_linear_equals_the_package(reviews):
    pipeline = fitted(LogisticRegression(), CountVectorizer())
    model = verax.as_model(pipeline)
    vectorizer, logistic = pipeline[0], pipeline[1]
    reference = shap.LinearExplainer(logistic, np.zeros((1, len(vectorizer.vocabulary_))))
    for text in reviews[0][:5]:
        lower = text.lower()
        found = Shap(output="log-odds").explain(model, [lower], [1])[0]
        expected = reference.shap_values(vectorizer.transform([lower]).toarray())[0]
        columns = [vectorizer.vocabulary_.get(word) for word in found.features]
        for column, score in zip(columns, found.scores, strict=True):
            assert score == pytest.approx(0.0 if column is None else expected[column], abs=1e-6)


def cancer():
    data = load_breast_cancer()
    # In single precision, as trees compare: the package compares in double and lands elsewhere on a threshold.
    return data.data[:, :12].astype(np.float32).astype(float), data.target


def test_table_trees_equal_the_package():
    rows, labels = cancer()
    forest = RandomForestClassifier(20, random_state=0).fit(rows, labels)
    model = verax.as_model(forest, reference=rows, schema=_schema(rows))
    background = path_for(model).background
    reference = shap.TreeExplainer(forest, background, feature_perturbation="interventional")
    found = Shap().explain(model, rows[:4], [1] * 4)
    expected = reference.shap_values(rows[:4])[:, :, 1]
    assert {explanation.details["route"] for explanation in found} == {"trees"}
    assert np.abs(np.array([explanation.scores for explanation in found]) - expected).max() <= 1e-6


def test_table_boosted_trees_equal_the_package_in_log_odds():
    rows, labels = cancer()
    boosted = xgboost.XGBClassifier(n_estimators=20, max_depth=3, n_jobs=1).fit(rows, labels)
    model = verax.as_model(boosted, reference=rows, schema=_schema(rows))
    background = path_for(model).background
    reference = shap.TreeExplainer(boosted, background, feature_perturbation="interventional")
    found = Shap(output="log-odds").explain(model, rows[:4], [1] * 4)
    assert {explanation.details["route"] for explanation in found} == {"trees"}
    difference = np.array([explanation.scores for explanation in found]) - reference.shap_values(rows[:4])
    assert np.abs(difference).max() <= 1e-5


def test_table_linear_equals_the_package_through_a_scaler():
    rows, labels = cancer()
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, labels)
    model = verax.as_model(pipeline, reference=rows, schema=_schema(rows))
    background = pipeline[0].transform(path_for(model).background)
    reference = shap.LinearExplainer(pipeline[1], background)
    found = Shap(output="log-odds").explain(model, rows[:4], [1] * 4)
    assert {explanation.details["route"] for explanation in found} == {"linear"}
    expected = reference.shap_values(pipeline[0].transform(rows[:4]))
    assert np.abs(np.array([explanation.scores for explanation in found]) - expected).max() <= 1e-6


def test_tables_enumerate_with_a_background():
    rows, labels = cancer()
    rows = rows[:, :4]
    logistic = LogisticRegression(max_iter=5000).fit(rows, labels)
    model = verax.as_model(logistic, reference=rows[:25], schema=_schema(rows))
    found = Shap().explain(model, rows[30:31], [1])[0]
    value = lambda present: logistic.predict_proba(np.where(present, rows[30], rows[:25]))[:, 1].mean()  # noqa: E731
    assert found.details["route"] == "enumeration"
    assert np.allclose(found.scores, by_permutations(value, 4), atol=1e-10)


def _schema(rows):
    from verax.data.table import Schema

    return Schema.learn(rows, names=[f"c{number}" for number in range(rows.shape[1])])


def test_a_closed_form_that_does_not_add_up_is_not_used(monkeypatch):
    rows, labels = cancer()
    forest = RandomForestClassifier(5, random_state=0).fit(rows[:, :3], labels)
    model = verax.as_model(forest, reference=rows[:, :3], schema=_schema(rows[:, :3]))
    honest = Shap().explain(model, rows[:1, :3], [1])[0]
    wrong = np.full((1, 1, 3), 0.3), np.zeros((1, 0, 3, 3))
    monkeypatch.setattr(shap_exact.TreeGame, "against_background", lambda *args, **options: wrong)
    found = Shap().explain(model, rows[:1, :3], [1])[0]
    assert found.details["route"] == "enumeration"
    assert np.allclose(found.scores, honest.scores, atol=1e-9)


# --- sampling -------------------------------------------------------------------------------------------------


def logistic_game(n: int, seed: int = 0):
    """A game that is not additive: a logistic function of a weighted sum with one interaction."""
    weights = np.random.default_rng(seed).normal(size=n)

    def value(rows):
        total = rows @ weights + 2.0 * rows[:, 0] * rows[:, 1]
        return 1 / (1 + np.exp(-total))

    return value


def kernel_error(n: int, samples: int, seeds: range) -> float:
    errors = []
    for seed in seeds:
        value = logistic_game(n, seed)
        masks = all_masks(n)
        truth = shapley_from_all(masks, value(masks.rows().astype(float)))
        bank = build_kernel_bank(n, samples, seed)
        errors.append(np.mean((bank.solve(value(bank.masks.rows().astype(float))) - truth) ** 2))
    return float(np.sqrt(np.mean(errors)))


def package_error(n: int, samples: int, seeds: range) -> float:
    errors = []
    for seed in seeds:
        value = logistic_game(n, seed)
        masks = all_masks(n)
        truth = shapley_from_all(masks, value(masks.rows().astype(float)))
        np.random.seed(seed)  # noqa: NPY002  (the package draws from numpy's global stream)
        explainer = shap.KernelExplainer(value, np.zeros((1, n)))
        found = explainer.shap_values(np.ones((1, n)), nsamples=samples, l1_reg=False, silent=True)[0]
        errors.append(np.mean((found - truth) ** 2))
    return float(np.sqrt(np.mean(errors)))


@pytest.mark.parametrize(("n", "samples"), [(12, 200), (14, 600), (15, 2078)])
def test_sampling_error_is_no_larger_than_the_packages(n, samples):
    seeds = range(60)
    assert kernel_error(n, samples, seeds) <= package_error(n, samples, seeds) * 1.05


def test_sampling_error_falls_with_the_square_root_of_the_budget():
    budgets = np.array([100, 400, 1600])
    errors = np.array([kernel_error(14, int(budget), range(16)) for budget in budgets])
    slope = np.polyfit(np.log(budgets), np.log(errors), 1)[0]
    assert slope <= -0.45


def test_pairs_are_distinct_and_weigh_what_the_kernel_says():
    from math import comb

    for n, samples in ((6, 30), (9, 200), (10, 300), (40, 500)):
        coalitions, weights = draw_pairs(n, samples, np.random.default_rng(0))
        both = np.concatenate([coalitions, ~coalitions], axis=1)
        assert len({tuple(column) for column in both.T.tolist()}) == both.shape[1] <= samples
        assert weights.sum() == pytest.approx(1.0)
        single = np.minimum(coalitions.sum(axis=0), n - coalitions.sum(axis=0)) == 1
        if np.count_nonzero(single) == n:  # all coalitions of one feature are there: their share is exact
            mass = [(n - 1) / (comb(n, k) * k * (n - k)) * comb(n, k) for k in range(1, n)]
            assert weights[single].sum() == pytest.approx((mass[0] + mass[-1]) / sum(mass))


def noisy_game(n: int, seed: int):
    """Five features count, two of them only together, and every coalition has its own small noise."""

    def value(rows: np.ndarray) -> np.ndarray:
        noise = np.sin(rows @ np.arange(1.0, n + 1) * 12.9898 + seed) * 0.01
        return 0.4 * rows[:, 0] - 0.3 * rows[:, 3] + 0.2 * rows[:, 5] + 0.3 * rows[:, 7] * rows[:, 9] + noise

    return value


@pytest.mark.parametrize(("n", "samples"), [(14, 100), (31, 400), (60, 2168)])
def test_features_are_chosen_and_solved_as_in_the_package(n, samples):
    """The package's own selection and regression, given our coalitions and their values."""
    bank = build_kernel_bank(n, samples, 0)
    value = noisy_game(n, 1)
    answers = value(bank.masks.rows().astype(float))
    package = shap.KernelExplainer(value, np.zeros((1, n)))
    package.M, package.D, package.l1_reg = n, 1, "aic"
    package.linkfv = np.vectorize(package.link.f)
    package.maskMatrix = bank.masks.rows()[2:].astype(float)
    package.kernelWeights = np.concatenate([bank.weights] * 2)
    package.ey = answers[2:, None]
    package.fx, package.fnull = answers[[bank.full]], answers[[bank.empty]]
    expected, _ = package.solve(0.0, 0)
    kept = bank.chosen(answers)
    assert {0, 3, 5, 7, 9} <= set(kept.tolist())
    assert len(kept) < n
    assert bank.solve(answers, kept) == pytest.approx(expected, abs=1e-9)


def test_no_feature_is_left_out_where_many_coalitions_were_asked_about():
    value = noisy_game(10, 1)
    bank = build_kernel_bank(10, 400, 0)  # of 1,022
    assert bank.chosen(value(bank.masks.rows().astype(float))) is None
    assert (
        build_kernel_bank(10, 200, 0).chosen(value(build_kernel_bank(10, 200, 0).masks.rows() * 1.0))
        is not None
    )


def test_the_packages_defaults_are_sampled_values_of_chosen_words_even_of_trees(reviews):
    model = verax.as_model(fitted(DecisionTreeClassifier(random_state=0), CountVectorizer(binary=True)))
    given = " ".join(f"{reviews[0][0]} w{number}" for number in range(30))
    name, settings = AS_PUBLISHED["shap-package"]
    (found,) = verax.explainer(name, **{**settings, "samples": 200}).explain(model, [given])
    assert found.details["route"] == "kernel"
    assert found.details["kept"] < len(found.features)
    assert np.count_nonzero(found.scores) <= found.details["kept"]
    (own,) = verax.explainer("shap").explain(model, [given])
    assert own.details["route"] != "kernel"


def test_subsets_are_uniform():
    from scipy.stats import chisquare

    drawn = random_subsets(5, np.full(10_000, 2), np.random.default_rng(0))
    assert (drawn.sum(axis=0) == 2).all()
    _, counts = np.unique(drawn.T, axis=0, return_counts=True)
    assert len(counts) == 10
    assert chisquare(counts).pvalue > 1e-3
    assert all_of_size(5, 2, 10).sum() == 20


@pytest.mark.parametrize("samples", [1, 2, 5, 11])
def test_a_tiny_budget_still_sums_to_the_prediction(samples, reviews):
    model = verax.as_model(fitted(LogisticRegression()))
    text = reviews[0][0]
    found = Shap(samples=samples, route="kernel").explain(model, [text], [1])[0]
    everything, nothing = model.predict_proba([text, ""])[:, 1]
    assert found.scores.sum() == pytest.approx(everything - nothing, abs=1e-9)
    assert found.cost.rows <= samples + 3


def test_sampled_values_sum_to_the_prediction():
    texts, _ = make_texts(3, seed=5, length=60)
    model = verax.as_model(fitted(RandomForestClassifier(5, random_state=0)))
    for found in Shap(route="kernel").explain(model, texts, [1, 1, 1]):
        everything, nothing = model.predict_proba([str(found.input), ""])[:, 1]
        assert found.scores.sum() == pytest.approx(everything - nothing, abs=1e-9)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"samples": 0}, "samples=0 is too small"),
        ({"output": "odds"}, "There is no output 'odds'"),
        ({"route": "fast"}, "There is no route 'fast'"),
        ({"selection": "lasso"}, "There is no selection 'lasso'"),
        ({"selection": "aic"}, "say route='kernel' beside selection"),
    ],
)
def test_bad_parameters_are_a_sentence(parameters, sentence):
    with pytest.raises(VeraxError, match=sentence):
        Shap(**parameters)


def test_log_odds_of_a_linear_model_with_missing_categories_are_its_own():
    """By enumeration over the user's own frame: the class, and the value of every column."""
    rng = np.random.default_rng(0)
    jobs = np.array(["cook", "clerk", np.nan], dtype=object)
    frame = pd.DataFrame({"job": rng.choice(jobs, 60), "age": rng.integers(20, 60, 60).astype(float)})
    labels = np.where(frame.job.isna(), "yes", "no")
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["job"]), (StandardScaler(), ["age"])
    )
    pipeline = make_pipeline(columns, LogisticRegression()).fit(frame, labels)
    model = verax.as_model(pipeline, reference=frame)
    rows = pd.concat([frame[frame.job.isna()][:2], frame[frame.job == "cook"][:2]])
    explanations = verax.explainer("shap", output="log-odds").explain(model, rows)

    def value(row, present):
        mixed = frame.copy()
        for name in present:
            mixed[name] = pd.Series([row[name]] * len(frame), dtype=frame[name].dtype)
        return pipeline.decision_function(mixed).mean()

    for (_, row), explanation in zip(rows.iterrows(), explanations, strict=True):
        sign = 1 if row.isna()["job"] else -1
        assert explanation.target_name == ("yes" if sign == 1 else "no")
        alone, other = value(row, ["job"]) - value(row, []), value(row, ["job", "age"]) - value(row, ["age"])
        assert explanation.scores[0] == pytest.approx(sign * (alone + other) / 2, abs=1e-6)
        assert explanation.details["base"] == pytest.approx(sign * value(row, []), abs=1e-6)
        assert explanation.details["route"] == "linear"


def test_the_base_of_either_class_and_the_values_make_its_probability():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    forest = RandomForestClassifier(5, random_state=0).fit(rows, rows[:, 0] > 0)
    model = verax.as_model(forest, reference=rows)
    for target in (0, 1):
        for explanation, own in zip(
            verax.explainer("shap").explain(model, rows[:5], [target] * 5),
            forest.predict_proba(rows),
            strict=False,
        ):
            assert explanation.details["route"] == "trees"
            assert explanation.details["base"] + explanation.scores.sum() == pytest.approx(
                own[target], abs=1e-6
            )

"""With random weights a method that looks inside must say something else."""

import dataclasses

import numpy as np
import pytest

import verax
from verax.errors import VeraxError
from verax.explain import Explainer
from verax.explain.checks import _correlation, check_sanity

pytest.importorskip("torch")

METHODS = [
    "gradient-x-input",
    "integrated-gradients(20)",
    "lrp",
    "deeplift",
    "grad-cam-text",
    "grad-cam-text(words)",
]


def made(name):
    plain, _, option = name.partition("(")
    options = {"20)": {"steps": 20}, "words)": {"output": "words"}}.get(option, {})
    return verax.explainer(plain, **options)


@pytest.fixture(scope="module")
def long_texts(film_data):
    inputs = list(film_data.test.inputs)
    return [f"{one} {other}" for one, other in zip(inputs[:30], inputs[30:60], strict=True)]


@pytest.mark.parametrize("name", METHODS)
def test_rankings_fall_on_the_cnn(name, cnn, long_texts):
    seen = check_sanity(made(name), cnn, long_texts)
    assert [each.layers[-1] for each in seen] == ["output", "hidden", "filters", "embedding"]
    assert seen[-1].layers == ("output", "hidden", "filters", "embedding")


@pytest.mark.parametrize("name", ["gradient-x-input", "lrp"])
def test_rankings_fall_on_the_bilstm(name, bilstm, long_texts):
    seen = check_sanity(made(name), bilstm, long_texts)
    assert seen[-1].layers == ("output", "context", "attention", "lstm", "embedding")


def test_the_network_is_not_changed(cnn, long_texts):
    before = cnn.fitted_state()
    check_sanity(made("lrp"), cnn, long_texts)
    assert cnn.fitted_state() == before


@dataclasses.dataclass(frozen=True)
class Longest(Explainer):
    """Looks at the words alone, as an edge detector looks at the picture alone."""

    def explain(self, model, inputs, targets=None):
        found = verax.explainer("lrp").explain(model, inputs, targets)
        return [
            dataclasses.replace(each, scores=np.array([float(len(word)) for word in each.features]))
            for each in found
        ]


def test_a_method_that_does_not_look_is_caught(cnn, long_texts):
    with pytest.raises(AssertionError, match=r"still have a rank correlation of 1\.00"):
        check_sanity(Longest(), cnn, long_texts)


def test_correlations_are_spearmans():
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 5, 12).astype(float), rng.integers(0, 5, 12).astype(float)
    assert _correlation(one, other) == pytest.approx(spearmanr(one, other).statistic)
    assert _correlation(one, np.zeros(12)) == 0.0
    assert np.isnan(_correlation(np.ones(1), np.ones(1)))


def test_what_cannot_be_randomised_is_a_sentence(cnn):
    from sklearn.linear_model import LogisticRegression

    from helpers import fitted

    model = verax.as_model(fitted(LogisticRegression()))
    with pytest.raises(VeraxError, match="needs a look at the layers"):
        check_sanity(made("lrp"), model, ["a good film"])
    with pytest.raises(VeraxError, match="two features to put in order"):
        check_sanity(made("lrp"), cnn, ["good"])

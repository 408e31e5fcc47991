"""What is wrong with a model, a text, a target or a budget is said in one sentence, or has a defined result."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import verax
from helpers import fitted
from verax.errors import VeraxError
from verax.explain import Greedy, GreedyPath, Lime, Random, Shap

EXPLAINERS = [Lime(samples=200), Shap(), Shap(route="kernel"), Greedy(), GreedyPath(), Random()]
every_explainer = pytest.mark.parametrize("explainer", EXPLAINERS, ids=repr)


@pytest.fixture(scope="module")
def model():
    return verax.as_model(fitted(LogisticRegression()), class_names=("negative", "positive"))


@every_explainer
def test_empty_texts_have_no_features(explainer, model):
    for found in explainer.explain(model, ["", "  ...  "]):
        assert found.features == ()
        assert found.scores.shape == (0,)
        assert found.target == int(np.argmax(model.predict_proba([""])[0]))


@every_explainer
def test_unknown_words_score_nothing(explainer, model):
    found = explainer.explain(model, ["zzz qqq"])[0]
    assert found.features == ("zzz", "qqq")
    if explainer.claims_faithfulness:
        assert np.allclose(found.scores, 0.0, atol=1e-12)


@every_explainer
def test_one_word_has_one_score(explainer, model):
    found = explainer.explain(model, ["good"], [1])[0]
    assert found.features == ("good",)
    if explainer.claims_faithfulness:
        assert found.scores[0] > 0.0


@every_explainer
def test_no_inputs_give_no_explanations(explainer, model):
    assert list(explainer.explain(model, [])) == []


@every_explainer
def test_a_hundred_thousand_words_of_few_kinds_have_a_result(explainer, model):
    text = "good bad film the " * 25_000
    found = explainer.explain(model, [text], [1])[0]
    assert found.features == ("good", "bad", "film", "the")
    assert np.isfinite(found.scores).all()


@pytest.mark.parametrize("explainer", [Lime(samples=200), Shap()], ids=repr)
def test_a_hundred_thousand_different_words_are_refused_with_advice(explainer, model):
    text = " ".join(f"word{number}" for number in range(100_000))
    with pytest.raises(VeraxError, match=r"has 100,000 features.*use the explainer 'greedy'"):
        explainer.explain(model, [text])


@pytest.mark.parametrize(
    ("targets", "sentence"),
    [
        (
            [2],
            r"The target 2 of input 0 \(counted from 0\) does not exist; the classes are 0 \(negative\), 1 \(pos",
        ),
        ([-1], r"The target -1 of input 0 \(counted from 0\) does not exist"),
        (["good"], r"The target 'good' of input 0 \(counted from 0\) does not exist"),
        ([0.5], r"The target 0.5 of input 0 \(counted from 0\) does not exist"),
        ([float("nan")], r"The target nan of input 0 \(counted from 0\) does not exist"),
        ([None], r"The target None of input 0 \(counted from 0\) does not exist"),
        ([0, 1], "targets= holds 2 classes for 1 inputs"),
        (np.array(2), "The target 2 does not exist"),
        (2, "The target 2 does not exist"),
        ("good", "The target 'good' does not exist; the classes are"),
        (b"positive", "The target b'positive' does not exist"),
    ],
)
@every_explainer
def test_a_target_that_does_not_exist_is_named(explainer, targets, sentence, model):
    with pytest.raises(VeraxError, match=sentence):
        explainer.explain(model, ["good film"], targets)


@every_explainer
def test_something_that_is_no_text_is_named(explainer, model):
    with pytest.raises(VeraxError, match=r"Input 1 is 3\.5"):
        explainer.explain(model, ["good", 3.5])


def broken(answer):
    """A callable model that misbehaves on shortened texts only."""

    def probabilities(texts):
        return answer(texts) if len(texts) > 1 or len(texts[0]) < 9 else np.array([[0.4, 0.6]])

    return verax.as_model(probabilities, class_names=("no", "yes"))


def raises(_texts):
    raise KeyError("no such word")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (raises, r"The model raised KeyError \('no such word'\)"),
        (lambda texts: np.ones(len(texts)), "returned shape"),
        (lambda texts: np.ones((len(texts), 2)), "sum to 2 instead of 1"),
        (lambda texts: np.full((len(texts), 2), np.nan), "returned nan as a probability"),
        (lambda texts: np.full((len(texts), 3), 1 / 3), "3 probabilities per input but has 2 classes"),
        (lambda texts: np.full((len(texts) - 1, 2), 0.5), "returned shape"),
        (lambda _texts: None, "returned"),
        (lambda texts: np.tile([1.5, -0.5], (len(texts), 1)), "negative probability"),
    ],
)
@pytest.mark.parametrize("explainer", [Lime(samples=50), Shap(), Greedy(), GreedyPath()], ids=repr)
def test_a_model_that_misbehaves_is_described(explainer, answer, sentence):
    with pytest.raises(VeraxError, match=sentence):
        explainer.explain(broken(answer), ["good film"])


def test_errors_are_single_sentences():
    with pytest.raises(VeraxError) as caught:
        Lime(samples=50).explain(broken(raises), ["good film"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        ("anchor", {"precision": "abc"}, "'precision' of the explainer 'anchor' is a number, not 'abc'"),
        ("anchor", {"beam": 2.5}, "'beam' of the explainer 'anchor' is a whole number, not 2.5"),
        ("anchor", {"seed": "x"}, "'seed' of the explainer 'anchor' is a whole number, not 'x'"),
        ("anchor", {"most_conditions": "two"}, "most_conditions='two' is not a whole number; give 1 or more"),
        (
            "decision-boundary",
            {"vectors": 3},
            "'vectors' of the explainer 'decision-boundary' is a text, not 3",
        ),
        ("decision-boundary", {"attempts": True}, "is a whole number, not True"),
        ("prototype", {"prototypes": "many"}, "prototypes='many' is not a whole number; give 1 or more"),
    ],
)
def test_a_parameter_of_another_sort_is_a_sentence(name, parameters, sentence):
    with pytest.raises(VeraxError, match=sentence):
        verax.explainer(name, **parameters)


def test_numbers_of_numpy_are_numbers():
    made = verax.explainer("anchor", precision=np.float64(0.9), beam=np.int64(2))
    assert (made.precision, made.beam) == (0.9, 2)

"""Gradient times input and integrated gradients, against captum and on paper."""

import numpy as np
import pytest
from captum.attr import InputXGradient
from captum.attr import IntegratedGradients as CaptumGradients

import verax
from verax.explain.checks import check_explainer

torch = pytest.importorskip("torch")


@pytest.fixture(params=["cnn", "bilstm"])
def network(request):
    return request.getfixturevalue(request.param)


def captum_scores(captums, model, text, target, **options):
    """A method of captum on one text alone, in double precision."""
    import copy

    (embedded,) = model.embed([text])
    double = copy.deepcopy(model.network).double()
    vectors = torch.from_numpy(embedded.vectors).double()[None].requires_grad_()
    lengths = torch.tensor([len(embedded.vectors)])
    made = captums(lambda some: double.from_embedded(some, lengths.expand(len(some))))
    return made.attribute(vectors, target=target, **options)[0].sum(dim=1).detach().numpy()


def plain(texts):
    return [text for text in texts if text.strip(" .!")]


def test_gradient_times_input_is_captums(network, texts):
    for text in plain(texts):
        for target in (0, 1):
            (found,) = verax.explainer("gradient-x-input").explain(network, [text], [target])
            assert found.scores == pytest.approx(
                captum_scores(InputXGradient, network, text, target), rel=1e-4, abs=1e-6
            )


def test_integrated_gradients_are_captums(network, texts):
    for text in plain(texts)[:6]:
        (found,) = verax.explainer("integrated-gradients", steps=20).explain(network, [text], [1])
        theirs = captum_scores(CaptumGradients, network, text, 1, n_steps=20, method="gausslegendre")
        assert found.scores == pytest.approx(theirs, rel=1e-4, abs=1e-6)


def test_integrated_gradients_add_up_to_the_difference(network, texts):
    found = verax.explainer("integrated-gradients", steps=200).explain(network, texts)
    scores = network.scores(texts)
    for text, each, row in zip(texts, found, scores, strict=True):
        (embedded,) = network.embed([text])
        empty = type(embedded)(text, np.zeros_like(embedded.vectors), embedded.word_of)
        difference = row[each.target] - network.scores_from([empty])[0, each.target]
        assert each.scores.sum() == pytest.approx(difference, abs=0.01 * np.abs(each.scores).sum() + 1e-5)
        assert each.details["error"] == pytest.approx(difference - each.scores.sum(), abs=1e-5)


def test_on_paper(by_hand):
    (found,) = verax.explainer("gradient-x-input").explain(by_hand, ["Good bad"], ["yes"])
    assert found.features == ("Good", "bad")
    assert found.scores.tolist() == [4.0, 3.0]
    assert found.spans == (((0, 4),), ((5, 8),))
    assert found.details["score"] == 8.5


def test_more_steps_shrink_the_error(cnn, texts):
    def error(steps):
        found = verax.explainer("integrated-gradients", steps=steps).explain(cnn, plain(texts))
        return np.mean([abs(each.details["error"]) for each in found])

    assert error(100) < 0.3 * error(5)


@pytest.mark.parametrize("name", ["gradient-x-input", "integrated-gradients"])
def test_the_contract(name, network):
    check_explainer(verax.explainer(name), model=network)

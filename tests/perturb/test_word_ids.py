"""Networks under perturbation: what the fast paths say is what the network says to the rebuilt text."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from verax import as_model  # noqa: E402
from verax.data.words import split_words  # noqa: E402
from verax.explain import Lime  # noqa: E402
from verax.models.neural.bilstm import BilstmNetwork  # noqa: E402
from verax.models.neural.cnn import CnnNetwork  # noqa: E402
from verax.models.neural.encoders import WordEncoder  # noqa: E402
from verax.models.neural.networks import TextNetwork  # noqa: E402
from verax.perturb.dispatch import path_for  # noqa: E402
from verax.perturb.masks import LeaveOneOut, Masks  # noqa: E402
from verax.perturb.paths import convolution  # noqa: E402

KNOWN = tuple(f"w{number}" for number in range(40))


def network_of(kind, max_words=1_000):
    torch.manual_seed(3)
    network = kind(len(KNOWN) + 2, 12, 3)
    with torch.no_grad():
        for weights in network.parameters():
            weights.mul_(3)  # scores that differ clearly
    return TextNetwork(network, WordEncoder(KNOWN, max_words), ("a", "b", "c"))


def texts():
    """Fifty texts: empty, of one word, of unknown words only, with repeats and upper case, short and long."""
    rng = np.random.default_rng(7)
    drawn = [
        " ".join(rng.choice([*KNOWN, "W3", "unknown", "strange", "w1,w2;", "(w5)"], size=size))
        for size in [*range(1, 41), 90, 120, 150, 200, 300]
    ]
    return ["", "w1", "unknown strange words", "w1 w1 w1 W1", "...", *drawn]


@pytest.mark.parametrize("kind", [CnnNetwork, BilstmNetwork])
@pytest.mark.parametrize("max_words", [1_000, 25])
def test_probabilities_equal_those_of_the_rebuilt_texts(kind, max_words, without_cut_messages):
    model = network_of(kind, max_words)
    path = path_for(model)
    assert path.name == ("filter responses of words" if kind is CnnNetwork else "word numbers")
    rng = np.random.default_rng(1)
    given = texts()
    prepared = path.prepare(given)
    masks = [
        Masks.from_rows(rng.random((40, len(ready.features))) < rng.random((40, 1))) for ready in prepared
    ]
    answers = list(path.evaluate(prepared, masks))
    assert len(answers) == len(given) == 50
    for text, ready, mask, answer in zip(given, prepared, masks, answers, strict=True):
        words = split_words(text)
        rebuilt = [words.keep(np.array(ready.features)[row].tolist()) for row in mask.rows()]
        np.testing.assert_allclose(answer.probabilities, model.predict_proba(rebuilt), atol=1e-5)
        assert answer.rows == len({row.tobytes() for row in mask.rows()})


@pytest.fixture
def without_cut_messages(caplog):
    caplog.set_level("ERROR", logger="verax.models")


def test_without_numba_the_network_itself_is_asked(monkeypatch):
    monkeypatch.setattr(convolution, "find_spec", lambda _: None)
    assert path_for(network_of(CnnNetwork)).name == "word numbers"


def test_changed_weights_are_noticed():
    model = network_of(CnnNetwork)
    before = path_for(model)
    assert path_for(model) is before
    with torch.no_grad():
        model.network.filters[0].weight[0, 0, 0] += 1
    after = path_for(model)
    assert after is not before
    ready = after.prepare(["w1 w2 w3"])
    (answer,) = after.evaluate(ready, [LeaveOneOut(np.ones(3, dtype=bool), np.arange(3))])
    np.testing.assert_allclose(answer.probabilities[0], model.predict_proba(["w1 w2 w3"])[0], atol=1e-6)


def test_lime_takes_the_fast_path_and_finds_the_same_as_by_strings():
    model = network_of(CnnNetwork)
    inputs = texts()[8:14]
    fast = Lime(samples=500, seed=0).explain(model, inputs)
    slow = Lime(samples=500, seed=0).explain(
        as_model(model.predict_proba, class_names=model.class_names), inputs
    )
    for by_words, by_strings in zip(fast, slow, strict=True):
        assert by_words.details["path"] == "filter responses of words"
        assert by_strings.details["path"] == "strings"
        np.testing.assert_allclose(by_words.scores, by_strings.scores, atol=1e-5)

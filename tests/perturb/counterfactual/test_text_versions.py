"""Versions of a text for networks: asked for by numbers of words, they get what the written texts get."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from verax import as_model  # noqa: E402
from verax.data.words import split_words  # noqa: E402
from verax.models.neural.architectures import BilstmNetwork, CnnNetwork  # noqa: E402
from verax.models.neural.encoders import WordEncoder  # noqa: E402
from verax.models.neural.networks import TextNetwork  # noqa: E402
from verax.perturb.counterfactual.text_versions import (  # noqa: E402
    Options,
    Versions,
    build_texts,
    predict_versions,
    score_asker,
)

KNOWN = ("a", "warm", "cold", "film", "story", "about", "friends")


def network_of(kind, max_words=1_000):
    torch.manual_seed(3)
    network = kind(len(KNOWN) + 2, 12, 3)
    with torch.no_grad():
        for weights in network.parameters():
            weights.mul_(3)  # scores that differ clearly
    return TextNetwork(network, WordEncoder(KNOWN, max_words), ("a", "b", "c"))


def versions_of(text, after):
    """Versions that take one option, several, or none."""
    options = Options(split_words(text), np.array([1, 1, 2, 4]), after)
    return Versions(options, np.array([0, 0, 1, 3, 6]), np.array([1, 0, 2, 1, 2, 3]))


@pytest.mark.parametrize("kind", [CnnNetwork, BilstmNetwork])
@pytest.mark.parametrize("max_words", [1_000, 4])
def test_numbers_of_words_say_what_the_written_texts_say(kind, max_words, caplog):
    caplog.set_level("ERROR", logger="verax.models")
    model = network_of(kind, max_words)
    versions = versions_of("A warm film, about (friends)!", ("cold", "Story", "zzz", "warm"))
    texts = build_texts(versions)
    assert texts[3] == "A Story zzz, about (warm)!"
    score = score_asker(model, versions.options)
    np.testing.assert_allclose(score(versions), model.scores(texts), atol=1e-5)
    found = predict_versions(model, versions.options)(versions)
    np.testing.assert_allclose(found, model.predict_proba(texts), atol=1e-6)


def test_what_is_several_words_is_written_out():
    model = network_of(CnnNetwork)
    versions = versions_of("a warm film about friends", ("cold", "warm-hearted", "story", "cold"))
    assert score_asker(model, versions.options) is None
    found = predict_versions(model, versions.options)(versions)
    np.testing.assert_allclose(found, model.predict_proba(build_texts(versions)), atol=1e-6)


def test_a_function_is_given_the_texts():
    model = as_model(lambda batch: np.full((len(batch), 2), 0.5), class_names=["a", "b"])
    versions = versions_of("a warm film about friends", ("cold", "old", "story", "cold"))
    assert score_asker(model, versions.options) is None
    assert predict_versions(model, versions.options)(versions).tolist() == [[0.5, 0.5]] * 4

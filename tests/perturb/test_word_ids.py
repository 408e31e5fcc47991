"""Networks under perturbation: what the fast paths say is what the network says to the rebuilt text."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

torch = pytest.importorskip("torch")

from verax import as_model  # noqa: E402
from verax.data.words import split_words  # noqa: E402
from verax.errors import VeraxError  # noqa: E402
from verax.explain import Greedy, GreedyPath, Lime, Shap, explainer  # noqa: E402
from verax.models.neural.architectures import BilstmNetwork, CnnNetwork, PrototypeBilstm  # noqa: E402
from verax.models.neural.encoders import WordEncoder  # noqa: E402
from verax.models.neural.networks import TextNetwork  # noqa: E402
from verax.perturb.dispatch import path_for  # noqa: E402
from verax.perturb.masks import LeaveOneOut, Masks  # noqa: E402
from verax.perturb.paths import networks  # noqa: E402

KNOWN = tuple(f"w{number}" for number in range(40))


def network_of(kind, max_words=1_000, **options):
    torch.manual_seed(3)
    network = kind(len(KNOWN) + 2, 12, 3, **options)
    with torch.no_grad():
        for weights in network.parameters():
            weights.mul_(3)  # scores that differ clearly
    return TextNetwork(network, WordEncoder(KNOWN, max_words), ("a", "b", "c"))


# An LSTM of its own size would take half a minute for 50,000 texts.
SMALL = {BilstmNetwork: {"units": 6}, PrototypeBilstm: {"units": 6, "per_class": 2}}
OWN_PATH = {
    CnnNetwork: "filter responses of words",
    BilstmNetwork: "shared states of words",
    PrototypeBilstm: "shared states of words",
}


def texts():
    """Fifty texts: empty, of one word, of unknown words only, with repeats and upper case, short and long."""
    rng = np.random.default_rng(7)
    drawn = [
        " ".join(rng.choice([*KNOWN, "W3", "unknown", "strange", "w1,w2;", "(w5)"], size=size))
        for size in [*range(1, 21), *range(1, 21), 30, 40, 50, 60, 120]
    ]
    return ["", "w1", "unknown strange words", "w1 w1 w1 W1", "...", *drawn]


def drawn_masks(prepared, count):
    """Random masks, anywhere between nothing and everything present."""
    rng = np.random.default_rng(1)
    return [
        Masks.from_rows(rng.random((count, len(ready.features))) < rng.random((count, 1)))
        for ready in prepared
    ]


@pytest.mark.parametrize(
    ("kind", "max_words", "count"),
    [*((kind, 25, 40) for kind in OWN_PATH), (CnnNetwork, 1_000, 1_000), (BilstmNetwork, 1_000, 1_000)],
)
def test_probabilities_equal_those_of_the_rebuilt_texts(kind, max_words, count, without_cut_messages):
    model = network_of(kind, max_words, **SMALL.get(kind, {}))
    path = path_for(model)
    assert path.name == OWN_PATH[kind]
    given = texts()
    prepared = path.prepare(given)
    masks = drawn_masks(prepared, count)
    answers = list(path.evaluate(prepared, masks))
    assert len(answers) == len(given) == 50
    for text, ready, mask, answer in zip(given, prepared, masks, answers, strict=True):
        words = split_words(text)
        rebuilt = [words.keep(np.array(ready.features)[row].tolist()) for row in mask.rows()]
        np.testing.assert_allclose(answer.probabilities, model.predict_proba(rebuilt), atol=1e-5)
        assert answer.rows == len({row.tobytes() for row in mask.rows()})


@pytest.mark.parametrize(
    ("kind", "max_words", "count"),
    [*((kind, 25, 40) for kind in OWN_PATH), (CnnNetwork, 1_000, 1_000), (BilstmNetwork, 1_000, 1_000)],
)
def test_masked_words_are_vectors_of_zeros(kind, max_words, count, without_cut_messages):
    model = network_of(kind, max_words, **SMALL.get(kind, {}))
    path = path_for(model, "masked")
    assert path.name == OWN_PATH[kind]
    given = texts()
    prepared = path.prepare(given)
    masks = drawn_masks(prepared, count)
    for text, ready, mask, answer in zip(given, prepared, masks, path.evaluate(prepared, masks), strict=True):
        (embedded,) = model.embed([text])
        feature_of = [ready.features.index(word) for word in split_words(text).words]
        kept = mask.rows()[:, feature_of][:, embedded.word_of]
        blanked = [replace(embedded, vectors=embedded.vectors * row[:, None]) for row in kept]
        expected = softmax(model.scores_from(blanked), axis=1)
        np.testing.assert_allclose(answer.probabilities, expected, atol=1e-5)


def test_dropped_words_make_neighbours_and_masked_ones_do_not():
    model = network_of(CnnNetwork)
    kept = Masks.from_rows(np.array([[True, False, True]]))
    dropped, masked = (
        next(iter(path.evaluate(path.prepare(["w1 w2 w3"]), [kept]))).probabilities[0]
        for path in (path_for(model), path_for(model, "masked"))
    )
    np.testing.assert_allclose(dropped, model.predict_proba(["w1 w3"])[0], atol=1e-6)
    assert np.abs(dropped - masked).max() > 0.01


@pytest.mark.parametrize("explain", [Lime, Shap, Greedy, GreedyPath])
def test_explainers_mask_when_they_are_told_to(explain):
    model = network_of(BilstmNetwork)
    dropped, masked = (
        explain(absent=absent).explain(model, ["w1 w2 w3 w4"])[0] for absent in ("dropped", "masked")
    )
    assert masked.details["path"] == "shared states of words"
    assert np.abs(dropped.scores - masked.scores).max() > 1e-3
    assert explain(absent="masked").key != explain().key


@pytest.mark.parametrize("name", ["lime", "shap", "greedy", "greedy-path"])
def test_what_cannot_be_masked_is_told(name):
    function = as_model(lambda batch: np.full((len(batch), 2), 0.5), class_names=["a", "b"])
    with pytest.raises(VeraxError, match="this CallableModel shows no place for one; networks of texts do"):
        explainer(name, absent="masked").explain(function, ["a b"])
    with pytest.raises(
        VeraxError, match="absent='gone' is not known; absent words are 'dropped' or 'masked'"
    ):
        explainer(name, absent="gone")


@pytest.mark.parametrize("widths", [(1,), (2, 3), (4, 2), (3, 5)])
def test_filters_of_any_width_and_number(widths):
    model = network_of(CnnNetwork, widths=widths, filters=11)
    path = path_for(model)
    assert path.name == ("word numbers" if max(widths) > 4 else "filter responses of words")
    (answer,) = path.evaluate(
        path.prepare(["w1 w2 w3 w4 w5 w6"]), [Masks.from_rows(np.eye(6, dtype=bool)[::-1])]
    )
    expected = model.predict_proba(["w6", "w5", "w4", "w3", "w2", "w1"])
    np.testing.assert_allclose(answer.probabilities, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "name"), [(CnnNetwork, "filters.1.bias"), (BilstmNetwork, "attention.bias")]
)
def test_weights_that_are_not_numbers_are_not_hidden_by_the_fast_path(kind, name):
    model = network_of(kind)
    with torch.no_grad():
        model.network.get_parameter(name)[3] = torch.nan
    with pytest.raises(
        VeraxError, match=f"The weights '{re.escape(name)}' of the network are not all finite"
    ):
        Greedy().explain(model, ["w1 w2 w3"])


def test_variants_share_the_states_of_what_they_begin_with():
    """The words 0 1, 0 2 and 0 1 2 begin with 0, two of them with 0 1; no two end alike but in 2."""
    pytest.importorskip("numba")
    from verax.perturb.paths.network_kernels import prefix_tree

    rows, ends = np.array([0, 1, 0, 2, 0, 1, 2], dtype=np.int32), np.array([2, 4, 7])
    node_of, parents, words, starts = prefix_tree(rows, ends, False)
    assert node_of.tolist() == [0, 1, 0, 2, 0, 1, 3]
    assert parents.tolist() == [-1, 0, 0, 1]
    assert words.tolist() == [0, 1, 2, 2]
    assert starts.tolist() == [0, 1, 3, 4]
    node_of, parents, words, starts = prefix_tree(rows, ends, True)
    # From the end: 1 0, 2 0, 2 1 0.
    assert node_of.tolist() == [2, 0, 3, 1, 5, 4, 1]
    assert parents.tolist() == [-1, -1, 0, 1, 1, 4]
    assert words.tolist() == [1, 2, 0, 0, 1, 0]
    assert starts.tolist() == [0, 2, 5, 6]


def test_the_tangent_of_the_fast_path_is_one_to_seven_digits():
    pytest.importorskip("numba")
    from verax.perturb.paths.network_kernels import tanh

    given = np.concatenate([np.linspace(-12, 12, 4001), [-1e6, 1e6, 1e-8]]).astype(np.float32)
    found = np.array([tanh(number) for number in given], dtype=np.float64)
    np.testing.assert_allclose(found, np.tanh(given.astype(np.float64)), rtol=0, atol=5e-7)


def test_texts_that_do_not_fit_together_are_read_in_parts(monkeypatch):
    model = network_of(BilstmNetwork, units=6)
    path = path_for(model)
    prepared = path.prepare(["w1 w2 w3 w4 w5 w6 w7 w8"])
    masks = drawn_masks(prepared, 200)
    (whole,) = path.evaluate(prepared, masks)
    monkeypatch.setattr(networks, "TOGETHER", 7)
    (parts,) = path.evaluate(prepared, masks)
    np.testing.assert_allclose(parts.probabilities, whole.probabilities, atol=1e-6)


@pytest.mark.parametrize("kind", OWN_PATH)
@pytest.mark.parametrize("compiled", [True, False])
def test_places_of_words_say_what_the_texts_say(kind, compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(networks, "find_spec", lambda _: None)
    model = network_of(kind, **SMALL.get(kind, {}))
    given = ["w3 w1 w3", "", "unknown w2", "w1"]
    numbers = np.concatenate([model.encoder.numbers_of(text.split()) for text in given])
    words, rows = np.unique(numbers, return_inverse=True)
    ends = np.cumsum([len(text.split()) for text in given])
    scores = path_for(model).score_rows(words, rows.astype(np.int32), ends)
    np.testing.assert_allclose(scores, model.scores(given), atol=1e-5)


@pytest.fixture
def without_cut_messages(caplog):
    caplog.set_level("ERROR", logger="verax.models")


@pytest.mark.parametrize("kind", [CnnNetwork, BilstmNetwork])
def test_without_numba_the_network_itself_is_asked(kind, monkeypatch):
    monkeypatch.setattr(networks, "find_spec", lambda _: None)
    model = network_of(kind)
    assert path_for(model).name == "word numbers"
    assert path_for(model, "masked").name == "masked numbers"


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

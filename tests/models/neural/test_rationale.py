"""The rationale model: what it selects, and that its prediction depends on nothing else."""

import logging
from dataclasses import replace

import numpy as np
import pytest
import torch

from verax import load_model, save_model
from verax.data.dataset import Dataset
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.models import fit_model
from verax.models.capabilities import Selection, ask_for, has
from verax.models.neural.loop import Examples, losses_of
from verax.models.neural.rationale import (
    GatedAverages,
    RationaleNetwork,
    RecurrentRationaleNetwork,
    compact,
    nearest_selected,
)
from verax.models.neural.rationale_training import (
    Costs,
    Ties,
    instability,
    phases_for,
    selected_only,
    selection_costs,
    share_selected,
)
from verax.perturb.dispatch import path_for
from verax.perturb.masks import Masks

DECIDING = {"good", "fine", "bad", "poor"}


def test_it_selects_what_decides_and_predicts_from_it(rationale, word_data):
    test = word_data.test
    selections = rationale.select(test.inputs)
    right = rationale.predict_proba(test.inputs).argmax(axis=1) == test.labels
    assert right.mean() > 0.9
    hits = [DECIDING & set(selection.words) for selection in selections]
    assert np.mean([bool(found) for found in hits]) > 0.9
    words = sum(len(split_words(text)) for text in test.inputs)
    assert 0.05 < sum(map(len, selections)) / words < 0.5


def test_the_prediction_is_that_of_the_selection_bit_for_bit(rationale, word_data):
    texts = word_data.test.inputs
    selections = rationale.select(texts)
    for text, selection in zip(texts, selections, strict=True):
        words = split_words(text).words
        assert selection.words == tuple(words[place] for place in selection.places)
    assert np.array_equal(rationale.encode(selections), rationale.predict_proba(texts))


def test_words_changed_after_the_selection_change_nothing_bit_for_bit(rationale, word_data):
    """Whatever becomes of the words that are not selected: others, more of them, or none."""
    selections = rationale.select(word_data.test.inputs)
    known = rationale.encode(selections)
    rng = np.random.default_rng(0)
    for _ in range(5):
        gaps = [rng.integers(0, 6, len(selection)) for selection in selections]
        moved = [
            Selection(selection.words, tuple((np.cumsum(between + 1) - 1).tolist()))
            for selection, between in zip(selections, gaps, strict=True)
        ]
        assert moved != selections
        assert np.array_equal(rationale.encode(moved), known)


def test_what_is_selected_reaches_the_prediction_alone_inside_the_network(rationale):
    """The network itself: other vectors at the positions that are not selected leave the scores as they are."""
    network = rationale.network.eval()
    vectors = torch.randn(6, 9, 12)
    selected = torch.rand(6, 9) < 0.4
    others = torch.where(selected[:, :, None], vectors, torch.randn(6, 9, 12))
    with torch.inference_mode():
        scores = network.encode(*compact(vectors, selected))
        assert torch.equal(network.encode(*compact(others, selected)), scores)
        # In training whole texts are read, with the same result.
        assert torch.allclose(network.encode_in_place(vectors, selected.float()), scores, atol=1e-6)
        assert torch.allclose(network.encode_in_place(others, selected.float()), scores, atol=1e-6)


def test_nearest_selected_by_hand():
    chosen = torch.tensor([[False, True, False, True, True], [False] * 5])
    before, behind = nearest_selected(chosen)
    assert before.tolist() == [[5, 5, 1, 1, 3], [5] * 5]
    assert behind.tolist() == [[1, 3, 3, 4, 5], [5] * 5]


def test_a_text_without_a_selected_word_has_the_bias(rationale):
    bias = rationale.encode([Selection((), ())])
    assert np.array_equal(rationale.predict_proba([""]), bias)
    assert rationale.select([""]) == [Selection((), ())]
    output = rationale.network.output.bias.detach().double().softmax(0).numpy()
    assert bias[0] == pytest.approx(output, abs=1e-6)


def test_neighbours_in_a_batch_change_nothing(rationale, word_data):
    texts = word_data.test.inputs
    together = rationale.predict_proba(texts)
    alone = np.vstack([rationale.predict_proba([text]) for text in texts])
    assert alone == pytest.approx(together, abs=1e-6)
    assert [rationale.select([text])[0] for text in texts] == rationale.select(texts)


def test_masked_variants_get_the_models_own_probabilities(rationale, word_data):
    text = max(word_data.test.inputs, key=len)
    path = path_for(rationale)
    (ready,) = path.prepare([text])
    columns = np.random.default_rng(0).random((len(ready.features), 30)) < 0.6
    (answer,) = path.evaluate([ready], [Masks.from_columns(columns)])
    texts = [split_words(text).keep(np.array(ready.features)[column].tolist()) for column in columns.T]
    assert answer.probabilities == pytest.approx(rationale.predict_proba(texts), abs=1e-6)


def test_a_saved_one_selects_the_same(rationale, word_data, tmp_path):
    save_model(rationale, tmp_path, test=word_data.test)
    again = load_model(tmp_path)
    assert again.select(word_data.test.inputs) == rationale.select(word_data.test.inputs)
    assert again.record == rationale.record


def test_training_tells_share_accuracy_and_cost_over_time(rationale):
    history = rationale.record.selection
    assert len(history.shares) == len(history.accuracies) == len(history.seconds) == rationale.record.epochs
    assert rationale.record.best_epoch == rationale.record.epochs  # the last one is kept
    assert history.shares[0] > 0.5 > history.shares[-1]
    assert list(history.seconds) == sorted(history.seconds)


def test_a_collapse_is_told(word_data, caplog):
    """With next to no training the first half still selects everything."""
    with caplog.at_level(logging.WARNING, "verax.models"):
        model = fit_model("rationale", word_data, options={"dimensions": 4, "epochs": 1, "rate": 1e-5})
    assert model.record.selection.shares[-1] > 0.9
    assert "collapsed: it selects nearly everything" in caplog.text


def test_the_same_half_can_read_everything(word_data):
    model = fit_model("rationale", word_data, options={"dimensions": 12, "everything": True, "epochs": 2})
    text = word_data.test.inputs[0]
    assert model.select([text])[0].words == tuple(split_words(text).words)
    assert model.record.selection is None


def test_ratings_are_learnt_as_ratings(word_data):
    def rated(part):
        return replace(part, ratings=0.2 + 0.6 * part.labels)

    data = Dataset(
        "rated", "text", word_data.class_names, *(rated(part) for part in word_data.parts.values())
    )
    model = fit_model("rationale", data, options={"dimensions": 12, "share": 0.3, "epochs": 8, "rate": 0.01})
    ratings = model.ratings(data.test.inputs)
    assert np.corrcoef(ratings, data.test.ratings)[0, 1] > 0.8
    assert np.mean((ratings - data.test.ratings) ** 2) < 0.06


def test_only_selected_words_are_left_for_the_polish(rationale):
    arrays = rationale.encoder.encode(["a good film about some plot", "bad story"])
    examples = Examples(arrays, np.array([1, 0]), np.ones(2))
    kept = selected_only(rationale.network, rationale.encoder.collate, examples)
    wanted = [
        rationale.encoder.numbers_of(selection.words).tolist()
        for selection in rationale.select(["a good film about some plot", "bad story"])
    ]
    assert [array.tolist() for array in kept.arrays] == wanted
    share = share_selected(rationale.network, rationale.encoder.collate, examples)
    assert share == sum(map(len, wanted)) / 8


def test_an_unselected_word_can_be_learnt_to_be_selected():
    """The scores have a slope towards what is not selected: else nothing that was dropped could come back."""
    torch.manual_seed(0)
    network = RationaleNetwork(10, 4, 2, units=8)
    with torch.no_grad():
        network.output.weight.normal_()
    selected = torch.tensor([[1.0, 0.0, 1.0]]).requires_grad_()
    scores = network.encode_in_place(torch.randn(1, 3, 4), selected)
    torch.autograd.backward(losses_of(scores, np.array([1])).sum())
    assert bool((selected.grad != 0).all())


class OfNeighbours:
    """Selects a word by its own number and, where there is one, against that of the word before it."""

    training = False

    def choices(self, vectors, lengths):
        own = vectors[:, :, 0]
        before = torch.cat([torch.zeros(len(own), 1), own[:, :-1]], dim=1)
        return own - before


def test_what_an_unstable_selection_costs_by_hand():
    # 3 and 4 are selected of (3, 0, 4): choices are 3, -3, 4. Without the word between them: 3 and 1.
    vectors = torch.tensor([[[3.0], [0.0], [4.0]]])
    selected, inside = torch.tensor([[True, False, True]]), torch.ones(1, 3, dtype=torch.bool)
    assert float(instability(OfNeighbours(), vectors, selected, inside, "all")) == 0.0
    # Of (3, 2, 3.5) the last is at 1.5, and at 0.5 without the word between: half a step short, for one of two words.
    vectors = torch.tensor([[[3.0], [2.0], [3.5]]])
    assert float(instability(OfNeighbours(), vectors, selected, inside, "all")) == pytest.approx(0.25)


def test_only_any_deletions_watch_the_words_that_stay():
    # The middle word is at -0.5 whenever it stays, half a step above the -1 that is asked of it.
    vectors = torch.tensor([[[3.0], [2.5], [9.0]]]).expand(200, -1, -1)
    selected = torch.tensor([[True, False, True]]).expand(200, -1)
    inside = torch.ones(200, 3, dtype=torch.bool)
    torch.manual_seed(0)
    assert float(instability(OfNeighbours(), vectors, selected, inside, "any")) == pytest.approx(0.5)
    assert float(instability(OfNeighbours(), vectors, selected, inside, "all")) == 0.0


def test_long_texts_are_trained_otherwise():
    assert phases_for(20, None, Ties(0.5), None).share == 0.30
    assert phases_for(150, None, Ties(0.5), None).share == 0.10
    assert phases_for(150, 0.2, Ties(0.5), 3).joint == 3


def test_selection_is_a_capability(rationale, cnn):
    assert has(rationale, "selection")
    assert not has(cnn, "selection")
    with pytest.raises(VeraxError, match=r"needs the words that it selects before it predicts"):
        ask_for(cnn, "selection", "rationale")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"share": 1.5}, "share=1.5 is no share"),
        ({"stability": -1}, "below 0"),
        ({"deletions": "some"}, "give 'any' or 'all'"),
        ({"epochs": 0}, "trains nothing"),
    ],
)
def test_options_that_cannot_be(word_data, options, said):
    with pytest.raises(VeraxError, match=said):
        fit_model("rationale", word_data, options=options)


def test_what_a_selection_costs_by_hand():
    selected = torch.tensor([[1.0, 1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0, 1.0]])
    # Three words in two runs, which have four ends; nothing; four words in one run.
    found = selection_costs(selected, Costs(sparsity=0.5, coherence=0.1))
    assert found.tolist() == pytest.approx([1.9, 0.0, 2.2])
    assert selection_costs(selected, Costs(coherence=0.1)).tolist() == pytest.approx([0.4, 0.0, 0.2])


def test_gated_averages_by_hand():
    """One number in, one state, bigrams, a gate that is always a half: Lei et al. (2015), equations 1 to 4."""
    cells = GatedAverages(1, 1, order=2)
    with torch.no_grad():
        cells.read.weight.copy_(torch.tensor([[0.0], [1.0], [1.0]]))
        cells.read.bias.zero_()
        cells.back.weight.zero_()
    given = torch.tensor([[[0.2], [0.4], [0.6]]])
    # Unigrams: .1, .25, .425; bigrams: (0 + .2)/2 = .1, .05 + (.1 + .4)/2 = .3, .15 + (.25 + .6)/2 = .575.
    outputs, last = cells(given, torch.ones(1, 3))
    assert outputs[0, :, 0].tolist() == pytest.approx(np.tanh([0.1, 0.3, 0.575]).tolist())
    assert last.item() == pytest.approx(np.tanh(0.575))
    # A word that is not kept is as if it were not there.
    _, without = cells(given, torch.tensor([[1.0, 0.0, 1.0]]))
    _, shorter = cells(given[:, [0, 2]], torch.ones(1, 2))
    assert without.item() == pytest.approx(shorter.item())


def test_recurrent_cells_see_the_selection_alone():
    torch.manual_seed(0)
    network = RecurrentRationaleNetwork(9, 4, 2, hidden=5, choosing=3).eval()
    vectors = torch.randn(3, 6, 4)
    selected = torch.tensor([[1, 0, 1, 0, 0, 1], [0, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0]])
    in_place = network.encode_in_place(vectors, selected.float())
    together = network.encode(*compact(vectors, selected.bool()))
    assert torch.allclose(in_place, together, atol=1e-6)
    # What stands behind a text reaches neither half.
    lengths = torch.tensor([6, 2, 4])
    changed = vectors.clone()
    changed[1, 2:] = 9.0
    assert torch.allclose(
        network.choices(vectors, lengths)[1, :2], network.choices(changed, lengths)[1, :2], atol=1e-6
    )


def test_the_published_training_with_recurrent_cells_learns_is_saved_and_comes_back(word_data, tmp_path):
    options = {
        "cells": "recurrent", "hidden": 10, "choosing": 4, "depth": 2, "dimensions": 12, "stability": 0.0,
        "sparsity": 3e-3, "coherence": 6e-4, "rate": 0.01, "epochs": 12, "batch": 16,
    }  # fmt: skip
    model = fit_model("rationale", word_data, seed=0, options=options)
    texts = word_data.test.inputs[:40]
    right = model.predict_proba(word_data.test.inputs).argmax(axis=1) == word_data.test.labels
    assert right.mean() > 0.8
    assert len(model.record.selection.shares) == 12  # both halves jointly, and nothing before or behind
    save_model(model, tmp_path / "kept", test=word_data.test)
    again = load_model(tmp_path / "kept")
    assert again.select(texts) == model.select(texts)
    assert np.array_equal(again.predict_proba(texts), model.predict_proba(texts))


def test_reinforce_makes_costly_selections_less_probable(word_data):
    """A word costs much more than any error: the probability of selecting must fall."""
    options = {"estimator": "reinforce", "stability": 0.0, "epochs": 4, "dimensions": 12, "rate": 0.01}
    dear = fit_model("rationale", word_data, seed=0, options=options | {"sparsity": 1.0})
    cheap = fit_model("rationale", word_data, seed=0, options=options | {"sparsity": 0.0})
    assert dear.record.selection.shares[-1] < 0.05 < cheap.record.selection.shares[-1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"estimator": "reinforce"}, "needs the cost of a selected word; give sparsity"),
        ({"estimator": "none"}, "estimator='none' is not known"),
        ({"cells": "lstm"}, "cells='lstm' is not known; give 'filters' or 'recurrent'"),
        ({"sparsity": -1.0}, "sparsity and coherence are costs"),
        ({"depth": 0}, "give 1 or more"),
    ],
)
def test_options_as_published_that_cannot_be(word_data, options, said):
    with pytest.raises(VeraxError, match=said):
        fit_model("rationale", word_data, seed=0, options=options)

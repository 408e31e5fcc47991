"""Measures beside captum's, Quantus' and ferret's where these define the same, or what theirs adds up to.

Quantus 0.6.0's Monotonicity fills the baseline with the baseline, so that its answer is always True; it is given a
function that puts the input's values there.
"""

import copy
import sys
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import permutations
from types import ModuleType

import numpy as np
import pytest
import quantus
import torch
import transformers
from captum.attr import InputXGradient
from captum.metrics import infidelity, sensitivity_max
from torch import nn

import verax
from verax.data.table import Column, Schema
from verax.explain import Greedy
from verax.explain.base import Explainer
from verax.explain.explanation import Attribution
from verax.measures.case import make_case
from verax.measures.repeating import _randomised, _rows
from verax.measures.subsets import _random_sets

COLUMNS = 6
DRAWS = 50


class Network(nn.Module):
    """Two layers, so that nothing is linear; reads (inputs, columns) or, as Quantus wants it, (inputs, 1, columns)."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.layers = nn.Sequential(nn.Linear(COLUMNS, 8), nn.Tanh(), nn.Linear(8, 2)).double()

    def forward(self, rows):
        return torch.softmax(self.layers(rows.reshape(len(rows), COLUMNS).double()), dim=1)


@pytest.fixture(scope="module")
def network():
    return Network().eval()


@pytest.fixture(scope="module")
def given(network):
    """The network as a model of tables whose columns have the mean 0, rows and scores."""
    rng = np.random.default_rng(1)
    reference = rng.normal(size=(200, COLUMNS))
    reference -= reference.mean(axis=0)
    schema = Schema(tuple(Column(f"c{place}") for place in range(COLUMNS)))

    def probabilities(rows):
        with torch.no_grad():
            return network(torch.from_numpy(np.asarray(rows, dtype=float))).numpy()

    model = verax.as_model(probabilities, class_names=("no", "yes"), schema=schema, reference=reference)
    rows = rng.normal(size=(4, COLUMNS))
    explanations = [
        Attribution(schema.names, scores, target)
        for scores, target in zip(rng.normal(size=(4, COLUMNS)), (0, 1, 1, 0), strict=True)
    ]
    return model, rows, explanations


@pytest.mark.parametrize("normalise", [True, False])
def test_infidelity_is_captums(network, given, normalise):
    model, rows, explanations = given
    ours = verax.measure("infidelity", draws=DRAWS, normalise=normalise, absent="mean")(
        model, rows, explanations
    )
    case = make_case("infidelity", "scores", model, rows, explanations)
    for number, (row, explanation) in enumerate(zip(rows, explanations, strict=True)):
        gone = torch.from_numpy(case.rng(number, "halves", DRAWS).random((DRAWS, COLUMNS)) < 0.5)

        def removed(inputs, gone=gone):
            return gone.double(), torch.where(gone, 0.0, inputs)

        theirs = infidelity(
            network, removed, torch.from_numpy(row[None]), torch.from_numpy(explanation.scores.copy()[None]),
            target=explanation.target, n_perturb_samples=DRAWS, max_examples_per_batch=DRAWS, normalize=normalise,
        )  # fmt: skip
        assert ours[number] == pytest.approx(float(theirs[0]), abs=1e-9)


def test_max_sensitivity_is_captums(given):
    model, rows, _ = given
    method = Greedy()
    ours = verax.measure("max-sensitivity", explainer=method, versions=6, radius=0.05)(
        model, rows, method.explain(model, rows)
    )
    case = make_case("max-sensitivity", "scores", model, rows, method.explain(model, rows))
    for number, row in enumerate(rows):
        versions = torch.from_numpy(np.array(_rows(case, number, 6, 0.05)))
        target = case.targets[number]
        same = model.predict_proba(versions.numpy()).argmax(axis=1) == target
        assert same.all()  # no version is left out, which captum would not know of

        def explain(inputs, target=target, **_):
            rows = inputs[0] if isinstance(inputs, tuple) else inputs
            found = method.explain(model, rows.numpy(), [target] * len(rows))
            return (torch.from_numpy(np.array([one.scores for one in found])),)

        # captum calls a function of one argument without the radius.
        given_versions = partial(lambda versions, inputs: versions, versions)
        theirs = sensitivity_max(
            explain, torch.from_numpy(row[None]), perturb_func=given_versions, n_perturb_samples=6
        )
        assert ours[number] == pytest.approx(float(theirs[0]), abs=1e-6)


def quantus_values(metric, network, given):
    _, rows, explanations = given
    scores = np.array([one.scores for one in explanations])
    return metric(
        model=network, x_batch=rows[:, None, :], y_batch=np.array([one.target for one in explanations]),
        a_batch=scores[:, None, :], channel_first=True, softmax=False,
    )  # fmt: skip


def test_max_sensitivity_is_quantus(network, given):
    known, rows, _ = given
    method, versions = Greedy(), 6
    explanations = method.explain(known, rows)
    ours = verax.measure("max-sensitivity", explainer=method, versions=versions, radius=0.05)(
        known, rows, explanations
    )
    case = make_case("max-sensitivity", "scores", known, rows, explanations)
    moved = np.array([_rows(case, number, versions, 0.05) for number in range(len(rows))])
    turns = iter(range(versions))

    def explain(model, inputs, targets, **_):
        own = np.asarray(inputs).reshape(len(inputs), COLUMNS)
        found = method.explain(known, own, np.asarray(targets).tolist())
        return np.array([one.scores for one in found])[:, None, :]

    metric = quantus.MaxSensitivity(
        nr_samples=versions, perturb_func=lambda arr, **_: moved[:, next(turns)].reshape(arr.shape), abs=False,
        normalise=False, disable_warnings=True, display_progressbar=False,
    )  # fmt: skip
    theirs = metric(
        model=network, x_batch=rows[:, None, :], y_batch=np.array(case.targets),
        a_batch=np.array([one.scores for one in explanations])[:, None, :], channel_first=True, softmax=False,
        explain_func=explain,
    )  # fmt: skip
    assert ours == pytest.approx(np.array(theirs), abs=1e-6)


def test_complexity_and_sparseness_are_quantus(network, given):
    quiet = {"disable_warnings": True, "display_progressbar": False}
    theirs = quantus_values(quantus.Complexity(abs=True, normalise=False, **quiet), network, given)
    assert verax.measure("entropy")(*given) == pytest.approx(np.array(theirs), abs=1e-6)
    theirs = quantus_values(quantus.Sparseness(abs=True, normalise=False, **quiet), network, given)
    assert verax.measure("gini")(*given) == pytest.approx(np.array(theirs), abs=1e-6)


def flipped(network, given, *, last_first=False):
    """By Quantus: the target's probability with all columns, and after each is gone, the first first or the last."""
    metric = quantus.PixelFlipping(
        features_in_step=1, perturb_baseline=0.0, abs=False, normalise=False, disable_warnings=True,
        display_progressbar=False,
    )  # fmt: skip
    model, rows, explanations = given
    turned = [replace(one, scores=-one.scores) for one in explanations] if last_first else explanations
    curves = np.array(quantus_values(metric, network, (model, rows, turned)))
    answers = model.predict_proba(rows)
    whole = np.array([answer[one.target] for answer, one in zip(answers, explanations, strict=True)])
    return np.concatenate([whole[:, None], curves], axis=1)


def test_what_takes_features_away_follows_from_quantus_pixel_flipping(network, given):
    gone = flipped(network, given)
    # The first k alone are what is left when the last ones are gone.
    alone = flipped(network, given, last_first=True)[:, ::-1]
    whole, steps = gone[:, :1], gone[:, 1:]
    other = steps < 0.5  # of two classes
    targeted = whole[:, 0] >= 0.5
    assert targeted.any()
    first = np.where(other.any(axis=1), other.argmax(axis=1) + 1, COLUMNS) / COLUMNS
    shares = tuple(k / COLUMNS for k in range(1, COLUMNS + 1))
    wanted = {
        "deletion": np.trapezoid(gone, dx=1 / COLUMNS, axis=1),
        "insertion": np.trapezoid(alone, dx=1 / COLUMNS, axis=1),
        "decision-flip-fraction": np.where(targeted, first, 0.0),
        "decision-flip-token": np.where(targeted, other[:, 0], 0.0),
        "comprehensiveness(k=2)": whole[:, 0] - gone[:, 2],
        "sufficiency(k=2)": whole[:, 0] - alone[:, 2],
        "log-odds(k=2)": np.log(gone[:, 2] / whole[:, 0]),
    }
    for name, values in wanted.items():
        found = verax.measure(name, absent="mean")(*given)
        assert found == pytest.approx(values, abs=1e-6), name
    for name, values in (
        ("comprehensiveness", (whole - steps).mean(axis=1)),
        ("sufficiency", (whole - alone[:, 1:]).mean(axis=1)),
        ("log-odds", np.log(steps / whole).mean(axis=1)),
    ):
        found = verax.measure(name, shares=shares, absent="mean")(*given)
        assert found == pytest.approx(values, abs=1e-6), name


def test_faithfulness_correlation_is_quantus_on_the_same_sets(network, given, monkeypatch):
    model, rows, explanations = given
    size = 2
    case = make_case("faithfulness-correlation", "scores", model, rows, explanations)
    drawn = [_random_sets(case, number, DRAWS, size) for number in range(len(rows))]
    # Quantus draws a set for each input, run after run.
    sets = iter([np.flatnonzero(drawn[number][run]) for run in range(DRAWS) for number in range(len(rows))])
    monkeypatch.setattr(np.random, "choice", lambda *_, **__: next(sets))
    metric = quantus.FaithfulnessCorrelation(
        nr_runs=DRAWS, subset_size=size, perturb_baseline=0.0, abs=False, normalise=False,
        return_aggregate=False, disable_warnings=True, display_progressbar=False,
    )  # fmt: skip
    theirs = quantus_values(metric, network, given)
    ours = verax.measure("faithfulness-correlation", draws=DRAWS, size=size, absent="mean")(*given)
    assert ours == pytest.approx(np.array(theirs), abs=1e-6)


def test_monotonicity_correlation_is_quantus(network, given):
    metric = quantus.MonotonicityCorrelation(
        nr_samples=1, features_in_step=1, perturb_baseline=0.0, abs=True, normalise=False,
        disable_warnings=True, display_progressbar=False,
    )  # fmt: skip
    theirs = quantus_values(metric, network, given)
    ours = verax.measure("monotonicity-correlation", absent="mean")(*given)
    assert ours == pytest.approx(np.array(theirs), abs=1e-6)


def test_monotonicity_is_quantus_where_it_is_given_the_values(network, given):
    """Quantus does not ask whether the first feature lowers the probability of the empty row; here it does not."""
    model, _, _ = given
    rng = np.random.default_rng(2)
    explained = []
    for target in (0, 1):
        empty = torch.zeros((1, COLUMNS), dtype=torch.float64, requires_grad=True)
        network(empty)[0, target].backward()
        # Small steps up, but for one column of every other row.
        rows = np.abs(rng.uniform(0.1, 0.3, (8, COLUMNS))) * np.sign(empty.grad.numpy())
        rows[::2, 0] *= -1
        explained += [
            (row, Attribution(model.schema.names, rng.normal(size=COLUMNS), target)) for row in rows
        ]
    rows = np.array([row for row, _ in explained])
    steps = np.zeros_like(rows)
    first = np.array([one.scores.argmin() for _, one in explained])
    steps[np.arange(len(rows)), first] = rows[np.arange(len(rows)), first]
    targets = np.array([one.target for _, one in explained])
    place = np.arange(len(rows))
    rises = model.predict_proba(steps)[place, targets] >= model.predict_proba(0 * rows)[place, targets]
    kept = np.flatnonzero(rises)

    def put(arr, indices, perturb_baseline, **_):
        changed = arr.copy()
        np.put_along_axis(changed, indices, np.take_along_axis(rows[kept], indices, axis=1), axis=1)
        return changed

    metric = quantus.Monotonicity(
        features_in_step=1, perturb_baseline=0.0, perturb_func=put, abs=False, normalise=False,
        disable_warnings=True, display_progressbar=False,
    )  # fmt: skip
    some = model, rows[kept], [explained[number][1] for number in kept]
    theirs = np.array(quantus_values(metric, network, some), dtype=float)
    assert set(theirs) == {0.0, 1.0}
    assert verax.measure("monotonicity", absent="mean")(*some) == pytest.approx(theirs)


def test_the_place_among_all_orders_follows_from_quantus_pixel_flipping(network, given):
    """Quantus flips all 720 orders of six columns; both ends and the place between them are taken from these."""
    model, rows, explanations = given
    orders = np.array(list(permutations(range(COLUMNS))))
    every = [Attribution(model.schema.names, -places.astype(float), 0) for places in orders.argsort(axis=1)]
    for row, explained in zip(rows, explanations, strict=True):
        targeted = [replace(one, target=explained.target) for one in every]
        curves = flipped(network, (model, np.tile(row, (len(orders), 1)), targeted))
        falls = (curves[:, :1] - curves[:, 1:]).mean(axis=1)
        low, high = falls.min(), falls.max()
        first = np.argsort(-explained.scores)
        for name, order, sign in (
            ("naopc-comprehensiveness", first, 1),
            # What is kept first is removed last, and should fall little.
            ("naopc-sufficiency", first[::-1], -1),
        ):
            place = (falls[(orders == order).all(axis=1)][0] - low) / (high - low)
            found = verax.measure(name, absent="mean")(model, row[None], [explained])[0]
            assert found == pytest.approx(place if sign > 0 else 1 - place, abs=1e-6), name


def test_stability_is_quantus_mean_over_versions_by_its_rank_correlation(network, given):
    """Of a version of which another class is predicted Quantus' AvgSensitivity has NaN, which is left out here."""
    known, _, _ = given
    rows = np.random.default_rng(11).normal(size=(40, COLUMNS))
    margins = np.abs(np.subtract(*known.predict_proba(rows).T))
    rows = rows[np.argsort(margins)[:6]]  # near the border, so that some versions cross it
    method, versions, radius = Greedy(), 8, 0.5
    explanations = method.explain(known, rows)
    case = make_case("stability", "order", known, rows, explanations)
    moved = np.array([_rows(case, number, versions, radius) for number in range(len(rows))])
    stays = known.predict_proba(moved.reshape(-1, COLUMNS)).argmax(axis=1).reshape(len(rows), versions)
    stays = stays == np.array(case.targets)[:, None]
    assert stays.any(axis=1).all()
    assert not stays.all()
    turns = iter(range(versions))

    def explain(model, inputs, targets, **_):
        own = np.asarray(inputs).reshape(len(inputs), COLUMNS)
        found = method.explain(known, own, np.asarray(targets).tolist())
        return np.array([one.scores for one in found])[:, None, :]

    metric = quantus.AvgSensitivity(
        nr_samples=versions, perturb_func=lambda arr, **_: moved[:, next(turns)].reshape(arr.shape),
        similarity_func=partial(quantus.similarity_func.correlation_spearman, batched=True),
        norm_numerator=lambda a: a, norm_denominator=lambda a: 1.0, return_nan_when_prediction_changes=True,
        abs=False, normalise=False, disable_warnings=True, display_progressbar=False,
    )  # fmt: skip
    metric.mean_func = np.nanmean
    theirs = metric(
        model=network, x_batch=rows[:, None, :], y_batch=np.array(case.targets),
        a_batch=np.array([one.scores for one in explanations])[:, None, :], channel_first=True, softmax=False,
        explain_func=explain,
    )  # fmt: skip
    ours = verax.measure("stability", explainer=method, versions=versions, radius=radius)(
        known, rows, explanations
    )
    assert ours == pytest.approx(np.array(theirs), abs=1e-6)
    assert np.ptp(ours) > 0.1


def gradients(network, rows, targets):
    inputs = torch.from_numpy(np.array(rows)).requires_grad_()
    found = InputXGradient(network).attribute(inputs, target=torch.tensor(targets))
    return found.detach().numpy().reshape(len(rows), COLUMNS)


@dataclass(frozen=True)
class Slopes(Explainer):
    """captum's product of gradient and input, of whatever weights a model has."""

    def explain(self, model, inputs, targets=None):
        return [
            Attribution(model.schema.names, scores, target)
            for scores, target in zip(gradients(model.module, inputs, targets), targets, strict=True)
        ]


class Redrawn(nn.Linear):
    """A layer that is reset to given weights; Quantus makes a model random by resetting its layers."""

    drawn: tuple[torch.Tensor, ...]

    def reset_parameters(self):
        with torch.no_grad():
            for parameter, values in zip(self.parameters(), self.drawn, strict=True):
                parameter.copy_(values)


@pytest.mark.parametrize("seed", [0, 1])
def test_model_randomisation_is_the_last_step_of_quantus_on_the_same_random_weights(network, given, seed):
    """Quantus makes layer after layer random, from the last to the first; Verax all of them."""
    known, rows, _ = given
    model = verax.as_model(
        network, encoder=lambda rows: torch.from_numpy(np.asarray(rows, dtype=float)), class_names=("no", "yes"),
        outputs="probabilities", schema=known.schema, reference=known.reference, kind="table",
    )  # fmt: skip
    targets = [0, 1, 1, 0]
    explanations = Slopes().explain(model, rows, targets)
    case = make_case("model-randomisation", "order", model, rows, explanations)
    drawn = _randomised(case, seed).module
    reset = copy.deepcopy(network)
    for layer, other in zip(reset.layers, drawn.layers, strict=True):
        if isinstance(layer, nn.Linear):
            layer.__class__ = Redrawn
            layer.drawn = tuple(other.parameters())
            assert not any(
                torch.equal(one, two) for one, two in zip(layer.parameters(), layer.drawn, strict=True)
            )
    metric = quantus.MPRT(
        similarity_func=quantus.similarity_func.correlation_spearman, layer_order="top_down",
        return_last_correlation=True, abs=False, normalise=False, disable_warnings=True,
    )  # fmt: skip
    theirs = metric(
        model=reset, x_batch=rows[:, None, :], y_batch=np.array(targets),
        a_batch=np.array([one.scores for one in explanations])[:, None, :], channel_first=True, softmax=False,
        explain_func=lambda model, inputs, targets, **_: gradients(model, inputs, targets)[:, None, :],
    )  # fmt: skip
    ours = verax.measure("model-randomisation", explainer=Slopes(), seed=seed)(model, rows, explanations)
    assert ours == pytest.approx(np.array(theirs), abs=1e-6)
    assert np.ptp(ours) > 0.1


def test_agreement_is_quantus_share_of_the_first_in_a_mask_and_its_rank_correlation(network, given):
    """The mask holds the k first features of the other explanation."""
    model, rows, explanations = given
    rng = np.random.default_rng(4)
    other = [replace(one, scores=rng.normal(size=COLUMNS)) for one in explanations]
    mine, theirs = (np.array([one.scores for one in some]) for some in (explanations, other))
    for k in (1, 2, 3, 5):
        mask = np.zeros_like(theirs, dtype=bool)
        np.put_along_axis(mask, np.argsort(-np.abs(theirs), axis=1)[:, :k], values=True, axis=1)
        metric = quantus.TopKIntersection(
            k=k, abs=True, normalise=False, disable_warnings=True, display_progressbar=False
        )
        wanted = metric(
            model=network, x_batch=rows[:, None, :], y_batch=np.array([one.target for one in explanations]),
            a_batch=mine[:, None, :], s_batch=mask[:, None, :], channel_first=True, softmax=False,
        )  # fmt: skip
        found = verax.measure("feature-agreement", other=other, k=k)(model, rows, explanations)
        assert found == pytest.approx(np.array(wanted), abs=1e-6)
    # Of the six, two tie.
    mine[:, 1] = mine[:, 4]
    tied = [replace(one, scores=scores) for one, scores in zip(explanations, mine, strict=True)]
    found = verax.measure("rank-correlation", other=other)(model, rows, tied)
    wanted = quantus.similarity_func.correlation_spearman(mine, theirs, batched=True)
    assert found == pytest.approx(wanted, abs=1e-6)


@pytest.fixture
def ferret(monkeypatch):
    """ferret's measures without its own ``__init__``, which imports plots and data sets that are not installed."""
    package = ModuleType("ferret")
    package.__path__ = list(find_spec("ferret").submodule_search_locations)
    monkeypatch.setitem(sys.modules, "ferret", package)
    yield import_module("ferret.evaluators.faithfulness_measures")
    for name in [name for name in sys.modules if name.startswith("ferret.")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    """A small BERT of random weights that knows whole words."""
    words = ["a", "the", "good", "bad", "film", "plot", "was", "with", "dull", "warm", "end", "actor"]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    vocabulary = tmp_path_factory.mktemp("bert") / "vocab.txt"
    vocabulary.write_text("\n".join(pieces))
    tokenizer = transformers.BertTokenizerFast(vocab=str(vocabulary), model_max_length=16)
    torch.manual_seed(5)
    settings = transformers.BertConfig(
        vocab_size=len(pieces), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=16, initializer_range=0.8,
    )  # fmt: skip
    return transformers.BertForSequenceClassification(settings).eval(), tokenizer


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("comprehensiveness", "AOPC_Comprehensiveness_Evaluation"),
        ("sufficiency", "AOPC_Sufficiency_Evaluation"),
    ],
)
def test_shares_of_the_words_are_ferrets(ferret, classifier, name, theirs):
    network, tokenizer = classifier
    # Ten different words: each tenth is one word, which both count alike.
    text = "the good film with a warm plot was bad dull"
    scores = np.random.default_rng(0).permutation(np.linspace(0.1, 1.0, 10))
    model = verax.as_model(network, tokenizer=tokenizer, class_names=("no", "yes"))
    explained = Attribution(tuple(text.split()), scores, 1, input=text)
    measure = verax.measure(name, shares=tuple(tenth / 10 for tenth in range(1, 11)))
    with_marks = np.concatenate([[0.0], scores, [0.0]])
    given = import_module("ferret.explainers.explanation").Explanation(
        text, ["[CLS]", *text.split(), "[SEP]"], with_marks, "ours", 1
    )
    found = getattr(ferret, theirs)(network, tokenizer).compute_evaluation(given, target=1)
    assert measure(model, [text], [explained])[0] == pytest.approx(float(found.score), abs=1e-6)
    assert abs(found.score) > 0.01  # the words do something


def test_masked_words_are_the_networks_own_mask(classifier):
    network, tokenizer = classifier
    text = "the good film with a warm plot was bad dull"
    model = verax.as_model(network, tokenizer=tokenizer, class_names=("no", "yes"))
    scores = np.zeros(10)
    scores[[1, 5]] = 2.0, 1.0  # good, warm

    def probability(written):
        with torch.no_grad():
            return float(
                torch.softmax(network(**tokenizer(written, return_tensors="pt")).logits, dim=1)[0, 1]
            )

    whole, explained = probability(text), [Attribution(tuple(text.split()), scores, 1, input=text)]
    for k, written in (
        (1, "the [MASK] film with a warm plot was bad dull"),
        (2, "the [MASK] film with a [MASK] plot was bad dull"),
        (10, " ".join(["[MASK]"] * 10)),
    ):
        found = verax.measure("comprehensiveness", k=k, absent="masked")(model, [text], explained)
        assert found[0] == pytest.approx(whole - probability(written), abs=1e-6)

"""Measures beside captum's and Quantus' where these define the same; Quantus is no part of the dev extra (opencv).

Quantus 0.6.0's Monotonicity is none: it fills the baseline with the baseline, so that its answer is always True.
"""

from functools import partial

import numpy as np
import pytest
import torch
from captum.metrics import infidelity, sensitivity_max
from torch import nn

import verax
from verax.data.table import Column, Schema
from verax.explain import Greedy
from verax.explain.explanation import Attribution
from verax.measures.case import make_case
from verax.measures.repeating import _rows

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


def test_complexity_and_sparseness_are_quantus(network, given):
    quantus = pytest.importorskip("quantus")
    quiet = {"disable_warnings": True, "display_progressbar": False}
    theirs = quantus_values(quantus.Complexity(abs=True, normalise=False, **quiet), network, given)
    assert verax.measure("entropy")(*given) == pytest.approx(np.array(theirs), abs=1e-6)
    theirs = quantus_values(quantus.Sparseness(abs=True, normalise=False, **quiet), network, given)
    assert verax.measure("gini")(*given) == pytest.approx(np.array(theirs), abs=1e-6)


def test_deletion_is_the_area_under_quantus_pixel_flipping(network, given):
    quantus = pytest.importorskip("quantus")
    metric = quantus.PixelFlipping(
        features_in_step=1, perturb_baseline=0.0, abs=False, normalise=False, disable_warnings=True,
        display_progressbar=False,
    )  # fmt: skip
    model, rows, explanations = given
    curves = np.array(quantus_values(metric, network, given))
    first = np.array(
        [answer[one.target] for answer, one in zip(model.predict_proba(rows), explanations, strict=True)]
    )
    area = np.trapezoid(np.concatenate([first[:, None], curves], axis=1), dx=1 / COLUMNS, axis=1)
    assert verax.measure("deletion", absent="mean")(*given) == pytest.approx(area, abs=1e-6)

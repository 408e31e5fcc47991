"""Both mixed models equal lme4 on three studies, stored by tests/stats/r/make_mixed.py; R is not needed here."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from verax.stats.mixed.laplace import fit_logistic
from verax.stats.mixed.linear import Term, fit_linear, linear_changes
from verax.stats.responses import responses

STORED = json.loads((Path(__file__).parents[1] / "r" / "mixed.json").read_text())["studies"]


def columns(name):
    return {key: np.array(STORED[name][key]) for key in ("participant", "item", "method", "pre", "post")}


def by_name(part):
    """Standard deviations by what varies: lme4 names them "item", "item.1.(Intercept)", "participant.after", ..."""
    return {
        (label.split(".")[0], "after" in label): sd
        for label, sd in zip(part["names"], part["sds"], strict=True)
    }


@pytest.mark.parametrize("name", STORED)
def test_the_linear_model_of_changes(name):
    study, expected = columns(name), STORED[name]["linear"]
    design = np.equal.outer(study["method"], np.unique(study["method"])).astype(float)
    found = fit_linear(study["post"] - study["pre"], design, [study["participant"], study["item"]])
    sds = by_name(expected)
    assert found.coefficients == pytest.approx(expected["coefficients"], abs=1e-7)
    assert np.sqrt(np.diag(found.covariance)) == pytest.approx(expected["se"], abs=1e-7)
    assert found.sds == pytest.approx([sds["participant", False], sds["item", False]], abs=1e-6)
    assert found.residual == pytest.approx(sds["Residual", False], abs=1e-7)
    assert found.criterion == pytest.approx(expected["criterion"], abs=1e-8)
    effects = linear_changes(responses(**study))
    assert [one.estimate for one in effects] == pytest.approx(expected["coefficients"], abs=1e-7)
    assert [one.se for one in effects] == pytest.approx(expected["se"], abs=1e-7)


@pytest.mark.parametrize("name", STORED)
def test_the_logistic_model_of_all_answers(name):
    study, expected = columns(name), STORED[name]["logistic"]
    participant, item, method = (np.tile(study[key], 2) for key in ("participant", "item", "method"))
    after = np.repeat([0.0, 1.0], len(study["pre"]))
    methods = np.equal.outer(method, np.unique(method)).astype(float)
    terms = [Term(group, slope) for group in (participant, item) for slope in (np.ones_like(after), after)]
    correct = np.concatenate([study["pre"], study["post"]])
    found = fit_logistic(correct, np.hstack([methods, methods * after[:, None]]), terms)
    sds = by_name(expected)
    names = [(group, late) for group in ("participant", "item") for late in (False, True)]
    errors = np.sqrt(np.diag(found.covariance))[: len(found.coefficients)]
    assert found.converged
    assert found.coefficients == pytest.approx(expected["coefficients"], abs=2e-4)
    assert found.sds == pytest.approx([sds[one] for one in names], abs=2e-4)
    assert errors == pytest.approx(expected["se"], abs=2e-3)
    # Never worse than lme4's maximum, which stops a little before the top.
    assert -1e-6 < found.log_likelihood - expected["log_likelihood"] < 1e-3

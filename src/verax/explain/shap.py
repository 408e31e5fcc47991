"""SHAP (Lundberg and Lee 2017): Shapley values of the features, exact where that is cheap, else by KernelSHAP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain.base import Explainer, Target, at_least, explainers
from verax.explain.explanation import Attribution
from verax.explain.perturbed import BANKS, Scored, check_targets, explain_with_banks
from verax.explain.shap_banks import EnumerationBank, KernelBank, build_kernel_bank
from verax.models.base import Inputs, Model
from verax.perturb.masks import all_masks
from verax.perturb.shapley import shapley_from_all

ROUTES = ("auto", "kernel")
OUTPUTS = ("probability", "log-odds")


@explainers.register("shap")
@dataclass(frozen=True)
class Shap(Explainer):
    """Shapley values of the target's probability (or log-odds), all features kept.

    The route is taken in this order, and named in the result: closed forms ("trees" for trees and forests;
    "linear" and "trees" for logistic regression and xgboost in log-odds), "enumeration" of all coalitions where
    they are no more than ``samples``, else "kernel", KernelSHAP with paired sampling.

    Attributes:
        samples: coalitions between none and all; 2 * features + 2048 if None, as in shap.
        seed: inputs with equally many features share their masks.
        output: what is explained, "probability" or "log-odds" of the target.
        route: "auto", or "kernel" to sample even where an exact value is cheap.
    """

    samples: int | None = None
    seed: int = 0
    output: str = "probability"
    route: str = "auto"

    def __post_init__(self) -> None:
        at_least(self.samples, 1, "samples")
        if self.output not in OUTPUTS:
            raise VeraxError(f"There is no output {self.output!r}; it is 'probability' or 'log-odds'.")
        if self.route not in ROUTES:
            raise VeraxError(f"There is no route {self.route!r}; it is 'auto' or 'kernel'.")

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """Explains each input; see :meth:`Explainer.explain`."""
        wanted = check_targets(model, inputs, targets)
        if self.route == "auto":
            from verax.explain.shap_exact import explain_exactly

            exact = explain_exactly(self, model, inputs, wanted)
            missing = [number for number, explanation in enumerate(exact) if explanation is None]
        else:
            exact = [None] * len(inputs)
            missing = list(range(len(inputs)))
        sampled = iter(
            explain_with_banks(
                repr(self),
                model,
                [inputs[number] for number in missing],
                [wanted[number] for number in missing],
                self._bank,
                partial(_score, self),
            )
            if missing
            else []
        )
        return [next(sampled) if explanation is None else explanation for explanation in exact]

    def _bank(self, n_features: int) -> EnumerationBank | KernelBank:
        samples = 2 * n_features + 2048 if self.samples is None else self.samples
        if self.route == "auto" and n_features < 63 and 2**n_features - 2 <= samples:
            return EnumerationBank(all_masks(n_features))
        key = ("shap", n_features, samples, self.seed)
        bank: KernelBank = BANKS.get(key, lambda: build_kernel_bank(n_features, samples, self.seed))
        return bank


def _score(shap: Shap, bank: EnumerationBank | KernelBank, probabilities: FloatArray) -> Scored:
    answers = log_odds(probabilities) if shap.output == "log-odds" else probabilities
    details: dict[str, Any] = {"output": shap.output, "route": bank.route, "base": float(answers[bank.empty])}
    if isinstance(bank, EnumerationBank):
        return Scored(shapley_from_all(bank.masks, answers), details)
    return Scored(bank.solve(answers), details)


def log_odds(probabilities: FloatArray) -> FloatArray:
    """log(p / (1 - p)); probabilities nearer to 0 or 1 than 1e-9 count as that near, so that it stays finite."""
    inside = np.clip(probabilities, 1e-9, 1.0 - 1e-9)
    odds: FloatArray = np.log(inside) - np.log1p(-inside)
    return odds

"""SHAP (Lundberg and Lee 2017): Shapley values of the features, exact where that is cheap, else by KernelSHAP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, at_least, explainers
from verax.explain.entry import check_targets
from verax.explain.explanation import Attribution
from verax.explain.perturbed import BANKS, Scored, check_absent, explain_with_banks
from verax.explain.shap_banks import EnumerationBank, KernelBank, build_kernel_bank
from verax.explain.shap_exact import ENUMERATED, Asked, explain_exactly, log_odds
from verax.models.base import Inputs, Model
from verax.perturb.evaluate import Absent
from verax.perturb.masks import all_masks
from verax.perturb.shapley import interactions_from_all

ROUTES = ("auto", "kernel")
OUTPUTS = ("probability", "log-odds", "raw")
BACKGROUNDS = ("rows", "paths")


@explainers.register("shap")
@dataclass(frozen=True)
class Shap(Explainer):
    """Shapley values of the target's probability (or log-odds), all features kept.

    The route is taken in this order, and named in the result: closed forms ("trees" for trees and forests;
    "linear" and "trees" for linear models and boosted trees in log-odds or raw; "paths"), "enumeration" of all
    coalitions of up to 12 features or where they are no more than ``samples``, else "kernel", KernelSHAP with paired
    sampling.

    Attributes:
        samples: coalitions between none and all; 2 * features + 2048 if None, as in shap.
        seed: inputs with equally many features share their masks.
        output: what is explained: "probability" or "log-odds" of the target, or "raw", the sum that trees or a linear
            model make before. Of a model of numbers the number is explained.
        route: "auto", or "kernel" to sample even where an exact value is cheap.
        absent: what stands where a word is absent: nothing ("dropped"), or for networks a mask
            ("masked"): the tokenizer's own, or a vector of zeros.
        background: what stands where a column of a table is absent: the values of background rows, averaged ("rows");
            or, for models of trees, both branches in the shares in which training rows took them ("paths", what shap
            calls tree-path-dependent).
        interactions: whether halves of the interactions of each two features are put into the details, as a matrix
            whose rows add up to the scores; for trees (output "raw", or a sum) and for up to 12 features.
    """

    samples: int | None = None
    seed: int = 0
    output: str = "probability"
    route: str = "auto"
    absent: Absent = "dropped"
    background: str = "rows"
    interactions: bool = False

    claim: ClassVar[Claim] = "additive"

    def __post_init__(self) -> None:
        check_absent(self.absent)
        at_least(self.samples, 1, "samples")
        if self.output not in OUTPUTS:
            raise VeraxError(f"There is no output {self.output!r}; it is 'probability', 'log-odds' or 'raw'.")
        if self.background not in BACKGROUNDS:
            raise VeraxError(f"There is no background {self.background!r}; it is 'rows' or 'paths'.")
        if self.route not in ROUTES:
            raise VeraxError(f"There is no route {self.route!r}; it is 'auto' or 'kernel'.")

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """Explains each input; see :meth:`Explainer.explain`."""
        wanted = check_targets(model, inputs, targets)
        exact: list[Attribution | None] = [None] * len(inputs)
        output = self._output(model)
        if self.route == "auto" and self.absent == "dropped":
            asked = Asked(output, self.background, self.interactions)
            exact = explain_exactly(repr(self), model, inputs, wanted, asked)
        elif output == "raw" or self.background == "paths":
            raise VeraxError(
                "output='raw' and background='paths' are had exactly, with route='auto', or not at all."
            )
        missing = [number for number, explanation in enumerate(exact) if explanation is None]
        sampled = iter(
            explain_with_banks(
                self,
                model,
                [inputs[number] for number in missing],
                [wanted[number] for number in missing],
                self.absent,
            )
        )
        return [next(sampled) if explanation is None else explanation for explanation in exact]

    def _output(self, model: Model) -> str:
        if model.output != "number":
            return self.output
        if self.output == "log-odds":
            raise VeraxError(
                "The model predicts a number, which has no log-odds; leave output= out, and the number is explained."
            )
        return "number" if self.output == "probability" else self.output

    def bank(self, n_features: int) -> EnumerationBank | KernelBank:
        """All masks for a number of features, or KernelSHAP's."""
        samples = kernel_samples(n_features) if self.samples is None else self.samples
        most = max(samples, 2**ENUMERATED) if self.samples is None else samples
        if self.route == "auto" and n_features < 63 and 2**n_features - 2 <= most:
            return EnumerationBank(all_masks(n_features))
        if self.interactions:
            raise VeraxError(
                f"Interactions of {n_features} features are not sampled; take fewer than {ENUMERATED + 1} features, or "
                "output='raw' for a model of trees."
            )
        key = ("shap", n_features, samples, self.seed)
        bank: KernelBank = BANKS.get(key, lambda: build_kernel_bank(n_features, samples, self.seed))
        return bank

    def score(self, bank: EnumerationBank | KernelBank, answers: FloatArray) -> Scored:
        """The Shapley values of the target's probability, or of its log-odds."""
        answers = log_odds(answers) if self.output == "log-odds" else answers
        base = float(answers[bank.empty])
        scores = bank.solve(answers)
        details: dict[str, object] = {"output": self.output, "route": bank.route, "base": base}
        if self.interactions:
            pairs = interactions_from_all(answers)
            np.fill_diagonal(pairs, scores - pairs.sum(axis=1))
            details["interactions"] = pairs.tolist()
        return Scored(scores, details)


def kernel_samples(n_features: int) -> int:
    """How many coalitions KernelSHAP draws unless told otherwise, as in the package shap."""
    return 2 * n_features + 2048

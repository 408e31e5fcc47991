"""LIME (Ribeiro, Singh and Guestrin 2016): a linear model fitted to the model's answers around an input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from verax.arrays import BoolArray, FloatArray
from verax.errors import VeraxError
from verax.explain.base import Explainer, Target, at_least, explainers
from verax.explain.explanation import Attribution
from verax.explain.lime_tables import Sampling, explain_rows
from verax.explain.perturbed import BANKS, Scored, check_targets, explain_with_banks
from verax.models.base import Inputs, Model
from verax.perturb import solve
from verax.perturb.masks import Masks, distinct_rows
from verax.seeds import stream

SELECTIONS = ("auto", "none", "highest_weights", "forward_selection", "lasso_path")
TEXT_KERNEL_WIDTH = 25.0


@explainers.register("lime")
@dataclass(frozen=True)
class Lime(Explainer):
    """LIME with the original's sampling, kernel and ridge regression, for texts and for tables.

    A text's features are its distinct words, each removed everywhere at once. Every feature gets a score unless
    ``features`` asks for a selection, which the original makes by default for its ten printed words.

    Attributes:
        samples: perturbed variants per input, the input itself among them.
        seed: inputs with equally many features share their masks.
        kernel_width: of the exponential kernel; 25 for texts, 0.75 * sqrt(columns) for tables if None.
        features: how many features to keep; the rest score 0. None keeps all.
        selection: how they are chosen, by the original's names; "auto" is forward selection up to 6 features
            and the highest weights above.
    """

    samples: int = 5000
    seed: int = 0
    kernel_width: float | None = None
    features: int | None = None
    selection: str = "auto"

    def __post_init__(self) -> None:
        at_least(self.samples, 2, "samples")
        at_least(self.features, 1, "features")
        if self.selection not in SELECTIONS:
            raise VeraxError(
                f"There is no selection {self.selection!r}; it is one of {', '.join(SELECTIONS)}."
            )
        if self.kernel_width is not None and not self.kernel_width > 0:
            raise VeraxError(f"kernel_width={self.kernel_width} must be above 0.")

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """Explains each input; see :meth:`Explainer.explain`."""
        wanted = check_targets(model, inputs, targets)
        if model.kind == "table":
            sampling = Sampling(self.samples, self.seed, self.kernel_width)
            return explain_rows(repr(self), model, inputs, wanted, sampling, self.fit)
        return explain_with_banks(self, model, inputs, wanted)

    def bank(self, n_features: int) -> LimeBank:
        """The masks for a number of features, with what the regression on them needs."""
        width = self.kernel_width or TEXT_KERNEL_WIDTH
        about = (n_features, self.samples)

        def build() -> LimeBank:
            return build_bank(sample_masks(*about, stream(self.seed, "lime", *about)), width)

        bank: LimeBank = BANKS.get(("lime", self.seed, width, *about), build)
        return bank

    def score(self, bank: LimeBank, answers: FloatArray) -> Scored:
        """The coefficients of the local regression."""
        fit = self.fit(bank.normal, solve.moments(bank.normal, bank.masks, bank.weights, answers))
        return Scored(fit.coefficients, {"intercept": fit.intercept, "r2": fit.r2})

    def fit(self, normal: solve.Normal, moments: solve.Moments) -> solve.Fit:
        """The regression on all features, or on those that the selection chooses."""
        count, selection = self.features, self.selection
        if count is None or selection == "none" or count >= len(moments.covariance):
            return solve.ridge(normal, moments)
        if selection == "lasso_path":
            chosen = solve.lasso_path(normal, moments.covariance, count)
        elif selection == "forward_selection" or (selection == "auto" and count <= 6):
            chosen = solve.forward_selection(normal, moments.covariance, count)
        else:
            chosen = solve.highest_weights(normal, moments.covariance, count)
        return solve.ridge_on(normal, chosen, moments)


@dataclass(frozen=True, eq=False)
class LimeBank:
    """Distinct masks with their weights and sums of squares; the first mask has everything present."""

    masks: Masks
    weights: FloatArray
    normal: solve.Normal
    full: int = 0

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self.masks.nbytes + self.weights.nbytes + self.normal.nbytes


def build_bank(columns: BoolArray, width: float) -> LimeBank:
    """Merges equal masks and prepares the regression on them.

    Args:
        columns: masks as (features, samples), the first with everything present.
        width: of the kernel.
    """
    first, inverse = distinct_rows(columns)
    repeats = np.bincount(inverse, minlength=len(first))
    distinct = columns if len(first) == columns.shape[1] else columns[:, first]
    masks = Masks.from_columns(distinct)
    weights = text_kernel(distinct.sum(axis=0), len(columns), width) * repeats
    return LimeBank(masks, weights, solve.normal_of_masks(masks, weights))


def sample_masks(n_features: int, samples: int, rng: np.random.Generator) -> BoolArray:
    """The original's masks as (features, samples): the input itself, then random ones.

    The original removes a uniformly drawn number of words, from 1 to all, uniformly chosen. Removing each word
    with one probability that is itself uniform gives just this distribution, the number 0 included, which is
    drawn again; it needs no sorting.
    """
    columns = np.ones((n_features, samples), dtype=np.bool_)
    redo = np.arange(1, samples) if n_features else np.arange(0)
    while len(redo):
        chances = rng.random(len(redo), dtype=np.float32)
        columns[:, redo] = rng.random((n_features, len(redo)), dtype=np.float32) >= chances
        redo = redo[columns[:, redo].all(axis=0)]
    return columns


def text_kernel(kept: FloatArray, n_features: int, width: float) -> FloatArray:
    """Exponential kernel on 100 times the cosine distance to the full text, of variants that keep ``kept`` words."""
    distance = 100.0 * (1.0 - np.sqrt(kept / max(1, n_features)))
    weights: FloatArray = np.sqrt(np.exp(-(distance**2) / width**2))
    return weights

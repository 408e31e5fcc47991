"""LIME (Ribeiro, Singh and Guestrin 2016): a linear model fitted to the model's answers around an input."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from verax.arrays import BoolArray, FloatArray
from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, at_least, explainers
from verax.explain.entry import check_targets
from verax.explain.explanation import Attribution, Cost
from verax.explain.lime_tables import Sampling, explain_rows
from verax.explain.perturbed import BANKS, Scored, Targets, attribution, check_absent, explain_with_banks
from verax.models.base import Inputs, Model
from verax.perturb import solve
from verax.perturb.dispatch import path_for
from verax.perturb.evaluate import Absent
from verax.perturb.leaf_sums import TextTrees
from verax.perturb.lime_limit import WHOLE, LimeLimit, every_variant, lime_limit, limit_moments
from verax.perturb.masks import Masks, distinct_rows
from verax.perturb.paths.bag_of_words import BagPath
from verax.perturb.paths.bags import Bag
from verax.perturb.paths.heads import TreeHead
from verax.run.threads import one_blas_thread
from verax.seeds import stream

SELECTIONS = ("auto", "none", "highest_weights", "forward_selection", "lasso_path")
TEXT_KERNEL_WIDTH = 25.0
# Texts of up to so many words can be asked about in all their variants.
MAX_ENUMERATED = 12


@explainers.register("lime")
@dataclass(frozen=True)
class Lime(Explainer):
    """LIME with the original's sampling, kernel and ridge regression, for texts and for tables.

    A text's features are its distinct words, each removed everywhere at once. Every feature gets a score unless
    ``features`` asks for a selection, which the original makes by default for its ten printed words.

    Attributes:
        samples: perturbed variants per input, the input itself among them. "exact" is what infinitely many would give:
            in a closed form for trees and forests on bags of words, from all variants for texts of up to 12 words.
        seed: inputs with equally many features share their masks.
        kernel_width: of the exponential kernel; 25 for texts, 0.75 * sqrt(columns) for tables if None.
        features: how many features to keep; the rest score 0. None keeps all.
        selection: how they are chosen, by the original's names; "auto" is forward selection up to 6 features
            and the highest weights above.
        absent: what stands where a word is absent: nothing ("dropped", as in the original), or for networks a mask
            ("masked"): the tokenizer's own, or a vector of zeros.
    """

    samples: int | Literal["exact"] = 5000
    seed: int = 0
    kernel_width: float | None = None
    features: int | None = None
    selection: str = "auto"
    absent: Absent = "dropped"

    claim: ClassVar[Claim] = "additive"

    def __post_init__(self) -> None:
        check_absent(self.absent)
        if isinstance(self.samples, int):
            at_least(self.samples, 2, "samples")
        elif self.samples != "exact":
            raise VeraxError(f"samples={self.samples!r} must be a number or 'exact'.")
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
        if self.samples == "exact":
            return self._explain_exactly(model, inputs, wanted)
        if model.kind == "table" and self.absent == "dropped":
            sampling = Sampling(self.samples, self.seed, self.kernel_width)
            return explain_rows(repr(self), model, inputs, wanted, sampling, self.fit)
        return explain_with_banks(self, model, inputs, wanted, self.absent)

    def bank(self, n_features: int) -> LimeBank:
        """The masks for a number of features, with what the regression on them needs."""
        width = self.kernel_width or TEXT_KERNEL_WIDTH
        if self.samples == "exact":
            return limit_bank(n_features, width)
        about = (n_features, self.samples)

        def build() -> LimeBank:
            return build_bank(sample_masks(*about, stream(self.seed, "lime", *about)), width)

        bank: LimeBank = BANKS.get(("lime", self.seed, width, *about), build)
        return bank

    def _explain_exactly(self, model: Model, inputs: Inputs, targets: Targets) -> list[Attribution]:
        """In closed form where the model has one, otherwise from all variants."""
        if model.kind == "table":
            raise VeraxError(
                "LIME on a table draws numbers inside bins, so samples='exact' is for texts; give a number."
            )
        path = path_for(model, self.absent)
        trees = None
        if (
            isinstance(path, BagPath)
            and isinstance(path.head, TreeHead)
            and path.head.ensemble.link == "identity"
        ):
            trees = TextTrees.of(path.head.ensemble, path.lexicon.n_columns)
        explanations: list[Attribution] = []
        for given, target in zip(inputs, targets, strict=True):
            started = time.perf_counter()
            ready = path.prepare([given])[0] if trees else None
            if trees is None or ready is None or not trees.takes(ready):
                explanations += explain_with_banks(self, model, [given], [target], self.absent)
                continue
            chosen, scored = self._score_leaves(trees, ready, target)
            scored.details["path"] = path.name
            cost = Cost(0, 0, time.perf_counter() - started)
            explanations.append(attribution(repr(self), model, given, ready.features, chosen, scored, cost))
        return explanations

    def _score_leaves(self, trees: TextTrees, ready: Bag, target: int | None) -> tuple[int, Scored]:
        """The class that is explained, and the coefficients of the regression on infinitely many samples."""
        n, width = len(ready.features), self.kernel_width or TEXT_KERNEL_WIDTH
        limit: LimeLimit = BANKS.get(
            ("lime-limit", width, n),
            lambda: lime_limit(text_kernel(np.arange(n, dtype=np.float64), n, width)),
        )
        sums = trees.leaf_sums(ready, limit.weights)
        if target is None:
            target = int(np.argmax(trees.ensemble.probabilities(sums.totals[WHOLE][:, None])[0]))
        # Of two classes the trees count the second; the first is its mirror image.
        of_two = len(sums.shares) == 1
        covariance, mean = limit_moments(limit, sums, 0 if of_two else target)
        if of_two and target == 0:
            covariance, mean = -covariance, 1.0 - mean
        fit = self.fit(limit.normal, solve.Moments(covariance, mean, 0.0))
        return target, Scored(fit.coefficients, {"intercept": fit.intercept, "route": "trees"})

    def score(self, bank: LimeBank, answers: FloatArray) -> Scored:
        """The coefficients of the local regression."""
        fit = self.fit(bank.normal, solve.moments(bank.normal, bank.masks, bank.weights, answers))
        details: dict[str, object] = {"intercept": fit.intercept, "r2": fit.r2}
        if self.samples == "exact":
            details["route"] = "enumeration"
        return Scored(fit.coefficients, details)

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
    with one_blas_thread():
        return LimeBank(masks, weights, solve.normal_of_masks(masks, weights))


def limit_bank(n_features: int, width: float) -> LimeBank:
    """All variants, each with the weight that infinitely many samples would give it."""
    if n_features > MAX_ENUMERATED:
        raise VeraxError(
            f"An input has {n_features} words; give a number of samples. samples='exact' is for up to "
            f"{MAX_ENUMERATED} words, or for trees and forests on a bag of words in which no two of the input's words "
            "count as one, as 'The' and 'the' may."
        )
    kernel = text_kernel(np.arange(n_features, dtype=np.float64), n_features, width)
    masks, weights = every_variant(kernel)
    return LimeBank(masks, weights, solve.normal_of_masks(masks, weights), full=masks.n_rows - 1)


def sample_masks(n_features: int, samples: int, rng: np.random.Generator) -> BoolArray:
    """The original's masks as (features, samples): the input itself, then random ones.

    The original removes a uniformly drawn number of words, from 1 to all, uniformly chosen. Removing each word
    with one probability that is itself uniform gives just this distribution, the number 0 included, which is
    drawn again; it needs no sorting.
    """
    columns = np.ones((n_features, samples), dtype=np.bool_)
    if n_features == 0:
        return columns
    drawn = columns[:, 1:]
    chances = rng.random(samples - 1, dtype=np.float32)
    np.greater_equal(rng.random(drawn.shape, dtype=np.float32), chances, out=drawn)
    redo = 1 + np.flatnonzero(drawn.all(axis=0))
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

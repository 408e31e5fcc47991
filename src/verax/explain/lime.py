"""LIME (Ribeiro, Singh and Guestrin 2016): a linear model fitted to the model's answers around an input.

Around a text words are removed; around a row of a table values are drawn from the training data's bins, with one
model call for all inputs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal
from weakref import WeakKeyDictionary

import numpy as np
from scipy.special import ndtr, ndtri

from verax.arrays import BoolArray, FloatArray, IndexArray, IntArray
from verax.data.bins import Bins
from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, at_least, check_targets, explainers
from verax.explain.explanation import Attribution, Cost
from verax.explain.perturbed import BANKS, Scored, Targets, attribution, check_absent, explain_with_banks
from verax.models.base import Inputs, Model
from verax.models.wrappers import encode_rows
from verax.perturb import regression
from verax.perturb.dispatch import fitted_state, path_for
from verax.perturb.leaf_sums import TextTrees
from verax.perturb.masks import MAX_ROWS, Absent, Masks, distinct_rows
from verax.perturb.paths.bag_of_words import BagPath
from verax.perturb.paths.bags import Bag, TreeHead
from verax.perturb.paths.tables import TablePath, reference_rows, schema_of
from verax.perturb.regression import WHOLE, LimeLimit, every_variant, lime_limit, limit_moments
from verax.run.threads import one_blas_thread
from verax.seeds import stream

# A pool is kept for this many settings of each model.
POOLS_KEPT = 4


@dataclass(frozen=True)
class Sampling:
    """LIME's parameters on what is drawn and how it is weighed; see :class:`verax.explain.Lime`."""

    samples: int
    seed: int
    kernel_width: float | None


# From a regression's sums to its coefficients.
Fitting = Callable[[regression.Normal, regression.Moments], regression.Fit]


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows drawn without regard to the input, and the model's answers to them: they serve every input.

    Attributes:
        bins: the training data's bins.
        drawn: the bin or category of every drawn value, (columns, rows).
        answers: the model's probabilities for the drawn rows.
    """

    bins: Bins
    drawn: IntArray
    answers: FloatArray


_POOLS: WeakKeyDictionary[Model, dict[Hashable, DrawnRows]] = WeakKeyDictionary()


def explain_rows(
    name: str,
    model: Model,
    inputs: Inputs,
    targets: Targets,
    sampling: Sampling,
    fit: Fitting,
) -> list[Attribution]:
    """Explains each row, as the original does with quartile bins.

    A column's feature is "its value lies in the input's bin" (or "is the input's category").

    Args:
        name: the explainer as code.
        model: a model of tables.
        inputs: its inputs.
        targets: the class to explain for each input; the predicted one where None.
        sampling: how many rows are drawn, and how they are weighed.
        fit: the local regression.
    """
    started = time.perf_counter()
    schema = schema_of(model)
    rows = encode_rows(inputs, schema)
    pool = _pool(sampling, model)
    width = sampling.kernel_width or 0.75 * float(np.sqrt(len(schema.features)))
    own_bins = pool.bins.assign(rows)
    own_answers = model.predict_proba(rows)
    slow = ", row by row" if getattr(path_for(model), "fallback", "") else ""
    explanations = []
    for row, bins, answers, target in zip(rows, own_bins, own_answers, targets, strict=True):
        chosen = int(np.argmax(answers)) if target is None else target
        own = np.append(answers[chosen], pool.answers[:, chosen])
        local = fit(*local_sums(pool, bins, own, width, schema.feature_of))
        details = {
            "bins": [pool.bins.names[column][place] for column, place in enumerate(bins)],
            "intercept": local.intercept,
            "r2": local.r2,
            "path": f"table, bins{slow}",
        }
        scored = Scored(local.coefficients, details)
        cost = Cost(sampling.samples, 2, (time.perf_counter() - started) / len(rows))
        explanations.append(attribution(name, model, row, schema.features, chosen, scored, cost))
    return explanations


def local_sums(
    pool: DrawnRows, bins: IntArray, answers: FloatArray, width: float, feature_of: IndexArray
) -> tuple[regression.Normal, regression.Moments]:
    """What the local regression of one row needs: the row itself first, then the pool, weighted by equal bins.

    Columns that are one feature together are the same if all of them are.
    """
    same = np.ones((int(feature_of.max(initial=-1)) + 1, len(answers)))
    if len(same) == len(bins):
        same[:, 1:] = pool.drawn == bins[:, None]
    else:
        np.minimum.at(same[:, 1:], feature_of, (pool.drawn == bins[:, None]).astype(np.float64))
    weights = table_kernel(len(same) - same.sum(axis=0), width)
    normal = regression.normal_of_columns(same, weights)
    return normal, regression.moments(normal, same, weights, answers)


def table_kernel(differing: FloatArray, width: float) -> FloatArray:
    """Exponential kernel on the Euclidean distance of rows that differ from the input in so many columns."""
    weights: FloatArray = np.sqrt(np.exp(-differing / width**2))
    return weights


def _pool(sampling: Sampling, model: Model) -> DrawnRows:
    kept = _POOLS.setdefault(model, {})
    key = (sampling.samples, sampling.seed, fitted_state(model))
    if key not in kept:
        while len(kept) >= POOLS_KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = draw_pool(model, sampling.samples - 1, sampling.seed)
    return kept[key]


def draw_pool(model: Model, count: int, seed: int) -> DrawnRows:
    """Draws rows column by column from the bins' frequencies and asks the model about them."""
    reference, schema = reference_rows(model), schema_of(model)
    bins = Bins.learn(schema, reference)
    rng = stream(seed, "lime", "table", reference.shape[1], count)
    drawn = np.empty((reference.shape[1], count), dtype=np.int64)
    rows = np.empty((count, reference.shape[1]))
    places = bins.assign(reference)
    for column, known in enumerate(schema.columns):
        drawn[column] = rng.choice(bins.values[column], count, p=bins.frequencies[column])
        if not known.is_numeric:
            rows[:, column] = drawn[column]
            continue
        rows[:, column] = values_in_bins(bins, column, drawn[column], rng)
        if getattr(model, "frames", False) and known.original is not None and not known.original.continuous:
            rows[:, column] = nearest_seen(
                rows[:, column], drawn[column], reference[:, column], places[:, column]
            )
    path = path_for(model)
    predict = path.predict if isinstance(path, TablePath) else model.predict_proba
    answers = [predict(rows[first : first + MAX_ROWS]) for first in range(0, count, MAX_ROWS)]
    return DrawnRows(bins, drawn, np.concatenate(answers))


def values_in_bins(bins: Bins, column: int, drawn: IntArray, rng: np.random.Generator) -> FloatArray:
    """A number for each drawn bin: normal around the bin's mean, cut off at its edges; missing stays missing."""
    means, stds = bins.means[column][drawn], bins.stds[column][drawn]
    lows, highs = bins.mins[column][drawn], bins.maxs[column][drawn]
    low, high = (lows - means) / stds, (highs - means) / stds
    # Above the mean the upper tail is finer: mirror those bins, so that far tails keep their digits.
    mirrored = low > 0
    low, high = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
    share = ndtr(low) + rng.random(len(drawn)) * (ndtr(high) - ndtr(low))
    offset = np.clip(ndtri(share), low, high) * np.where(mirrored, -1.0, 1.0)
    inside: FloatArray = np.clip(means + stds * offset, lows, highs)
    return inside


def nearest_seen(values: FloatArray, drawn: IntArray, reference: FloatArray, places: IntArray) -> FloatArray:
    """The training value of the same bin that is nearest to each: no model of whole numbers is asked about halves.

    Args:
        values: drawn numbers.
        drawn: their bins.
        reference: the column's training values.
        places: their bins.
    """
    nearest = values.copy()
    for place in np.unique(drawn):
        seen, asked = np.unique(reference[places == place]), drawn == place
        above = np.clip(np.searchsorted(seen, values[asked]), 0, len(seen) - 1)
        below = np.maximum(above - 1, 0)
        closer = np.abs(seen[below] - values[asked]) <= np.abs(seen[above] - values[asked])
        nearest[asked] = np.where(closer, seen[below], seen[above])
    return nearest


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
            trees = TextTrees.from_ensemble(path.head.ensemble, path.lexicon.n_columns)
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
        fit = self.fit(limit.normal, regression.Moments(covariance, mean, 0.0))
        return target, Scored(fit.coefficients, {"intercept": fit.intercept, "route": "trees"})

    def score(self, bank: LimeBank, answers: FloatArray) -> Scored:
        """The coefficients of the local regression."""
        fit = self.fit(bank.normal, regression.moments(bank.normal, bank.masks, bank.weights, answers))
        details: dict[str, object] = {"intercept": fit.intercept, "r2": fit.r2}
        if self.samples == "exact":
            details["route"] = "enumeration"
        return Scored(fit.coefficients, details)

    def fit(self, normal: regression.Normal, moments: regression.Moments) -> regression.Fit:
        """The regression on all features, or on those that the selection chooses."""
        count, selection = self.features, self.selection
        if count is None or selection == "none" or count >= len(moments.covariance):
            return regression.ridge(normal, moments)
        if selection == "lasso_path":
            chosen = regression.lasso_path(normal, moments.covariance, count)
        elif selection == "forward_selection" or (selection == "auto" and count <= 6):
            chosen = regression.forward_selection(normal, moments.covariance, count)
        else:
            chosen = regression.highest_weights(normal, moments.covariance, count)
        return regression.ridge_on(normal, chosen, moments)


@dataclass(frozen=True, eq=False)
class LimeBank:
    """Distinct masks with their weights and sums of squares; the first mask has everything present."""

    masks: Masks
    weights: FloatArray
    normal: regression.Normal
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
        return LimeBank(masks, weights, regression.normal_of_masks(masks, weights))


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
    return LimeBank(masks, weights, regression.normal_of_masks(masks, weights), full=masks.n_rows - 1)


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

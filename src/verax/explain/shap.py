"""SHAP (Lundberg and Lee 2017): Shapley values of the features, exact where that is cheap, else by KernelSHAP.

Masks are all there are, or KernelSHAP's, drawn in pairs with their complements. Closed forms are in `shap_exact`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np

from verax.arrays import BoolArray, FloatArray, IndexArray, IntArray
from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, at_least, check_targets, explainers
from verax.explain.explanation import Attribution
from verax.explain.perturbed import BANKS, Scored, check_absent, explain_with_banks
from verax.explain.shap_exact import ENUMERATED, ShapOptions, explain_exactly, log_odds
from verax.models.base import Inputs, Model
from verax.perturb.masks import Absent, Masks, all_masks, distinct_rows
from verax.perturb.regression import MAX_FEATURES, factored, solve_factored
from verax.perturb.shapley import interactions_from_all, shapley_from_all
from verax.run.threads import one_blas_thread
from verax.seeds import stream

# The package shap chooses features where it has asked about a smaller share of all coalitions.
LEAST_SHARE = 0.2
# Coalitions that were drawn twice are drawn again, this often at the most.
REDRAWS = 8


@dataclass(frozen=True, eq=False)
class EnumerationBank:
    """All masks: nothing present first, everything present last."""

    masks: Masks
    route: str = "enumeration"
    empty: int = 0

    @property
    def full(self) -> int:
        """The place of the mask with everything present."""
        return self.masks.n_rows - 1

    def solve(self, answers: FloatArray) -> FloatArray:
        """Shapley values from the game's value on each mask."""
        return shapley_from_all(self.masks, answers)


@dataclass(frozen=True, eq=False)
class KernelBank:
    """KernelSHAP's masks: everything, nothing, the drawn coalitions, then their complements in the same order.

    In pairs the regression needs only differences: with ``s = +1`` for present and ``-1`` for absent, a coalition's
    value minus its complement's is ``s @ shapley`` for an additive game, whatever the intercept.

    Attributes:
        drawn: the drawn coalitions alone.
        weights: one per pair.
        gram: ``sum_i w_i s_i s_i'``.
        factor: its Cholesky factor, or None if it is singular (fewer pairs than features).
    """

    masks: Masks
    drawn: Masks
    weights: FloatArray
    gram: FloatArray
    factor: FloatArray | None
    route: str = "kernel"
    full: int = 0
    empty: int = 1

    @property
    def nbytes(self) -> int:
        """Memory held."""
        factor = 0 if self.factor is None else self.factor.nbytes
        return self.masks.nbytes + self.drawn.nbytes + self.weights.nbytes + self.gram.nbytes + factor

    def solve(self, answers: FloatArray, kept: IndexArray | None = None) -> FloatArray:
        """Shapley values from the game's value on each mask; they sum to everything minus nothing.

        Args:
            answers: the values.
            kept: the features that share the difference, the others having 0; all if None.
        """
        n_pairs = self.drawn.n_rows
        total = float(answers[self.full] - answers[self.empty])
        weighted = self.weights * (answers[2 : 2 + n_pairs] - answers[2 + n_pairs :])
        right = 2.0 * self.drawn.dot(weighted) - weighted.sum()
        if kept is None:
            return _constrained(self.gram, self.factor, right, total)
        shapley = np.zeros(len(right))
        if len(kept):
            gram = self.gram[np.ix_(kept, kept)]
            shapley[kept] = _constrained(gram, _factor(gram), right[kept], total)
        return shapley

    def chosen(self, answers: FloatArray) -> IndexArray | None:
        """The features that a lasso path with Akaike's criterion keeps, as in the package shap; None for all.

        The package chooses where it has asked about fewer than a fifth of all coalitions.
        """
        n, rows = self.masks.n_features, self.masks.n_rows - 2
        if (n <= 30 and rows >= LEAST_SHARE * (2**n - 2)) or 2 * rows <= n + 1:
            return None
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LassoLarsIC
        from sklearn.preprocessing import StandardScaler

        present = self.masks.rows()[2:].astype(np.float64)
        sizes = present.sum(axis=1)
        weights = np.sqrt(np.concatenate([self.weights] * 2))
        above = answers[2:] - answers[self.empty]
        # Every coalition twice, as the package does it: compared with nothing, and with everything.
        of_nothing, of_all = weights * np.sqrt(n - sizes), weights * np.sqrt(sizes)
        columns = np.concatenate([of_nothing[:, None] * present, of_all[:, None] * (present - 1.0)])
        values = np.concatenate(
            [of_nothing * above, of_all * (above - (answers[self.full] - answers[self.empty]))]
        )
        scaled = StandardScaler(with_mean=False).fit_transform(columns)
        with one_blas_thread(), warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ConvergenceWarning
            )  # a path that ends early is the package's way too
            return np.flatnonzero(LassoLarsIC(criterion="aic").fit(scaled, values).coef_)


def _constrained(gram: FloatArray, factor: FloatArray | None, right: FloatArray, total: float) -> FloatArray:
    """The solution whose sum is the total; the smallest of many when there are fewer pairs than features."""
    if factor is None or not len(right):
        n = len(right)
        system = np.ones((n + 1, n + 1))
        system[:n, :n] = gram
        system[n, n] = 0.0
        smallest: FloatArray = np.linalg.lstsq(system, np.append(right, total), rcond=None)[0][:n]
        return smallest
    free = solve_factored(factor, np.stack([right, np.ones(len(right))], axis=1))
    shapley: FloatArray = free[:, 0] + (total - free[:, 0].sum()) / free[:, 1].sum() * free[:, 1]
    return shapley


def build_kernel_bank(n_features: int, samples: int, seed: int) -> KernelBank:
    """Draws KernelSHAP's masks for inputs with this many features and prepares the regression on them."""
    if n_features > MAX_FEATURES:
        raise VeraxError(
            f"An input has {n_features:,} features, more than KernelSHAP can be solved for ({MAX_FEATURES:,}); "
            "shorten the input or use the explainer 'greedy'."
        )
    coalitions, weights = draw_pairs(n_features, samples, stream(seed, "shap", n_features, samples))
    ends = np.ones((n_features, 2), dtype=np.bool_)
    ends[:, 1] = False
    masks = Masks.from_columns(np.concatenate([ends, coalitions, ~coalitions], axis=1))
    signs = np.where(coalitions, 1.0, -1.0) * np.sqrt(weights)
    with one_blas_thread():
        gram = signs @ signs.T
        return KernelBank(masks, Masks.from_columns(coalitions), weights, gram, _factor(gram))


def _factor(gram: FloatArray) -> FloatArray | None:
    factor = factored(gram)
    if factor is None:
        return None
    # Fewer pairs than features give a factor of rounding errors instead of a failure.
    diagonal = np.diag(factor)
    return factor if diagonal.min(initial=1.0) > 1e-6 * diagonal.max(initial=1.0) else None


def draw_pairs(n: int, samples: int, rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
    """Coalitions as (features, pairs), one of each complementary pair, and the pairs' weights.

    As in shap, whole sizes are taken while the budget pays for them, smallest (and largest) first; the rest of the
    budget is drawn without replacement over the other sizes, each size as often as the kernel weighs it.
    """
    if n < 2:
        return np.zeros((n, 0), dtype=np.bool_), np.zeros(0)
    sizes = np.arange(1, n // 2 + 1)
    mass = (n - 1.0) / (sizes * (n - sizes)) * np.where(2 * sizes == n, 1.0, 2.0)
    mass /= mass.sum()
    pairs_left = max(1, samples // 2)
    taken: list[BoolArray] = []
    weights: list[FloatArray] = []
    whole = 0
    while whole < len(sizes):
        size = int(sizes[whole])
        n_pairs = comb(n, size) if 2 * size != n else comb(n, size) // 2
        share = mass[whole] / mass[whole:].sum()
        if n_pairs > pairs_left * share * (1 + 1e-9):
            break
        taken.append(all_of_size(n, size, n_pairs))
        weights.append(np.full(n_pairs, mass[whole] / n_pairs))
        pairs_left -= n_pairs
        whole += 1
    if whole < len(sizes) and pairs_left:
        drawn = _draw(n, sizes[whole:], mass[whole:] / mass[whole:].sum(), pairs_left, rng)
        taken.append(drawn)
        weights.append(np.full(drawn.shape[1], mass[whole:].sum() / drawn.shape[1]))
    return np.concatenate(taken, axis=1), np.concatenate(weights)


def all_of_size(n: int, size: int, count: int) -> BoolArray:
    """The first ``count`` coalitions of one size, as (features, coalitions)."""
    members = np.fromiter(
        (
            member
            for chosen, _ in zip(combinations(range(n), size), range(count), strict=False)
            for member in chosen
        ),
        dtype=np.intp,
        count=count * size,
    )
    columns = np.zeros((n, count), dtype=np.bool_)
    columns[members, np.repeat(np.arange(count), size)] = True
    return columns


def _draw(n: int, sizes: IntArray, mass: FloatArray, count: int, rng: np.random.Generator) -> BoolArray:
    """Random coalitions whose sizes follow ``mass`` as evenly as whole numbers allow, no two the same."""
    # Systematic sampling: one random start, then equal steps; each size's expected number is exact.
    places = (np.arange(count) + rng.random()) / count
    size_of = sizes[np.minimum(np.searchsorted(np.cumsum(mass), places), len(sizes) - 1)]
    columns = random_subsets(n, size_of, rng)
    for _ in range(REDRAWS):
        # A coalition of half the features is the same pair as its complement: compare the one without feature 0.
        alike = columns ^ (columns[0] & (2 * size_of == n))
        first, _ = distinct_rows(alike)
        again = np.setdiff1d(np.arange(count), first, assume_unique=True)
        if not len(again):
            break
        columns[:, again] = random_subsets(n, size_of[again], rng)
    return columns


def random_subsets(n: int, size_of: IntArray, rng: np.random.Generator) -> BoolArray:
    """One uniformly drawn subset of each size, as (features, subsets)."""
    keys = rng.integers(0, 2**32, (len(size_of), n), dtype=np.uint32)
    limits = np.sort(keys, axis=1)[np.arange(len(size_of)), size_of - 1]
    chosen = keys <= limits[:, None]
    # Two equal keys at the limit, about once in a million subsets: draw those again.
    wrong = np.flatnonzero(chosen.sum(axis=1) != size_of)
    if len(wrong):
        chosen[wrong] = random_subsets(n, size_of[wrong], rng).T
    return np.ascontiguousarray(chosen.T)


ROUTES = ("auto", "kernel")
OUTPUTS = ("probability", "log-odds", "raw")
BACKGROUNDS = ("rows", "paths")
SELECTIONS = ("none", "aic")


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
        selection: "aic" gives a score only to features that a lasso path with Akaike's criterion keeps, where fewer
            than a fifth of all coalitions are asked about, as the package shap did by default in 2020
            (``l1_reg="auto"``).
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
    selection: str = "none"

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
        if self.selection not in SELECTIONS:
            raise VeraxError(f"There is no selection {self.selection!r}; it is 'none' or 'aic'.")
        if self.selection != "none" and self.route == "auto":
            raise VeraxError(
                "Features are chosen where values are sampled; say route='kernel' beside selection."
            )

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """Explains each input; see :meth:`Explainer.explain`."""
        wanted = check_targets(model, inputs, targets)
        exact: list[Attribution | None] = [None] * len(inputs)
        output = self._output(model)
        if self.route == "auto" and self.absent == "dropped":
            asked = ShapOptions(output, self.background, self.interactions)
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
        details: dict[str, object] = {"output": self.output, "route": bank.route, "base": base}
        if self.selection == "aic" and isinstance(bank, KernelBank):
            kept = bank.chosen(answers)
            scores = bank.solve(answers, kept)
            details["kept"] = len(scores) if kept is None else len(kept)
        else:
            scores = bank.solve(answers)
        if self.interactions:
            pairs = interactions_from_all(answers)
            np.fill_diagonal(pairs, scores - pairs.sum(axis=1))
            details["interactions"] = pairs.tolist()
        return Scored(scores, details)


def kernel_samples(n_features: int) -> int:
    """How many coalitions KernelSHAP draws unless told otherwise, as in the package shap."""
    return 2 * n_features + 2048

"""The linear mixed model with crossed participants and items: REML and Satterthwaite, the cross-check of `crossed`.

y = X b + Z u + e, with one column of Z per level of each grouping. The two or three standard deviations are found
relative to the residual's (as in lme4), where the criterion needs one Cholesky decomposition of a matrix as large as
participants and items together: milliseconds in a study.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_solve, solve_triangular
from scipy.optimize import minimize
from scipy.sparse import csr_array

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.stats.estimate import Effect, effect
from verax.stats.responses import Responses, chosen_pairs, indicator


def gradient(function: Callable[[FloatArray], float], point: FloatArray, steps: FloatArray) -> FloatArray:
    """First derivatives, of fourth order in the steps: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h."""
    moves = np.diag(steps)
    near = np.array([function(point + move) - function(point - move) for move in moves])
    far = np.array([function(point + 2 * move) - function(point - 2 * move) for move in moves])
    return np.asarray((8 * near - far) / (12 * steps), dtype=np.float64)


def curvature(function: Callable[[FloatArray], float], point: FloatArray, steps: FloatArray) -> FloatArray:
    """Second derivatives, a symmetric matrix."""
    moves = np.diag(steps)
    centre = function(point)
    matrix = np.empty((len(point), len(point)))
    for i, move in enumerate(moves):
        matrix[i, i] = (function(point + move) - 2 * centre + function(point - move)) / steps[i] ** 2
        for j, other in enumerate(moves[:i]):
            corners = (
                function(point + move + other)
                - function(point + move - other)
                - function(point - move + other)
                + function(point - move - other)
            )
            matrix[i, j] = matrix[j, i] = corners / (4 * steps[i] * steps[j])
    return matrix


def jacobian(
    function: Callable[[FloatArray], FloatArray], point: FloatArray, steps: FloatArray
) -> FloatArray:
    """First derivatives of a vector-valued function, one row per coordinate of the point."""
    moves = np.diag(steps)
    rows = [
        (function(point + move) - function(point - move)) / (2 * step)
        for move, step in zip(moves, steps, strict=True)
    ]
    return np.array(rows)


@dataclass(frozen=True, eq=False)
class Term:
    """Random effects: every level of ``group`` has its own slope of ``covariate``."""

    group: ArrayLike
    covariate: ArrayLike


def random_effects(terms: Sequence[Term]) -> tuple[csr_array, tuple[int, ...]]:
    """Z, with one column per level of each term, and how many levels each term has."""
    codes = [np.unique(np.asarray(term.group), return_inverse=True)[1] for term in terms]
    sizes = tuple(int(code.max()) + 1 for code in codes)
    columns = np.concatenate(
        [code + before for code, before in zip(codes, np.cumsum([0, *sizes]), strict=False)]
    )
    values = np.concatenate([np.asarray(term.covariate, dtype=np.float64) for term in terms])
    rows = np.tile(np.arange(len(codes[0])), len(terms))
    z = csr_array((values, (rows, columns)), shape=(len(codes[0]), sum(sizes)))
    z.eliminate_zeros()
    return z, sizes


# A standard deviation below this part of the residual's is 0: the model is singular there.
_SINGULAR = 1e-3
_NO_RESIDUAL = "The values do not vary within the fixed effects: nothing can be said about uncertainty."


@dataclass(frozen=True, eq=False)
class Products:
    """What the criterion needs of the data: sums of products of groupings (z), fixed effects (x) and values (y)."""

    zz: FloatArray
    zx: FloatArray
    zy: FloatArray
    xx: FloatArray
    xy: FloatArray
    yy: float
    sizes: tuple[int, ...]
    rows: int


@dataclass(frozen=True, eq=False)
class LinearMixed:
    """A fitted model.

    Attributes:
        coefficients: The fixed effects b.
        covariance: Their covariance.
        sds: Standard deviation of each grouping, in the order given.
        residual: Standard deviation of the residual.
        criterion: -2 times the restricted log-likelihood.
        rows: Number of observations.
        uncertainty: Covariance of the sds (relative to the residual's) and the residual's sd.
        products: What the criterion needs of the data.
    """

    coefficients: FloatArray
    covariance: FloatArray
    sds: FloatArray
    residual: float
    criterion: float
    rows: int
    uncertainty: FloatArray
    products: Products

    def df(self, contrast: ArrayLike) -> float:
        """Satterthwaite's degrees of freedom of a weighted sum of coefficients.

        2 v² / (g' S g): v is the sum's variance as a function of the standard deviations, g its gradient, S their
        covariance from the curvature of the criterion.
        """
        weights = np.asarray(contrast, dtype=np.float64)

        def variance(at: FloatArray) -> float:
            root = _solve(self.products, np.abs(at[:-1])).root
            return float(at[-1] ** 2 * (solve_triangular(root, weights, trans="T", lower=False) ** 2).sum())

        point = np.append(self.sds / self.residual, self.residual)
        slope = gradient(variance, point, _steps(point))
        spread = float(slope @ self.uncertainty @ slope)
        return 2 * variance(point) ** 2 / spread if spread > 0 else float("inf")

    def effect(self, name: str, contrast: FloatArray, level: float, warnings: tuple[str, ...]) -> Effect:
        """A weighted sum of coefficients with its interval and its test."""
        se = float(np.sqrt(contrast @ self.covariance @ contrast))
        return effect(name, float(contrast @ self.coefficients), se, self.df(contrast), level, warnings)


def fit_linear(values: ArrayLike, design: ArrayLike, groups: Sequence[ArrayLike]) -> LinearMixed:
    """Fits by REML.

    Args:
        values: One number per row.
        design: (rows, coefficients): the fixed effects.
        groups: One column of labels per grouping (participants, items); each gets a random intercept.
    """
    products = _multiply(np.asarray(values, dtype=np.float64), np.asarray(design, dtype=np.float64), groups)
    free = products.rows - products.xx.shape[0]
    if free < 1 or np.linalg.matrix_rank(products.xx) < len(products.xx):
        raise VeraxError(
            f"{products.rows} rows are too few, or columns too alike, for {len(products.xx)} fixed effects: "
            "take some out."
        )

    def profiled(relative: FloatArray) -> float:
        solved = _solve(products, np.abs(relative))
        return float(
            solved.log_determinants + free * (1 + np.log(2 * np.pi * max(solved.rest, 1e-300) / free))
        )

    try:
        best = min(
            (
                minimize(
                    profiled,
                    np.full(len(groups), start),
                    method="Nelder-Mead",
                    options={"xatol": 1e-8, "fatol": 1e-11, "maxiter": 4000},
                )
                for start in (0.3, 1.0)
            ),
            key=lambda search: float(search.fun),
        )
    except np.linalg.LinAlgError as error:  # nothing is left for the residual: the others grow without end
        raise VeraxError(_NO_RESIDUAL) from error
    if _solve(products, np.abs(best.x)).rest <= 1e-12 * max(products.yy, 1e-300):
        raise VeraxError(_NO_RESIDUAL)
    relative = np.where(np.abs(best.x) < _SINGULAR, 0.0, np.abs(best.x))
    solved = _solve(products, relative)
    residual = float(np.sqrt(solved.rest / free))
    inverse = cho_solve((solved.root, False), np.eye(len(solved.root)))
    return LinearMixed(
        solved.coefficients,
        residual**2 * inverse,
        relative * residual,
        residual,
        profiled(relative),
        products.rows,
        _uncertainty(products, np.append(relative, residual)),
        products,
    )


def _steps(point: FloatArray) -> FloatArray:
    """Steps of the numerical derivatives."""
    return np.asarray(1e-3 * np.maximum(point, 0.05), dtype=np.float64)


def _uncertainty(products: Products, point: FloatArray) -> FloatArray:
    """Twice the inverse of the criterion's curvature, in the directions where it curves upwards."""
    bend = curvature(lambda at: _criterion(products, np.abs(at[:-1]), float(at[-1])), point, _steps(point))
    values, vectors = np.linalg.eigh(bend)
    kept = values > 1e-8 * values.max()
    return np.asarray(2 * (vectors[:, kept] / values[kept]) @ vectors[:, kept].T, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Solved:
    """The best coefficients for given standard deviations: ``rest`` is the penalised residual sum of squares."""

    coefficients: FloatArray
    root: FloatArray
    rest: float
    log_determinants: float


def _multiply(values: FloatArray, design: FloatArray, groups: Sequence[ArrayLike]) -> Products:
    """The products, over rows."""
    if (
        not len(values) == len(design) == min(len(np.asarray(g)) for g in groups)
        or not np.isfinite(values).all()
    ):
        raise VeraxError(
            "Values, design and groups differ in length, or a value is missing: give one of each per row."
        )
    z, sizes = random_effects([Term(labels, np.ones(len(values))) for labels in groups])
    return Products(
        zz=(z.T @ z).toarray(),
        zx=z.T @ design,
        zy=z.T @ values,
        xx=design.T @ design,
        xy=design.T @ values,
        yy=float(values @ values),
        sizes=sizes,
        rows=len(values),
    )


def _solve(products: Products, relative: FloatArray) -> _Solved:
    """Coefficients and criterion's parts by Cholesky, for standard deviations relative to the residual's."""
    scale = np.repeat(relative, products.sizes)
    lower = np.linalg.cholesky(products.zz * np.outer(scale, scale) + np.eye(len(scale)))
    with_y = solve_triangular(lower, scale * products.zy, lower=True)
    with_x = solve_triangular(lower, scale[:, None] * products.zx, lower=True)
    root = np.linalg.cholesky(products.xx - with_x.T @ with_x).T
    coefficients = cho_solve((root, False), products.xy - with_x.T @ with_y)
    rest = products.yy - with_y @ with_y - ((root @ coefficients) ** 2).sum()
    logs = 2 * (np.log(np.diag(lower)).sum() + np.log(np.diag(root)).sum())
    return _Solved(coefficients, root, float(rest), float(logs))


def _criterion(products: Products, relative: FloatArray, residual: float) -> float:
    """-2 times the restricted log-likelihood."""
    solved = _solve(products, relative)
    free = products.rows - len(products.xx)
    return float(solved.log_determinants + free * np.log(2 * np.pi * residual**2) + solved.rest / residual**2)


def linear_changes(rows: Responses, level: float = 0.95) -> tuple[Effect, ...]:
    """The mean score (Post - Pre) of each method by the mixed model; over strata, the mean of the strata's.

    Claims are about items like these. Each effect stands alone: p-values are not corrected.
    """
    fitted, cells = _fit_cells(rows)
    return tuple(_effect(fitted, cells, rows, {name: 1.0}, level) for name in rows.methods)


def linear_contrasts(
    rows: Responses, pairs: Sequence[tuple[Hashable, Hashable]] | None = None, level: float = 0.95
) -> tuple[Effect, ...]:
    """How much higher the first method of each pair is than the second; None is all pairs."""
    chosen = chosen_pairs(pairs, rows.methods, "method")
    fitted, cells = _fit_cells(rows)
    return tuple(_effect(fitted, cells, rows, {first: 1.0, second: -1.0}, level) for first, second in chosen)


def _fit_cells(rows: Responses) -> tuple[LinearMixed, list[tuple[int, int]]]:
    """The model with one mean per stratum and method, and these cells in the order of its coefficients."""
    known = ~np.isnan(rows.value)
    if not known.any():
        raise VeraxError(f"None of the {len(rows.post)} responses has a score: there is nothing to estimate.")
    code = (rows.stratum * len(rows.methods) + rows.method)[known]
    names, column = np.unique(code, return_inverse=True)
    item = (rows.stratum * len(rows.items) + rows.item)[known]
    fitted = fit_linear(rows.value[known], indicator(column, len(names)), [rows.participant[known], item])
    return fitted, [divmod(int(name), len(rows.methods)) for name in names]


def _effect(
    fitted: LinearMixed,
    cells: list[tuple[int, int]],
    rows: Responses,
    methods: dict[Hashable, float],
    level: float,
) -> Effect:
    """A weighted sum of methods' means, each over its strata."""
    title = " - ".join(str(name) for name in methods)
    weights = np.zeros(len(cells))
    for name, sign in methods.items():
        own = np.array([rows.methods[method] == name for _, method in cells])
        if not own.any():
            return effect(title, None, None, None, level, (f"No response of {name} has a score.",))
        weights += sign * own / own.sum()
    singular = [what for what, sd in zip(("participants", "items"), fitted.sds, strict=True) if sd == 0]
    said = tuple(f"The variance between {what} is estimated as 0 (a singular fit)." for what in singular)
    return fitted.effect(title, weights, level, said)

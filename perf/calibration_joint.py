"""Rank correlations of a benchmark and a study: how often the interval holds the truth, and how often agreement is claimed falsely.

True scores come from dependences that the estimator does not suppose: Clayton's copula (methods agree at the bottom and
less at the top), and Student's with three degrees of freedom (a few methods are far out in both); scores are
skewed, and their errors differ between methods. The true correlation is that of two million drawn methods.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import sqrt

import numpy as np
from scipy.special import ndtr
from scipy.stats import rankdata

from calibration_rows import Row
from verax.stats.rank_correlations import rank_correlation

SEED = 7301
DRAWS = 4000
Copula = Callable[[np.random.Generator, int, int], tuple[np.ndarray, np.ndarray]]


def clayton(strength: float) -> Copula:
    """Uniform scores of methods that agree most where both are low."""

    def drawn(rng: np.random.Generator, rows: int, methods: int) -> tuple[np.ndarray, np.ndarray]:
        common = rng.gamma(1 / strength, 1.0, (rows, methods))
        one, other = (
            (1 + rng.exponential(size=(rows, methods)) / common) ** (-1 / strength) for _ in range(2)
        )
        return one, other

    return drawn


def student(pearson: float, df: float = 3.0) -> Copula:
    """Normal scores divided by a common chi: methods that are far out are so in both."""

    def drawn(rng: np.random.Generator, rows: int, methods: int) -> tuple[np.ndarray, np.ndarray]:
        scale = np.sqrt(rng.chisquare(df, (rows, methods)) / df)
        first = rng.standard_normal((rows, methods))
        second = pearson * first + sqrt(1 - pearson**2) * rng.standard_normal((rows, methods))
        return ndtr(first / scale), ndtr(second / scale)

    return drawn


def independent(rng: np.random.Generator, rows: int, methods: int) -> tuple[np.ndarray, np.ndarray]:
    """Evaluations that have nothing to do with each other."""
    one, other = rng.random((2, rows, methods))
    return one, other


SHAPES: dict[str, Copula] = {
    "no agreement": independent,
    "agreement at the bottom, weak": clayton(0.8),
    "agreement at the bottom, strong": clayton(4.0),
    "far-out methods agree": student(0.7),
    "far-out methods agree, strongly": student(0.95),
}


@cache
def truth(shape: str) -> float:
    """Spearman's correlation of two million methods."""
    one, other = SHAPES[shape](np.random.default_rng(SEED), 1, 2_000_000)
    ranks = [rankdata(scores[0]) for scores in (one, other)]
    return float(np.corrcoef(*ranks)[0, 1])


def compared(shape: str, methods: int, error: float, runs: int) -> dict[str, float]:
    """Of so many comparisons, in per cent: intervals shown, those that hold the truth, claims, and orders of ±1."""
    rng = np.random.default_rng([SEED, methods, round(100 * error), list(SHAPES).index(shape)])
    true = truth(shape)
    shown = held = claimed = ends = missed_at_end = 0
    for _ in range(runs):
        # Skewed scores: a few methods are far better than the rest.
        scores = [np.expm1(1.5 * each[0]) for each in SHAPES[shape](rng, 1, methods)]
        errors = [error * rng.uniform(0.5, 1.5, methods) for _ in scores]
        seen = [
            each + spread * rng.standard_normal(methods) for each, spread in zip(scores, errors, strict=True)
        ]
        found = rank_correlation(*seen, *errors, draws=DRAWS)
        interval = None if found.spearman_low is None else (found.spearman_low, found.spearman_high)
        holds = interval is None or interval[0] <= true <= interval[1]
        at_end = abs(found.spearman or 0.0) > 1 - 1e-9
        shown += interval is not None
        held += holds
        claimed += found.p_spearman <= 0.05
        ends += at_end
        missed_at_end += at_end and not holds
    counts = {"shown": shown, "held": held, "claimed": claimed, "at an end": ends, "missed": missed_at_end}
    return {name: 100 * count / runs for name, count in counts.items()}


def error_of(rate: float, runs: int) -> float:
    """Three standard errors of a rate, both in per cent."""
    return 3 * sqrt(rate * (100 - rate) / runs)


def rows(quick: bool) -> list[Row]:
    """Each claim of the joint report about orders, in simulated comparisons."""
    runs = 300 if quick else 1000
    made = []
    settings = [(shape, methods, error) for shape in SHAPES for methods in (5, 7) for error in (0.0, 0.5)]
    for shape, methods, error in settings:
        found = compared(shape, methods, error, runs)
        where = f"{shape}, {methods} methods{', scores with errors' if error else ''}"
        made.append(
            Row(
                f"joint report: rank correlation, interval holds the truth; {where}",
                "at least 95%",
                found["held"],
                runs,
                95 - error_of(95, runs),
                100.0,
            )
        )
        if shape == "no agreement":
            made.append(
                Row(
                    f"joint report: agreement or its reverse claimed; {where}",
                    "at most 5%",
                    found["claimed"],
                    runs,
                    0.0,
                    5 + error_of(5, runs),
                )
            )
    for shape, methods in (("far-out methods agree, strongly", 4), ("far-out methods agree, strongly", 6)):
        found = compared(shape, methods, 0.0, runs)
        made.append(
            Row(
                f"joint report: rank correlation at ±1, interval shown and misses the truth; {methods} methods",
                "at most 5%; no interval below five methods",
                found["missed"],
                runs,
                0.0,
                0.0 if methods < 5 else 5 + error_of(5, runs),
            )
        )
    return made

"""(B) Change: accuracy after explanations minus accuracy before, per method, by the script's bootstrap.

    logit P(right | method m) = b0 + u_m,    u_m ~ Normal(0, sigma²)

fitted by the Laplace approximation, as ``glmer(right ~ (1 | method), family = binomial)`` of R's lme4 does. Its
likelihood knows the data only through the number of answers n_m and of right ones s_m, so that many data sets (the
replicates of a bootstrap) are fitted at once: one Newton iteration on arrays of counts.

With t = sigma², eta_m = b0 + u_m, p_m = 1 / (1 + exp(-eta_m)), r_m = s_m - n_m p_m, w_m = n_m p_m (1 - p_m) and
A_m = 1 + t w_m, the mode is at u_m = t r_m and

    log L(b0, t) = sum_m [ s_m eta_m - n_m log(1 + exp(eta_m)) - t r_m² / 2 - log(A_m) / 2 ].

Everything is smooth in t down to 0, where methods do not differ.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from verax.arrays import FloatArray
from verax.codec import Record
from verax.errors import VeraxError
from verax.stats.resample import block_weights, label_counts
from verax.stats.responses import joint, paired_answers

NOTE = (
    "Reproduction of the published procedure, not a calibrated test: in simulated studies without any effect it "
    "rejects in 0.4 to 2.3% instead of 5%, its intervals are 1.2 to 1.4 times as wide as they need to be, and it "
    "misses effects that a calibrated estimator finds."
)


@dataclass(frozen=True)
class Defects:
    """Which defects of the script to keep; the defaults are the script as published.

    Attributes:
        across_methods: Participants are resampled over all methods together, though the script's comment says within
            methods: its grouping has no effect. False resamples within each method.
        shared_names: The participants' names are used as they are, so that participants of different methods with one
            name are drawn together. False tells them apart. Without shared names it makes no difference.
        items_as_participants: In the regressions on ratings, "participant" is in fact method and item: ratings are
            normalised per method and item, and participants are never resampled. False uses participants.
        drop_singular: Replicates whose Pre fit finds no difference between methods are thrown away. False keeps them.
    """

    across_methods: bool = True
    shared_names: bool = True
    items_as_participants: bool = True
    drop_singular: bool = True


AS_PUBLISHED = Defects()
MENDED = Defects(across_methods=False, shared_names=False, items_as_participants=False, drop_singular=False)


@dataclass(frozen=True)
class Replicated(Record):
    """A bootstrap's summary in the script's form, "estimate ± half width (p)"; None where there is no replicate.

    Attributes:
        estimate: Mean of the replicates; not the value in the data.
        half_width: Half the distance between the quantiles, which hides any skew.
        low: 2.5% quantile.
        high: 97.5% quantile.
        p: Share of replicates further from their mean than 0 is. Without the usual + 1, so it can be 0.
        n_boots: Replicates used.
    """

    estimate: float | None
    half_width: float | None
    low: float | None
    high: float | None
    p: float | None
    n_boots: int


def summarised(replicates: FloatArray) -> Replicated:
    """Summary of the replicates that are not NaN."""
    values = replicates[~np.isnan(replicates)]
    if not len(values):
        return Replicated(None, None, None, None, None, 0)
    mean = float(values.mean())
    low, high = np.quantile(values, [0.025, 0.975]).tolist()
    centred = values - mean
    p = float((centred < -abs(mean)).mean() + (centred > abs(mean)).mean())
    return Replicated(mean, (high - low) / 2, low, high, p, len(values))


# lme4's isSingular: below this standard deviation the methods count as equal.
SINGULAR = 1e-4
STEPS = 200
CLOSE = 1e-10


@dataclass(frozen=True)
class MethodEffects:
    """The fits, one per data set (replicate).

    Attributes:
        probability: exp(b0 + u_m) / (1 + exp(b0 + u_m)): (data sets, methods). NaN where a method has no answers, and
            in data sets that cannot be fitted.
        intercept: b0.
        spread: sigma; 0 where the best fit has equal methods.
        singular: Where the spread is below 1e-4, lme4's limit.
        fitted: False where there is nothing to fit and lme4 stops with an error: less than two methods with answers,
            or all answers equal.
    """

    probability: FloatArray
    intercept: FloatArray
    spread: FloatArray
    singular: NDArray[np.bool_]
    fitted: NDArray[np.bool_]


@dataclass(frozen=True)
class _Point:
    """The likelihood at one (b0, t) of each data set, with its slopes and curvatures."""

    value: FloatArray
    slope_b: FloatArray
    slope_t: FloatArray
    curve_bb: FloatArray
    curve_bt: FloatArray
    curve_tt: FloatArray


def method_effects(answers: ArrayLike, right: ArrayLike) -> MethodEffects:
    """Fits every row of counts.

    Args:
        answers: Number of answers of each method: (data sets, methods).
        right: How many of them are right.
    """
    n, s = _checked(answers, right)
    total, total_right = n.sum(axis=1), s.sum(axis=1)
    fitted = ((n > 0).sum(axis=1) > 1) & (total_right > 0) & (total_right < total)
    intercept, variance = np.full(len(n), np.nan), np.full(len(n), np.nan)
    probability = np.full(n.shape, np.nan)
    if fitted.any():
        b0, t = _maximum(n[fitted].T.copy(), s[fitted].T.copy())
        intercept[fitted], variance[fitted] = b0, t
        probability[fitted] = expit(b0 + _modes(n[fitted].T, s[fitted].T, b0, t)).T
    probability[n == 0] = np.nan
    spread = np.sqrt(variance)
    return MethodEffects(probability, intercept, spread, spread < SINGULAR, fitted)


def _checked(answers: ArrayLike, right: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Both tables of counts, refused where they do not fit each other."""
    n, s = np.atleast_2d(np.asarray(answers, float)), np.atleast_2d(np.asarray(right, float))
    if n.shape != s.shape:
        raise VeraxError(
            f"The counts of answers have the shape {n.shape}, those of right answers {s.shape}: "
            "give both for each method."
        )
    wrong = np.argwhere(~((s >= 0) & (s <= n)))
    if len(wrong):
        row, method = wrong[0]
        raise VeraxError(
            f"Row {row + 1}, method {method + 1} has {s[row, method]:g} right of {n[row, method]:g} answers "
            f"({len(wrong)} such in all): right answers must be between 0 and the number of answers."
        )
    return n, s


def _maximum(n: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The best b0 and t >= 0 of each column.

    With methods of very different sizes the likelihood can have a second, higher hill away from t = 0: whoever ends at
    0 looks for one.
    """
    b0, t, value = _hill(n, s, *_start(n, s))
    flat = np.flatnonzero(t < SINGULAR**2)
    if len(flat):
        other_b, other_t, other = _hill(n[:, flat], s[:, flat], *_second_start(n[:, flat], s[:, flat]))
        higher = other > value[flat] + 1e-9
        b0[flat[higher]], t[flat[higher]] = other_b[higher], other_t[higher]
    return b0, t


def _second_start(n: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The best of some t, each with the b0 that weights the methods' log-odds by 1 / (t + their variance)."""
    logit = np.log(s + 0.5) - np.log(n - s + 0.5)
    variance = 1 / (s + 0.5) + 1 / (n - s + 0.5)
    best_b, best_t, best = np.zeros(n.shape[1]), np.zeros(n.shape[1]), np.full(n.shape[1], -np.inf)
    for t in np.geomspace(0.003, 3, 10):
        weight = np.where(n > 0, 1 / (t + variance), 0.0)
        b0 = (weight * logit).sum(axis=0) / weight.sum(axis=0)
        value = _point(n, s, b0, np.full_like(b0, t)).value
        higher = value > best
        best_b[higher], best_t[higher], best[higher] = b0[higher], t, value[higher]
    return best_b, best_t


def _start(n: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The common log-odds, and the variance by moments: E r² = w + t w²."""
    share = s.sum(axis=0) / n.sum(axis=0)
    r, w = s - n * share, n * share * (1 - share)
    moments = (r**2 - w).sum(axis=0) / (w**2).sum(axis=0)
    return np.asarray(np.log(share) - np.log1p(-share)), np.maximum(moments, 0.01)


def _hill(
    n: FloatArray, s: FloatArray, b0: FloatArray, t: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The top of the hill that each start stands on, and its height: Newton's steps, halved while they lead down."""
    b0, t, value = b0.copy(), t.copy(), np.empty(len(b0))
    going, point = np.arange(len(b0)), _point(n, s, b0, t)
    for _ in range(STEPS):
        step_b, step_t = _step(point, t[going])
        next_b, next_t, point = _climb(
            n[:, going], s[:, going], b0[going], t[going], step_b, step_t, point.value
        )
        far_b = np.abs(next_b - b0[going]) > CLOSE * (1 + np.abs(next_b))
        still = far_b | (np.abs(next_t - t[going]) > CLOSE * (1 + next_t))
        b0[going], t[going], value[going] = next_b, next_t, point.value
        if not still.any():
            break
        going = going[still]
        point = _Point(*(getattr(point, field.name)[still] for field in fields(point)))
    return b0, t, value


def _step(point: _Point, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Newton's step, or the steepest one (scaled by the curvatures' sizes) where the surface is no hill."""
    fixed = (t <= 0) & (point.slope_t <= 0)
    determinant = point.curve_bb * point.curve_tt - point.curve_bt**2
    hill = (point.curve_bb < 0) & (determinant > 0) & ~fixed
    inverse = 1 / np.where(hill, determinant, 1.0)
    newton_b = (point.curve_bt * point.slope_t - point.curve_tt * point.slope_b) * inverse
    newton_t = (point.curve_bt * point.slope_b - point.curve_bb * point.slope_t) * inverse
    alone_b = point.slope_b / np.maximum(np.abs(point.curve_bb), 1e-12)
    alone_t = np.where(fixed, 0.0, point.slope_t / np.maximum(np.abs(point.curve_tt), 1e-12))
    return np.where(hill, newton_b, alone_b), np.where(hill, newton_t, alone_t)


def _climb(
    n: FloatArray,
    s: FloatArray,
    b0: FloatArray,
    t: FloatArray,
    step_b: FloatArray,
    step_t: FloatArray,
    value: FloatArray,
) -> tuple[FloatArray, FloatArray, _Point]:
    """The end of the step, t not below 0, halved for as long as the likelihood is lower there than it was."""
    rounding = 1e-11 * (1 + np.abs(value))
    # Far steps leave the range in which a quadratic says anything.
    length = np.minimum(1.0, 2.0 / np.maximum(np.maximum(np.abs(step_b), np.abs(step_t) / (1 + t)), 1e-12))
    for _ in range(60):
        next_b, next_t = b0 + length * step_b, np.maximum(t + length * step_t, 0.0)
        point = _point(n, s, next_b, next_t)
        lower = point.value < value - rounding
        if not lower.any():
            break
        length = np.where(lower, length / 2, length)
    return next_b, next_t, point


def _point(n: FloatArray, s: FloatArray, b0: FloatArray, t: FloatArray) -> _Point:
    """The formulas of this module's docstring and their derivatives, by d eta/d b0 = 1/A and d eta/d t = r/A."""
    eta = b0 + _modes(n, s, b0, t)
    p = expit(eta)
    r, w = s - n * p, n * p * (1 - p)
    w1, w2 = w * (1 - 2 * p), w * (1 - 6 * p * (1 - p))  # derivatives of w by eta
    a = 1 + t * w
    a_t = w + t * w1 * r / a
    value = s * eta - n * np.logaddexp(0, eta) - t * r**2 / 2 - np.log(a) / 2
    slope_t = r**2 - w / a - t * w1 * r / a**2
    curve_bb = -w / a - t * w2 / (2 * a**3) + (t * w1) ** 2 / a**4
    curve_bt = -w * r / a - w1 / (2 * a**2) - t * w2 * r / (2 * a**3) + t * w1 * a_t / a**3
    curve_tt = (
        -2 * w * r**2 / a
        - w1 * r / a**2
        + w * a_t / a**2
        - (w1 * r + t * w2 * r**2 / a - t * w1 * w * r / a) / a**2
        + 2 * t * w1 * r * a_t / a**3
    )
    terms = (value, r - t * w1 / (2 * a**2), slope_t / 2, curve_bb, curve_bt, curve_tt / 2)
    return _Point(*(term.sum(axis=0) for term in terms))


def _modes(n: FloatArray, s: FloatArray, b0: FloatArray, t: FloatArray) -> FloatArray:
    """The u_m with u_m = t (s_m - n_m p_m): Newton's steps, and the middle of the bracket where they do not shrink.

    Without the bracket they can go back and forth between two values for ever, where t n_m is large.
    """
    low, high = t * (s - n), t * s
    u, size = np.zeros_like(low), high - low
    for _ in range(200):
        p = expit(b0 + u)
        excess = u - t * (s - n * p)
        low, high = np.where(excess < 0, u, low), np.where(excess > 0, u, high)
        step = -excess / (1 + t * n * p * (1 - p))
        close = np.abs(step) <= 1e-13 * (1 + np.abs(u))
        if close.all():
            break
        inside = (u + step >= low) & (u + step <= high) & (2 * np.abs(step) <= size)
        step = np.where(close | inside, step, (low + high) / 2 - u)
        u, size = u + step, np.abs(step)
    return u


@dataclass(frozen=True)
class Change:
    """One method's row of the published tables.

    Attributes:
        method: Its name.
        n: Answers with both Pre and Post.
        pre: Share right before explanations, in the data.
        post: Share right after explanations, in the data.
        change: The bootstrap's Change: its estimate is not post - pre, because Pre is shrunk towards the mean over
            methods and the replicates are averaged.
    """

    method: Hashable
    n: int
    pre: float
    post: float
    change: Replicated


@dataclass(frozen=True)
class Changes(Record):
    """The published table of Change.

    Attributes:
        methods: One row per method, in the order of their names.
        replicates: Replicates drawn.
        singular: Replicates whose Pre fit finds no difference between methods (dropped, unless that is mended).
        unfitted: Replicates without a Pre fit (all answers equal, or one method only), always dropped.
        dropped: Answers without Pre or Post.
        defects: Which defects were kept.
        note: What is known of this procedure's error rate.
    """

    methods: tuple[Change, ...]
    replicates: int
    singular: int
    unfitted: int
    dropped: int
    defects: Defects
    note: str = NOTE


def change(
    participant: ArrayLike,
    item: ArrayLike,
    method: ArrayLike,
    pre: ArrayLike,
    post: ArrayLike,
    replicates: int = 25_000,
    seed: int = 0,
    defects: Defects = AS_PUBLISHED,
) -> Changes:
    """Change per method as published: resampled participants, then items; Pre by a random effect for method, Post raw.

    Args:
        participant: Who answered; one entry per answer, as in all columns. A name may stand for different people in
            different methods, see `Defects.shared_names`.
        item: What was asked.
        method: The method whose explanations this participant saw.
        pre: 1 if right before explanations, 0 if wrong, NaN or None if missing.
        post: The same after explanations.
        replicates: Resampled data sets.
        seed: Same seed, same result.
        defects: Which of the script's defects to keep.
    """
    answers = paired_answers(participant, item, method, pre, post)
    if len(answers.methods) < 2:
        raise VeraxError(
            f"All answers have the method {answers.methods[0]!r}: the published estimate of Pre compares methods and "
            "needs at least two."
        )
    people = answers.participant
    if not defects.shared_names:
        people = joint(answers.method, people)
    within = None if defects.across_methods else answers.method
    weights = block_weights(people, answers.item, replicates, seed, within)
    # Four kinds of answer per method are all that Pre and Post know of a replicate.
    kind = 4 * answers.method + (2 * answers.pre + answers.post).astype(np.intp)
    kinds = label_counts(weights, kind, 4 * len(answers.methods)).reshape(replicates, -1, 4)
    n, right_pre, right_post = kinds.sum(axis=2), kinds[:, :, 2:].sum(axis=2), kinds[:, :, 1::2].sum(axis=2)
    changes, effects = change_of_counts(n, right_pre, right_post)
    if defects.drop_singular:
        changes[effects.singular] = np.nan
    rows = [
        Change(
            name,
            n=int(own.sum()),
            pre=float(answers.pre[own].mean()),
            post=float(answers.post[own].mean()),
            change=summarised(changes[:, place]),
        )
        for place, name in enumerate(answers.methods)
        for own in [answers.method == place]
    ]
    return Changes(
        tuple(rows),
        replicates,
        singular=int(effects.singular.sum()),
        unfitted=int((~effects.fitted).sum()),
        dropped=answers.dropped,
        defects=defects,
    )


def change_of_counts(
    n: ArrayLike, right_pre: ArrayLike, right_post: ArrayLike
) -> tuple[FloatArray, MethodEffects]:
    """Post - Pre of each replicate and method from its counts, and the Pre fits; NaN where a method has no answers.

    Args:
        n: Answers: (replicates, methods).
        right_pre: Right ones before explanations.
        right_post: Right ones after explanations.
    """
    answers = np.asarray(n, dtype=np.float64)
    effects = method_effects(answers, right_pre)
    post = np.full(answers.shape, np.nan)
    np.divide(right_post, answers, out=post, where=answers > 0)
    return post - effects.probability, effects

"""Simulated studies: people who answer items before and after explanations that help by a known number of points.

logit P(right) = b + a_u + c_i + h_ui + after · (d_m + e_u + f_i + g_im): a person is better or worse (a), an item
easier or harder (c), a person knows an item (h, before and after alike), gains more or less (e), an item gains more or
less (f), or gains under one method only (g). b and d_m are solved so that accuracy before and the effect of method m
are what is asked for over all people and items: with d = 0 accuracy would fall by half a point, since e and f pull
towards one half. So "no effect" here means no effect in points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.stats.logistic import mean_accuracy


@dataclass(frozen=True)
class Spreads:
    """Standard deviations on the log-odds scale; the defaults are those of docs/results/calibration.md.

    Attributes:
        person: Between people.
        item: Between items.
        person_change: Between people in what they gain; one number, or one per method.
        item_change: Between items in what is gained on them.
        pair: Between pairs of a person and an item.
        item_method: Between items in what one method adds to them.
    """

    person: float = 0.55
    item: float = 1.0
    person_change: float | tuple[float, ...] = 0.3
    item_change: float = 0.45
    pair: float = 0.6
    item_method: float = 0.0

    def before(self) -> float:
        """Spread of the log-odds before explanations."""
        return float(np.sqrt(self.person**2 + self.item**2 + self.pair**2))

    def after(self, method: int) -> float:
        """Spread of the log-odds after explanations by one method."""
        more = self.gain(method) ** 2 + self.item_change**2 + self.item_method**2
        return float(np.sqrt(self.before() ** 2 + more))

    def gain(self, method: int) -> float:
        """Spread of people's gain under one method."""
        return self.person_change[method] if isinstance(self.person_change, tuple) else self.person_change


@dataclass(frozen=True)
class Design:
    """Who answers what.

    Attributes:
        participants: Number of people per method.
        items: Number of items, the same for all.
        accuracy: Share of right answers before explanations.
        missing: Share of pairs (before and after) that are missing.
        tests: The items are so many tests of equal size, which matters for ``halves`` only.
        halves: Share of people who get a random half of a test only.
        memory: Share of answers after explanations that just repeat the one before.
    """

    participants: tuple[int, ...]
    items: int
    accuracy: float = 0.66
    missing: float = 0.03
    tests: int = 1
    halves: float = 0.0
    memory: float = 0.0

    def __post_init__(self) -> None:
        """Refuses what cannot be simulated."""
        if not self.participants or min(self.participants) < 1 or self.items < 1:
            raise VeraxError(
                f"The design has {self.participants} participants per method and {self.items} items: each number must "
                "be at least 1."
            )
        if not 0 < self.accuracy < 1 or not 0 <= self.missing < 1 or not 0 <= self.memory < 1:
            raise VeraxError(
                f"Accuracy {self.accuracy}, missing {self.missing} and memory {self.memory} are shares: give numbers "
                "from 0 to below 1, such as 0.66."
            )
        if self.tests < 1 or self.items % self.tests:
            raise VeraxError(f"{self.items} items cannot be split into {self.tests} tests of equal size.")

    @property
    def method(self) -> IndexArray:
        """Method of each participant."""
        return np.repeat(np.arange(len(self.participants)), self.participants)


@dataclass(frozen=True, eq=False)
class Simulated:
    """Studies of one design.

    Attributes:
        pre: (studies, participants, items): 1 right, 0 wrong, NaN missing.
        post: The same after explanations.
        method: Method of each participant.
        item_change: (studies, methods): the true Change on these very items, over all people.
    """

    pre: FloatArray
    post: FloatArray
    method: IndexArray
    item_change: FloatArray

    @property
    def change(self) -> FloatArray:
        """Post - Pre."""
        return self.post - self.pre


def simulate(
    design: Design,
    effects: tuple[float, ...] | float = 0.0,
    spreads: Spreads | None = None,
    studies: int = 1,
    seed: int | np.random.SeedSequence = 0,
) -> Simulated:
    """Draws studies.

    Args:
        design: Who answers what.
        effects: True Change per method as a share (0.08 is 8 points), or one for the first method, 0 for the others.
        spreads: How much people and items differ; None is the default.
        studies: How many.
        seed: Seed; the same seed gives the same people and items for every effect.
    """
    spreads = Spreads() if spreads is None else spreads
    method, n_methods = design.method, len(design.participants)
    wanted = effects if isinstance(effects, tuple) else (effects,) + (0.0,) * (n_methods - 1)
    if len(wanted) != n_methods:
        raise VeraxError(f"There are {len(wanted)} effects for {n_methods} methods: give one per method.")
    base, shifts = solve_base(design, spreads), solve_shifts(design, spreads, wanted)
    rng = np.random.default_rng(seed)
    people, items = len(method), design.items
    ability, gain = rng.standard_normal((2, studies, people, 1))
    ease, item_gain = rng.standard_normal((2, studies, 1, items)) * [
        [[[spreads.item]]],
        [[[spreads.item_change]]],
    ]
    suits = rng.standard_normal((studies, n_methods, items)) * spreads.item_method
    before = (
        base + spreads.person * ability + ease + spreads.pair * rng.standard_normal((studies, people, items))
    )
    gains = np.array([spreads.gain(m) for m in range(n_methods)])[method][:, None]
    after = before + shifts[method][:, None] + gains * gain + item_gain + suits[:, method]
    pre = (rng.random(before.shape) < expit(before)).astype(np.float64)
    post = (rng.random(after.shape) < expit(after)).astype(np.float64)
    if design.memory:
        post = np.where(rng.random(post.shape) < design.memory, pre, post)
    absent = rng.random(pre.shape) < design.missing
    if design.halves:
        absent |= ~_given(design, studies, rng)
    pre[absent] = post[absent] = np.nan
    truth = _item_change(base + ease, shifts[:, None] + item_gain + suits, spreads) * (1 - design.memory)
    return Simulated(pre, post, method, truth)


def solve_base(design: Design, spreads: Spreads) -> float:
    """The log-odds b at which accuracy before explanations, over all people and items, is the design's."""
    return _solve(design.accuracy, spreads.before())


def solve_shifts(design: Design, spreads: Spreads, effects: tuple[float, ...]) -> FloatArray:
    """The log-odds d of each method that raise accuracy by its effect, over all people and items."""
    base = solve_base(design, spreads)
    wanted = [design.accuracy + effect / (1 - design.memory) for effect in effects]
    if min(wanted) <= 0 or max(wanted) >= 1:
        raise VeraxError(
            f"Effects of {effects} on an accuracy of {design.accuracy} leave the range from 0 to 1: give shares, such "
            "as 0.08 for 8 points."
        )
    return np.array([_solve(share, spreads.after(m)) - base for m, share in enumerate(wanted)])


def _solve(share: float, spread: float) -> float:
    """The mean log-odds whose mean accuracy is the share."""
    return float(brentq(lambda log_odds: float(mean_accuracy(log_odds, spread)) - share, -30, 30, xtol=1e-12))


def _given(design: Design, studies: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which items each person gets where some get random halves of tests."""
    size = design.items // design.tests
    shape = (studies, sum(design.participants), design.tests, size)
    places = rng.random(shape).argsort(axis=3).argsort(axis=3)
    half = rng.random(shape[:3])[..., None] < design.halves
    return np.asarray(~half | (places < size // 2)).reshape(studies, shape[1], design.items)


def _item_change(ease: FloatArray, gain: FloatArray, spreads: Spreads) -> FloatArray:
    """Mean over the items of the accuracy gained over all people, per method."""
    own = float(np.hypot(spreads.person, spreads.pair))
    methods = gain.shape[1]
    after = np.array([np.hypot(own, spreads.gain(m)) for m in range(methods)])[:, None]
    gained = mean_accuracy(ease + gain, np.broadcast_to(after, gain.shape)) - mean_accuracy(ease, own)
    return np.asarray(gained.mean(axis=2), dtype=np.float64)

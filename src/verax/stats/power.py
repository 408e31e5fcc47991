"""Power by simulation: how often a planned study of people and items would find an effect, and the least it can find.

Simulated studies: people who answer items before and after explanations that help by a known number of points.

logit P(right) = b + a_u + c_i + h_ui + after · (d_m + e_u + f_i + g_im): a person is better or worse (a), an item
easier or harder (c), a person knows an item (h, before and after alike), gains more or less (e), an item gains more or
less (f), or gains under one method only (g). b and d_m are solved so that accuracy before and the effect of method m
are what is asked for over all people and items: with d = 0 accuracy would fall by half a point, since e and f pull
towards one half. So "no effect" here means no effect in points.

Power by simulation: how often a planned study of people and items would find an effect, and the least it can find.

Studies are drawn by `simulate` and analysed by the estimator that will be used,
`verax.stats.crossed.between`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import betaincinv, expit

from verax.arrays import FloatArray, IndexArray
from verax.codec import Record
from verax.errors import VeraxError
from verax.stats.crossed import claims
from verax.stats.crossed.claims import Items, Stratum, components
from verax.stats.logistic import mean_accuracy
from verax.stats.tests.multiplicity import holm
from verax.stats.thresholds import FEWEST_PEOPLE


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


# Studies that are simulated together: it bounds memory, and the seed of each group makes results independent of it.
GROUP = 100
# Answers simulated at a time, at the most: of a large design fewer studies, so that memory does not grow with it.
MOST_ANSWERS = 500_000

# What an analysis answers: one p-value per simulated study, NaN where it could make no test.
Analysis = Callable[[Simulated], FloatArray]


@dataclass(frozen=True)
class Power(Record):
    """How often an effect is found.

    Attributes:
        power: Share of the simulated studies with p at most 1 - level.
        low: Lower end of its 95% interval (exact binomial): the chance of simulating.
        high: Upper end.
        effect: The true Change that was simulated, as a share.
        studies: How many studies.
        untested: Studies in which no test could be made; they count as not found.
        level: Level of the test.
    """

    power: float
    low: float
    high: float
    effect: float
    studies: int
    untested: int
    level: float


@dataclass(frozen=True)
class Detectable(Record):
    """The least effect that is found with a given power.

    Attributes:
        effect: The true Change, as a share; None where even the largest possible one is found less often.
        low: Lower end of its 95% interval: the chance of simulating.
        high: Upper end.
        power: The power.
        studies: Studies per effect tried.
        level: Level of the test.
    """

    effect: float | None
    low: float | None
    high: float | None
    power: float
    studies: int
    level: float


def analysis(
    claim: Literal["change", "contrast"] = "change",
    items: Items = "random",
    correction: Literal["none", "Holm"] = "none",
) -> Analysis:
    """The crossed analysis of the first method; as there, nothing is claimed with less than six people of a condition.

    Args:
        claim: Its own Change, or its contrast with the last method (the control).
        items: "random" or "fixed".
        correction: Whether p is corrected for the same claim about the other methods.
    """

    def p_values(drawn: Simulated) -> FloatArray:
        n_methods = int(drawn.method.max()) + 1
        parts = components([Stratum(np.arange(len(drawn.method)), drawn.change)], drawn.method, n_methods)
        if claim == "contrast" and n_methods < 2:
            raise VeraxError("A contrast needs a control: give participants for at least two methods.")
        tested = range(n_methods - (claim == "contrast")) if correction == "Holm" else range(1)
        tests = [
            claims.change(parts, m, items)
            if claim == "change"
            else claims.contrast(parts, m, n_methods - 1, items)
            for m in tested
        ]
        p = np.stack([test.p for test in tests], axis=1)
        people = parts.count[:, 0]
        compared = people[:, [0, -1]] if claim == "contrast" else people[:, [0]]
        p[compared.min(axis=1) < FEWEST_PEOPLE, 0] = np.nan
        return np.array([holm(row)[0] for row in p]) if correction == "Holm" else p[:, 0]

    return p_values


def power(
    design: Design,
    effect: float,
    spreads: Spreads | None = None,
    analyse: Analysis | None = None,
    studies: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Power:
    """How often studies of a design find an effect of the first method, the others having none.

    Args:
        design: Participants per method, items, accuracy before; the control, if there is one, is the last method.
        effect: True Change of the first method as a share: 0.08 is 8 points. 0 gives the share of false claims.
        spreads: How much people and items differ; None is the default of `simulate`.
        analyse: The analysis; None is the Change by `crossed` on random items. See `analysis`.
        studies: How many are simulated; 1,000 give power to about ±2.5 points.
        seed: Seed of the simulation.
        level: Level of the test.
    """
    if studies < 1:
        raise VeraxError(f"The number of simulated studies is {studies}: give at least 1, such as 1000.")
    test = analysis() if analyse is None else analyse
    p = np.concatenate([test(drawn) for drawn in _drawn(design, effect, spreads, studies, seed)])
    detected = int((p <= 1 - level).sum())
    low, high = binomial_interval(detected, studies)
    return Power(detected / studies, low, high, effect, studies, int(np.isnan(p).sum()), level)


def detectable_effect(
    design: Design,
    wanted: float = 0.8,
    spreads: Spreads | None = None,
    analyse: Analysis | None = None,
    studies: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Detectable:
    """The least effect that studies of a design find with the power wanted, to a tenth of a point.

    Every effect is tried on the same simulated people and items, so that power grows with it, and halved intervals find
    where it crosses; the interval is where the power wanted lies within the chance of simulating. The arguments beside
    the power wanted are those of `power`.
    """
    if not 0 < wanted < 1:
        raise VeraxError(f"The power wanted is {wanted}: give a number between 0 and 1, such as 0.8.")
    tried: dict[float, float] = {}

    def power_of(effect: float) -> float:
        if effect not in tried:
            tried[effect] = power(design, effect, spreads, analyse, studies, seed, level).power
        return tried[effect]

    most = 0.98 * (1 - design.accuracy) * (1 - design.memory)
    low, high = binomial_interval(round(wanted * studies), studies)
    ends = [_crossing(power_of, target, most) for target in (low, wanted, high)]
    return Detectable(ends[1], ends[0], ends[2], wanted, studies, level)


def needed_participants(
    design: Design,
    effect: float,
    wanted: float = 0.8,
    most: int = 400,
    spreads: Spreads | None = None,
    analyse: Analysis | None = None,
    studies: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> int | None:
    """The least number of participants per method that finds an effect with the power wanted; None above ``most``.

    The other arguments are those of `power`; the design's own numbers of participants count for nothing but how many
    methods there are.
    """

    def suffice(each: int) -> bool:
        sized = replace(design, participants=(each,) * len(design.participants))
        return power(sized, effect, spreads, analyse, studies, seed, level).power >= wanted

    if most < FEWEST_PEOPLE:
        return None
    above = FEWEST_PEOPLE
    while above < most and not suffice(above):
        above = min(2 * above, most)
    if above == most and not suffice(most):
        return None
    below = above // 2
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if suffice(middle) else (middle, above)
    return max(above, FEWEST_PEOPLE)


def _crossing(power_of: Callable[[float], float], target: float, most: float) -> float | None:
    """The effect where power reaches the target, by halving down to a tenth of a point; None where it never does."""
    if power_of(most) < target:
        return None
    below, above = 0.0, most
    while above - below > 0.001:
        middle = (below + above) / 2
        if power_of(middle) < target:
            below = middle
        else:
            above = middle
    return (below + above) / 2


def _drawn(
    design: Design, effect: float, spreads: Spreads | None, studies: int, seed: int
) -> Iterator[Simulated]:
    """The studies, some at a time; the first are the same whatever the number of studies."""
    each = max(1, min(GROUP, MOST_ANSWERS // (sum(design.participants) * design.items)))
    for group, start in enumerate(range(0, studies, each)):
        drawn = simulate(design, effect, spreads, each, np.random.SeedSequence([seed, group]))
        yield drawn if studies - start >= each else _first(drawn, studies - start)


def _first(drawn: Simulated, studies: int) -> Simulated:
    """The first studies of a group."""
    return Simulated(drawn.pre[:studies], drawn.post[:studies], drawn.method, drawn.item_change[:studies])


def binomial_interval(hits: int, tried: int, level: float = 0.95) -> tuple[float, float]:
    """The exact interval (Clopper-Pearson) of a share."""
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, tried - hits + 1, tail))
    high = 1.0 if hits == tried else float(betaincinv(hits + 1, tried - hits, 1 - tail))
    return low, high

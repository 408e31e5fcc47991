"""Power by simulation: how often a planned study of people and items would find an effect, and the least it can find.

Studies are drawn by `verax.stats.power.simulation` and analysed by the estimator that will be used,
`verax.stats.crossed.between`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import betaincinv

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.stats.crossed import claims
from verax.stats.crossed.claims import Items
from verax.stats.crossed.components import Stratum, components
from verax.stats.power.simulation import Design, Simulated, Spreads, simulate
from verax.stats.record import Record
from verax.stats.tests.multiplicity import holm
from verax.stats.thresholds import FEWEST_PEOPLE

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
        spreads: How much people and items differ; None is the default of `verax.stats.power.simulation`.
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

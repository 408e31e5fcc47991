"""Within people: how often a difference is claimed that is only practice, by how the rows of the square are filled.

Answers come from people who learn: the chance of a right answer rises from session to session by a logistic curve, at a
pace of their own, and items differ in how hard they are. No condition does anything.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from calibration_rows import Row
from verax.stats.crossed.within import condition_differences, met

SEED = 7303
# The six orders of three conditions.
ORDERS = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [0, 2, 1], [1, 0, 2]])
EACH = 15  # items of a session
PRACTICE = 2.0  # in log-odds, of which half is gained after the first session and a quarter after the second
# How rows are filled: people in each of the six.
FILLED = {
    "all rows equal": (5, 5, 5, 5, 5, 5),
    "one person less": (5, 5, 5, 5, 5, 4),
    "two rows of six": (15, 15, 0, 0, 0, 0),
    "two rows of six, each other's reverse": (15, 0, 0, 15, 0, 0),
    "one row with twice as many": (10, 4, 4, 4, 4, 4),
}


def answers(rng: np.random.Generator, filled: tuple[int, ...], practice: float) -> tuple[np.ndarray, ...]:
    """Columns participant, item, condition, session, score of one study without any effect."""
    rows = np.repeat(np.arange(6), filled)
    hard = rng.normal(0, 1.0, 3 * EACH)
    columns = []
    for person, row in enumerate(rows):
        able, pace = rng.normal(0.2, 0.6), practice * rng.uniform(0.5, 1.5)
        items = rng.permutation(3 * EACH)
        session = np.repeat(np.arange(3), EACH)
        chance = 1 / (1 + np.exp(-(able + pace * (1 - 2.0**-session) - hard[items])))
        right = rng.random(3 * EACH) < chance
        columns.append((np.full(3 * EACH, person), items, ORDERS[row][session], session, right.astype(float)))
    return tuple(np.concatenate(column) for column in zip(*columns, strict=True))


def claimed(filled: tuple[int, ...], practice: float, runs: int, sessions: bool | None) -> float:
    """In how many studies, in per cent, some difference from the first condition is claimed after correction.

    ``sessions``: True accounts for them, False lets them be known, None leaves them out, as before they were looked at.
    """
    rng = np.random.default_rng([SEED, *filled])
    found = 0
    for _ in range(runs):
        participant, item, condition, session, score = answers(rng, filled, practice)
        given = participant, item, condition, score
        rows = met(*given) if sessions is None else met(*given, session, adjusted=sessions)
        found += any(one.verdict != "none" for one in condition_differences(rows, [(1, 0), (2, 0)]))
    return 100 * found / runs


def error_of(rate: float, runs: int) -> float:
    """Three standard errors of a rate, both in per cent."""
    return 3 * sqrt(rate * (100 - rate) / runs)


def rows(quick: bool) -> list[Row]:
    """False claims of a trend, for each way to fill the rows, and with a session term."""
    runs = 300 if quick else 1500
    made = [
        Row(
            f"within people: practice claimed as an effect; {name}",
            "at most 5%",
            claimed(filled, PRACTICE, runs, sessions=False),
            runs,
            0.0,
            5 + error_of(5, runs),
        )
        for name, filled in FILLED.items()
    ]
    made += [
        Row(
            f"within people: practice claimed as an effect, sessions accounted for; {name}",
            "at most 5%",
            claimed(FILLED[name], PRACTICE, runs, sessions=True),
            runs,
            0.0,
            5 + error_of(5, runs),
        )
        for name in ("one row with twice as many", "two rows of six")
    ]
    return made

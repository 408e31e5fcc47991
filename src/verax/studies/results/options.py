"""How a study is analysed, and whose answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

People = Literal["participants", "bots"]
Estimator = Literal["crossed", "hase2020", "both"]


@dataclass(frozen=True)
class Options:
    """How to analyse.

    Attributes:
        estimator: whose tables of Change to report; "hase2020" is the published procedure, labelled as a reproduction.
            The primary analysis is by "crossed" in any case.
        replicates: of each bootstrap.
        seed: of everything random.
        level: coverage of intervals.
        mended: defects of the published procedure that shall be mended, by their names in
            `verax.stats.hase2020.Defects`; none of them by default.
        bots: analyse the bots instead of the people; the two are never mixed.
    """

    estimator: Estimator = "both"
    replicates: int = 5_000
    seed: int = 0
    level: float = 0.95
    mended: tuple[str, ...] = ()
    bots: bool = False

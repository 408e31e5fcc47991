"""How a study is analysed, and whose answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

People = Literal["participants", "bots"]
Estimator = Literal["crossed", "hase2020", "both"]

OWN_REPLICATES = 5_000
# What Hase and Bansal (2020) drew.
PUBLISHED_CHANGE, PUBLISHED_MEANS, PUBLISHED_REGRESSION = 25_000, 10_000, 15_000


@dataclass(frozen=True)
class Options:
    """How to analyse.

    Attributes:
        estimator: whose tables of Change to report; "hase2020" is the published procedure, labelled as a reproduction.
            The primary analysis is by "crossed" in any case.
        replicates: of each bootstrap. None gives 5,000 to our own, and to the published procedure what was published:
            25,000 for Change, 10,000 for means, 15,000 for the regression on ratings.
        seed: of everything random.
        level: coverage of intervals.
        mended: defects of the published procedure that shall be mended, by their names in
            `verax.stats.hase2020.Defects`; none of them by default.
        bots: analyse the bots instead of the people; the two are never mixed.
        session_term: within people, account for the session in which a condition was met.
        refuse_unequal: within people, refuse to analyse where rows of the design are filled unequally.
    """

    estimator: Estimator = "both"
    replicates: int | None = None
    seed: int = 0
    level: float = 0.95
    mended: tuple[str, ...] = ()
    bots: bool = False
    session_term: bool = False
    refuse_unequal: bool = False

    @property
    def own_replicates(self) -> int:
        """Of the bootstraps that are not a published procedure."""
        return self.replicates or OWN_REPLICATES

    @property
    def change_replicates(self) -> int:
        """Of Change as published."""
        return self.replicates or PUBLISHED_CHANGE

    @property
    def mean_replicates(self) -> int:
        """Of means as published: accuracy before explanations, and ratings."""
        return self.replicates or PUBLISHED_MEANS

    @property
    def regression_replicates(self) -> int:
        """Of the published regression of right answers on ratings."""
        return self.replicates or PUBLISHED_REGRESSION

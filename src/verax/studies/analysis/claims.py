"""Claims of the crossed estimator as lines of tables, with what must be said beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verax.results.units import PERCENT, Ends
from verax.stats.shares import share_interval
from verax.text import listed

if TYPE_CHECKING:
    from verax.stats.crossed.result import Crossed


@dataclass(frozen=True)
class Named:
    """A condition, or a comparison of two, and what is claimed of it.

    Attributes:
        name: what readers see.
        claim: the estimate with its tests.
        key: what a plan may call it; None if nothing.
    """

    name: str
    claim: Crossed
    key: str | None = None


def named(claims: Mapping[str, Crossed]) -> list[Named]:
    """Claims by name as lines."""
    return [Named(name, claim) for name, claim in claims.items()]


def share_ends(claim: Crossed | None) -> Ends:
    """The interval of an estimated share in per cent, by Korn and Graubard, so that it never leaves 0 to 100."""
    if claim is None or claim.estimate is None or claim.se is None or claim.df is None:
        return None
    ends = share_interval(claim.estimate, claim.se, claim.df, claim.level)
    return None if ends is None else PERCENT.interval(*ends)


def warnings_of(claims: Mapping[str, Crossed]) -> list[str]:
    """What the estimator says beside its claims, once each, with whose it is."""
    said: dict[str, list[str]] = {}
    for name, claim in claims.items():
        for warning in claim.warnings:
            said.setdefault(warning, []).append(name)
    return [
        warning if len(names) == len(claims) else f"{listed(names)}: {warning}"
        for warning, names in said.items()
    ]


def untested(claims: Mapping[str, Crossed], otherwise: str) -> str:
    """The sentence, with the lines that allow no claim taken out of it: that nothing was shown would be no news."""
    names = [name for name, claim in claims.items() if not claim.enough]
    if not names:
        return otherwise
    why = "the answers are too few for a test, or do not vary"
    if len(names) == len(claims):
        return f"Nothing is claimed: {why}."
    return f"{otherwise} Nothing is claimed of {listed(names)}: {why}."

"""Who was screened out, compared between conditions: a test that excludes unevenly can make a difference of its own."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from verax.stats.estimate import Estimate, binomial_share, share_difference
from verax.studies.protocol.findings import Analysed
from verax.studies.protocol.surroundings import has_door
from verax.text import counted, listed

if TYPE_CHECKING:
    from verax.studies.answers.frames import Collected


@dataclass(frozen=True)
class ScreenedOut:
    """What is said of the screening test, and which claims it weakens."""

    said: str = ""
    problems: tuple[str, ...] = ()


def screened_out(collected: Collected, data: Analysed) -> ScreenedOut:
    """Compares the shares of those who were screened out; there is nothing to compare where the test came before."""
    study, people = data.study, collected.participants
    if study.screening is None:
        return ScreenedOut()
    people = people[people["bot"].astype(bool) == (data.people == "bots")]
    out = int((people["status"] == "screened-out").sum())
    if has_door(study):
        return ScreenedOut(
            f"The screening test was the same for all and came before anybody was given a condition, so that it could "
            f"not make conditions differ; {counted(out, 'person', 'people')} did not pass."
        )
    # Who is still at the test, or left or withdrew during it, neither passed nor failed.
    early = [key for key, phase in study.phases.items() if phase.kind == "screening" or key == "instructions"]
    beyond = people["phase"].notna() & ~people["phase"].isin(early)
    judged = people[people["status"].isin(["screened-out", "complete"]) | beyond]
    judged = judged[judged["design_row"].notna()]
    if judged["condition"].isna().any():
        return ScreenedOut(
            f"{counted(out, 'person', 'people')} did not pass the screening test; everybody meets every condition, so "
            "that it cannot make conditions differ."
        )
    shares = {
        condition.name: binomial_share((of["status"] == "screened-out").astype(float))
        for condition in data.conditions
        if len(of := judged[judged["condition"] == condition.name])
    }
    return _compared(shares) if len(shares) > 1 and out else ScreenedOut(_shares(shares) if shares else "")


def _compared(shares: dict[str, Estimate]) -> ScreenedOut:
    ordered = sorted(shares, key=lambda name: shares[name].mean, reverse=True)
    differences = {
        (more, fewer): share_difference(shares[more], shares[fewer])
        for more, fewer in combinations(ordered, 2)
    }
    (most, least), largest = (ordered[0], ordered[-1]), differences[ordered[0], ordered[-1]]
    said = (
        f"{_shares(shares)} The largest difference is that of {most} and {least}: {_points(largest)}. The test was "
        "asked after a condition was given, and is not the same for all."
    )
    problems = tuple(
        f"More people were screened out in {more} than in {fewer} ({_points(difference)}): whoever is left may "
        f"differ, so that every claim that compares {more} with {fewer} is weakened, whatever its p-value."
        for (more, fewer), difference in differences.items()
        if (difference.low or 0.0) > 0
    )
    if problems:
        return ScreenedOut(said, problems)
    return ScreenedOut(
        f"{said} No difference is clearly above zero, but {100 * (largest.high or 0.0):.0f} points cannot be ruled "
        f"out: claims that compare {most} with {least} rest on the assumption that those who were kept are alike."
    )


def _shares(shares: dict[str, Estimate]) -> str:
    parts = [
        f"{100 * share.mean:.0f}% in {name} ({100 * (share.low or 0.0):.0f} to {100 * (share.high or 0.0):.0f})"
        for name, share in shares.items()
    ]
    return f"Of those who finished the screening test it excluded {listed(parts)}, with 95% intervals."


def _points(difference: Estimate) -> str:
    low, high = 100 * (difference.low or 0.0), 100 * (difference.high or 0.0)
    return f"{100 * difference.mean:.0f} points, 95% interval {low:.0f} to {high:.0f}"

"""Estimates in plain words: what is shown, what is not, and what a null result leaves open."""

from __future__ import annotations

from collections.abc import Sequence

from verax.studies.analysis.primary import is_clear
from verax.studies.results.summary import PrimaryEstimate
from verax.text import between, listed, p_text, signed


def primary_sentence(estimates: Sequence[PrimaryEstimate], control: str | None) -> str:
    """What the primary analysis says of all conditions."""
    clear = [one for one in estimates if is_clear(one)]
    unclear = [one for one in estimates if one.conclusive and one.low is not None and not is_clear(one)]
    small = [one for one in estimates if not one.conclusive and one.low is not None]
    bare = [one for one in estimates if one.low is None]
    said = [_clear(one, control, alone=len(estimates) == 1) for one in clear]
    if unclear:
        said.append(_unclear(unclear, control, first=not clear, alone=len(estimates) == 1))
    if small:
        said.append(
            f"Of {_listed(small)} there is too little data for a claim: {listed([_size(one) for one in small])}."
        )
    if bare:
        said.append(f"Of {_listed(bare)} no interval can be given: {listed([_size(one) for one in bare])}.")
    return " ".join(said) or "There is nothing to estimate."


def _clear(one: PrimaryEstimate, control: str | None, *, alone: bool) -> str:
    """A condition whose effect is found. Its accuracy may have fallen, if only the control's fell more."""
    estimate = one.estimate or 0.0
    if control is None:
        size = f"accuracy {'rose' if estimate > 0 else 'fell'} by {abs(estimate):.1f} points"
    else:
        side = "higher" if estimate > 0 else "lower"
        size = f"the change of accuracy was {abs(estimate):.1f} points {side} than with {control}"
    corrected = "" if alone else ", corrected for all conditions"
    return (
        f"With {one.condition} {size} "
        f"(95% interval {between(one.low or 0.0, one.high or 0.0)}; {p_text(one.p_adjusted or 0.0)}{corrected})."
    )


def _unclear(found: Sequence[PrimaryEstimate], control: str | None, *, first: bool, alone: bool) -> str:
    """Conditions without a clear effect, and how large an effect could have been missed."""
    sizes = [one.detectable for one in found if one.detectable is not None]
    low, high = min(sizes), max(sizes)
    about = f"{low:.0f}" if round(low) == round(high) else f"{low:.0f} to {high:.0f}"
    against = f" against {control}" if control is not None else ""
    what = "effect of" if control is not None else "change with"
    head = f"No clear {what}" if first else f"No clear {what.replace(' ', ' was found ')}"
    parts = listed(
        [
            f"{one.condition} ({signed(one.estimate or 0.0)}, {between(one.low or 0.0, one.high or 0.0)})"
            for one in found
        ]
    )
    missed = any((one.low or 0.0) > 0 or (one.high or 0.0) < 0 for one in found)
    corrected = "" if alone or not missed else " (0 is outside one, but not once all conditions are counted)"
    return (
        f"{head} {parts}{against}, in points with 95% intervals{corrected}. This is no evidence of no effect: a study "
        f"like this finds a true effect of about {about} points in 80% of cases, so smaller ones stay open."
    )


def _size(one: PrimaryEstimate) -> str:
    if one.estimate is None:
        return f"{one.condition} nothing"
    return f"{one.condition} {signed(one.estimate)} points"


def _listed(found: Sequence[PrimaryEstimate]) -> str:
    return listed([one.condition for one in found])

"""Estimates in plain words: what is shown, what is not, and what a null result leaves open."""

from __future__ import annotations

from collections.abc import Sequence

from verax.studies.analysis.primary import sorted_out
from verax.studies.results.summary import PrimaryEstimate
from verax.text import between, listed, p_text, signed


def primary_sentence(estimates: Sequence[PrimaryEstimate], control: str | None) -> str:
    """What the primary analysis says of all conditions."""
    clear, unclear, small, bare = sorted_out(estimates)
    said = [_clear(line, control, alone=len(estimates) == 1) for line in clear]
    if unclear:
        said.append(_unclear(unclear, control, first=not clear, alone=len(estimates) == 1))
    if small:
        said.append(
            f"Of {_listed(small)} there is too little data for a claim: {listed([_size(line) for line in small])}."
        )
    if bare:
        said.append(f"Of {_listed(bare)} no interval can be given: {listed([_size(line) for line in bare])}.")
    return " ".join(said) or "There is nothing to estimate."


def _clear(line: PrimaryEstimate, control: str | None, *, alone: bool) -> str:
    """A condition whose effect is found. Its accuracy may have fallen, if only the control's fell more."""
    estimate = line.estimate or 0.0
    if control is None:
        size = f"accuracy {'rose' if estimate > 0 else 'fell'} by {abs(estimate):.1f} points"
    else:
        side = "higher" if estimate > 0 else "lower"
        size = f"the change of accuracy was {abs(estimate):.1f} points {side} than with {control}"
    corrected = "" if alone else ", corrected for all conditions"
    return (
        f"With {line.condition} {size} "
        f"(95% interval {between(line.low or 0.0, line.high or 0.0)}; {p_text(line.p_adjusted or 0.0)}{corrected})."
    )


def _unclear(lines: Sequence[PrimaryEstimate], control: str | None, *, first: bool, alone: bool) -> str:
    """Conditions without a clear effect, and how large an effect could have been missed."""
    sizes = [line.detectable for line in lines if line.detectable is not None]
    low, high = min(sizes), max(sizes)
    about = f"{low:.0f}" if round(low) == round(high) else f"{low:.0f} to {high:.0f}"
    against = f" against {control}" if control is not None else ""
    what = "effect of" if control is not None else "change with"
    head = f"No clear {what}" if first else f"No clear {what.replace(' ', ' was found ')}"
    parts = listed(
        [
            f"{line.condition} ({signed(line.estimate or 0.0)}, {between(line.low or 0.0, line.high or 0.0)})"
            for line in lines
        ]
    )
    missed = any((line.low or 0.0) > 0 or (line.high or 0.0) < 0 for line in lines)
    corrected = "" if alone or not missed else " (0 is outside one, but not once all conditions are counted)"
    return (
        f"{head} {parts}{against}, in points with 95% intervals{corrected}. This is no evidence of no effect: a study "
        f"like this finds a true effect of about {about} points in 80% of cases, so smaller ones stay open."
    )


def _size(line: PrimaryEstimate) -> str:
    if line.estimate is None:
        return f"{line.condition} nothing"
    return f"{line.condition} {signed(line.estimate)} points"


def _listed(lines: Sequence[PrimaryEstimate]) -> str:
    return listed([line.condition for line in lines])

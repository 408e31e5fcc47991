"""What a crossed claim rests on, whether that is enough, and what must be said beside the claim."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verax.arrays import FloatArray
from verax.stats.crossed.layout import Layout
from verax.stats.thresholds import (
    FEW,
    FEWEST_DF,
    FEWEST_ITEMS,
    FEWEST_OWN,
    FEWEST_PER_ITEM,
    FEWEST_POOLED,
    SUSPECT_RATIO,
)


@dataclass(frozen=True)
class Sizes:
    """What a claim rests on.

    Attributes:
        participants: Number of participants per method of the claim, by name.
        left_out: Participants without any score, by method name.
        items: Number of items.
        per_item: Smallest mean number of participants per item over the claim's methods.
        random: Whether the claim is about items in general.
        pooled: Whether participants' variance is pooled over methods.
        pooled_df: Degrees of freedom of the pooled variance.
        ratio: Largest variance of one of the claim's methods over the pooled one.
        suspect: The method that has it.
        p_own: The p-value with own variances.
        has_spread: Whether there is a standard error.
        absent: Strata where some method of the claim has nobody.
        partial: Participants who miss a whole stratum.
    """

    participants: dict[str, int]
    left_out: dict[str, int]
    items: int
    per_item: float
    random: bool
    pooled: bool
    pooled_df: int
    ratio: float | None
    suspect: str
    p_own: float | None
    has_spread: bool
    absent: tuple[str, ...]
    partial: int


def sizes_of(
    layout: Layout, methods: list[int], random: bool, pooled: bool, p_own: float | None, has_spread: bool
) -> Sizes:
    """What the claim rests on."""
    names = [str(name) for name in layout.rows.methods]
    scores, parts = layout.scores, layout.parts
    used = layout.answered[methods].min(axis=0) > 0
    there = {name for name, use in zip(layout.strata, used, strict=True) if use}
    ratios = _ratios(parts.variance[0][:, methods], parts.count[0][:, methods], float(parts.pooled[0]))
    has_ratio = pooled and not np.isnan(ratios).all()
    items = np.array([part.items for part in parts.parts])[used]
    partial = np.isin(scores.method, methods) & (layout.attendance < layout.expected)
    return Sizes(
        participants={names[m]: int((scores.method == m).sum()) for m in methods},
        left_out={names[m]: scores.left_out[m] for m in methods},
        items=int(items.sum()),
        per_item=float((layout.answered[methods][:, used] / items.clip(1)).min(initial=np.inf)),
        random=random,
        pooled=pooled,
        pooled_df=int(parts.pooled_df[0]),
        ratio=float(np.nanmax(ratios)) if has_ratio else None,
        suspect=names[methods[int(np.nanargmax(ratios))]] if has_ratio else "",
        p_own=p_own,
        has_spread=has_spread,
        absent=tuple(str(name) for name in layout.rows.strata if str(name) not in there),
        partial=int(partial.sum()),
    )


def _ratios(variance: FloatArray, count: FloatArray, pooled: float) -> FloatArray:
    """Each method's variance, pooled over blocks, in units of the one pooled over all; NaN where there is none."""
    spare = np.maximum(count - 1, 0)
    sums = np.where(spare > 0, spare * variance, 0.0).sum(axis=0)
    df = spare.sum(axis=0)
    return np.where((df > 0) & (pooled > 0), sums / np.maximum(df, 1) / (pooled or 1.0), np.nan)


def enough(sizes: Sizes) -> bool:
    """Whether the numbers allow a claim."""
    fewest = FEWEST_POOLED if sizes.pooled else FEWEST_OWN
    items_suffice = sizes.items >= FEWEST_ITEMS or not sizes.random
    return sizes.has_spread and items_suffice and min(sizes.participants.values()) >= fewest


def warnings_of(sizes: Sizes) -> tuple[str, ...]:
    """The sentences that belong beside the claim."""
    return tuple(_about_data(sizes) + _about_participants(sizes) + _about_items(sizes))


def _about_data(sizes: Sizes) -> list[str]:
    """What is not in the estimate."""
    said = [
        f"{count} participant{'s' * (count > 1)} of {name} without a single score left out."
        for name, count in sizes.left_out.items()
        if count
    ]
    if sizes.absent:
        said.append(f"No participant in {', '.join(sizes.absent)}: the estimate is over the other strata.")
    if sizes.partial:
        said.append(
            f"{sizes.partial} participants have no score in some stratum: theirs is the mean of the others."
        )
    return said


def _about_participants(sizes: Sizes) -> list[str]:
    """What few participants allow, and the one known failure of the pooled variance."""
    name, count = min(sizes.participants.items(), key=lambda entry: entry[1])
    fewest = FEWEST_POOLED if sizes.pooled else FEWEST_OWN
    said = []
    if not sizes.has_spread:
        said.append(
            "The scores do not vary, or there is one participant per method: no interval and no test."
        )
    elif count < fewest:
        said.append(
            f"{name} has {count} participant{'s' * (count > 1)}: a test needs {fewest} per method; "
            "show the estimate and the participants' own scores."
        )
    elif sizes.pooled and count <= FEW:
        said.append(f"With {count} participants of {name} the test relies on equal variance across methods.")
    if sizes.has_spread and sizes.pooled and sizes.pooled_df < FEWEST_DF:
        said.append(
            f"The variance of participants has {sizes.pooled_df} degrees of freedom: the interval is wide and a little "
            "too cautious."
        )
    if sizes.has_spread and sizes.pooled and sizes.ratio is not None and sizes.ratio > SUSPECT_RATIO:
        own = "" if sizes.p_own is None else f" With own variances p = {sizes.p_own:.3g}."
        said.append(
            f"Participants of {sizes.suspect} have {sizes.ratio:.1f} times the pooled variance: if they truly vary so "
            f"much more than the others, this test claims falsely in up to 16% instead of 5%.{own}"
        )
    return said


def _about_items(sizes: Sizes) -> list[str]:
    """What few items allow."""
    if not sizes.random:
        return []
    if sizes.items < FEWEST_ITEMS:
        return [
            f"With {sizes.items} items nothing can be claimed about items in general (it needs {FEWEST_ITEMS}): "
            'claim about these items only (items="fixed").'
        ]
    if sizes.per_item < FEWEST_PER_ITEM:
        return [
            f"Only {sizes.per_item:.1f} participants of a method per item: how much items matter is estimated roughly."
        ]
    return []

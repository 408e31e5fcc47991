"""What a crossed claim rests on, whether that is enough, and what must be said beside the claim."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from verax.stats.thresholds import (
    FEWEST_ITEMS,
    FEWEST_PEOPLE,
    FEWEST_PER_ITEM,
    FEWEST_SPREAD,
    SUSPECT_RATIO,
)
from verax.text import counted, listed


@dataclass(frozen=True)
class Sizes:
    """What a claim rests on.

    Attributes:
        participants: Number of participants by name: of each method, or of those who met both conditions.
        items: Number of items.
        answers: Number of scores.
        has_spread: Whether there is a standard error.
        random: Whether the claim is about items in general.
        left_out: Participants without any score, by method name.
        per_item: Smallest mean number of participants per item over the claim's methods.
        pooled: Whether participants' variance is pooled over methods, because somebody asked for it.
        ratio: Where it is, the largest variance of one of the claim's methods over the pooled one.
        suspect: The method that has it.
        alike: Methods whose participants (two or more) all score the same.
        absent: Strata where some method of the claim has nobody.
        partial: Participants who miss a whole stratum.
        uneven: Whether two conditions were met so unequally early and late that practice can pass for an effect.
    """

    participants: dict[str, int]
    items: int
    answers: int
    has_spread: bool
    random: bool = True
    left_out: dict[str, int] = field(default_factory=dict)
    per_item: float = math.inf
    pooled: bool = False
    ratio: float | None = None
    suspect: str = ""
    alike: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    partial: int = 0
    uneven: bool = False


def enough(sizes: Sizes) -> bool:
    """Whether the numbers allow a claim."""
    items_suffice = sizes.items >= FEWEST_ITEMS or not sizes.random
    if not sizes.has_spread or not items_suffice or sizes.uneven:
        return False
    return min(sizes.participants.values()) >= FEWEST_PEOPLE


def warnings_of(sizes: Sizes) -> tuple[str, ...]:
    """The sentences that belong beside a claim about methods."""
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
    """What few participants allow, and what pooled variances risk."""
    name, count = min(sizes.participants.items(), key=lambda entry: entry[1])
    few = f"{name} has {counted(count, 'participant')}"
    said = []
    if not sizes.has_spread:
        why = few if count < FEWEST_SPREAD else "The scores do not vary, or a stratum has one participant"
        said.append(f"{why}: no interval and no test.")
    elif count < FEWEST_PEOPLE:
        said.append(
            f"{few}: a claim needs {FEWEST_PEOPLE} in each condition that is compared; read the interval as a "
            "description."
        )
    if sizes.has_spread and sizes.alike:
        said.append(
            f"All participants of {listed(sizes.alike)} score the same: the interval rests on the others' spread alone."
        )
    if sizes.has_spread and sizes.pooled and sizes.ratio is not None and sizes.ratio > SUSPECT_RATIO:
        said.append(
            f"Participants of {sizes.suspect} have {sizes.ratio:.1f} times the pooled variance: if they truly vary so "
            'much more than the others, this test claims falsely in up to 18% instead of 5%; variance="own" does not.'
        )
    return said


def _about_items(sizes: Sizes) -> list[str]:
    """What few items allow."""
    if not sizes.random:
        return []
    if sizes.items < FEWEST_ITEMS:
        return [f'{_few_items(sizes.items)}: claim about these items only (items="fixed").']
    if sizes.per_item < FEWEST_PER_ITEM:
        return [
            f"Only {sizes.per_item:.1f} participants of a method per item: how much items matter is estimated roughly."
        ]
    return []


# What to do where rows of a design are filled unequally.
FILL = "Fill the rows of the design equally, or account for sessions (--session-term)."


def difference_warnings(sizes: Sizes, first: str, second: str, only_one: int) -> tuple[str, ...]:
    """The sentences that belong beside a difference of two conditions, which ``only_one`` people met only one of."""
    (n,) = sizes.participants.values()
    said = []
    if only_one:
        said.append(
            f"{only_one} participant{'s' * (only_one > 1)} who met only one of {first} and {second} left out."
        )
    if n == 0:
        return (*said, f"No participant has scores under both {first} and {second}: there is no difference.")
    if not sizes.has_spread:
        why = counted(n, "participant") if n < FEWEST_SPREAD else "All participants differ by the same"
        said.append(f"{why}: no interval and no test.")
    elif n < FEWEST_PEOPLE:
        said.append(f"{n} participants: a claim needs {FEWEST_PEOPLE}; read the interval as a description.")
    if sizes.items < FEWEST_ITEMS:
        said.append(f"{_few_items(sizes.items)}.")
    if sizes.uneven:
        said.append(
            f"{first} and {second} were not met equally early and late: practice or tiredness can pass for an effect, "
            f"so nothing is claimed. {FILL}"
        )
    return tuple(said)


def _few_items(items: int) -> str:
    """What too few items do not allow, the end of the sentence left open."""
    return f"With {items} items nothing can be claimed about items in general (it needs {FEWEST_ITEMS})"

"""Graded answers: which class, and whether one is sure (Lertvittayakumjorn and Toni 2019, Table 1)."""

from __future__ import annotations

from collections.abc import Callable

from verax.studies.definition.screen import Meaning, Option, class_mark
from verax.studies.definition.study import Material

CANNOT_SAY = "none"
WORTH = {"certain": 1.0, "likely": 0.5}


def graded_options(
    material: Material, certain: Callable[..., str], likely: Callable[..., str], none: str | None = None
) -> tuple[Option, ...]:
    """Two answers for each class, sure and unsure, and perhaps one for not knowing.

    Args:
        material: has the classes.
        certain: says the sure answer, with the class as its ``name``; stored as "0:certain".
        likely: says the unsure answer; stored as "0:likely".
        none: the answer of those who do not know; stored as "none".
    """
    options = [
        Option(said(name=class_mark(number)), f"{number}:{how}")
        for said, how in ((certain, "certain"), (likely, "likely"))
        for number in range(len(material.class_names))
    ]
    return (*options, Option(none, CANNOT_SAY)) if none is not None else tuple(options)


def graded_score(meaning: Meaning, right: int) -> float:
    """What a graded answer is worth: from -1, sure and wrong, to 1."""
    if meaning == CANNOT_SAY:
        return 0.0
    number, _, how = str(meaning).partition(":")
    return WORTH[how] if int(number) == right else -WORTH[how]


def graded_meaning(worth: float, right: int) -> str:
    """The graded answer of this worth where there are two classes: the inverse of `graded_score`."""
    if worth == 0:
        return CANNOT_SAY
    how = next(how for how, size in WORTH.items() if size == abs(worth))
    return f"{right if worth > 0 else 1 - right}:{how}"

"""How participants count: the parts of a study, and the items or pages of a part."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from verax.studies.model.steps import Step
from verax.studies.model.study import Study


def part_numbers(study: Study, planned: Sequence[Step]) -> list[int]:
    """By step: the number of its part, from 1; 0 for what is in no part, as the debriefing.

    Instructions are in the part that follows them, and all attempts at the screening test are one part.
    """
    parts: list[str | None] = []
    following: str | None = None
    for step in reversed(planned):
        kind = study.phases[step.phase].kind
        if kind == "debrief":
            following = None
        elif kind != "instructions":
            following = kind if kind == "screening" else step.phase
        parts.append(following)
    parts.reverse()
    numbers = {part: number for number, part in enumerate(dict.fromkeys(filter(None, parts)), 1)}
    return [0 if part is None else numbers[part] for part in parts]


def places(planned: Sequence[Step]) -> list[tuple[int, int]]:
    """By step: its place in its phase, from 1, and how many there are.

    Steps with an item count items, since an item may have several steps (the guess and the answer); others count pages.
    """
    numbered: list[tuple[int, int]] = []
    for _, steps in groupby(planned, key=lambda step: step.phase):
        run = list(steps)
        items = list(dict.fromkeys(step.item for step in run if step.item is not None))
        pages = sum(step.item is None for step in run)
        page = 0
        for step in run:
            page += step.item is None
            numbered.append((page, pages) if step.item is None else (items.index(step.item) + 1, len(items)))
    return numbered

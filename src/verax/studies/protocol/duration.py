"""How long a study takes a participant, roughly."""

from __future__ import annotations

from collections.abc import Sequence

from verax.studies.model.steps import Step
from verax.studies.model.study import Study
from verax.studies.protocol.surroundings import participant_steps

# Rough, from the papers' own times: half an hour for some hundred screens.
SECONDS_PER_ITEM = 12
SECONDS_PER_PAGE = 25


def minutes(study: Study) -> float:
    """How long a participant will take, roughly: the longest row of the design, the screening test passed at once."""
    return max(_seconds(study, participant_steps(study, row, 1)) for row in study.rows) / 60


def _seconds(study: Study, steps: Sequence[Step]) -> int:
    tests = [number for number, step in enumerate(steps) if study.phases[step.phase].kind == "screening"]
    skipped = set(range(tests[0] + 1, tests[-1] + 1)) if tests else set()
    return sum(
        SECONDS_PER_ITEM if step.item is not None else SECONDS_PER_PAGE
        for number, step in enumerate(steps)
        if number not in skipped
    )

"""The two parts of a user test: their keys and items, and the answers to one of them as a study of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from verax.errors import VeraxError
from verax.studies.definition.study import Item, Study
from verax.studies.protocol.contract import known_inside

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.protocol.contract import Analysed

FORWARD, COUNTERFACTUAL = "forward", "counterfactual"
PARTS = (FORWARD, COUNTERFACTUAL)
# The role of the items whose changed versions are asked about; in the part itself they are what is tested.
CHANGED, TEST = "changed", "test"


def phase_key(part: str, key: str) -> str:
    """The key of a part's phase in the whole study."""
    return f"{part}-{key}"


def screen_key(part: str, key: str) -> str:
    """The key of a part's screen in the whole study."""
    return f"{part}/{key}"


def role_in_part(items: Iterable[Item], part: str) -> list[Item]:
    """The items of a part, with the roles that its protocol knows."""
    if part == FORWARD:
        return [item for item in items if item.role != CHANGED]
    return [replace(item, role=TEST) for item in items if item.role == CHANGED]


def even_share(items: Iterable[Item], counts: Mapping[str, int]) -> list[Item]:
    """Of some roles fewer items, the same share of those that are predicted, true and flipped alike; numbered anew.

    Args:
        items: balanced.
        counts: how many of a role; all of a role that is not there.
    """
    kept: list[Item] = []
    for role, own in groupby(items, key=lambda item: item.role):
        every = list(own)
        count = counts.get(role, len(every))
        cells: dict[tuple[int, int, bool], list[Item]] = {}
        for item in every:
            flips = item.variant is not None and item.variant.prediction != item.prediction
            cells.setdefault((item.prediction, item.label, flips), []).append(item)
        if count > len(every) or any(len(cell) * count % len(every) for cell in cells.values()):
            raise VeraxError(
                f"{count} of {len(every)} inputs are no even share of the {len(cells)} sorts of them (predicted class, "
                "right or wrong, flipped or not); give protocol.of a multiple of test and changed, such as twice them."
            )
        few = {item.id for cell in cells.values() for item in cell[: len(cell) * count // len(every)]}
        kept += [item for item in every if item.id in few]
    return [replace(item, id=f"i{number:03d}") for number, item in enumerate(kept, start=1)]


def part_study(study: Study, part: str) -> Study:
    """The part as a study of its own protocol, with the keys that it would have."""
    before, prefix = phase_key(part, ""), screen_key(part, "")
    given = study.spec.protocol
    sizes = (
        {"learning": given.get("learning", 16), "test": given.get("test", 32)}
        if part == FORWARD
        else {"test": given.get("changed", 32)}
    )
    return replace(
        study,
        # Questions of one's own are asked around both parts, and analysed with the whole.
        spec=study.spec.model_copy(
            update={"protocol": {"name": part, **sizes}, "questions": (), "quotas": ()}
        ),
        items={item.id: item for item in role_in_part(study.items.values(), part)},
        phases={
            key.removeprefix(before): replace(phase, key=key.removeprefix(before))
            for key, phase in study.phases.items()
            if key.startswith(before)
        },
        screens={
            key.removeprefix(prefix): screen
            for key, screen in study.screens.items()
            if key.startswith(prefix)
        },
    )


def part_of(data: Analysed, part: str) -> Analysed:
    """The answers to a part, as an analysis of its own protocol takes them; people are linked over both parts."""
    return replace(
        data,
        study=part_study(data.study, part),
        responses=_answers(data.responses, part),
        participants=_linked(data.participants, data.study.hash),
        intended=_answers(data.intended, part),
        intended_participants=_linked(data.intended_participants, data.study.hash),
    )


def _answers(answers: pd.DataFrame, part: str) -> pd.DataFrame:
    before = phase_key(part, "")
    own = answers[answers["phase"].str.startswith(before)]
    return own.assign(phase=own["phase"].str.removeprefix(before)).reset_index(drop=True)


def _linked(people: pd.DataFrame, study_hash: str) -> pd.DataFrame:
    """Everybody is one person in both parts, and whom other studies know keeps that name."""
    own = known_inside(study_hash) + people["participant"].astype(str)
    known = people.get("link")
    return people.assign(link=own if known is None else known.where(known.notna(), own))

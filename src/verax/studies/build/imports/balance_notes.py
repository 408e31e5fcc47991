"""What should be known of imported items before people see them: how many there are, and whether they are balanced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from verax.studies.model.item import Item
from verax.studies.protocol.contract import Protocol


def notes_on(items: Sequence[Item], class_names: Sequence[str], protocol: Protocol) -> tuple[str, ...]:
    """Sentences on what differs from what the protocol's own choice of items would give; none if nothing does."""
    notes: list[str] = []
    for role in dict.fromkeys(item.role for item in items):
        members = [item for item in items if item.role == role]
        notes += _size(members, role, protocol)
        notes += _balance(members, role, class_names)
        notes += _flips(members, role)
    return (*notes, *_probabilities(items))


def _size(members: Sequence[Item], role: str, protocol: Protocol) -> list[str]:
    asked = getattr(protocol, role, None)
    sizes = Counter(item.group for item in members)
    # Some protocols count the items of each group, others all items.
    if not isinstance(asked, int) or set(sizes.values()) == {asked} or len(members) == asked:
        return []
    dealt = f" in groups of {' and '.join(map(str, sizes.values()))}" if len(sizes) > 1 else ""
    return [f"The protocol's {role} = {asked} is not followed: there are {len(members)} {role} items{dealt}."]


def _balance(members: Sequence[Item], role: str, class_names: Sequence[str]) -> list[str]:
    cells = Counter((item.prediction, item.correct) for item in members)
    every = [(number, right) for number in range(len(class_names)) for right in (True, False)]
    if len({cells[cell] for cell in every}) == 1:
        return []
    said = ", ".join(
        f"{cells[number, right]} {'rightly' if right else 'wrongly'} predicted {class_names[number]!r}"
        for number, right in every
    )
    return [
        f"The {role} items are not balanced: {said}; should the instructions promise a balance, write others "
        "in the spec (texts.instructions and screening.questions)."
    ]


def _flips(members: Sequence[Item], role: str) -> list[str]:
    changed = [item for item in members if item.variant is not None]
    cells = Counter((item.prediction, item.correct) for item in changed)
    flips = Counter((item.prediction, item.correct) for item in changed if item.flips)
    if all(2 * flips[cell] == cells[cell] for cell in cells):
        return []
    return [
        f"{flips.total()} of {len(changed)} changed versions of {role} items alter the prediction, and not "
        "half of them in each cell of prediction and correctness; the instructions promise half, so write "
        "others in the spec (texts.instructions and screening.questions)."
    ]


def _probabilities(items: Sequence[Item]) -> list[str]:
    other = [
        item for item in items if item.probabilities and int(np.argmax(item.probabilities)) != item.prediction
    ]
    if not other:
        return []
    return [
        f"Items whose prediction is not the most probable class: {len(other)}, such as {other[0].source!r}."
    ]

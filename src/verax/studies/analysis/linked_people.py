"""People who took part in several studies: one unit in all of them, where they agreed to be linked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from verax.studies.protocol.findings import LINKED, Analysed
from verax.text import counted


def linked_note(studies: Sequence[Analysed]) -> str:
    """How many people took part in several of the studies, as far as they are linked; what becomes of them."""
    found = Counter(
        name
        for number, data in enumerate(studies)
        for name in set(data.person(number).values())
        if name.startswith(LINKED)
    )
    if not found:
        return "Nobody is linked over studies: whoever took part in two of them is counted as two people."
    twice = sum(times > 1 for times in found.values())
    return (
        f"{counted(len(found), 'person', 'people')} {'is' if len(found) == 1 else 'are'} linked over studies; "
        f"{counted(twice, 'person', 'people')} took part in several of these, each as one unit of all intervals and "
        "resampling. Whoever is not linked is counted in every study."
    )

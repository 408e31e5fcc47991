"""How written explanations are shown: as they were written, in a box of their own beside the input."""

from __future__ import annotations

from verax.explain.written import Written
from verax.studies.model.item import Item
from verax.studies.model.screen import Quote
from verax.studies.model.sources import Material


def written_block(
    material: Material, item: Item, condition: str, *, title: str = "Explanation", model: str = "model"
) -> Quote | None:
    """The written explanation of an item; None where the condition has no such explanation."""
    found = material.explanations.get((item.id, condition, model))
    if not isinstance(found, Written):
        return None
    text = "\n\n".join(paragraph.strip("\n") for paragraph in found.paragraphs)
    return Quote(text, title, found.legend)


def forms(material: Material) -> frozenset[str]:
    """The forms of the study's explanations: "marks" on the input, "words" beside it, or both."""
    return frozenset(
        "words" if isinstance(one, Written) else "marks" for one in material.explanations.values()
    )


def has_legends(material: Material) -> bool:
    """Whether a written explanation comes with a line on how to read it."""
    return any(isinstance(one, Written) and one.legend for one in material.explanations.values())

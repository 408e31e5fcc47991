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
    explanation = material.explanations.get((item.id, condition, model))
    if not isinstance(explanation, Written):
        return None
    text = "\n\n".join(paragraph.strip("\n") for paragraph in explanation.paragraphs)
    return Quote(text, title, explanation.legend)


def forms(material: Material) -> frozenset[str]:
    """The forms of the study's explanations: "marks" on the input, "words" beside it, or both."""
    explanations = material.explanations.values()
    return frozenset("words" if isinstance(shown, Written) else "marks" for shown in explanations)


def has_legends(material: Material) -> bool:
    """Whether a written explanation comes with a line on how to read it."""
    return any(isinstance(shown, Written) and shown.legend for shown in material.explanations.values())

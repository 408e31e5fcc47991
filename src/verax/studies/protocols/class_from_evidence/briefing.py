"""The default instructions and screening test of the class from the evidence."""

from __future__ import annotations

from verax.studies.display.terms import terms
from verax.studies.display.wording import Paragraphs, class_list, limits, task
from verax.studies.model.sources import Briefing, Material
from verax.studies.model.spec_tables import ScreeningQuestion as Asked


def brief(material: Material, *, per_participant: int) -> Briefing:
    """The class that fragments come from."""
    words = terms(material)
    said: Paragraphs = (
        *task(material),
        f"You see a few fragments of a {words.one}: those that spoke most for the model's answer. You do not see the "
        f"{words.one} itself.",
        f"Your task is to say what the {words.one} is that they come from: {class_list(material)}. You also say "
        "whether you are certain. If the fragments tell you nothing, say that you can't say.",
        f"There are {per_participant} {words.many}.",
        *limits(material.spec.timing),
    )
    questions = (
        Asked(
            question="What do you see?",
            answers=[f"The whole {words.one}", f"A few fragments of a {words.one}", "The model's answer"],
            correct=2,
        ),
        Asked(
            question="How were the fragments chosen?",
            answers=[
                "They spoke most for the model's answer",
                f"They are the beginning of the {words.one}",
                "People chose them",
            ],
            correct=1,
        ),
        Asked(
            question="What do you do when the fragments tell you nothing?",
            answers=["I choose any answer", "I leave the question out", "I say that I can't say"],
            correct=3,
        ),
        Asked(
            question="What do you say besides?",
            answers=["Whether I am certain", "Whether the model is right", "Nothing"],
            correct=1,
        ),
    )
    return Briefing(said, questions)

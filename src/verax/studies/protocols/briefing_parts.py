"""What the instructions and screening tests of several protocols share.

A screening test asks about the method and the procedure (Hase and Bansal, section 4.2). Its questions for people with
and without explanations have their right answers in the same places, so that one key judges both.
"""

from __future__ import annotations

from verax.studies.display.method_questions import question_on
from verax.studies.display.terms import terms
from verax.studies.display.written_block import forms
from verax.studies.model.sources import Material
from verax.studies.model.spec_tables import ScreeningQuestion as Asked

RATE_THE_REASONS = (
    "Give a high rating when the explanation shows the reasons for the model's answer, whether or not that answer is "
    "right."
)


def half_right(material: Material, half: str = "half") -> str:
    """That the model is right in half of the items, or about half."""
    return (
        f"The {terms(material).many} were chosen so that the model is right on {half} of them, whichever answer it "
        "gives. So it is not enough to know the right answer."
    )


def what_to_predict(material: Material, other: str = "What is right") -> Asked:
    """Whose answer is asked for: the model's, and not the ``other``."""
    return Asked(
        question=f"What do you say about each {terms(material).one}?",
        answers=["What the model says, even if it is wrong", other, "What most people would say"],
        correct=1,
    )


def how_often_right(material: Material, half: str = "half") -> Asked:
    """In how many of the items the model is right."""
    many = terms(material).many
    return Asked(
        question=f"On how many of the {many} is the model right?",
        answers=["Almost all", f"{half.capitalize()} of them", "Almost none"],
        correct=2,
    )


def what_a_mark_means(material: Material) -> Asked:
    """What explanations show, for people who meet all conditions."""
    return question_on("written" if "words" in forms(material) else "marks", terms(material))

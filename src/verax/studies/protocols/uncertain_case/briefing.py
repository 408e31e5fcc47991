"""The default instructions and screening test of the uncertain case."""

from __future__ import annotations

from verax.studies.display.terms import terms
from verax.studies.display.wording import Paragraphs, class_list, limits, task
from verax.studies.model.sources import Briefing, Material
from verax.studies.model.spec_tables import ScreeningQuestion as Asked
from verax.studies.protocols.briefing_parts import how_often_right


def brief(material: Material, *, per_participant: int, say_half: bool) -> Briefing:
    """The true class of inputs that the model is not sure of."""
    words = terms(material)
    kinds = {condition.kind for condition in material.spec.conditions}
    said: Paragraphs = (
        *task(material),
        f"You get the {words.many} that the model is not sure about. You see its answer and how probable it finds each "
        f"answer. You do not see the {words.one} itself.",
    )
    if kinds != {"none"}:
        often = "For some you" if "none" in kinds else "You"
        said += (
            f"{often} also see fragments of the {words.one}: those that spoke most for the model's answer, and those "
            "that spoke most for the other answers.",
        )
    said += (
        f"Your task is to say what the {words.one} really is: {class_list(material)}. You also say whether you are "
        "certain.",
        f"The {words.many} were chosen so that the model is right on half of them, although it finds its answers more "
        "probable than that."
        if say_half
        else "Sometimes the model is wrong.",
        f"There are {per_participant} {words.many}.",
        *limits(material.spec.timing),
    )
    questions = (
        Asked(
            question=f"What do you say about each {words.one}?",
            answers=["What the model says", "What most people would say", f"What the {words.one} really is"],
            correct=3,
        ),
        Asked(
            question=f"Which {words.many} do you get?",
            answers=[
                "Those that the model is sure about",
                "Those that the model is not sure about",
                "Those that the model gets wrong",
            ],
            correct=2,
        ),
        Asked(
            question=f"Do you see the {words.one} itself?",
            answers=["No", "Yes, always", "Yes, after my answer"],
            correct=1,
        ),
        how_often_right(material)
        if say_half
        else Asked(question="Is the model right?", answers=["Always", "Sometimes", "Never"], correct=2),
    )
    return Briefing(said, questions)

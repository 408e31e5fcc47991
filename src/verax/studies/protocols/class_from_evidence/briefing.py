"""The default instructions and screening test of the class from the evidence."""

from __future__ import annotations

from verax.studies.display.terms import terms
from verax.studies.display.wording import Paragraphs, class_list, limits, task
from verax.studies.model.sources import Briefing, Material
from verax.studies.model.spec_tables import ScreeningQuestion as Asked


def brief(material: Material, *, per_participant: int, ask_for: str) -> Briefing:
    """What the model answered, or what the fragments come from, as published."""
    words = terms(material)
    asked = (
        f"Your task is to say what the model answered: {class_list(material)}. Sometimes the model is wrong, but only "
        "its answer counts here."
        if ask_for == "model"
        else f"Your task is to say what the {words.one} is that they come from: {class_list(material)}."
    )
    said: Paragraphs = (
        *task(material),
        f"You see a few fragments of a {words.one}: those that spoke most for the model's answer. You do not see the "
        f"{words.one} itself.",
        f"{asked} You also say whether you are certain. If the fragments tell you nothing, choose “I can't say”.",
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
            answers=["I choose any answer", "I leave the question out", "I choose “I can't say”"],
            correct=3,
        ),
        Asked(
            question="What is your task?",
            answers=[
                "To say what the model answered, and whether I am certain"
                if ask_for == "model"
                else f"To say what the {words.one} is, and whether I am certain",
                "To say whether the model is right",
                "To choose the most interesting fragment",
            ],
            correct=1,
        ),
    )
    return Briefing(said, questions)

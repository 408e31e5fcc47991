"""The default instructions and screening test of the choice between two models."""

from __future__ import annotations

from verax.studies.display.terms import terms
from verax.studies.display.wording import Paragraphs, class_list, limits, task
from verax.studies.model.sources import Briefing, Material
from verax.studies.model.spec_tables import ScreeningQuestion as Asked


def brief(material: Material, *, per_participant: int) -> Briefing:
    """The choice between two models."""
    words = terms(material)
    usual = (f"A computer program reads a {words.one} and answers: {class_list(material)}.",)
    said: Paragraphs = (
        *(usual if material.spec.texts.task is None else task(material)),
        f"Here are two such programs, Robot S and Robot H. For each {words.one} both give the same answer. Sometimes "
        "it is wrong.",
        f"For each robot the {words.pieces} that spoke most for its answer are highlighted.",
        "One of the two is the better program. Your task is to say which robot is more reasonable, judging by what is "
        "highlighted.",
        f"Which program is called S and which H is drawn anew for every {words.one}.",
        f"There are {per_participant} {words.many}.",
        *limits(material.spec.timing),
    )
    questions = (
        Asked(
            question=f"What do you say about each {words.one}?",
            answers=[
                "Whether the robots' answer is right",
                f"Which robot looks at the more reasonable {words.pieces}",
                "Which robot answered first",
            ],
            correct=2,
        ),
        Asked(
            question=f"What does it mean that a {words.piece} is highlighted?",
            answers=[
                f"It spoke for the answer of this robot, more than other {words.pieces}",
                "The robot made a mistake there",
                f"It is the most frequent {words.piece}",
            ],
            correct=1,
        ),
        Asked(
            question=f"Is Robot S the same program for every {words.one}?",
            answers=["Yes", "Yes, and it is always the better one", "No, the names are drawn anew each time"],
            correct=3,
        ),
        Asked(
            question=f"Do both robots give the same answer to a {words.one}?",
            answers=["Never", "Always", "Only if it is right"],
            correct=2,
        ),
    )
    return Briefing(said, questions)

"""The default instructions and screening test of the Reverse Turing Test."""

from __future__ import annotations

from verax.studies.display.terms import terms
from verax.studies.display.wording import Paragraphs, how_to_read, limits, masked_task, task
from verax.studies.model.sources import Briefing, Material
from verax.studies.model.spec_tables import ScreeningQuestion as Asked
from verax.studies.protocols.briefing_parts import what_a_mark_means, what_to_predict


def brief(
    material: Material, *, training: int, evaluation: int, masked: bool, untrained_first: bool = False
) -> Briefing:
    """The Reverse Turing Test, with a task that is described or kept secret.

    Beyond what the task is about, both are told and asked the same. Nobody is told how often the model is right: who
    knows that it is often wrong trusts their own belief less, and that belief is what the test is to measure.
    """
    words = terms(material)
    kinds = {condition.kind for condition in material.spec.conditions}
    marked = kinds != {"none"}
    guess = "You guess the model's answer"
    parts = (
        [f"- Training: {training} {words.many}. {guess}, and then you are told what it was."]
        if training
        else []
    )
    said: Paragraphs = (
        *(masked_task(material) if masked else task(material)),
        "Your task is to guess the model's answers. Your own opinion does not count.",
    )
    said += (
        FIRST_WITHOUT if untrained_first else _rounds(len(material.spec.conditions)),
        *parts,
        f"- Test: {evaluation} {'new ' if training else ''}{words.many}. {guess}, and are not told what it was.",
        *limits(material.spec.timing),
        "We measure how long you take. If you need a break, take it between two parts.",
    )
    if marked:
        rest = f" In other rounds no {words.pieces} are highlighted." if "none" in kinds else ""
        begin = "In some rounds you see hints. " if "none" in kinds else ""
        said += (begin + how_to_read(material, direction=False) + rest,)
    questions = [what_to_predict(material, "My own opinion"), _is_time_measured()]
    if marked:
        questions.append(what_a_mark_means(material))
    if training:
        questions.append(_when_the_answer_shows())
    return Briefing(said, tuple(questions))


FIRST_WITHOUT = "There are two rounds. The first is a test without training; the second goes like this:"


def _rounds(number: int) -> str:
    words = {1: "There is one round.", 2: "There are two rounds.", 3: "There are three rounds."}
    return f"{words.get(number, f'There are {number} rounds.')} Each goes like this:"


def _is_time_measured() -> Asked:
    return Asked(
        question="Do we measure how long you take?",
        answers=["No", "Yes", "Only if I take very long"],
        correct=2,
    )


def _when_the_answer_shows() -> Asked:
    return Asked(
        question="When do you see the model's answer?",
        answers=["Before I guess", "Never", "In the training, after my guess"],
        correct=3,
    )

"""The default instructions and screening test of the Reverse Turing Test."""

from __future__ import annotations

from verax.studies.display.wording import Paragraphs, how_to_read, limits, masked_task, task, terms
from verax.studies.model.sources import Briefing, Material
from verax.studies.model.spec_tables import ScreeningQuestion as Asked
from verax.studies.protocols.briefing_parts import (
    half_right,
    how_often_right,
    what_a_mark_means,
    what_to_predict,
)


def brief(
    material: Material,
    *,
    training: int,
    evaluation: int,
    masked: bool,
    only_wrong: bool,
    untrained_first: bool = False,
) -> Briefing:
    """The Reverse Turing Test, with a task that is described or kept secret."""
    words = terms(material)
    kinds = {condition.kind for condition in material.spec.conditions}
    marked = kinds != {"none"}
    guess = "You guess the model's answer"
    parts = [f"- Training: {training} {words.many}. {guess}, and then you see it."] if training else []
    said: Paragraphs = (
        *(masked_task(material) if masked else task(material)),
        "Your task is to guess the model's answers. Your own opinion does not count.",
    )
    if not masked and not only_wrong:
        said += (half_right(material, "about half"),)
    said += (
        FIRST_WITHOUT if untrained_first else _rounds(len(material.spec.conditions)),
        *parts,
        f"- Test: {evaluation} {'new ' if training else ''}{words.many}. {guess}, and do not see it.",
        *limits(material.spec.timing),
        "The time that you take is measured. Take the breaks that you need between the parts.",
    )
    if marked:
        rest = f" In other rounds no {words.pieces} are highlighted." if "none" in kinds else ""
        begin = "In some rounds you see hints. " if "none" in kinds else ""
        said += (begin + how_to_read(material, direction=False) + rest,)
    questions = [what_to_predict(material)]
    if masked:
        questions.append(_what_letters_mean())
    elif not only_wrong:
        questions.append(how_often_right(material, "about half"))
    if marked:
        questions.append(what_a_mark_means(material))
    if training:
        questions.append(_when_the_answer_shows())
    return Briefing(said, tuple(questions))


FIRST_WITHOUT = "There are two rounds. The first is a test without training; the second goes like this:"


def _rounds(number: int) -> str:
    words = {1: "There is one round.", 2: "There are two rounds.", 3: "There are three rounds."}
    return f"{words.get(number, f'There are {number} rounds.')} Each goes like this:"


def _what_letters_mean() -> Asked:
    return Asked(
        question="What do the letters of the groups mean?",
        answers=["Which group is the larger one", "Nothing", "How sure the model is"],
        correct=2,
    )


def _when_the_answer_shows() -> Asked:
    return Asked(
        question="When do you see the model's answer?",
        answers=["Before I guess", "Never", "In the training, after my guess"],
        correct=3,
    )

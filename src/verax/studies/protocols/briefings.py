"""The default instructions and screening tests of our protocols.

A screening test asks about the method and the procedure (Hase and Bansal, section 4.2). Its questions for people with
and without explanations have their right answers in the same places, so that one key judges both.
"""

from __future__ import annotations

from verax.studies.display.wording import (
    Paragraphs,
    class_list,
    how_to_read,
    limits,
    masked_task,
    task,
    terms,
)
from verax.studies.display.written_block import forms
from verax.studies.model.sources import Briefing, Material
from verax.studies.model.spec import ScreeningQuestion as Asked

PREDICT_THE_MODEL = (
    "Your task is to predict what the model says, whether that is right or wrong. The model makes mistakes."
)
RATE_THE_REASONS = (
    "Give a high rating when the explanation shows the reasons for the model's answer, whether or not that answer is "
    "right."
)


def forward(material: Material, *, learning: int, test: int, explained: bool, direction: bool) -> Briefing:
    """Forward simulation, for people with or without explanations."""
    many = terms(material).many
    again = "now with an explanation of the model's answer, which you rate" if explained else "as before"
    said: Paragraphs = (
        *task(material),
        PREDICT_THE_MODEL,
        _half_right(material),
        "You will do four things:",
        f"- First look: {learning} {many} with the right answer and the model's answer.",
        f"- First predictions: {test} new {many}. You predict the model's answer. You cannot look back at the others.",
        f"- Second look: the first {learning} {many} again, {again}.",
        f"- Second predictions: the {test} {many} of the first predictions again, in another order.",
        *limits(material.spec.timing),
    )
    if explained:
        said += (how_to_read(material, direction=direction), RATE_THE_REASONS)
    questions = (
        _what_to_predict(material),
        _how_often_right(material),
        _what_a_mark_means(material) if explained else _nothing_but_answers(material, "in the second look"),
        Asked(
            question=f"May you look back at the {many} of the first look while you predict?",
            answers=["Yes, at any time", "Yes, but only once", "No"],
            correct=3,
        ),
    )
    return Briefing(said, questions)


def counterfactual(material: Material, *, test: int, explained: bool, direction: bool) -> Briefing:
    """Counterfactual simulation, for people with or without explanations."""
    words = terms(material)
    again = "now with an explanation of the model's answer to the original" if explained else "as before"
    said: Paragraphs = (
        *task(material),
        f"For each of {test} {words.many} you see the right answer, the model's answer, and a changed version of the "
        f"{words.one} in which some {words.pieces} were replaced.",
        "Your task is to predict what the model says about the changed version, whether that is right or wrong. The "
        "model makes mistakes.",
        f"{_half_right(material)} And in half of them, the change alters the model's answer.",
        "You will do two things:",
        f"- First predictions: {test} {words.many}.",
        f"- Second predictions: the same {words.many} in another order, {again}.",
        *limits(material.spec.timing),
    )
    if explained:
        said += (
            how_to_read(material, direction=direction),
            f"You also rate each explanation. {RATE_THE_REASONS}",
        )
    questions = (
        Asked(
            question="What do you predict?",
            answers=[
                f"The right answer for the changed {words.one}",
                f"What the model says about the original {words.one}",
                f"What the model says about the changed {words.one}, right or wrong",
            ],
            correct=3,
        ),
        _how_often_right(material),
        _what_a_mark_means(material) if explained else _nothing_but_answers(material, "beside the original"),
        Asked(
            question="How often does the change alter the model's answer?",
            answers=["Always", f"In half of the {words.many}", "Never"],
            correct=2,
        ),
    )
    return Briefing(said, questions)


def reverse_turing(
    material: Material, *, training: int, evaluation: int, masked: bool, only_wrong: bool
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
        said += (_half_right(material, "about half"),)
    said += (
        _rounds(len(material.spec.conditions)),
        *parts,
        f"- Test: {evaluation} {'new ' if training else ''}{words.many}. {guess}, and do not see it.",
        *limits(material.spec.timing),
        "The time that you take is measured. Take the breaks that you need between the parts.",
    )
    if marked:
        rest = f" In other rounds no {words.pieces} are highlighted." if "none" in kinds else ""
        begin = "In some rounds you see hints. " if "none" in kinds else ""
        said += (begin + how_to_read(material, direction=False) + rest,)
    questions = [_what_to_predict(material)]
    if masked:
        questions.append(_what_letters_mean())
    elif not only_wrong:
        questions.append(_how_often_right(material, "about half"))
    if marked:
        questions.append(_what_a_mark_means(material))
    if training:
        questions.append(_when_the_answer_shows())
    return Briefing(said, tuple(questions))


def model_choice(material: Material, *, per_participant: int) -> Briefing:
    """The choice between two models."""
    words = terms(material)
    usual = (f"A computer program reads a {words.one} and answers: {class_list(material)}.",)
    said: Paragraphs = (
        *(usual if material.spec.texts.task is None else task(material)),
        f"Here are two such programs, Robot S and Robot H. For each {words.one} both give the same answer, which may "
        "be right or wrong.",
        f"For each robot the {words.pieces} that spoke most for its answer are highlighted.",
        "One of the two is the better program. Your task is to say which robot is more reasonable, going by what is "
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


def class_from_evidence(material: Material, *, per_participant: int) -> Briefing:
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


def uncertain_case(material: Material, *, per_participant: int) -> Briefing:
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
        f"Your task is to say what the {words.one} really is: {class_list(material)}. The model may be right or wrong. "
        "You also say whether you are certain.",
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
        Asked(
            question="Is the model right?",
            answers=["Always", "It may be right or wrong", "Never"],
            correct=2,
        ),
    )
    return Briefing(said, questions)


def _half_right(material: Material, half: str = "half") -> str:
    return (
        f"The {terms(material).many} were chosen so that the model is right in {half} of them, for each of its "
        "answers. Knowing the right answer is therefore not enough."
    )


def _rounds(number: int) -> str:
    words = {1: "There is one round.", 2: "There are two rounds.", 3: "There are three rounds."}
    return f"{words.get(number, f'There are {number} rounds.')} Each goes like this:"


def _what_to_predict(material: Material) -> Asked:
    return Asked(
        question=f"What do you say about each {terms(material).one}?",
        answers=["What the model says, right or wrong", "What is right", "What most people would say"],
        correct=1,
    )


def _how_often_right(material: Material, half: str = "half") -> Asked:
    many = terms(material).many
    return Asked(
        question=f"In how many of the {many} is the model right?",
        answers=["In almost all", f"In {half} of them", "In almost none"],
        correct=2,
    )


def _what_a_mark_means(material: Material) -> Asked:
    words = terms(material)
    if "words" in forms(material):
        return Asked(
            question="What does an explanation show?",
            answers=[
                "Whether the model is right",
                "What mattered for the model's answer",
                "What somebody finds interesting",
            ],
            correct=2,
        )
    return Asked(
        question=f"A {words.piece} is highlighted strongly. What does that mean?",
        answers=[
            "The model is right",
            f"The {words.piece} mattered much for the model's answer",
            f"Somebody found the {words.piece} interesting",
        ],
        correct=2,
    )


def _nothing_but_answers(material: Material, where: str) -> Asked:
    one = terms(material).one
    return Asked(
        question=f"What do you see {where}?",
        answers=[
            "Other people's answers",
            f"The {one}, the right answer and the model's answer",
            f"Only the {one}",
        ],
        correct=2,
    )


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

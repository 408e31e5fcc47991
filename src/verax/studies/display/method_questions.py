"""The question on the participant's own method: one for each kind of explanation (Hase and Bansal 2020, section 4.2).

The second answer is always the right one, so that one key judges all conditions where the question excludes.
"""

from __future__ import annotations

from verax.studies.display.kinds import shown_kind
from verax.studies.display.legends import Kind
from verax.studies.display.terms import TERMS, Terms, terms
from verax.studies.model.sources import Material
from verax.studies.model.spec_tables import ScreeningQuestion as Asked

RIGHT = 2


def method_question(material: Material, condition: str) -> Asked:
    """The question on a condition's explanations: its own, or that of their kind."""
    own = material.spec.method_of(condition).question
    if own is None:
        return question_on(shown_kind(material, condition), terms(material))
    answers = [answer for answer in own.answers if answer != own.answers[own.correct - 1]]
    answers.insert(RIGHT - 1, own.answers[own.correct - 1])
    return Asked(question=own.question, answers=answers, correct=RIGHT)


def question_on(kind: Kind, words: Terms = TERMS["text"]) -> Asked:
    """What people are asked who see explanations of a kind."""
    question, first, right, last = _said(kind, words)
    return Asked(question=question, answers=[first, right, last], correct=RIGHT)


def _said(kind: Kind, words: Terms) -> tuple[str, str, str, str]:
    """The question, a wrong answer, the right one, and another wrong one."""
    match kind:
        case "marks":
            return (
                f"A {words.piece} is highlighted strongly. What does that mean?",
                "The model is right",
                f"The {words.piece} mattered a lot for the model's answer",
                f"Somebody found the {words.piece} interesting",
            )
        case "weights":
            return (
                f"What do the weights of the {words.pieces} tell you?",
                "How likely it is that the model is right",
                f"How much each {words.piece} speaks for one answer or the other",
                f"How often each {words.piece} occurs",
            )
        case "rule":
            return (
                "An explanation gives conditions. What do they mean?",
                "The model gives this answer only if they hold",
                "While they hold, the model nearly always gives this answer, whatever else is changed",
                "While they hold, the model's answer is right",
            )
        case "path":
            return (
                "An explanation shows steps. What are they?",
                f"The order in which the model reads the {words.pieces}",
                "Changes that lead the model to another answer",
                "Corrections of mistakes of the model",
            )
        case "exemplar":
            return (
                "An explanation shows an example. What is it?",
                f"A {words.one} that somebody chose because it is easy to understand",
                f"Of the {words.many} that the model has learned from, the most similar example with this answer",
                f"The {words.one} that the model finds hardest",
            )
        case "composite":
            return (
                "An explanation has several parts. What are they?",
                "Explanations of several models",
                "Different explanations of the same answer",
                "Explanations of several answers, the last of which is right",
            )
        case "written":
            return (
                "What does an explanation show?",
                "Whether the model is right",
                "What mattered for the model's answer",
                "What somebody finds interesting",
            )

"""The default words around a study: welcome, consent, the task, how to read marks, debriefing. A spec may replace them.

Plain English, short sentences. A class is written as its mark, so that each participant reads their own names.
"""

from __future__ import annotations

from collections.abc import Mapping

from verax.explain.kinds import Written
from verax.studies.definition.screen import class_mark
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.spec_tables import Timing
from verax.studies.definition.study import Material
from verax.studies.display.legends import reading_lines, shown_kind, terms
from verax.studies.display.stimulus import forms, has_legends
from verax.text import listed

Paragraphs = tuple[str, ...]


# Letters that come to mind in no order, so that a list of them in any order looks natural.
LETTERS = "KRMTFWPLGZDHVSNB"


def class_list(material: Material, joint: str = "or") -> str:
    """All classes in a row, as marks."""
    return listed([class_mark(number) for number in range(len(material.class_names))], joint)


def paragraphs(text: str) -> Paragraphs:
    """A text of a spec in paragraphs: empty lines part them, and a line that begins with "- " is one of its own."""
    parted: list[str] = []
    begins = True
    for line in (line.strip() for line in text.splitlines()):
        if not line:
            begins = True
        elif begins or line.startswith("- "):
            parted.append(line)
            begins = False
        else:
            parted[-1] += f" {line}"
    return tuple(parted)


def task(material: Material) -> Paragraphs:
    """What the model does."""
    if material.spec.texts.task is not None:
        return paragraphs(material.spec.texts.task)
    noun = terms(material).one
    return (f"A computer program, the model, reads a {noun} and answers: {class_list(material)}.",)


def masked_names(count: int) -> list[str]:
    """What the classes of a masked task are called; each participant has them in an order of their own."""
    return [letter * (1 + turn) for turn in range(1 + count // len(LETTERS)) for letter in LETTERS][:count]


def masked_task(material: Material) -> Paragraphs:
    """What the model does, without a word of what it is about."""
    many = terms(material).many
    return (
        f"A computer program, the model, sorts {many} into groups. Here the groups are called "
        f"{listed(masked_names(len(material.class_names)), 'and')}; the letters mean nothing.",
        "You are not told what the groups are about. Find out how the model decides.",
    )


def reading(material: Material, condition: str, *, direction: bool) -> Paragraphs:
    """How the explanations of one condition are read, for people who see no others."""
    if shown_kind(material, condition) == "marks":
        return (_how_to_read_marks(material, direction=direction),)
    said = f"The explanation of the model's answer stands next to the {terms(material).one}."
    legends = {
        shown.legend
        for (_, name, _), shown in material.explanations.items()
        if name == condition and isinstance(shown, Written)
    }
    if len(legends) > 1:
        return (f"{said} A line below it says how to read it.",)
    return (said, *reading_lines(material, condition))


def how_to_read(material: Material, *, direction: bool) -> str:
    """How explanations are read by people who meet all conditions: marks on the input, words beside it, or either."""
    shown = forms(material)
    if "words" not in shown:
        return _how_to_read_marks(material, direction=direction)
    below = " A line below it says how to read it." if has_legends(material) else ""
    written = f"The explanation of the model's answer is written next to the {terms(material).one}.{below}"
    if shown == {"words"}:
        return written
    return f"{written} Or there are highlights instead. {_how_to_read_marks(material, direction=direction)}"


def _how_to_read_marks(material: Material, *, direction: bool) -> str:
    words = terms(material)
    text = (
        f"The {words.pieces} that mattered most for the model's answer are highlighted. The stronger the highlight, "
        f"the more the {words.piece} mattered."
    )
    if direction:
        return f"{text} Blue (+) spoke for the answer that the model gave, orange (−) against it."
    return f"{text} The highlight does not say which answer the {words.piece} spoke for."


def legend(material: Material, *, direction: bool) -> str:
    """The same in one line, below a marked input."""
    text = (
        f"The stronger the highlight, the more the {terms(material).piece} mattered for the model's answer."
    )
    return f"{text} Blue (+): for it. Orange (−): against it." if direction else text


def limits(timing: Timing) -> Paragraphs:
    """What is said of the time where it is limited."""
    allowed = []
    if timing.session_minutes is not None:
        allowed.append(f"{timing.session_minutes:g} minutes")
    if timing.item_seconds is not None:
        allowed.append(f"{timing.item_seconds:g} seconds for each page")
    if not allowed:
        return ()
    after = (
        "Answers after that are marked as late."
        if timing.late == "flag"
        else "After that the part is closed, and you go on with the next."
    )
    return (
        f"Some parts have a time limit: {', and '.join(allowed)}. The page shows how much is left. {after}",
    )


def welcome(spec: StudySpec) -> Paragraphs:
    """The first page."""
    if spec.texts.welcome is not None:
        return paragraphs(spec.texts.welcome)
    return (
        "Thank you for your interest in this study.",
        "You will see answers that a computer program gave, and answer questions about them. You do not need any "
        "special knowledge: we explain everything on the way.",
        "Please work alone and without a break. If you are interrupted, come back to the same page: your answers are "
        "saved page by page, and you can continue where you stopped.",
    )


def consent(spec: StudySpec) -> Paragraphs:
    """What is agreed to."""
    if spec.texts.consent is not None:
        return paragraphs(spec.texts.consent)
    said = [
        "Taking part is voluntary. You may stop at any time by closing the page, without giving a reason.",
        'If you want your answers to be deleted, press "Leave the study" at the foot of any page.',
        "We store your answers, and when you gave them, under a random number and not under your name.",
        "They are used for research, and may be published in a form in which nobody can recognise you.",
    ]
    if spec.retention_days is not None:
        said.append(f"They are deleted after {spec.retention_days} days.")
    if spec.texts.contact:
        said.append(f"If you have questions, write to {spec.texts.contact}.")
    return (*said, "If you continue, you confirm that you are at least 18 years old and agree to take part.")


def debrief(
    spec: StudySpec, kind: str | None = None, stood_for: Mapping[str, str] | None = None
) -> Paragraphs:
    """After the last answer.

    Args:
        spec: of the study.
        kind: of the only condition that somebody was in; None for people who were in several.
        stood_for: what the groups of a masked task were, by the mark of the class.
    """
    if spec.texts.debrief is not None:
        return paragraphs(spec.texts.debrief)
    said = [
        "That was the last question. Thank you for your help!",
        "This study asks whether explanations help people to understand what a model, a computer program, does.",
    ]
    if stood_for:
        meant = ", ".join(f"{mark} stood for “{name}”" for mark, name in stood_for.items())
        said.append(
            f"You were not told what the groups were about, because we asked whether you would find out: {meant}."
        )
    kinds = {condition.kind for condition in spec.conditions}
    if kind == "none":
        said.append("You saw no explanations. We compare your answers with those of people who saw some.")
        if "control" in kinds:
            said.append(
                "For the same comparison, some of those people saw explanations that we made at random."
            )
    else:
        if "control" in kinds:
            said.append(
                "To be able to compare, we made some of the explanations in this study at random: they say nothing "
                "about the model. You may have seen some of those."
            )
        if "none" in kinds:
            said.append("For the same reason, some people or questions get no explanation.")
    if spec.texts.contact:
        said.append(f"If you have questions, write to {spec.texts.contact}.")
    return tuple(said)

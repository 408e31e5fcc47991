"""The default words around a study: welcome, consent, the task, how to read marks, debriefing. A spec may replace them.

Plain English, short sentences. A class is written as its mark, so that each participant reads their own names.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from verax.explain.kinds import Written
from verax.phrases import either, say_lines
from verax.phrases import say as say_phrase
from verax.studies.definition.screen import class_mark
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.spec_tables import Timing
from verax.studies.definition.study import Material
from verax.studies.display.legends import reading_lines, shown_kind
from verax.studies.display.markup import POINT, literal
from verax.studies.display.stimulus import forms, has_legends

Paragraphs = tuple[str, ...]
say = partial(say_phrase, "participant")


# Letters that come to mind in no order, so that a list of them in any order looks natural.
LETTERS = "KRMTFWPLGZDHVSNB"


def class_list(material: Material) -> str:
    """All classes in a row, as marks: "⟦0⟧ or ⟦1⟧"."""
    return either([class_mark(number) for number in range(len(material.class_names))])


def paragraphs(text: str) -> Paragraphs:
    """A text of a spec in paragraphs: empty lines part them, and so does a line that begins with "- " or "1. "."""
    parted: list[str] = []
    begins = True
    for line in (line.strip() for line in text.splitlines()):
        if not line:
            begins = True
        elif begins or POINT.match(line):
            parted.append(line)
            begins = False
        else:
            parted[-1] += f" {line}"
    return tuple(parted)


def task(material: Material) -> Paragraphs:
    """What the model does."""
    if material.spec.texts.task is not None:
        return paragraphs(material.spec.texts.task)
    return (say("task", kind=material.kind, classes=class_list(material)),)


def masked_names(count: int) -> list[str]:
    """What the classes of a masked task are called; each participant has them in an order of their own."""
    return [letter * (1 + turn) for turn in range(1 + count // len(LETTERS)) for letter in LETTERS][:count]


def masked_task(material: Material) -> Paragraphs:
    """What the model does, without a word of what it is about."""
    groups = masked_names(len(material.class_names))
    return say_lines("participant", "masked-task", kind=material.kind, groups=groups)


def reading(material: Material, condition: str, *, direction: bool) -> Paragraphs:
    """How the explanations of one condition are read, for people who see no others."""
    if shown_kind(material, condition) == "marks":
        return (_how_to_read_marks(material, direction=direction),)
    said = say_phrase("reading", "beside", kind=material.kind)
    legends = {
        shown.legend
        for (_, name, _), shown in material.explanations.items()
        if name == condition and isinstance(shown, Written)
    }
    if len(legends) > 1:
        return (f"{said} {say_phrase('reading', 'line-below')}",)
    return (said, *reading_lines(material, condition))


def how_to_read(material: Material, *, direction: bool) -> str:
    """How explanations are read by people who meet all conditions: marks on the input, words beside it, or either."""
    shown = forms(material)
    if "words" not in shown:
        return _how_to_read_marks(material, direction=direction)
    below = "yes" if has_legends(material) else "no"
    written = say_phrase("reading", "written-beside", kind=material.kind, line_below=below)
    if shown == {"words"}:
        return written
    instead = say_phrase("reading", "or-highlights")
    return f"{written} {instead} {_how_to_read_marks(material, direction=direction)}"


def _how_to_read_marks(material: Material, *, direction: bool) -> str:
    return say_phrase("reading", "marks", kind=material.kind, direction="yes" if direction else "no")


def legend(material: Material, *, direction: bool) -> str:
    """The same in one line, below a marked input."""
    return say_phrase("reading", "marks-line", kind=material.kind, direction="yes" if direction else "no")


def limits(timing: Timing) -> Paragraphs:
    """What is said of the time where it is limited."""
    minutes, seconds = timing.session_minutes, timing.item_seconds
    if minutes is None and seconds is None:
        return ()
    limited = "both" if minutes and seconds else "session" if minutes else "page"
    return (say("time-limits", limits=limited, minutes=minutes or 0, seconds=seconds or 0, late=timing.late),)


def welcome(spec: StudySpec) -> Paragraphs:
    """The first page."""
    if spec.texts.welcome is not None:
        return paragraphs(spec.texts.welcome)
    return say_lines("participant", "welcome")


def consent(spec: StudySpec) -> Paragraphs:
    """What is agreed to."""
    if spec.texts.consent is not None:
        return paragraphs(spec.texts.consent)
    said = [*say_lines("participant", "consent")]
    if spec.retention_days is not None:
        said.append(say("consent-retention", days=spec.retention_days))
    if spec.texts.contact:
        said.append(say("write-to", contact=spec.texts.contact))
    return (*said, say("consent-agree"))


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
    said = [*say_lines("participant", "debrief")]
    if stood_for:
        meanings = [
            say("debrief-meaning", letter=mark, name=literal(name)) for mark, name in stood_for.items()
        ]
        said.append(say("debrief-masked", meanings=", ".join(meanings)))
    kinds = {condition.kind for condition in spec.conditions}
    if kind == "none":
        said.append(say("debrief-saw-none"))
    if "control" in kinds:
        said.append(say("debrief-random", saw=kind or "several"))
    if "none" in kinds and kind != "none":
        said.append(say("debrief-not-always" if kind is None else "debrief-some-none"))
    if spec.texts.contact:
        said.append(say("write-to", contact=spec.texts.contact))
    return tuple(said)

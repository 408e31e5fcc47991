"""How explanations are read: terms for inputs and features, legends, weights, the question on the method.

The instructions hold for all explanations of a condition, whichever comes first: they speak of conditions and of none,
of changes and of none that were found. The line below an explanation speaks only of what stands there.

Weights are shown as the words (or values) with theirs, their sum, the baseline, and what both make: the estimated
probability. With two classes all explanations speak of the second, whatever the model predicts: signs mean the same
on every page.

In the question on the method the second answer is always the right one, so that one key judges all conditions where
the question excludes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from verax.errors import VeraxError
from verax.explain.composite import Composite
from verax.explain.description import weights
from verax.explain.explanation import Attribution, Explanation
from verax.explain.kinds import Exemplar, Path, Rule, Written
from verax.phrases import Slot, say_lines
from verax.phrases import say as say_phrase
from verax.studies.definition.screen import Bars, class_mark
from verax.studies.definition.spec_tables import ScreeningQuestion as Asked
from verax.studies.definition.study import Item, Material
from verax.studies.display.readable import ranges_in_words

say = partial(say_phrase, "reading")


def asked(area: str, case: str, correct: int, **slots: Slot) -> Asked:
    """A question of a screening test as a phrase has it: its first line, and the answers in the lines after it."""
    question, *answers = say_lines(area, case, **slots)
    return Asked(
        question=question, answers=[answer.removeprefix("- ") for answer in answers], correct=correct
    )


# "marks" are highlights on the input; "written" is whatever somebody wrote or imported.
Kind = Literal["marks", "weights", "rule", "path", "exemplar", "composite", "written"]

# The phrases of the kinds that are read in one way; marks, weights and what somebody wrote have lines of their own.
LINES: Mapping[Kind, str] = {
    "rule": "rules",
    "path": "paths",
    "exemplar": "exemplars",
    "composite": "several",
}


# The headings of the parts of a composite in plain words.
HEADINGS: Mapping[Kind, str] = {
    "marks": "plain-part-marks",
    "rule": "plain-part-rule",
    "path": "plain-part-path",
    "exemplar": "plain-part-exemplar",
}


def heading_of(part: Explanation) -> str:
    """What stands above a part of a composite in plain words."""
    return say(HEADINGS[_kind_of(part) or "marks"])


def legend_of_kind(kind: Kind, data: str, *, in_composite: bool = False, plain: bool = False) -> str:
    """How all explanations of a kind are read; nothing for marks, weights and what somebody wrote.

    Args:
        kind: of the explanations.
        data: the study's kind of data, "text" or "table".
        in_composite: whether they stand among others, where a path is its last step without margins.
        plain: whether they are in plain words.
    """
    if kind not in LINES:
        return ""
    if plain and kind != "composite":
        return say(f"plain-{LINES[kind]}", kind=data)
    return say("last-steps" if kind == "path" and in_composite else LINES[kind], kind=data)


def legend_of(explanation: Explanation, data: str = "text", *, plain: bool = False) -> str:
    """One line on how to read this explanation; none where plain words say it all."""
    if plain:
        return _plain_legend(explanation, data)
    match explanation:
        case Rule() if not explanation.measured:
            return ""  # nothing could be changed, and the explanation says so
        case Rule():
            named = "rule" if explanation.named else "no-condition"
            return say(f"{named}-{'holds' if explanation.reached else 'weak'}", kind=data)
        case Path():
            return say("step" if explanation.edits else "no-path", kind=data)
        case _:
            kind = _kind_of(explanation)
            return "" if kind is None else legend_of_kind(kind, data)


def _plain_legend(explanation: Explanation, data: str) -> str:
    match explanation:
        case Rule() if explanation.named:
            return say("plain-rule-holds" if explanation.reached else "plain-rule-weak", kind=data)
        case Path() if explanation.edits:
            return say("plain-step", kind=data)
        case Exemplar():
            return say("plain-similarity-line")
        case Composite():
            return say("several")
        case _:
            return ""


def weights_block(material: Material, item: Item, condition: str) -> Bars | None:
    """The weights of an item's explanation; None in a condition whose scores are shown as marks, or that has none."""
    explanation = material.explanations.get((item.id, condition, "model"))
    if explanation is None or material.spec.method_of(condition).display != "weights":
        return None
    shown = of_second_class(_additive(explanation, condition), material.class_names)
    rows = weights(shown)
    if not isinstance(item.input, str):
        rows = [(ranges_in_words(name), score) for name, score in rows]
    total = sum(score for _, score in rows)
    baseline = _baseline(shown)
    data = "text" if isinstance(item.input, str) else "table"
    sums = (
        (say("weights-sum", kind=data), total),
        (say("weights-baseline"), baseline),
        (say("weights-probability", name=class_mark(shown.target)), baseline + total),
    )
    legend = weights_legend(data, shown.target, material.class_names)
    return Bars((*rows, *sums), say("title"), legend)


def weights_legend(data: str, target: int | None, class_names: Sequence[str]) -> str:
    """How weights are read; of explanations that speak of several classes (None), each of the model's answer."""
    if target is None:
        return say("weights-of-answer", kind=data)
    if len(class_names) == 2:
        return say("weights-of-two", kind=data, name=class_mark(target), other=class_mark(1 - target))
    return say("weights-of-one", kind=data, name=class_mark(target))


def weights_legend_of_all(data: str, class_names: Sequence[str]) -> str:
    """How all weights of a study are read: with two classes they speak of the second, else of the model's answer."""
    return weights_legend(data, 1 if len(class_names) == 2 else None, class_names)


def of_second_class(attribution: Attribution, class_names: Sequence[str]) -> Attribution:
    """The same local model of the second of two classes, whose probability is what is missing to 1."""
    baseline = attribution.details.get("intercept")
    if len(class_names) != 2 or attribution.target == 1 or not isinstance(baseline, float):
        return attribution
    return replace(
        attribution,
        scores=-attribution.scores,
        target=1,
        target_name=class_names[1],
        details={**attribution.details, "intercept": 1 - baseline},
    )


def _additive(explanation: Explanation, condition: str) -> Attribution:
    if isinstance(explanation, Attribution) and isinstance(explanation.details.get("intercept"), float):
        return explanation
    raise VeraxError(
        f"The condition {condition!r} is to be displayed as weights that add up with a baseline, but its explainer "
        'gives none; use lime, or leave display = "weights" out.'
    )


def _baseline(attribution: Attribution) -> float:
    baseline = attribution.details["intercept"]
    assert isinstance(baseline, float)
    return baseline


KINDS: tuple[tuple[type[Explanation], Kind], ...] = (
    (Rule, "rule"),
    (Path, "path"),
    (Exemplar, "exemplar"),
    (Composite, "composite"),
    (Written, "written"),
)
# Models whose names begin so decide by how similar an input is to their prototypes.
PROTOTYPE_MODELS = "prototype-"


def is_plain(material: Material) -> bool:
    """Whether what methods give in words is shown in plain ones."""
    return material.spec.display.wording == "plain"


def shown_kind(material: Material, condition: str) -> Kind:
    """The kind of explanations that a condition shows; all of one condition are of one kind."""
    first = next(_explanations(material, condition), None)
    kind = None if first is None else _kind_of(first)
    return material.spec.method_of(condition).display if kind is None else kind


def reading_lines(material: Material, condition: str) -> tuple[str, ...]:
    """How a condition's explanations are read, where they are no marks: a line, or several for several parts."""
    kind, plain = shown_kind(material, condition), is_plain(material)
    if kind == "composite":
        parts = _parts(material, condition).items()
        return (
            say("several"),
            *(
                say("several-point", name=heading_of(part) if plain else name, line=line)
                for name, part in parts
                if (line := _part_line(material, part))
            ),
        )
    if kind == "weights":
        return (weights_legend_of_all(material.kind, material.class_names),)
    if kind == "written":
        line = next(
            (one.legend for one in _explanations(material, condition) if isinstance(one, Written)), ""
        )
    else:
        line = legend_of_kind(kind, material.kind, plain=plain)
    if kind == "exemplar" and _decides_by_examples(material, condition):
        line = f"{line} {say('decides-by-examples')}"
    return (line,) if line else ()


def _explanations(material: Material, condition: str) -> Iterator[Explanation]:
    return (shown for (_, name, _), shown in material.explanations.items() if name == condition)


def _kind_of(explanation: Explanation) -> Kind | None:
    """The kind of an explanation in words; None for scores, which a condition shows in one way or another."""
    return next((kind for sort, kind in KINDS if isinstance(explanation, sort)), None)


def _parts(material: Material, condition: str) -> dict[str, Explanation]:
    """By name, the first explanation of each part that any composite of the condition has."""
    found: dict[str, Explanation] = {}
    for shown in _explanations(material, condition):
        for part in shown.parts if isinstance(shown, Composite) else ():
            found.setdefault(part.name, part.explanation)
    return found


def _part_line(material: Material, part: Explanation) -> str:
    if isinstance(part, Attribution) and is_plain(material):
        return say("plain-scores", kind=material.kind)
    if isinstance(part, Attribution):
        return weights_legend_of_all(material.kind, material.class_names)
    if isinstance(part, Written):
        return part.legend
    kind = _kind_of(part)
    return (
        ""
        if kind is None
        else legend_of_kind(kind, material.kind, in_composite=True, plain=is_plain(material))
    )


def _decides_by_examples(material: Material, condition: str) -> bool:
    model = material.spec.method_of(condition).model or material.spec.model
    return str(model).startswith(PROTOTYPE_MODELS)


RIGHT = 2


def method_question(material: Material, condition: str) -> Asked:
    """The question on a condition's explanations: its own, or that of their kind."""
    own = material.spec.method_of(condition).question
    if own is None:
        return question_on(shown_kind(material, condition), material.kind, plain=is_plain(material))
    answers = [answer for answer in own.answers if answer != own.answers[own.correct - 1]]
    answers.insert(RIGHT - 1, own.answers[own.correct - 1])
    return Asked(question=own.question, answers=answers, correct=RIGHT)


def question_on(kind: Kind, data: str = "text", *, plain: bool = False) -> Asked:
    """What people are asked who see explanations of a kind."""
    worded = f"plain-{kind}" if plain and kind in ("rule", "path") else kind
    return asked("reading", f"question-{worded}", RIGHT, kind=data)

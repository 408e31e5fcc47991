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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from verax.errors import VeraxError
from verax.explain.composite import Composite
from verax.explain.description import weights
from verax.explain.explanation import Attribution, Explanation
from verax.explain.kinds import Exemplar, Path, Rule, Written
from verax.studies.definition.screen import Bars, class_mark
from verax.studies.definition.spec_tables import ScreeningQuestion as Asked
from verax.studies.definition.study import Item, Material
from verax.studies.display.readable import ranges_in_words


@dataclass(frozen=True)
class Terms:
    """What participants call an input and its features."""

    one: str
    many: str
    piece: str
    pieces: str


TERMS = {
    "text": Terms("text", "texts", "word", "words"),
    "table": Terms("record", "records", "value", "values"),
}


def terms(material: Material) -> Terms:
    """The words for the study's kind of data."""
    return TERMS[material.kind]


# "marks" are highlights on the input; "written" is whatever somebody wrote or imported.
Kind = Literal["marks", "weights", "rule", "path", "exemplar", "composite", "written"]

MARGIN = (
    "The evidence margin says how strongly the model leans to one answer; where its sign changes, so does "
    "the answer."
)
SEVERAL = "Several explanations of the same answer, one below the other."
DECIDES_BY_EXAMPLES = "The model finds its answers by comparing with such examples."


def legend_of_kind(kind: Kind, words: Terms, *, in_composite: bool = False) -> str:
    """How all explanations of a kind are read; nothing for marks, weights and what somebody wrote.

    Args:
        kind: of the explanations.
        words: for the study's kind of data.
        in_composite: whether they stand among others, where a path is its last step without margins.
    """
    match kind:
        case "rule":
            return _rules(words)
        case "path":
            return _last_steps(words) if in_composite else _paths(words)
        case "exemplar":
            return _exemplars(words)
        case "composite":
            return SEVERAL
        case _:
            return ""


def legend_of(explanation: Explanation, words: Terms = TERMS["text"]) -> str:
    """One line on how to read this explanation."""
    match explanation:
        case Rule():
            return _rule(explanation, words)
        case Path() if not explanation.edits:
            return (
                f"The model gave the same answer to all changed versions of the {words.one} that were tried. The "
                "evidence margin says how strongly it leans to one answer."
            )
        case Path():
            return f"Each step {_what_steps_show(words)}. {MARGIN}"
        case Exemplar():
            return _exemplars(words)
        case Composite():
            return SEVERAL
        case _:
            return ""


def _rules(words: Terms) -> str:
    what = (
        "words that stay in the text"
        if words.piece == "word"
        else "what some values of the record have to be"
    )
    return (
        f"You see conditions: {what}. While they hold, the model gives this answer to nearly all changed "
        f"versions of the {words.one}, whatever else is changed. Where it does so less often, the explanation says how "
        "often. Where no condition is needed, it does so for nearly all changed versions, whatever is changed."
    )


def _rule(rule: Rule, words: Terms) -> str:
    if not rule.measured:
        return ""  # nothing could be changed, and the explanation says so
    nearly_all = f"the model gives this answer to nearly all changed versions of the {words.one}"
    if rule.named and rule.reached:
        return f"While these conditions hold, {nearly_all}, whatever else is changed."
    if rule.named:
        return "These conditions alone do not settle the model's answer."
    if rule.reached:
        return f"{nearly_all.capitalize()}."
    return "Whatever conditions were tried, changes of the rest often changed the answer."


def _paths(words: Terms) -> str:
    return (
        "You see changes after which the model gives another answer. Each step "
        f"{_what_steps_show(words)}. {MARGIN} Where no such changes were found, the explanation says so."
    )


def _last_steps(words: Terms) -> str:
    shown = "new words stand between stars" if words.piece == "word" else "each value before and after"
    return f"Changes after which the model gives another answer ({shown}). Where none were found, it says so."


def _what_steps_show(words: Terms) -> str:
    if words.piece == "word":
        return "shows the text with the words changed so far, between stars"
    return "lists the values changed so far, before and after"


def _exemplars(words: Terms) -> str:
    return (
        "Of a number of examples (prototypes) that the model has learned from, you see the most similar one whose "
        "label is the model's answer. A similarity score of 10 is as similar as can be; important "
        f"{words.pieces} make the {words.one} more (+) or less (-) similar to the example."
    )


def weights_block(
    material: Material, item: Item, condition: str, *, title: str = "Explanation"
) -> Bars | None:
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
    pieces = "words" if isinstance(item.input, str) else "values"
    sums = (
        (f"Sum of {pieces}", total),
        ("Baseline", baseline),
        (f"Estimated probability of {class_mark(shown.target)}", baseline + total),
    )
    return Bars((*rows, *sums), title, weights_legend(pieces, shown.target, material.class_names))


def weights_legend(pieces: str, target: int | None, class_names: Sequence[str]) -> str:
    """How weights are read; of explanations that speak of several classes (None), each of the model's answer."""
    of_class = "the model's answer" if target is None else class_mark(target)
    against = (
        f"for {class_mark(1 - target)}" if len(class_names) == 2 and target is not None else "against it"
    )
    return (
        f"The {pieces} that matter most, with their weights: above zero they speak for {of_class}, below "
        f"zero {against}. Their sum and the baseline make the estimated probability of {of_class}, which may come out "
        "below 0 or above 1."
    )


def weights_legend_of_all(pieces: str, class_names: Sequence[str]) -> str:
    """How all weights of a study are read: with two classes they speak of the second, else of the model's answer."""
    return weights_legend(pieces, 1 if len(class_names) == 2 else None, class_names)


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


def shown_kind(material: Material, condition: str) -> Kind:
    """The kind of explanations that a condition shows; all of one condition are of one kind."""
    first = next(_explanations(material, condition), None)
    kind = None if first is None else _kind_of(first)
    return material.spec.method_of(condition).display if kind is None else kind


def reading_lines(material: Material, condition: str) -> tuple[str, ...]:
    """How a condition's explanations are read, where they are no marks: a line, or several for several parts."""
    kind, words = shown_kind(material, condition), terms(material)
    if kind == "composite":
        parts = _parts(material, condition).items()
        return (
            SEVERAL,
            *(f"- {name}: {line}" for name, part in parts if (line := _part_line(material, part))),
        )
    if kind == "weights":
        return (weights_legend_of_all(words.pieces, material.class_names),)
    if kind == "written":
        line = next(
            (one.legend for one in _explanations(material, condition) if isinstance(one, Written)), ""
        )
    else:
        line = legend_of_kind(kind, words)
    if kind == "exemplar" and _decides_by_examples(material, condition):
        line = f"{line} {DECIDES_BY_EXAMPLES}"
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
    words = terms(material)
    if isinstance(part, Attribution):
        return weights_legend_of_all(words.pieces, material.class_names)
    if isinstance(part, Written):
        return part.legend
    kind = _kind_of(part)
    return "" if kind is None else legend_of_kind(kind, words, in_composite=True)


def _decides_by_examples(material: Material, condition: str) -> bool:
    model = material.spec.method_of(condition).model or material.spec.model
    return str(model).startswith(PROTOTYPE_MODELS)


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

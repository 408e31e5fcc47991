"""How explanations in words are shown: in a box of their own beside the input.

What somebody wrote is shown as it was written. What methods give that is not scores, rules, paths, examples and
composites, is told as Hase and Bansal (2020) told it to their participants, with changed words between stars.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from verax.explain import description as told
from verax.explain.composite import Composite
from verax.explain.explanation import Attribution, Explanation
from verax.explain.fragments import Fragments
from verax.explain.kinds import Exemplar, Path, Rule, Written
from verax.studies.display.legends import legend_of
from verax.studies.display.stimulus import text_tokens
from verax.studies.display.table_rows import ranges_in_words, row_in_words
from verax.studies.display.terms import TERMS, Terms, terms
from verax.studies.display.weights import of_second_class
from verax.studies.model.item import Item
from verax.studies.model.screen import Excerpt, Grid, Lines, Quote, Telling, Told, class_mark
from verax.studies.model.sources import Material


def written_block(
    material: Material, item: Item, condition: str, *, title: str = "Explanation", model: str = "model"
) -> Quote | Told | None:
    """The explanation of an item in words; None where the condition's explanations are marks, or there is none."""
    explanation = material.explanations.get((item.id, condition, model))
    if explanation is None or not in_words(explanation):
        return None
    if isinstance(explanation, Written):
        text = "\n\n".join(paragraph.strip("\n") for paragraph in explanation.paragraphs)
        return Quote(text, title, explanation.legend)
    return told_block(explanation, material.class_names, terms(material), title=title)


def told_block(
    explanation: Explanation,
    class_names: Sequence[str],
    words: Terms = TERMS["text"],
    *,
    title: str = "Explanation",
) -> Told:
    """What a method found, part by part, with the line on how to read it."""
    parts = told.describe(unnamed(explanation, class_names), plain=True)
    return Told(_tellings(parts), title, legend_of(explanation, words))


def _tellings(parts: Sequence[told.DescriptionPart]) -> tuple[Telling, ...]:
    """An account as parts of a screen: lines that follow each other are one part, and a heading begins another."""
    made: list[Telling] = []
    for part in parts:
        before = made[-1] if made else None
        if isinstance(part, told.Passage):
            made.append(_excerpt(part.pieces))
        elif isinstance(part, told.Grid):
            made.append(Grid(part.header, tuple(map(row_in_words, part.rows))))
        elif isinstance(part, told.Heading):
            made.append(Lines("", part.text))
        elif isinstance(before, Lines):
            made[-1] = replace(before, text=f"{before.text}\n{_said(part)}".lstrip("\n"))
        else:
            made.append(Lines(_said(part)))
    return tuple(made)


def _said(part: told.Sentence | told.Conditions) -> str:
    if isinstance(part, told.Sentence):
        return ranges_in_words(part.text)
    return "\n".join(f"{number}. {ranges_in_words(one)}" for number, one in enumerate(part.items, start=1))


def _excerpt(pieces: Sequence[tuple[str, bool]]) -> Excerpt:
    """A text as people write it; what was changed are whole words of it."""
    text, changed = "", []
    for piece, is_new in pieces:
        if is_new:
            changed.append((len(text), len(text) + len(piece)))
        text += piece
    runs = groupby(text_tokens(text, changed=changed), key=lambda token: token.changed)
    return Excerpt(tuple(("".join(token.text for token in run), is_new) for is_new, run in runs))


def in_words(explanation: Explanation) -> bool:
    """Whether an explanation is told in words, rather than marked on the input."""
    return not isinstance(explanation, Attribution | Fragments)


def unnamed(explanation: Explanation, class_names: Sequence[str]) -> Explanation:
    """The same with place holders for the names of classes, since a screen never names one."""
    marks = {name: class_mark(number) for number, name in enumerate(class_names)}
    if isinstance(explanation, Composite):
        parts = tuple(
            replace(part, explanation=unnamed(part.explanation, class_names)) for part in explanation.parts
        )
        return replace(explanation, parts=parts, target_name=class_mark(explanation.target))
    if isinstance(explanation, Attribution):
        explanation = of_second_class(explanation, class_names)
    if isinstance(explanation, Rule | Path | Exemplar | Attribution):
        explanation = replace(explanation, target_name=class_mark(explanation.target))
    if isinstance(explanation, Path):
        return replace(explanation, flipped_to=marks.get(explanation.flipped_to, explanation.flipped_to))
    if isinstance(explanation, Exemplar):
        label = marks.get(explanation.prototype_label, explanation.prototype_label)
        return replace(explanation, prototype_label=label)
    return explanation


def forms(material: Material) -> frozenset[str]:
    """The forms of the study's explanations: "marks" on the input, "words" beside it, or both."""
    explanations = material.explanations.values()
    return frozenset("words" if in_words(shown) else "marks" for shown in explanations)


def has_legends(material: Material) -> bool:
    """Whether an explanation in words comes with a line on how to read it."""
    return any(
        shown.legend if isinstance(shown, Written) else legend_of(shown)
        for shown in material.explanations.values()
        if in_words(shown)
    )

"""How explanations in words are shown: as they were written, in a box of their own beside the input.

Written explanations are such, and so is what methods give that is not scores: rules, paths, examples, composites. These
are told as Hase and Bansal (2020) told them to their participants, with changed words between stars.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from verax.explain.account import Conditions, Grid, Part, Passage, account
from verax.explain.composite import Composite
from verax.explain.exemplar import Exemplar
from verax.explain.explanation import Attribution, Explanation
from verax.explain.fragments import Fragments
from verax.explain.path import Path
from verax.explain.rule import Rule
from verax.explain.written import Written
from verax.studies.display.reading import readable
from verax.studies.display.table_rows import ranges_in_words
from verax.studies.display.weights import of_second_class
from verax.studies.model.item import Item
from verax.studies.model.screen import Quote, class_mark
from verax.studies.model.sources import Material


def written_block(
    material: Material, item: Item, condition: str, *, title: str = "Explanation", model: str = "model"
) -> Quote | None:
    """The explanation of an item in words; None where the condition's explanations are marks, or there is none."""
    explanation = material.explanations.get((item.id, condition, model))
    if explanation is None or not in_words(explanation):
        return None
    if isinstance(explanation, Written):
        text = "\n\n".join(paragraph.strip("\n") for paragraph in explanation.paragraphs)
        return Quote(text, title, explanation.legend)
    parts = account(unnamed(explanation, material.class_names), plain=True)
    worded = _readable_cells if isinstance(item.input, str) else ranges_in_words
    return Quote(
        "\n".join(map(worded, as_text(parts).split("\n"))),
        title,
        legend_of(explanation),
        names_classes=True,
    )


def _readable_cells(line: str) -> str:
    return "\t".join(map(readable, line.split("\t")))


def in_words(explanation: Explanation) -> bool:
    """Whether an explanation is told in words, rather than marked on the input."""
    return not isinstance(explanation, Attribution | Fragments)


def as_text(parts: Sequence[Part]) -> str:
    """An account as plain lines: conditions with their numbers, what was changed between stars, tables with tabs."""
    lines: list[str] = []
    for part in parts:
        if isinstance(part, Conditions):
            lines += [f"{number}. {item}" for number, item in enumerate(part.items, start=1)]
        elif isinstance(part, Passage):
            lines.append("".join(f"**{text}**" if changed else text for text, changed in part.pieces))
        elif isinstance(part, Grid):
            # Tabs part the cells of a table, and one before the first makes it the header.
            lines += ["\t" + "\t".join(part.header)] if part.header else []
            lines += ["\t".join(row) for row in part.rows]
        elif part.sort == "heading":
            lines += ["", part.text]
        else:
            lines.append(part.text)
    return "\n".join(lines).strip("\n")


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


def legend_of(explanation: Explanation) -> str:
    """One line on how to read an explanation of this kind."""
    if isinstance(explanation, Rule) and not explanation.named:
        if explanation.reached:
            return "The model gives this answer to nearly all changed versions of the input."
        return "Whatever conditions were tried, changes of the rest often changed the answer."
    if isinstance(explanation, Rule):
        return "While these conditions hold, the model nearly always gives this answer, whatever else is changed."
    if isinstance(explanation, Path):
        return (
            "Each step makes the changes that are shown (new words stand between stars). The evidence margin says how "
            "strongly the model leans to one answer; where its sign changes, the answer changes."
        )
    if isinstance(explanation, Exemplar):
        return (
            "The model answers as for the most similar example that it has learned from. A score of 10 is as similar "
            "as can be; important parts make the input more (+) or less (-) similar to the example."
        )
    if isinstance(explanation, Composite):
        return "Several explanations of the same answer, one below the other."
    return ""


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

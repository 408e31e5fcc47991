"""How items and their explanations are shown: marked texts, rows, bars and words, as blocks of a screen.

Every condition gets the same pieces in the same order; only levels (and, where it may show, the direction) differ. A
level means the same in the whole study: levels are cut at the quartiles of all scores that a condition shows.

What somebody wrote is shown as it was written. What methods give that is not scores, rules, paths, examples and
composites, is told in plain words, or as Hase and Bansal (2020) told it to their participants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import groupby

import numpy as np

from verax.data.words import WORD, split_words
from verax.errors import VeraxError
from verax.explain import description as told
from verax.explain.composite import Composite
from verax.explain.explanation import Attribution, Explanation
from verax.explain.fragments import Fragment, Fragments, fragments
from verax.explain.kinds import Exemplar, Path, Rule, Written
from verax.phrases import say
from verax.studies.definition.screen import (
    Bars,
    Cell,
    Evidence,
    Excerpt,
    Grid,
    Lines,
    Passage,
    Quote,
    Row,
    Token,
    WordedExplanation,
    WordedPart,
    class_mark,
)
from verax.studies.definition.spec_tables import NONE
from verax.studies.definition.study import Item, Material
from verax.studies.display.legends import is_plain, legend_of, of_second_class
from verax.studies.display.levels import as_attribution, feature_spans, strongest
from verax.studies.display.plain_words import piece_of, plain_parts
from verax.studies.display.readable import ranges_in_words, readable, readable_gaps, row_in_words

Spans = Sequence[tuple[int, int]]
# How one feature is shown: its level, and 1 or -1 where its direction may show.
Mark = tuple[int, int]
UNMARKED: Mark = (0, 0)
# Fragments are all marked alike: which of them are there is the message.
FRAGMENT: Mark = (3, 0)


def input_block(item: Item, *, title: str = "") -> Passage | Row:
    """The input as it is."""
    return _block(item.input, {}, title)


def variant_block(item: Item, *, title: str = "") -> Passage | Row:
    """The perturbed input, with what was changed marked."""
    if item.variant is None:
        raise VeraxError(f"The item {item.id!r} has no perturbed version; add one to it.")
    changed = item.variant.changed
    if isinstance(item.variant.input, str):
        spans = [place for place in changed if isinstance(place, tuple)]
        return Passage(text_tokens(item.variant.input, changed=spans), title)
    columns = [
        Cell(column, value, changed=place in changed)
        for place, (column, value) in enumerate(item.variant.input)
    ]
    return Row(tuple(columns), title)


def changes_marked(item: Item, block: Passage | Row) -> Passage | Row:
    """A block of the original with those of its words or values marked that the perturbed input changes."""
    if item.variant is None:
        return block
    if isinstance(block, Row):
        cells = enumerate(block.cells)
        return replace(
            block, cells=tuple(replace(cell, changed=place in item.variant.changed) for place, cell in cells)
        )
    words = [token.text for token in block.tokens if token.word]
    others = WORD.findall(item.variant.input) if isinstance(item.variant.input, str) else []
    compared = SequenceMatcher(None, words, others, autojunk=False)
    changed = {
        place
        for tag, start, end, _, _ in compared.get_opcodes()
        if tag in ("replace", "delete")
        for place in range(start, end)
    }
    if len(words) == len(others):
        changed = {place for place, pair in enumerate(zip(words, others, strict=True)) if len(set(pair)) > 1}
    tokens, place = [], -1
    for token in block.tokens:
        place += token.word
        tokens.append(replace(token, changed=token.word and place in changed))
    return replace(block, tokens=tuple(tokens))


def explained_block(
    material: Material,
    item: Item,
    condition: str,
    *,
    direction: bool,
    title: str = "",
    model: str = "model",
) -> Passage | Row:
    """The input with its strongest features marked in levels; in a condition without explanations, nothing marked.

    Args:
        material: the explanations and their scales.
        item: what is shown.
        condition: the name of the condition.
        direction: whether marks also say what a feature speaks for. Never where the answer could be read off it.
        title: above the block.
        model: "model" or "worse": whose prediction is explained.
    """
    attribution = _attribution(material, item, condition, model)
    if attribution is None:
        return input_block(item, title=title)
    edges = material.scales[condition]
    marks = {}
    for number in strongest(attribution, material.spec.display.features):
        score = float(attribution.scores[number])
        sign = (1 if score > 0 else -1) if direction else 0
        marks[number] = (1 + int(np.searchsorted(edges, abs(score))), sign)
    return _marked(item, attribution, marks, title)


def bars_block(
    material: Material, item: Item, condition: str, title: str = "", model: str = "model"
) -> Bars | None:
    """The strongest features with their signed scores; None in a condition without explanations.

    Bars tell the direction, so they are not for tasks in which the answer could be read off it.
    """
    attribution = _attribution(material, item, condition, model)
    if attribution is None:
        return None
    chosen = strongest(attribution, material.spec.display.features)
    names = attribution.features
    if isinstance(item.input, str):
        names = tuple(piece_of(item.input, name) for name in names)
    elif len(item.input) == len(names):
        names = tuple(f"{column}: {value}" for column, value in item.input)
    return Bars(tuple((names[number], float(attribution.scores[number])) for number in chosen), title)


def evidence_blocks(
    material: Material,
    item: Item,
    condition: str,
    count: int,
    sizes: Sequence[int] = (1,),
    *,
    title: str = "",
    counter_title: str = "",
    model: str = "model",
) -> tuple[Evidence, Evidence]:
    """The strongest evidence for the predicted class, and the strongest counter-evidence, without the text.

    Both are empty in a condition without explanations.

    Args:
        material: the explanations.
        item: what they are about.
        condition: the name of the condition.
        count: how many fragments of each at the most.
        sizes: how many words a fragment may have.
        title: above the evidence.
        counter_title: above the counter-evidence.
        model: "model" or "worse".
    """
    chosen = _chosen(material, item, condition, model, count, sizes)
    if chosen is None:
        return Evidence((), title), Evidence((), counter_title)
    return (
        Evidence(tuple(readable(fragment.text) for fragment in chosen.evidence), title),
        Evidence(tuple(readable(fragment.text) for fragment in chosen.counter_evidence), counter_title),
    )


def marked_evidence(
    material: Material,
    item: Item,
    condition: str,
    model: str,
    count: int,
    sizes: Sequence[int] = (1,),
    *,
    title: str = "",
    once: bool = False,
) -> Passage | Row:
    """The input with its strongest evidence for the predicted class marked, all alike.

    The arguments are those of `evidence_blocks`; ``once`` marks each fragment in one place only, so that as many
    fragments are as many highlights.
    """
    attribution = _attribution(material, item, condition, model)
    chosen = _chosen(material, item, condition, model, count, sizes)
    if attribution is None or chosen is None:
        return input_block(item, title=title)
    if isinstance(item.input, str):
        spans = [
            span
            for fragment in chosen.evidence
            for span in _marked_places(item.input, fragment, everywhere=attribution.spans is None, once=once)
        ]
        return Passage(text_tokens(item.input, [(span, FRAGMENT) for span in spans]), title)
    best = [number for number in strongest(attribution, 0) if attribution.scores[number] > 0][:count]
    return _marked(item, attribution, dict.fromkeys(best, FRAGMENT), title)


def _attribution(material: Material, item: Item, condition: str, model: str) -> Attribution | None:
    """The explanation of an item; None where the condition has none."""
    explanation = material.explanations.get((item.id, condition, model))
    if explanation is not None:
        return as_attribution(explanation, condition)
    if material.spec.condition(condition).kind != NONE:
        raise VeraxError(f"The item {item.id!r} has no explanation in the condition {condition!r}.")
    return None


def _chosen(
    material: Material, item: Item, condition: str, model: str, count: int, sizes: Sequence[int]
) -> Fragments | None:
    """The strongest fragments of an explanation; those of a method that gives fragments are taken as they are.

    A condition may have sizes of its own, and take scores of any sign.
    """
    explanation = material.explanations.get((item.id, condition, model))
    if isinstance(explanation, Fragments):
        return replace(
            explanation,
            evidence=explanation.evidence[:count],
            counter_evidence=explanation.counter_evidence[:count],
        )
    attribution = _attribution(material, item, condition, model)
    if attribution is None:
        return None
    shown = material.spec.condition(condition)
    return fragments(attribution, count, shown.sizes or sizes, any_sign=shown.any_sign)


def evidence_count(
    material: Material, item: Item, condition: str, model: str, count: int, sizes: Sequence[int] = (1,)
) -> int:
    """How many fragments of evidence there are to mark, at the most ``count``."""
    if not isinstance(item.input, str):
        attribution = _attribution(material, item, condition, model)
        return 0 if attribution is None else min(count, sum(score > 0 for score in attribution.scores))
    chosen = _chosen(material, item, condition, model, count, sizes)
    return 0 if chosen is None else len(chosen.evidence)


def _marked_places(
    text: str, fragment: Fragment, *, everywhere: bool, once: bool = False
) -> list[tuple[int, int]]:
    """Where a fragment stands; and, if scores are of words and not of places, wherever else its words stand so."""
    if (once or not everywhere) and fragment.span is not None:
        return [fragment.span]
    words, wanted = split_words(text), split_words(fragment.text).words
    again = [
        (words.starts[first], words.ends[first + len(wanted) - 1])
        for first in range(len(words) - len(wanted) + 1)
        if wanted and words.words[first : first + len(wanted)] == wanted
    ]
    if once:
        return again[:1]
    return again if fragment.span is None else [*again, fragment.span]


def _marked(item: Item, attribution: Attribution, marks: Mapping[int, Mark], title: str) -> Passage | Row:
    if isinstance(item.input, str):
        spans = feature_spans(attribution)
        placed = [(span, mark) for number, mark in marks.items() for span in spans[number]]
        return Passage(text_tokens(item.input, placed), title)
    return _block(item.input, _by_column(item.input, attribution, marks), title)


def _by_column(
    row: tuple[tuple[str, str], ...], attribution: Attribution, marks: Mapping[int, Mark]
) -> dict[int, Mark]:
    """Marks by the number of the column: features are the columns in order, or are named like them."""
    if len(attribution.features) == len(row):
        return dict(marks)
    names = [column for column, _ in row]
    unknown = [feature for feature in attribution.features if feature not in names]
    if unknown:
        raise VeraxError(
            f"The explanation speaks of {unknown[0]!r}, which is not among the columns: {', '.join(names)}."
        )
    return {names.index(attribution.features[number]): mark for number, mark in marks.items()}


def _block(
    shown: str | tuple[tuple[str, str], ...], by_column: Mapping[int, Mark], title: str
) -> Passage | Row:
    if isinstance(shown, str):
        return Passage(text_tokens(shown), title)
    cells = []
    for place, (column, value) in enumerate(shown):
        level, sign = by_column.get(place, UNMARKED)
        cells.append(Cell(column, value, level, sign))
    return Row(tuple(cells), title)


def text_tokens(
    text: str, marks: Sequence[tuple[tuple[int, int], Mark]] = (), changed: Spans = ()
) -> tuple[Token, ...]:
    """The text in words and, as people write it, what stands between them.

    A word bears the strongest mark that touches it. Spans are of the text as it is, whatever is shown between words.
    """
    words = split_words(text)
    first, *gaps = readable_gaps(text, WORD.split(text), words.words)
    tokens = [Token(first, word=False)] if first else []
    for word, (start, end), gap in zip(words.words, words.places, gaps, strict=True):
        level, sign = max(
            (mark for span, mark in marks if _touch(span, (start, end))),
            key=lambda mark: mark[0],
            default=UNMARKED,
        )
        tokens.append(Token(word, True, level, sign, any(_touch(span, (start, end)) for span in changed)))
        if gap:
            tokens.append(Token(gap, word=False))
    return tuple(tokens)


def _touch(span: tuple[int, int], other: tuple[int, int]) -> bool:
    return span[0] < other[1] and other[0] < span[1]


def written_block(
    material: Material, item: Item, condition: str, *, model: str = "model"
) -> Quote | WordedExplanation | None:
    """The explanation of an item in words; None where the condition's explanations are marks, or there is none."""
    explanation = material.explanations.get((item.id, condition, model))
    if explanation is None or not in_words(explanation):
        return None
    if isinstance(explanation, Written):
        text = "\n\n".join(paragraph.strip("\n") for paragraph in explanation.paragraphs)
        return Quote(text, say("reading", "title"), explanation.legend)
    if is_plain(material):
        return plain_block(explanation, material.class_names, material.kind, material.spec.display.features)
    return worded_block(explanation, material.class_names, material.kind)


def plain_block(
    explanation: Explanation, class_names: Sequence[str], data: str = "text", features: int = 0
) -> WordedExplanation:
    """What a method found in plain words, with the line on how to read it; see `plain_parts`."""
    parts = plain_parts(unnamed(explanation, class_names, turned=False), features)
    shown = tuple(_excerpt(part.pieces) if isinstance(part, told.Passage) else part for part in parts)
    legend = legend_of(explanation, data, plain=True)
    return WordedExplanation(shown, say("reading", "title"), legend, starred=False)


def worded_block(
    explanation: Explanation, class_names: Sequence[str], data: str = "text"
) -> WordedExplanation:
    """What a method found as published, part by part, with the line on how to read it."""
    parts = told.describe(unnamed(explanation, class_names), plain=True)
    return WordedExplanation(_worded_parts(parts), say("reading", "title"), legend_of(explanation, data))


def _worded_parts(parts: Sequence[told.DescriptionPart]) -> tuple[WordedPart, ...]:
    """An account as parts of a screen: lines that follow each other are one part, and a heading begins another."""
    made: list[WordedPart] = []
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


def unnamed(explanation: Explanation, class_names: Sequence[str], *, turned: bool = True) -> Explanation:
    """The same with place holders for the names of classes, since a screen never names one.

    Args:
        explanation: as it was made.
        class_names: which are replaced.
        turned: whether scores of two classes speak of the second, as weights do; else of the model's answer.
    """
    marks = {name: class_mark(number) for number, name in enumerate(class_names)}
    if isinstance(explanation, Composite):
        parts = tuple(
            replace(part, explanation=unnamed(part.explanation, class_names, turned=turned))
            for part in explanation.parts
        )
        return replace(explanation, parts=parts, target_name=class_mark(explanation.target))
    if isinstance(explanation, Attribution) and turned:
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
        shown.legend if isinstance(shown, Written) else legend_of(shown, plain=is_plain(material))
        for shown in material.explanations.values()
        if in_words(shown)
    )

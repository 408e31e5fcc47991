"""Worked examples for a staining report: a few inputs, all explainers side by side, the stain's words boxed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

from verax.benchmarks.staining.results import KeptExample
from verax.benchmarks.staining.scores import places
from verax.data.words import split_words
from verax.explain.explanation import Attribution, Explanation
from verax.report.explanations.highlight import Mark, segments
from verax.report.staining.figures import FLOOR

# Dataset, model and number of the stain.
Place = tuple[str, str, int]
EXAMPLES = 3
EXPLAINED = (
    "Of the inputs that were kept, each example takes one with a model, a dataset and a stain that were not shown yet, "
    "as far as there are any, and among those the shortest: none was chosen for what the explainers say of it."
)


@dataclass(frozen=True)
class Piece:
    """A piece of an input, the mark it bears, and whether it belongs to the stain."""

    text: str
    mark: Mark | None
    stained: bool


@dataclass(frozen=True)
class Answer:
    """One explainer's answer: the input in pieces, and at which rank it has each feature of the stain."""

    name: str
    attribution: Attribution
    pieces: tuple[Piece, ...]
    ranks: str
    control: bool


@dataclass(frozen=True)
class Example:
    """One flipped input with the answers of all explainers."""

    dataset: str
    model: str
    stain: str
    answers: tuple[Answer, ...]


def worked_examples(
    kept: Sequence[KeptExample], names: Mapping[str, str], most: int = EXAMPLES
) -> list[Example]:
    """Examples that differ in model, dataset and stain as far as they can.

    Args:
        kept: explanations with their dataset, model and stain, as a run keeps them.
        names: explainers in order, with the label each is shown by.
        most: how many inputs.
    """
    groups: dict[Place, list[KeptExample]] = {}
    for example in kept:
        groups.setdefault((example.dataset, example.model, example.stain), []).append(example)
    left = dict(groups)
    chosen: list[Example] = []
    seen: set[tuple[int, str | int]] = set()
    while left and len(chosen) < most:
        place = min(
            left, key=lambda each: (_repeated(each, seen), _length(left[each]), list(groups).index(each))
        )
        seen |= set(enumerate(place))
        chosen.append(_example(left.pop(place), names))
    return chosen


def _repeated(place: Place, seen: Collection[tuple[int, str | int]]) -> tuple[bool, ...]:
    """What was shown before: the model weighs most, then the dataset, then the stain."""
    dataset, model, stain = enumerate(place)
    return tuple(part in seen for part in (model, dataset, stain))


def _length(group: Sequence[KeptExample]) -> int:
    shown = group[0].explanation["input"]
    return len(shown) if isinstance(shown, str) else sum(map(len, cast("Sequence[str]", shown)))


def _example(group: Sequence[KeptExample], names: Mapping[str, str]) -> Example:
    order = list(names)
    known = sorted(
        group,
        key=lambda example: order.index(example.explainer) if example.explainer in order else len(order),
    )
    first = group[0]
    return Example(
        first.dataset, first.model, first.shown, tuple(_answer(example, names) for example in known)
    )


def _answer(example: KeptExample, names: Mapping[str, str]) -> Answer:
    attribution = Explanation.from_dict(example.explanation)
    assert isinstance(attribution, Attribution)
    label = example.explainer
    pieces = boxed(attribution, example.wanted)
    ranks = stain_ranks(attribution, example.wanted)
    return Answer(names.get(label, label), attribution, pieces, ranks, label == FLOOR)


def stain_ranks(attribution: Attribution, wanted: Collection[str]) -> str:
    """At which rank the explanation has each feature of the stain, "“the” 1st, “not” 4th of 23 features"."""
    above, ties = places(attribution.scores)
    ranked = sorted(
        (int(above[number]), int(ties[number]), name)
        for number, name in enumerate(attribution.features)
        if name in wanted
    )
    places_of_words = ", ".join(f"“{name}” {_rank(before, tied)}" for before, tied, name in ranked)
    # A word that the text does not have belongs to another rule of the stain.
    here = split_words(attribution.input).distinct if isinstance(attribution.input, str) else wanted
    missing = (set(wanted) & set(here)) - set(attribution.features)
    absent = ", ".join(f"“{name}”" for name in sorted(missing))
    named = f"{places_of_words} of {len(attribution.features)} features" if places_of_words else ""
    return "; ".join(part for part in (named, f"{absent} not named" if absent else "") if part)


def _rank(above: int, ties: int) -> str:
    """The rank after so many that are more important; those that tie share theirs, as they do in the scores."""
    return ordinal(above + 1) if ties == 1 else f"tied {ordinal(above + 1)} to {ordinal(above + ties)}"


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 11th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"


def boxed(attribution: Attribution, wanted: Collection[str]) -> tuple[Piece, ...]:
    """The highlighted input, cut once more where a word of the stain begins or ends; joined it is as written."""
    if not isinstance(attribution.input, str):
        columns = attribution.features if len(attribution.features) == len(attribution.input) else ()
        stained = [name in wanted for name in columns] or [False] * len(attribution.input)
        return tuple(
            Piece(segment.text, segment.mark, its)
            for segment, its in zip(segments(attribution), stained, strict=True)
        )
    spans = split_words(attribution.input).spans()
    inside = bytearray(len(attribution.input))
    edges = set()
    for word in wanted:
        for start, end in spans.get(word, ()):
            inside[start:end] = b"\1" * (end - start)
            edges |= {start, end}
    pieces: list[Piece] = []
    first = 0
    for segment in segments(attribution):
        last = first + len(segment.text)
        cuts = [first, *sorted(edge for edge in edges if first < edge < last), last]
        for start, end in pairwise(cuts):
            if start < end:
                pieces.append(Piece(attribution.input[start:end], segment.mark, bool(inside[start])))
        first = last
    return tuple(pieces)

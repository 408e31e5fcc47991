"""What methods share that score the words of a text where they stand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from verax.arrays import FloatArray, IndexArray
from verax.data.words import split_words
from verax.explain.base import Explainer, Target, check_targets
from verax.explain.explanation import Attribution, Cost
from verax.explain.perturbed import Targets
from verax.models.base import Inputs, Model
from verax.models.wrappers import check_texts

# Scores are kept to so many bits of the largest. Sums over a batch are rounded otherwise than over one text, in the
# 15th digit: what is kept is the same in any batch.
BITS = 27
DIGITS = 6
# Texts at a time: the more there are, the more words they share.
SLICE = 1_024


@dataclass(frozen=True, eq=False)
class PositionScores:
    """What a method says of one text.

    Attributes:
        target: the class that is explained.
        values: a number for each position that the network reads.
        word_of: for each position the number of its word; None if positions are words.
        details: how it was made.
    """

    target: int
    values: FloatArray
    details: dict[str, object]
    word_of: IndexArray | None = None


Find = Callable[[Sequence[str], Targets], Sequence[PositionScores]]


def explain_positions(
    explainer: Explainer,
    model: Model,
    inputs: Inputs,
    targets: Sequence[Target] | None,
    find: Find,
    cost: Cost,
) -> list[Attribution]:
    """A score for each word of each text, where it stands.

    Args:
        explainer: whose explanations these are.
        model: what is explained.
        inputs: texts.
        targets: the class to explain for each.
        find: what does it, for a slice of the texts.
        cost: rows and calls for each text; the seconds are measured.
    """
    texts, name = check_texts(inputs), repr(explainer)
    explanations = []
    for part, wanted in text_slices(model, texts, targets):
        started = time.perf_counter()
        found = find(part, wanted)
        seconds = (time.perf_counter() - started) / len(part)
        explanations += all_at_positions(name, model, part, found, Cost(cost.rows, cost.calls, seconds))
    return explanations


def text_slices(
    model: Model, texts: Sequence[str], targets: Sequence[Target] | None
) -> Iterator[tuple[list[str], Targets]]:
    """The texts and what is asked about them, so many at a time."""
    wanted = check_targets(model, texts, targets)
    for first in range(0, len(texts), SLICE):
        yield list(texts[first : first + SLICE]), wanted[first : first + SLICE]


def all_at_positions(
    explainer: str, model: Model, texts: Sequence[str], found: Sequence[PositionScores], cost: Cost
) -> list[Attribution]:
    """The explanation of each text: each of its words is a feature at its place; words that were not read score 0."""
    split = [split_words(text) for text in texts]
    scores = [_over_words(each, len(words)) for each, words in zip(found, split, strict=True)]
    return [
        Attribution(
            features=tuple(words.words),
            scores=kept,
            target=each.target,
            target_name=model.class_names[each.target],
            input=text,
            spans=tuple(zip(words.places)),
            details=each.details,
            cost=cost,
            explainer=explainer,
        )
        for text, words, each, kept in zip(texts, split, found, _all_settled(scores), strict=True)
    ]


def at_positions(explainer: str, model: Model, text: str, found: PositionScores, cost: Cost) -> Attribution:
    """The explanation of one text."""
    return all_at_positions(explainer, model, [text], [found], cost)[0]


def _over_words(found: PositionScores, words: int) -> FloatArray:
    """A number for each word of a text."""
    if found.word_of is not None:
        inside = found.word_of >= 0
        return np.asarray(np.bincount(found.word_of[inside], found.values[inside], words), dtype=np.float64)
    unread = words - len(found.values)
    return np.pad(found.values, (0, unread)) if unread else found.values


def _all_settled(rows: Sequence[FloatArray]) -> list[FloatArray]:
    """All at once, since numpy takes longer to begin than to count a sentence's words."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    padded = np.zeros((len(rows), int(lengths.max(initial=0))))
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = np.concatenate([np.zeros(0), *rows])
    return [row[:length] for row, length in zip(settled(padded), lengths.tolist(), strict=True)]


def settled(scores: FloatArray) -> FloatArray:
    """Scores without the last digits, in which the order of a sum shows; rows of a matrix each by themselves."""
    largest = np.abs(scores).max(axis=-1, initial=0.0, keepdims=True)
    usable = (largest > 0.0) & np.isfinite(largest)
    unit = np.ldexp(1.0, np.frexp(np.where(usable, largest, 1.0))[1] - BITS)
    kept: FloatArray = np.where(usable, np.round(scores / unit) * unit + 0.0, scores)  # no -0.0
    return kept


def rounded(value: float) -> float:
    """A number for the details, without the digits in which the order of a sum shows."""
    return round(float(value), DIGITS) + 0.0

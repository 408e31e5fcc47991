"""From explanations to rankings of all positions of a text, and the errors of a ranking (the paper's A, B and C)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from verax.arrays import BoolArray, FloatArray
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.explanation import Attribution
from verax.seeds import stream
from verax.text import listed

# How scores become an order: by their size, or by their value, what speaks against the prediction last.
Order = Literal["absolute", "signed"]


@runtime_checkable
class Ranking(Protocol):
    """An explanation of any kind."""

    def as_attribution(self) -> Attribution | None:
        """The same as scores; None for a kind that ranks nothing, such as a composite."""


def position_scores(explanation: object, text: str) -> FloatArray:
    """A score for every word of a text: that of the feature which stands there.

    A feature that is a distinct word gives its score to every occurrence. Where features overlap, a position has the
    score of the largest magnitude.

    Args:
        explanation: scores, or something that can be read as scores.
        text: the input, word by word.
    """
    scored = explanation.as_attribution() if isinstance(explanation, Ranking) else None
    if scored is None:
        raise VeraxError(
            f"A ranking of words is needed, and a {type(explanation).__name__} has none; leave this explainer out."
        )
    words = split_words(text)
    known = scored.scores.tolist()
    scores: list[float | None] = [None] * len(words)
    if scored.spans is None:
        by_word = dict(zip(scored.features, known, strict=True))
        scores = [by_word.get(word) for word in words.words]
    else:
        for places, score in zip(scored.spans, known, strict=True):
            for number, (start, end) in enumerate(zip(words.starts, words.ends, strict=True)):
                before = scores[number]
                covered = any(first < end and start < last for first, last in places)
                if covered and (before is None or abs(score) > abs(before)):
                    scores[number] = score
    missing = [word for word, score in zip(words.words, scores, strict=True) if score is None]
    if missing:
        named = listed([repr(word) for word in dict.fromkeys(missing)], most=3)
        raise VeraxError(
            f"The explainer scored {len(words) - len(missing)} of {len(words)} words ({named} not); every word needs a "
            "score, 0 for those that do not count."
        )
    return np.array(scores, dtype=np.float64)


def ranks(scores: FloatArray, order: Order, seed: int, text: str) -> tuple[FloatArray, BoolArray]:
    """The rank of each position, 0 for the most important, and which positions tie with another.

    Ties are broken at random, by the seed and the text.
    """
    importance = np.abs(scores) if order == "absolute" else scores
    drawn = stream(seed, "ties", text).random(len(scores))
    places = np.lexsort((drawn, -importance))
    rank = np.empty(len(scores))
    rank[places] = np.arange(len(scores))
    _, inverse, counts = np.unique(importance, return_inverse=True, return_counts=True)
    tied: BoolArray = counts[inverse] > 1
    return rank, tied


@dataclass(frozen=True)
class Errors:
    """What is wrong with one ranking.

    Attributes:
        first: whether the first word does nothing (metric A).
        misranked: whether a word that does nothing stands above a clearly relevant one (B).
        above: how many such words stand above the lowest clearly relevant one (C).
        auc: the share of pairs of a clearly relevant word and one that does nothing in which the first scores higher;
            a tie is half a pair.
        tied: whether a word that does nothing ties with a clearly relevant one, so that chance decides.
    """

    first: bool
    misranked: bool
    above: int
    auc: float
    tied: bool


def errors(
    scores: FloatArray, relevant: BoolArray, irrelevant: BoolArray, order: Order, seed: int, text: str
) -> Errors:
    """The errors of a ranking of all positions.

    Args:
        scores: one per position.
        relevant: SR_x, of which there is at least one.
        irrelevant: N_x, the same.
        order: how scores become an order.
        seed: of ties.
        text: whose words these are.
    """
    rank, _ = ranks(scores, order, seed, text)
    lowest = rank[relevant].max()
    above = int((rank[irrelevant] < lowest).sum())
    importance = np.abs(scores) if order == "absolute" else scores
    margin = importance[relevant][:, None] - importance[irrelevant][None, :]
    return Errors(
        first=bool(irrelevant[np.argmin(rank)]),
        misranked=above > 0,
        above=above,
        auc=float(np.mean((margin > 0) + 0.5 * (margin == 0))),
        tied=bool((margin == 0).any()),
    )


def oracle_scores(relevant: BoolArray, irrelevant: BoolArray) -> FloatArray:
    """The ranking that makes no error: SR_x, then SDK_x, then N_x."""
    return np.where(relevant, 2.0, np.where(irrelevant, 0.0, 1.0))

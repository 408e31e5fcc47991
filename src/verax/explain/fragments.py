"""Fragments: the words, n-grams or columns of an input that speak most for and against the target.

Any attribution makes them, as in section 4.3 of Lertvittayakumjorn and Toni (2019): an n-gram scores the sum of the
scores of its words, and the best that do not overlap are chosen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import itemgetter
from typing import ClassVar, NamedTuple

import numpy as np

from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.base import at_least
from verax.explain.explanation import (
    Attribution,
    Cost,
    Explanation,
    Spans,
    same_fields,
    short_repr,
)
from verax.notebook import bars_html, paragraph_html

# Scores that are equal to so many digits of the largest one are ties, and what is 0 to so many digits is no evidence:
# sums of floats such as 0.1 + 0.2 - 0.3 would otherwise decide by their rounding errors.
TIE_DIGITS = 9

Span = tuple[int, int]


@dataclass(frozen=True)
class Fragment:
    """A part of an input.

    Attributes:
        text: the part as it is written in the text, or "column = value" of a row.
        score: how much it speaks for the target; negative speaks against it.
        span: where it starts and ends in the text; None for a column, or a feature that is no part of the text.
    """

    text: str
    score: float
    span: Span | None = None


@dataclass(frozen=True)
class Fragments(Explanation):
    """The strongest evidence and counter-evidence of an input, each with the strongest first.

    Attributes:
        evidence: fragments that speak for the target; their scores are positive.
        counter_evidence: fragments that speak against the target; their scores are negative. Fragments that were chosen
            whatever their sign say so under ``any_sign`` of their details.
        target: the class that is explained.
        target_name: its name.
        input: the text, or the row as a tuple of "column = value".
        details: how it was made: count, sizes, the number of features left out because they stand nowhere in
            the text, the attribution's own details.
        cost: rows, calls and seconds of the attribution; two explanations that differ in nothing else are equal.
        explainer: the explainer that made the attribution, as code.
    """

    evidence: tuple[Fragment, ...]
    counter_evidence: tuple[Fragment, ...]
    target: int
    target_name: str = ""
    input: str | tuple[str, ...] = ""
    details: dict[str, object] = field(default_factory=dict, hash=False)
    cost: Cost = field(default_factory=Cost, compare=False)
    explainer: str = ""

    kind: ClassVar[str] = "fragments"

    def __post_init__(self) -> None:
        for name, sign in (("evidence", 1), ("counter_evidence", -1)):
            for fragment in getattr(self, name):
                if self.details.get("any_sign") and math.isfinite(fragment.score):
                    continue
                if not (math.isfinite(fragment.score) and sign * fragment.score > 0):
                    wanted = "positive" if sign > 0 else "negative"
                    raise VeraxError(
                        f"The score {fragment.score} of {fragment.text!r} in {name!r} must be a {wanted} number."
                    )

    def as_attribution(self) -> Attribution:
        """Each fragment as a feature, where it stands."""
        parts = (*self.evidence, *self.counter_evidence)
        spans = tuple(() if part.span is None else (part.span,) for part in parts)
        return Attribution(
            features=tuple(part.text for part in parts),
            scores=np.array([part.score for part in parts]),
            spans=spans if isinstance(self.input, str) else None,
            **same_fields(self),
        )

    def __repr__(self) -> str:
        sides = (("for", self.evidence), ("against", self.counter_evidence))
        said = [f"{side} {', '.join(repr(each.text) for each in parts)}" for side, parts in sides if parts]
        return short_repr(self, "; ".join(said) or "nothing for or against it")

    def _repr_html_(self) -> str:
        said = f"What speaks most for {self.target_name or self.target}, and against it"
        scores = [(each.text, each.score) for each in (*self.evidence, *self.counter_evidence)]
        return paragraph_html(said, bold=self.explainer) + bars_html(scores)


def fragments(
    attribution: Attribution, count: int = 3, sizes: Sequence[int] = (1,), *, any_sign: bool = False
) -> Fragments:
    """The strongest evidence and counter-evidence of an attribution.

    The candidates are all runs of so many neighbouring words as ``sizes`` allows; punctuation between words does not
    end a run. They are taken from the strongest on, unless they overlap one that was taken, or repeat its words.
    Evidence and counter-evidence are chosen apart, so that a word may be in both. Ties go to the earlier, then to the
    shorter. A text with fewer words than the smallest size is one candidate as a whole.

    Args:
        attribution: the scores; a text's features may be its distinct words, or anything with ``spans``.
        count: at the most so many fragments on either side; there are fewer where scores are zero.
        sizes: how many words a fragment may have; (2, 3, 4) in the paper's n-gram methods. Rows of tables have
            fragments of one column only.
        any_sign: evidence are the highest scores and counter-evidence the lowest, whatever their sign, as the paper has
            it for LRP and DeepLIFT. So a text has ``count`` of each wherever there is room, and one fragment may be
            both.
    """
    if not isinstance(attribution, Attribution):
        raise VeraxError(f"Fragments are made from an attribution, not from {type(attribution).__name__}.")
    at_least(count, 1, "count")
    wanted = _check_sizes(sizes)
    if isinstance(attribution.input, str):
        runs, left_out = _runs(attribution, attribution.input, wanted)
    elif wanted == [1]:
        runs, left_out = _columns(attribution, attribution.input), 0
    else:
        raise VeraxError(f"sizes={sizes!r} is for texts; a row's fragments are single columns, sizes=(1,).")
    scored = [(math.fsum(place.score for place in run), run) for run in runs]
    largest = max(map(abs, attribution.scores.tolist()), default=0.0) or 1.0
    return Fragments(
        evidence=_strongest(scored, largest, count, attribution.input, any_sign),
        counter_evidence=_strongest(scored, -largest, count, attribution.input, any_sign),
        target=attribution.target,
        target_name=attribution.target_name,
        input=attribution.input,
        details={
            "count": count,
            "sizes": wanted,
            "left_out": left_out,
            **({"any_sign": True} if any_sign else {}),
            "attribution": attribution.details,
        },
        cost=attribution.cost,
        explainer=attribution.explainer,
    )


class _Place(NamedTuple):
    """A word where it stands, or a feature that stands nowhere, and its score."""

    text: str
    score: float
    span: Span | None = None


def _strongest(
    scored: list[tuple[float, list[_Place]]],
    unit: float,
    count: int,
    shown: str | tuple[str, ...],
    any_sign: bool,
) -> tuple[Fragment, ...]:
    """The best runs of places in units of ``unit``, whose sign is that of the scores that are looked for."""
    strengths = [(round(score / unit, TIE_DIGITS), score, run) for score, run in scored]
    # The runs come in the order that decides ties, and sorting keeps it.
    ranked = sorted((entry for entry in strengths if any_sign or entry[0] > 0), key=lambda entry: -entry[0])
    chosen: dict[tuple[str, ...], Fragment] = {}
    for _, score, run in ranked:
        if len(chosen) == count:
            break
        words = tuple(place.text for place in run)
        fragment = _fragment(run, score, shown)
        if words not in chosen and not any(_overlap(fragment, other) for other in chosen.values()):
            chosen[words] = fragment
    return tuple(chosen.values())


def _fragment(run: list[_Place], score: float, shown: str | tuple[str, ...]) -> Fragment:
    first, last = run[0].span, run[-1].span
    if first is None or last is None or not isinstance(shown, str):
        return Fragment(run[0].text, score)
    return Fragment(shown[first[0] : last[1]], score, (first[0], last[1]))


def _overlap(fragment: Fragment, other: Fragment) -> bool:
    mine, theirs = fragment.span, other.span
    return mine is not None and theirs is not None and mine[0] < theirs[1] and theirs[0] < mine[1]


def _columns(attribution: Attribution, row: tuple[str, ...]) -> list[list[_Place]]:
    """Each column with its value in this row, unless the feature says more than the column's name."""
    values = row if len(row) == len(attribution.features) else attribution.features
    return [
        [_Place(value if feature in value else feature, score)]
        for feature, value, score in zip(
            attribution.features, values, attribution.scores.tolist(), strict=True
        )
    ]


def _runs(attribution: Attribution, text: str, sizes: list[int]) -> tuple[list[list[_Place]], int]:
    """Every run of words, the earlier and then the shorter first; and how many features are in none of them."""
    spans, scores = _spans(attribution, text), attribution.scores.tolist()
    places = _places(text, spans, scores)
    nowhere = [
        [_Place(feature, score)]
        for feature, where, score in zip(attribution.features, spans, scores, strict=True)
        if not where
    ]
    if sizes != [1]:
        _check_runs(attribution, places, len(nowhere))
    fitting = [size for size in sizes if size <= len(places)] or [len(places)]
    runs = [
        places[first : first + size]
        for first in range(len(places))
        for size in fitting
        if first + size <= len(places)
    ]
    return (runs + nowhere, 0) if 1 in sizes else (runs, len(nowhere))


def _spans(attribution: Attribution, text: str) -> Spans:
    """Where each feature stands; a span without a character, as of a model's special tokens, is nowhere."""
    if attribution.spans is None:
        spans_of = split_words(text).spans()
        return tuple(tuple(spans_of.get(feature, ())) for feature in attribution.features)
    if len(attribution.spans) != len(attribution.features):
        raise VeraxError(
            f"{len(attribution.features)} features need as many spans, not {len(attribution.spans)}."
        )
    for feature, spans in zip(attribution.features, attribution.spans, strict=True):
        for start, end in spans:
            if not 0 <= start <= end <= len(text):
                raise VeraxError(
                    f"The span ({start}, {end}) of {feature!r} is outside the text of {len(text)} characters."
                )
    return tuple(tuple((start, end) for start, end in spans if start < end) for spans in attribution.spans)


def _places(text: str, spans: Spans, scores: list[float]) -> list[_Place]:
    """The features' spans in the text's order with their scores, and with 0 the words that no feature speaks of."""
    placed = [(span, score) for where, score in zip(spans, scores, strict=True) for span in where]
    covered = bytearray(len(text))
    for (start, end), _ in placed:
        covered[start:end] = b"\1" * (end - start)
    words = split_words(text)
    placed += [
        ((start, end), 0.0)
        for start, end in zip(words.starts, words.ends, strict=True)
        if not any(covered[start:end])
    ]
    return [_Place(text[span[0] : span[1]], score, span) for span, score in sorted(placed, key=itemgetter(0))]


def _check_sizes(sizes: Sequence[int]) -> list[int]:
    """The sizes in order, each once."""
    if not isinstance(sizes, Sequence) or not sizes or not all(isinstance(size, int) for size in sizes):
        raise VeraxError(f"sizes={sizes!r} must be one or more whole numbers, e.g. (1,) or (2, 3, 4).")
    at_least(min(sizes), 1, "size")
    return sorted(set(sizes))


def _check_runs(attribution: Attribution, places: list[_Place], nowhere: int) -> None:
    """Sums need features that stand in the text, and do not share characters."""
    if nowhere and nowhere == len(attribution.features):
        raise VeraxError(
            f"None of the {nowhere} features is a word of the text ({attribution.features[0]!r}, for example), so "
            "that there are no n-grams to sum; give the attribution its input and spans, or ask for sizes=(1,)."
        )
    for place, following in pairwise(places):
        if place.span and following.span and following.span[0] < place.span[1]:
            raise VeraxError(
                f"The features {place.text!r} and {following.text!r} overlap in the text, so that sums would count "
                "some words twice; ask for sizes=(1,)."
            )

"""Where an explanation marks its input, and how strongly: the one highlight of terminal, page and study.

Nothing here knows of colours or HTML. An attribution becomes marks (how each feature is shown), and a text becomes
segments (its characters in order, each with the mark it bears).
"""

from __future__ import annotations

from dataclasses import dataclass

from verax.data.words import split_words
from verax.explain.explanation import Attribution, Spans

# Scores are shown in this many steps of the largest one; what rounds to 0 steps is left unmarked.
LEVELS = 5
# So many features are set in bold and underlined, so that the strongest stand out without any colour.
STRONG = 2


@dataclass(frozen=True)
class Mark:
    """How one feature is shown.

    Attributes:
        feature: the feature in words; a table's column with its value.
        score: its score.
        rank: 1 for the largest score by magnitude.
        level: 0 (unmarked) to 5, in proportion to the largest score by magnitude.
    """

    feature: str
    score: float
    rank: int
    level: int

    @property
    def sign(self) -> int:
        """1 if the feature speaks for the target, -1 against it, 0 if it has no say."""
        return (self.score > 0) - (self.score < 0)

    @property
    def strong(self) -> bool:
        """Whether it is one of the two strongest."""
        return self.level > 0 and self.rank <= STRONG


@dataclass(frozen=True)
class Segment:
    """A piece of a text, or one column of a row, with the mark it bears, if any."""

    text: str
    mark: Mark | None = None


def marks(attribution: Attribution) -> tuple[Mark, ...]:
    """How each feature is shown, in the order of the features."""
    largest = max((abs(score) for score in attribution.scores.tolist()), default=0.0)
    rank = {feature: place for place, feature in enumerate(attribution.ranking(), start=1)}
    return tuple(
        Mark(_in_words(attribution, number), score, rank[number], _level(score, largest))
        for number, score in enumerate(attribution.scores.tolist())
    )


def ranked(attribution: Attribution, count: int | None = None) -> tuple[Mark, ...]:
    """The marks from the strongest to the weakest, at the most ``count`` of them."""
    return tuple(sorted(marks(attribution), key=lambda mark: mark.rank)[:count])


def segments(attribution: Attribution, top: int | None = None) -> tuple[Segment, ...]:
    """The input in pieces, so that the pieces of a text, joined, are the text as written.

    A text's features stand where their ``spans`` say, or wherever the word occurs. Where several features overlap,
    a place bears the mark of the strongest. A row has one segment for each column.

    Args:
        attribution: the scores.
        top: mark only so many of the strongest features.
    """
    shown = [
        mark if mark.level and (top is None or mark.rank <= top) else None for mark in marks(attribution)
    ]
    if not isinstance(attribution.input, str):
        return _row_segments(attribution, attribution.input, shown)
    spans = attribution.spans if attribution.spans is not None else _word_spans(attribution)
    return _text_segments(attribution.input, spans, shown)


def _text_segments(text: str, spans: Spans, shown: list[Mark | None]) -> tuple[Segment, ...]:
    owner: list[Mark | None] = [None] * len(text)
    # The strongest is painted last, over the others.
    painted = [(mark, places) for mark, places in zip(shown, spans, strict=True) if mark is not None]
    for mark, places in sorted(painted, key=lambda pair: -pair[0].rank):
        for start, end in places:
            owner[start:end] = [mark] * len(owner[start:end])
    pieces: list[Segment] = []
    first = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or owner[place] is not owner[first]:
            pieces += _without_margins(text[first:place], owner[first])
            first = place
    return tuple(pieces)


def _without_margins(text: str, mark: Mark | None) -> list[Segment]:
    """One piece, or three where a mark would begin or end with white space, as the rest of a covered span may."""
    core = text.strip()
    if mark is None or core == text:
        return [Segment(text, mark)]
    start = text.index(core)
    parts = (text[:start], None), (core, mark), (text[start + len(core) :], None)
    return [Segment(part, its_mark) for part, its_mark in parts if part]


def _row_segments(
    attribution: Attribution, row: tuple[str, ...], shown: list[Mark | None]
) -> tuple[Segment, ...]:
    if len(row) == len(attribution.features):
        return tuple(Segment(value, mark) for value, mark in zip(row, shown, strict=True))
    return tuple(Segment(value) for value in row)


def _word_spans(attribution: Attribution) -> Spans:
    places = split_words(str(attribution.input)).spans()
    return tuple(tuple(places.get(feature, ())) for feature in attribution.features)


def _in_words(attribution: Attribution, number: int) -> str:
    """A word as it is; a column with its value in this row, unless the feature says more than the column's name."""
    feature, row = attribution.features[number], attribution.input
    if isinstance(row, str) or len(row) != len(attribution.features):
        return feature
    return row[number] if feature in row[number] else feature


def _level(score: float, largest: float) -> int:
    # Half a step is rounded up; Python's round would round it to the even step.
    return int(LEVELS * (abs(score) / largest) + 0.5) if largest > 0 else 0

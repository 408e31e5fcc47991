"""Explanations of the same predictions side by side: where each marks its input, and what terminal and page show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from verax.data.words import split_words
from verax.explain.description import DescriptionPart, describe
from verax.explain.explanation import Attribution, Cost, Explanation, Spans
from verax.explain.fragments import Fragments
from verax.phrases import say
from verax.results.verdict import Verdict

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


@dataclass(frozen=True)
class Entry:
    """One method's explanation of one input.

    Attributes:
        name: the method as the user calls it.
        explanation: what it gave: scores, or a rule, a path, an example, ...
        control: whether the scores are random, to compare with.
        fragments: its strongest evidence and counter-evidence, if they were asked for.
        fall: of the explained class's probability without the features named first, in points; None if not judged.
        display: how scores are shown: "marks" on the input, or "weights" that add up, which are told like any words.
    """

    name: str
    explanation: Explanation
    control: bool = False
    fragments: Fragments | None = None
    fall: float | None = None
    display: str = "marks"

    @property
    def attribution(self) -> Attribution | None:
        """The scores of features or fragments that are marked, if it gave such; all else is told in words."""
        shown = self.display == "marks" and isinstance(self.explanation, Attribution | Fragments)
        return self.explanation.as_attribution() if shown else None

    @property
    def cost(self) -> Cost:
        """What it took."""
        cost = getattr(self.explanation, "cost", None)
        return cost if isinstance(cost, Cost) else Cost()

    @property
    def account(self) -> tuple[DescriptionPart, ...]:
        """The explanation in words."""
        return describe(self.explanation)


@dataclass(frozen=True)
class Subject:
    """An input, what the model says of it, and its explanations.

    Attributes:
        title: what to call it, "test input 3".
        input: the text, or the row as one "column = value" per column.
        probabilities: of the classes.
        target: the class that is explained.
        label: the true class, if it is known.
        entries: the explanations.
    """

    title: str
    input: str | tuple[str, ...]
    class_names: tuple[str, ...]
    probabilities: tuple[float, ...]
    target: int
    label: int | None
    entries: tuple[Entry, ...]

    @property
    def predicted(self) -> int:
        """The class with the highest probability."""
        return max(range(len(self.probabilities)), key=self.probabilities.__getitem__)

    def likeliest(self, count: int) -> list[int]:
        """The ``count`` classes of the highest probability, and the explained and the true one, in class order."""
        order = sorted(range(len(self.probabilities)), key=lambda number: -self.probabilities[number])
        named = {self.target} if self.label is None else {self.target, self.label}
        return sorted({*order[:count], *named})


@dataclass(frozen=True)
class Comparison:
    """Explanations of one model's predictions on one dataset.

    Attributes:
        dataset: its name.
        model: its name.
        subjects: the inputs.
        notes: sentences on the data and the model.
        verdict: which of the methods to trust with these inputs, if they were judged.
        table: the numbers behind the verdict: heads, rows of texts, and what the columns mean.
    """

    dataset: str
    model: str
    subjects: tuple[Subject, ...]
    notes: tuple[str, ...] = ()
    verdict: Verdict | None = None
    table: tuple[tuple[str, ...], tuple[tuple[str, ...], ...], str] | None = None


class ScoredEntry(NamedTuple):
    """An explanation with scores, and what its user calls the method."""

    entry: Entry
    attribution: Attribution

    @property
    def name(self) -> str:
        """The method as the user calls it."""
        return self.entry.name


@dataclass(frozen=True)
class FeatureLine:
    """What every method says of one feature.

    Attributes:
        feature: in words.
        marks: one for each method, None where a method says nothing of the feature.
    """

    feature: str
    marks: tuple[Mark | None, ...]


def scored(subject: Subject) -> list[ScoredEntry]:
    """The explanations that are scores."""
    return [
        ScoredEntry(entry, entry.attribution) for entry in subject.entries if entry.attribution is not None
    ]


def in_table(methods: Sequence[ScoredEntry]) -> list[ScoredEntry]:
    """The methods that have a column. N-grams share no line with words: they are left to the texts that are marked."""
    single = [method for method in methods if not isinstance(method.entry.explanation, Fragments)]
    return single or list(methods)


def aligned(methods: Sequence[ScoredEntry]) -> list[FeatureLine]:
    """One line per feature, so that methods can be read across; those that rank high with most methods come first.

    A feature that stands at several places has the mark of its strongest one. Random controls have no say in the order.
    """
    found = [_strongest(method.attribution) for method in methods]
    features = list(dict.fromkeys(feature for own in found for feature in own))
    votes = [own for method, own in zip(methods, found, strict=True) if not method.entry.control] or found

    def mean_rank(feature: str) -> float:
        ranks = [own[feature].rank if feature in own else len(own) + 1 for own in votes]
        return sum(ranks) / len(ranks)

    return [
        FeatureLine(feature, tuple(own.get(feature) for own in found))
        for feature in sorted(features, key=mean_rank)
    ]


def _strongest(attribution: Attribution) -> dict[str, Mark]:
    strongest: dict[str, Mark] = {}
    for mark in ranked(attribution):
        strongest.setdefault(mark.feature, mark)
    return strongest


def verdict(subject: Subject) -> str:
    """One sentence: what the model says of the input, and whether it is right."""
    predicted, names = subject.predicted, subject.class_names
    return say(
        "explanations",
        "model-says",
        answer=names[predicted],
        probability=f"{subject.probabilities[predicted]:.2f}",
        truth={None: "unknown", predicted: "right"}.get(subject.label, "wrong"),
        label=names[predicted if subject.label is None else subject.label],
        predicted=subject.target == predicted,
        target=names[subject.target],
        target_probability=f"{subject.probabilities[subject.target]:.2f}",
    )


def agreement(subject: Subject) -> str:
    """One sentence: which feature each method names first; random controls have no say."""
    scored = [
        (entry, attribution)
        for entry in subject.entries
        if (attribution := entry.explanation.as_attribution()) is not None
    ]
    if not scored:
        return ""
    if not any(attribution.features for _, attribution in scored):
        return say("explanations", "no-words")
    names_of: dict[str, list[str]] = {}
    for entry, attribution in scored:
        first = next((mark for mark in ranked(attribution, 1) if mark.level), None)
        if first is not None and not entry.control:
            names_of.setdefault(first.feature, []).append(entry.name)
    parts = [
        say("explanations", "first-feature", names=names, feature=feature)
        for feature, names in sorted(names_of.items(), key=lambda item: -len(item[1]))
    ]
    if not parts:
        silent = all(entry.control or entry.attribution is None for entry in subject.entries)
        return "" if silent else say("explanations", "no-feature")
    return "; ".join(parts) + "."


def facts(explanation: Explanation) -> dict[str, str]:
    """How an explanation was made, as far as it can be said in one number or a few words each."""
    return {
        name: f"{value:.4g}" if isinstance(value, float) else str(value)
        for name, value in details_of(explanation).items()
        if isinstance(value, (str, int, float)) and name not in ("route", "path")
    }


def how(explanation: Explanation) -> str:
    """The route that was taken, in a few words; empty if nothing is known of it."""
    details = details_of(explanation)
    parts = [str(details[key]) for key in ("route", "path") if details.get(key)]
    return "; ".join(parts)


def details_of(explanation: Explanation) -> dict[str, object]:
    """What an explanation says of how it was made."""
    details = getattr(explanation, "details", None)
    return details if isinstance(details, dict) else {}


def decimals(attribution: Attribution) -> int:
    """So many digits after the point that the largest score shows at least two of its own."""
    largest = max((abs(score) for score in attribution.scores.tolist()), default=0.0)
    needed = 3
    while 0 < largest * 10**needed < 10 and needed < 9:
        needed += 1
    return needed


def signed(score: float, digits: int) -> str:
    """A score with its sign; one that rounds to zero has none."""
    text = f"{score:+.{digits}f}"
    return text if any(digit in "123456789" for digit in text) else f" {text[1:]}"

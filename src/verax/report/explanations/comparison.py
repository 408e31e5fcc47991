"""Explanations of the same predictions side by side: what the terminal and the page show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from verax.explain.description import DescriptionPart, describe
from verax.explain.explanation import Attribution, Cost, Explanation
from verax.explain.fragments import Fragments
from verax.report.explanations.highlight import Mark, ranked
from verax.results.verdict import Verdict
from verax.text import listed


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


class Scored(NamedTuple):
    """An explanation with scores, and what its user calls the method."""

    entry: Entry
    attribution: Attribution

    @property
    def name(self) -> str:
        """The method as the user calls it."""
        return self.entry.name


@dataclass(frozen=True)
class Line:
    """What every method says of one feature.

    Attributes:
        feature: in words.
        marks: one for each method, None where a method says nothing of the feature.
    """

    feature: str
    marks: tuple[Mark | None, ...]


def scored(subject: Subject) -> list[Scored]:
    """The explanations that are scores."""
    return [Scored(entry, entry.attribution) for entry in subject.entries if entry.attribution is not None]


def in_table(methods: Sequence[Scored]) -> list[Scored]:
    """The methods that have a column. N-grams share no line with words: they are left to the texts that are marked."""
    single = [method for method in methods if not isinstance(method.entry.explanation, Fragments)]
    return single or list(methods)


def aligned(methods: Sequence[Scored]) -> list[Line]:
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
        Line(feature, tuple(own.get(feature) for own in found)) for feature in sorted(features, key=mean_rank)
    ]


def _strongest(attribution: Attribution) -> dict[str, Mark]:
    strongest: dict[str, Mark] = {}
    for mark in ranked(attribution):
        strongest.setdefault(mark.feature, mark)
    return strongest


def verdict(subject: Subject) -> str:
    """One sentence: what the model says of the input, and whether it is right."""
    predicted, names = subject.predicted, subject.class_names
    sentence = f"The model says {names[predicted]} ({subject.probabilities[predicted]:.2f})"
    if subject.label is not None:
        sentence += ", rightly" if subject.label == predicted else f"; in truth it is {names[subject.label]}"
    if subject.target != predicted:
        sentence += f"; explained is {names[subject.target]} ({subject.probabilities[subject.target]:.2f})"
    return sentence + "."


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
        return "There is no word in this text, so there is nothing to score."
    names_of: dict[str, list[str]] = {}
    for entry, attribution in scored:
        first = next((mark for mark in ranked(attribution, 1) if mark.level), None)
        if first is not None and not entry.control:
            names_of.setdefault(first.feature, []).append(entry.name)
    parts = [
        f"{listed(names)} {'name' if len(names) > 1 else 'names'} “{feature}” first"
        for feature, names in sorted(names_of.items(), key=lambda item: -len(item[1]))
    ]
    if not parts:
        return (
            ""
            if all(entry.control or entry.attribution is None for entry in subject.entries)
            else "No feature changes the model's answer."
        )
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

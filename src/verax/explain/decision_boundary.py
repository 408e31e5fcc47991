"""The explainer `decision-boundary` (Hase & Bansal 2020, section 3.4): the fewest edits that flip a prediction.

Perturbed versions of one input, text or row, are drawn, and the path is chosen among them by its evidence margins: by
how much a model's evidence for one class exceeds that for another.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol

import numpy as np

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.data.dataset import contents
from verax.data.words import split_words
from verax.explain.base import Claim, Explainer, Target, at_least, check_targets, explainers
from verax.explain.explanation import Cost
from verax.explain.kinds import Edit, Path
from verax.explain.perturbed import shown_input
from verax.models.base import Inputs, Model
from verax.models.capabilities import Scores
from verax.perturb.counterfactual.changes import column_values, sample_rows
from verax.perturb.counterfactual.text_changes import Distribution, distribution, sample_versions
from verax.perturb.counterfactual.text_versions import (
    Versions,
    build_texts,
    join,
    predict_versions,
    score_asker,
)
from verax.perturb.counterfactual.thesaurus import Thesaurus, thesaurus_for
from verax.perturb.masks import BLOCK_CELLS
from verax.perturb.paths.tables import reference_rows, schema_of
from verax.seeds import stream

# ---- The evidence margin

# A probability of 0 or 1 counts as one so near to it: margins stay between -13.8 and 13.8.
NEAREST = 1e-6
# Scores so near to each other tie: a forest's average of 0.5 may be off by the last digit, to either side.
LEVEL = 1e-9


def class_scores(model: Model, inputs: Inputs) -> FloatArray:
    """(inputs, classes): scores before the softmax; logarithms of the probabilities of a model that gives none."""
    if isinstance(model, Scores):
        return model.scores(inputs)
    return scores_of(model.predict_proba(inputs))


def scores_of(probabilities: FloatArray) -> FloatArray:
    """Class scores of a model that gives probabilities only: their logarithms. The highest stays the highest."""
    scores: FloatArray = np.log(np.clip(probabilities, NEAREST, 1.0 - NEAREST))
    return scores


def evidence_margins(scores: FloatArray, predicted: int) -> FloatArray:
    """The margin of each row of class scores.

    With two classes it is the second's score less the first's, as Hase and Bansal (2020) have it ("positive less
    negative"). With more it is the predicted class's less the highest of the others. In both cases a difference of
    scores before a softmax is the log-odds of one class against the other, and the sign changes where the prediction
    does. At 0 two classes tie; a model then predicts the first of them.

    Args:
        scores: (inputs, classes).
        predicted: the class that is predicted for the input that is explained.
    """
    if scores.shape[1] == 2:
        two: FloatArray = scores[:, 1] - scores[:, 0]
        return two
    others = np.delete(scores, predicted, axis=1)
    many: FloatArray = scores[:, predicted] - others.max(axis=1)
    return many


def across(scores: FloatArray, predicted: int) -> BoolArray:
    """Which rows of class scores lie across the boundary: another class scores higher, not only as high."""
    others = np.delete(scores, predicted, axis=1)
    beyond: BoolArray = others.max(axis=1, initial=-np.inf) - scores[:, predicted] > LEVEL
    return beyond


# ---- Perturbed versions

# The most values of a row that are replaced (Hase and Bansal 2020, A.2).
MOST_VALUES = 3
# A model is asked for so many samples at a time, at the most.
BLOCK = 10_000


class Samples(Protocol):
    """Distinct versions of an input, each with at least one edit."""

    @property
    def counts(self) -> IndexArray:
        """How many edits each has."""

    def scores(self) -> Iterator[FloatArray]:
        """The class scores of all of them in order, as many at a time as the model is asked for at once."""

    def edits(self, place: int) -> list[Edit]:
        """The edits of one of them, in the order of the input."""

    def with_some(self, place: int, subsets: Sequence[Sequence[int]]) -> Inputs:
        """One of them with only some of its edits, for each set of edits."""


class TextSamples:
    """Versions of a text; see :class:`Samples`."""

    def __init__(self, model: Model, versions: Versions) -> None:
        self.model = model
        self.versions = versions
        self.counts = versions.edits

    def scores(self) -> Iterator[FloatArray]:
        """The class scores; see :class:`Samples`."""
        ask = self._asker(self.model)
        step = max(1, min(BLOCK, BLOCK_CELLS // len(self.versions.options.words.text)))
        for block in self.versions.blocks(step):
            yield ask(block)

    def _asker(self, model: Model) -> Callable[[Versions], FloatArray]:
        """The fastest way from versions to class scores that the model has; texts are built if there is no other."""
        if not isinstance(model, Scores):
            predict = predict_versions(model, self.versions.options)
            return lambda block: scores_of(predict(block))
        return score_asker(model, self.versions.options) or (lambda block: model.scores(build_texts(block)))

    def edits(self, place: int) -> list[Edit]:
        """Which words are replaced, and by what."""
        options, words = self.versions.options, self.versions.options.words
        number = {word: feature for feature, word in enumerate(words.distinct)}
        edits = []
        for option in self._chosen(place).tolist():
            word = int(options.places[option])
            before = words.words[word]
            edits.append(Edit(number[before], word, before, options.after[option]))
        return edits

    def with_some(self, place: int, subsets: Sequence[Sequence[int]]) -> Inputs:
        """The text with some of the edits."""
        chosen = self._chosen(place)
        parts = [chosen[sorted(subset)] for subset in subsets]
        starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
        return build_texts(Versions(self.versions.options, starts, np.concatenate(parts)))

    def _chosen(self, place: int) -> IndexArray:
        return self.versions.chosen[self.versions.starts[place] : self.versions.starts[place + 1]]


class RowSamples:
    """Versions of a row; see :class:`Samples`."""

    def __init__(self, model: Model, row: FloatArray, rows: FloatArray) -> None:
        self.model = model
        self.row = row
        self.rows = rows
        self.changed: BoolArray = ~((rows == row) | (np.isnan(rows) & np.isnan(row)))
        self.counts: IndexArray = self.changed.sum(axis=1)

    def scores(self) -> Iterator[FloatArray]:
        """The class scores; see :class:`Samples`."""
        for first in range(0, len(self.rows), BLOCK):
            yield class_scores(self.model, self.rows[first : first + BLOCK])

    def edits(self, place: int) -> list[Edit]:
        """Which values are replaced, and by what."""
        schema = schema_of(self.model)
        return [
            Edit(
                column,
                None,
                schema.describe(column, self.row[column]),
                schema.describe(column, self.rows[place, column]),
            )
            for column in np.flatnonzero(self.changed[place]).tolist()
        ]

    def with_some(self, place: int, subsets: Sequence[Sequence[int]]) -> Inputs:
        """The row with some of the edits."""
        columns = np.flatnonzero(self.changed[place])
        rows = np.repeat(self.row[None], len(subsets), axis=0)
        for made, subset in zip(rows, subsets, strict=True):
            made[columns[list(subset)]] = self.rows[place, columns[list(subset)]]
        return rows


def boundary_distribution(n_words: int, attempt: int = 0) -> Distribution:
    """As for counterfactual texts, but at a higher temperature: the authors' code looks for flips more widely."""
    return replace(distribution(n_words, attempt), temperature=0.8 + 0.4 * attempt)


def text_samples(
    model: Model, text: str, thesaurus: Thesaurus, samples: int, seed: int, attempt: int
) -> TextSamples | None:
    """Versions of a text with words replaced by similar ones; None if no word can be."""
    words = split_words(text)
    wanted = boundary_distribution(len(words), attempt)
    candidates = thesaurus.candidates(words, wanted.top)
    if not candidates.options.after:
        return None
    rng = stream(seed, "decision boundary", text, attempt)
    drawn = join(list(sample_versions(candidates, wanted, samples, rng)))
    return TextSamples(model, drawn.select(drawn.first_places()))


def row_samples(
    model: Model, row: FloatArray, values: Sequence[FloatArray], samples: int, seed: int, attempt: int
) -> RowSamples | None:
    """Versions of a row with one to three values replaced; None if no column has another value."""
    rng = stream(seed, "decision boundary", next(contents(row[None])).hex(), attempt)
    blocks = list(sample_rows(row, values, MOST_VALUES, samples, rng))
    return RowSamples(model, row, np.unique(np.concatenate(blocks), axis=0)) if blocks else None


# ---- The explainer

# From an attempt to the samples of one input; None if nothing in it can be changed.
Draw = Callable[[int], Samples | None]


@explainers.register("decision-boundary")
@dataclass(frozen=True)
class DecisionBoundary(Explainer):
    """The sample with the fewest edits whose prediction is another one, and a path to it.

    Texts: words are replaced by neighbours in a vector space. Rows: one to three values are replaced by others of their
    columns. Ties go to the sample whose class scores are nearest (squared Euclidean distance). A sample on the boundary
    itself, where two classes tie and the model names the first, is taken only if none is across it. Then the edit that
    changes the evidence margin least is applied, then the next of those that are left, and so on.

    Attributes:
        samples: perturbed inputs that are drawn.
        attempts: how often to draw at the most until a sample flips, texts each time more widely.
        seed: of the samples.
        vectors: where similar words are found: "trained" (on the model's reference texts), "minilm", or a GloVe file.
    """

    samples: int = 10_000
    attempts: int = 1
    seed: int = 0
    vectors: str = "trained"

    claim: ClassVar[Claim] = "selective"
    numbers: ClassVar[bool] = False
    records: ClassVar[bool] = False

    def __post_init__(self) -> None:
        at_least(self.samples, 1, "samples")
        at_least(self.attempts, 1, "attempts")

    def explain(self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None) -> list[Path]:
        """Explains each input; see :meth:`Explainer.explain`."""
        wanted = check_targets(model, inputs, targets)
        own = class_scores(model, inputs) if len(inputs) else np.empty((0, len(model.class_names)))
        draw = self._drawing(model)
        return [
            self._explain_input(model, given, scores, target, draw(given))
            for given, scores, target in zip(inputs, own, wanted, strict=True)
        ]

    def _drawing(self, model: Model) -> Callable[[str | FloatArray], Draw]:
        """What draws samples of an input."""
        if model.kind == "table":
            values = column_values(schema_of(model), reference_rows(model))
            return lambda row: (
                lambda attempt: row_samples(
                    model, np.asarray(row, dtype=np.float64), values, self.samples, self.seed, attempt
                )
            )
        thesaurus = thesaurus_for(model, self.vectors, "decision-boundary")
        return lambda text: (
            lambda attempt: text_samples(model, str(text), thesaurus, self.samples, self.seed, attempt)
        )

    def _explain_input(
        self, model: Model, given: str | FloatArray, own: FloatArray, target: int | None, draw: Draw
    ) -> Path:
        started = time.perf_counter()
        predicted = int(own.argmax())
        crossing = self._cross(model, own, draw, target)
        schema = model.schema
        details: dict[str, object] = {
            "path": "words replaced by similar ones" if schema is None else "up to three values replaced"
        }
        if crossing.reason:
            details["reason"] = crossing.reason
        chosen = predicted if target is None else target
        if chosen != predicted:
            details["predicted"] = model.class_names[predicted]
        return Path(
            features=split_words(str(given)).distinct if schema is None else schema.names,
            edits=tuple(crossing.edits),
            margins=(float(evidence_margins(own[None], predicted)[0]), *crossing.margins),
            flipped_to=crossing.flipped_to,
            target=chosen,
            target_name=model.class_names[chosen],
            input=shown_input(model, given),
            details=details,
            cost=Cost(1 + crossing.rows, 1 + crossing.calls, time.perf_counter() - started),
            explainer=repr(self),
        )

    def _cross(self, model: Model, own: FloatArray, draw: Draw, target: int | None) -> Crossing:
        """Draws until a sample flips, chooses the nearest, and finds the way to it."""
        crossing = Crossing()
        predicted = int(own.argmax())
        if target not in (None, predicted):
            crossing.reason = (
                f"the model predicts {model.class_names[predicted]} here, and only that can be flipped"
            )
            return crossing
        for attempt in range(self.attempts):
            samples = draw(attempt)
            if samples is None:
                crossing.reason = "nothing can be changed in this input"
                return crossing
            scores = crossing.score(samples, len(own))
            chosen = nearest_flip(scores, samples.counts, own)
            if chosen is not None:
                crossing.walk(model, own, samples, chosen, scores[chosen])
                crossing.flipped_to = model.class_names[int(scores[chosen].argmax())]
                return crossing
        crossing.reason = (
            f"none of {self.samples * self.attempts:,} samples has another prediction; more samples or attempts may "
            "find one"
        )
        return crossing


def nearest_flip(scores: FloatArray, counts: IndexArray, own: FloatArray) -> int | None:
    """Which sample has another prediction, with the fewest edits and then the nearest class scores; None if none has.

    A sample on the boundary, where two classes tie, counts only if none is across it.

    Args:
        scores: (samples, classes).
        counts: how many edits each sample has.
        own: the scores of the input.
    """
    predicted = int(own.argmax())
    beyond = across(scores, predicted)
    eligible = np.flatnonzero(beyond if beyond.any() else scores.argmax(axis=1) != predicted)
    if len(eligible) == 0:
        return None
    distances = ((scores[eligible] - own) ** 2).sum(axis=1)
    return int(eligible[np.lexsort((distances, counts[eligible]))[0]])


@dataclass
class Crossing:
    """How the boundary was crossed: the edits in their order, the margin after each, and what was asked."""

    edits: list[Edit] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)
    flipped_to: str = ""
    reason: str = ""
    rows: int = 0
    calls: int = 0

    def ask(self, rows: int) -> None:
        """Counts a question."""
        self.rows += rows
        self.calls += 1

    def score(self, samples: Samples, n_classes: int) -> FloatArray:
        """The class scores of all samples, each asked for once; there may be no sample with an edit."""
        blocks = [np.empty((0, n_classes))]
        for block in samples.scores():
            self.ask(len(block))
            blocks.append(block)
        return np.concatenate(blocks)

    def walk(self, model: Model, own: FloatArray, samples: Samples, chosen: int, last: FloatArray) -> None:
        """Takes the edit that changes the margin least, of those that are left, until none is.

        Args:
            model: what is explained.
            own: the scores of the input.
            samples: among which one is chosen.
            chosen: its number.
            last: its scores, which are known; with its last edit the way is there.
        """
        predicted = int(own.argmax())
        margin = float(evidence_margins(own[None], predicted)[0])
        edits = samples.edits(chosen)
        taken: list[int] = []
        while len(taken) < len(edits):
            left = [number for number in range(len(edits)) if number not in taken]
            if len(left) == 1:
                scores = last[None]
            else:
                scores = class_scores(model, samples.with_some(chosen, [[*taken, number] for number in left]))
                self.ask(len(left))
            margins = evidence_margins(scores, predicted)
            best = int(np.abs(margins - margin).argmin())
            margin = float(margins[best])
            taken.append(left[best])
            self.edits.append(edits[left[best]])
            self.margins.append(margin)

"""What a measure is given: a model, inputs, and scores of their features; and how the model is asked without some.

What stands where a feature was is the option ``absent`` of every measure that removes something: nothing ("dropped"), a
mask ("masked"), the mean of a column ("mean"), or what other inputs have there ("resampled").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.data.dataset import contents
from verax.data.words import WORD, split_words
from verax.errors import VeraxError
from verax.explain.base import model_inputs
from verax.explain.explanation import Explanation, by_word
from verax.explain.kinds import Exemplar, Rule
from verax.explain.kinds import Path as EditPath
from verax.models.base import Inputs, Model, metered
from verax.models.capabilities import has
from verax.perturb import Masks, path_for
from verax.perturb.paths.tables import TablePath, background_rows, schema_of
from verax.seeds import stream
from verax.text import listed

Reads = Literal["order", "scores"]
ABSENT = ("dropped", "masked", "mean", "resampled")
# Scores that differ by less than this share of the largest are ties: rounding must not decide an order.
TIE = 1e-9
# Ties are broken at random so many times, and the values averaged: a measure must not like the order of a text.
TIE_ORDERS = 8
# So many times an absent word is replaced by a word of other texts, and the answers averaged.
DRAWS = 8
# The spread of predicted numbers is that of so many training rows.
SPREAD_ROWS = 1_000


@dataclass(eq=False)
class Case:
    """Inputs of one model with an explanation of each.

    Attributes:
        model: what is explained.
        inputs: as its explainers are given them.
        explanations: one for each.
        targets: the class that each explanation is about.
        features: of each input.
        scores: of these features; what an explanation does not name scores 0.
        streams: what the random numbers of each input derive from: its content, so that all explanations of an input
            are measured with the same ones.
        rows: perturbed rows that were asked of the model so far.
        calls: in so many calls.
        scale: what answers are divided by: 1 for probabilities, the spread of its predictions for a model of numbers.
        shared: what a measure found that depends on model, inputs and targets alone, for other explanations of them.
    """

    model: Model
    inputs: Inputs
    explanations: Sequence[Explanation]
    targets: list[int]
    features: list[tuple[str, ...]]
    scores: list[FloatArray]
    streams: list[str]
    rows: int = 0
    calls: int = 0
    scale: float = 1.0
    shared: dict[object, Any] = field(default_factory=dict)
    _paths: dict[str | None, tuple[Any, Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.targets)

    def explained_by(self, reads: Reads, name: str, explanations: Sequence[Explanation]) -> Case:
        """The same inputs with other explanations; what was prepared for the model is shared."""
        scores = _all_scores(name, reads, explanations, self.features)
        targets = [_target(one) for one in explanations]
        shared = self.shared if targets == self.targets else {}
        return Case(
            model=self.model,
            inputs=self.inputs,
            explanations=explanations,
            targets=targets,
            features=self.features,
            scores=scores,
            streams=self.streams,
            scale=self.scale,
            shared=shared,
            _paths=self._paths,
        )

    def orders(self, *, reverse: bool = False) -> list[IndexArray]:
        """By input, the features from the largest score to the smallest: an array with a row for each order.

        Where scores tie there are `TIE_ORDERS` of them, in which the tied ones stand at random.
        """
        return [
            _orders(-scores if reverse else scores, about)
            for scores, about in zip(self.scores, self.streams, strict=True)
        ]

    def ask(self, present: Sequence[BoolArray], absent: str | None) -> list[FloatArray]:
        """The model's probabilities, by input, for each row of a (variants, features) array of what is present.

        Of a model of numbers, these as shares of their spread.
        """
        path, prepared = self._path(absent)
        asked = [number for number, rows in enumerate(present) if len(rows)]
        masks = [Masks.from_rows(np.ascontiguousarray(present[number])) for number in asked]
        found = [np.zeros((0, len(self.model.class_names)))] * len(present)
        with (
            metered()
        ):  # a path says itself what it asked; one that asks the model's own function is not counted twice
            answers = list(path.evaluate([prepared[number] for number in asked], masks))
        for number, answer in zip(asked, answers, strict=True):
            found[number] = answer.probabilities / self.scale
            self.rows += answer.rows
            self.calls += answer.calls
        return found

    def target_probability(self, present: Sequence[BoolArray], absent: str | None) -> list[FloatArray]:
        """The same for each explanation's target alone."""
        return [
            answer[:, target] for answer, target in zip(self.ask(present, absent), self.targets, strict=True)
        ]

    def rng(self, number: int, *about: str | int) -> np.random.Generator:
        """Random numbers of an input."""
        return stream(0, "measures", self.streams[number], *about)

    def _path(self, absent: str | None) -> tuple[Any, Any]:
        if absent not in self._paths:
            path = _path_of(self.model, absent)
            self._paths[absent] = path, path.prepare(self.inputs)
        return self._paths[absent]


def make_case(
    name: str, reads: Reads, model: Model, inputs: Inputs, explanations: Sequence[Explanation]
) -> Case:
    """A case from what a user gives; what does not fit together is a sentence.

    Args:
        name: of the measure, for the sentence.
        reads: what it reads of an explanation.
        model: what is explained.
        inputs: in whatever holds them.
        explanations: one for each.
    """
    if not isinstance(model, Model):
        raise VeraxError(f"A {type(model).__name__} is no model; give verax.as_model(...) of it.")
    plain = model_inputs(model, inputs)
    given = list(explanations)
    if len(given) != len(plain):
        raise VeraxError(
            f"The measure {name!r} was given {len(given)} explanations of {len(plain)} inputs; give one for each, in "
            "their order."
        )
    if not len(plain):
        raise VeraxError(f"The measure {name!r} was given no inputs; give at least one.")
    path = path_for(model)
    prepared = path.prepare(plain)
    features = [ready.features for ready in prepared]
    case = Case(
        model=model,
        inputs=plain,
        explanations=given,
        targets=[_target(one) for one in given],
        features=features,
        scores=_all_scores(name, reads, given, features),
        streams=[content.hex() for content in contents(plain)],
        scale=output_spread(model, plain) if model.output == "number" else 1.0,
    )
    case._paths[None] = path, prepared
    return case


def output_spread(model: Model, inputs: Inputs) -> float:
    """Of a model of numbers, how far its 5th and 95th percentile lie apart on training rows, or else on the inputs.

    It is what changes of the number are shares of; 1 if all predictions are alike.
    """
    reference: Any = getattr(model, "reference", None)
    predicted = model.predict_proba(inputs if reference is None else reference[:SPREAD_ROWS])[:, 0]
    low, high = np.percentile(predicted, (5, 95))
    return float(high - low) or 1.0


def _target(explanation: Explanation) -> int:
    target = getattr(explanation, "target", None)
    if target is None:
        raise VeraxError(
            f"A {type(explanation).__name__} does not say which class it explains, so that it cannot be measured."
        )
    return int(target)


def _all_scores(
    name: str, reads: Reads, explanations: Sequence[Explanation], features: Sequence[tuple[str, ...]]
) -> list[FloatArray]:
    return [
        scores_of(name, reads, one, own, place)
        for place, (one, own) in enumerate(zip(explanations, features, strict=True))
    ]


def scores_of(
    name: str, reads: Reads, explanation: Explanation, features: tuple[str, ...], place: int = 0
) -> FloatArray:
    """The score of each feature of an input by an explanation of any kind; a sentence where it has none.

    Args:
        name: of the measure, for the sentence.
        reads: whether the sizes of the scores count, or only their order.
        explanation: attribution, rule, path, fragments, ...
        features: of the input.
        place: of the input, for the sentence.
    """
    kind = type(explanation).__name__
    # What makes an input similar to an example need not be what the prediction rests on.
    scored = None if isinstance(explanation, Exemplar) else by_word(explanation)
    if scored is None:
        raise VeraxError(
            f"The measure {name!r} needs features that the prediction rests on, and a {kind} ranks none; measure "
            "attributions, rules, paths or fragments."
        )
    if reads == "scores" and isinstance(explanation, Rule | EditPath):
        raise VeraxError(
            f"The measure {name!r} reads the sizes of scores, and a {kind} names features without any; measures of "
            "the order (comprehensiveness, sufficiency, deletion, insertion, ...) can be taken."
        )
    known = {feature: number for number, feature in enumerate(features)}
    unknown = [feature for feature in scored.features if feature not in known]
    if unknown:
        raise VeraxError(
            f"The explanation of input {place} (counted from 0) names {listed(list(map(repr, unknown)), most=3)}, "
            "which the input does not have; give the explanations in the order of the inputs."
        )
    scores = np.zeros(len(features))
    np.add.at(scores, [known[feature] for feature in scored.features], scored.scores)
    return scores


def levels_of(scores: FloatArray) -> FloatArray:
    """The scores as whole numbers, in which those that tie are equal."""
    step = TIE * np.abs(scores).max(initial=0.0)
    return np.round(scores / step) if step > 0 else np.zeros_like(scores)


def _orders(scores: FloatArray, about: str) -> IndexArray:
    levels = levels_of(scores)
    if len(np.unique(levels)) == len(levels):
        return np.argsort(-levels, kind="stable")[None]
    rng = stream(0, "ties", about)
    keys = rng.random((TIE_ORDERS, len(levels)))
    return np.array([np.lexsort((own, -levels)) for own in keys], dtype=np.intp)


def ranks_of(orders: IndexArray) -> IndexArray:
    """From orders to the place of each feature in each of them."""
    ranks = np.empty_like(orders)
    np.put_along_axis(ranks, orders, np.arange(orders.shape[1])[None], axis=1)
    return ranks


def _path_of(model: Model, absent: str | None) -> Any:
    """What asks the model about masked variants in which absent features are replaced in a given way."""
    if absent is not None and absent not in ABSENT:
        raise VeraxError(f"absent={absent!r} is not known; it is one of {', '.join(ABSENT)}.")
    if model.kind == "table":
        if absent in ("dropped", "masked"):
            raise VeraxError(
                f"absent={absent!r} is for texts: a column cannot be left out; use 'mean' or 'resampled'."
            )
        return TablePath(model, _mean_row(model)) if absent == "mean" else path_for(model)
    if absent == "mean":
        raise VeraxError(
            "absent='mean' is for tables: words have no mean; use 'dropped', 'masked' or 'resampled'."
        )
    if absent == "masked":
        return path_for(model, "masked")
    return ResampledWords(model) if absent == "resampled" else path_for(model)


def _mean_row(model: Model) -> FloatArray:
    """One row: the mean of each number, the commonest of each category."""
    rows = background_rows(model, 1_000)
    means = np.zeros((1, rows.shape[1]))
    for place, column in enumerate(schema_of(model).columns):
        known = rows[~np.isnan(rows[:, place]), place]
        if not len(known):
            means[0, place] = np.nan
        elif column.is_numeric:
            means[0, place] = known.mean()
        else:
            values, counts = np.unique(known, return_counts=True)
            means[0, place] = values[np.argmax(counts)]
    return means


@dataclass(frozen=True)
class _Text:
    """A text whose words can be replaced."""

    text: str
    features: tuple[str, ...]


@dataclass(frozen=True)
class _Answer:
    probabilities: FloatArray
    rows: int
    calls: int


@dataclass(frozen=True, eq=False)
class ResampledWords:
    """Texts in which absent words are replaced by words drawn from the model's training texts, as often as they occur.

    A word has the same replacement in all variants of a draw, so that removing one word more changes nothing else.
    """

    model: Model

    def prepare(self, inputs: Inputs) -> list[_Text]:
        """The texts with their distinct words."""
        if not has(self.model, "reference"):
            raise VeraxError(
                "absent='resampled' draws words from texts that the model was trained on, and this model has none; "
                "give some: verax.as_model(..., reference=texts)."
            )
        return [_Text(str(text), split_words(str(text)).distinct) for text in inputs]

    @cached_property
    def pool(self) -> list[str]:
        """The words of training texts, each as often as it occurs."""
        reference: Any = getattr(self.model, "reference", ())
        return [word for text in reference[:2_000] for word in split_words(str(text)).words] or [""]

    def evaluate(self, prepared: Sequence[_Text], masks: Sequence[Masks]) -> list[_Answer]:
        """One answer per text: probabilities averaged over the draws."""
        found = []
        for text, own in zip(prepared, masks, strict=True):
            rng = stream(0, "resampled words", text.text)
            drawn = rng.integers(len(self.pool), size=(DRAWS, len(text.features)))
            rows = own.rows()
            texts = [
                one for draw in drawn for one in replaced(text, rows, [self.pool[place] for place in draw])
            ]
            distinct = {one: number for number, one in enumerate(dict.fromkeys(texts))}
            asked = self.model.predict_proba(list(distinct))
            answers = asked[[distinct[one] for one in texts]].reshape(DRAWS, len(rows), -1)
            found.append(_Answer(answers.mean(axis=0), len(distinct), 1))
        return found


def replaced(text: _Text, present: BoolArray, others: Sequence[str]) -> list[str]:
    """The text once for each row, with another word for each of its words that is absent there."""
    place_of = {feature: place for place, feature in enumerate(text.features)}
    spans = [(match.start(), match.end(), place_of[match.group()]) for match in WORD.finditer(text.text)]
    # Between words stands what stood there: before the first, and after each.
    starts, ends = [start for start, _, _ in spans], [end for _, end, _ in spans]
    first = text.text[: starts[0]] if spans else text.text
    after = [text.text[end:start] for end, start in zip(ends, [*starts[1:], len(text.text)], strict=True)]
    kept = [text.features[place] + rest for (_, _, place), rest in zip(spans, after, strict=True)]
    other = [others[place] + rest for (_, _, place), rest in zip(spans, after, strict=True)]
    there = present[:, [place for _, _, place in spans]].tolist()
    return [
        first + "".join([one if here else two for one, two, here in zip(kept, other, row, strict=True)])
        for row in there
    ]

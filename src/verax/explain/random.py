"""Random scores and random fragments: the controls that a useful explanation must beat."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, at_least, check_targets, explainers
from verax.explain.explanation import Attribution, Cost, Spans
from verax.explain.fragments import Fragment, Fragments
from verax.explain.perturbed import Input, shown_input
from verax.models.base import Inputs, Model
from verax.models.wrappers import check_texts
from verax.perturb.paths.tables import schema_of
from verax.seeds import stream


@explainers.register("random")
@dataclass(frozen=True)
class Random(Explainer):
    """A random score for each feature, or for each n-gram of a text.

    The scores depend on the seed and on the input's content, so that the same input gets the same scores in any
    batch and for any model.

    Attributes:
        seed: of the scores.
        ngram: 1 scores every distinct word (or column); n > 1 scores every run of n words of a text.
    """

    seed: int = 0
    ngram: int = 1

    claims_faithfulness: ClassVar[bool] = False
    claim: ClassVar[Claim] = "none"

    def __post_init__(self) -> None:
        at_least(self.ngram, 1, "ngram")

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """Scores each input at random; the model is asked only which class it predicts."""
        started = time.perf_counter()
        wanted = check_targets(model, inputs, targets)
        if None in wanted and len(inputs):
            predicted = np.argmax(model.predict_proba(list(inputs)), axis=1)
            wanted = [
                int(guess) if target is None else target
                for target, guess in zip(wanted, predicted, strict=True)
            ]
        seconds = (time.perf_counter() - started) / max(1, len(inputs))
        asked = 1 if targets is None else 0
        return [
            self._explain_input(model, given, target or 0, Cost(asked, asked, seconds))
            for given, target in zip(inputs, wanted, strict=True)
        ]

    def _explain_input(self, model: Model, given: Input, target: int, cost: Cost) -> Attribution:
        shown = shown_input(model, given)
        spans: Spans | None = None
        details: dict[str, object] = {}
        if model.fields is not None and isinstance(shown, str):
            features, places, columns = model.fields.words(shown)
            spans, details = tuple(map(tuple, places)), {"columns": columns}
        elif not isinstance(shown, str):
            features = schema_of(model).features
        elif self.ngram == 1:
            features = split_words(shown).distinct
        else:
            features, spans = _ngrams(shown, self.ngram)
        content = shown if isinstance(shown, str) else "\x1e".join(shown)
        scores = stream(self.seed, "random", self.ngram, content).uniform(-1.0, 1.0, len(features))
        return Attribution(
            features, scores, target, model.class_names[target], shown, spans, details, cost, repr(self)
        )


def _ngrams(text: str, n: int) -> tuple[tuple[str, ...], tuple[tuple[tuple[int, int], ...], ...]]:
    """Every run of n words (all words, if there are fewer) as written, and where it stands."""
    words = split_words(text)
    n = min(n, len(words))
    if n == 0:
        return (), ()
    places = [(words.starts[i], words.ends[i + n - 1]) for i in range(len(words) - n + 1)]
    return tuple(text[start:end] for start, end in places), tuple((place,) for place in places)


@explainers.register("random-fragments")
@dataclass(frozen=True)
class RandomFragments(Explainer):
    """Runs of words drawn at random, Random (N) of Lertvittayakumjorn and Toni (2019); texts.

    Runs of one side do not overlap, and there are ``count`` of them wherever the text has room. Evidence and
    counter-evidence are drawn apart, so that they may overlap. They depend on the seed and on the text, and on nothing
    else. Scores say the order in which they were drawn: 1, 1/2, 1/3, ...

    Attributes:
        count: runs on either side.
        sizes: how many words a run may have, each equally likely where all fit.
        seed: of the draws.
    """

    count: int = 3
    sizes: Sequence[int] = (2, 3, 4)
    seed: int = 0

    claims_faithfulness: ClassVar[bool] = False
    claim: ClassVar[Claim] = "none"
    numbers: ClassVar[bool] = False
    records: ClassVar[bool] = False

    def __post_init__(self) -> None:
        at_least(self.count, 1, "count")
        sizes = tuple(sorted(set(self.sizes))) if isinstance(self.sizes, list | tuple) else ()
        if not sizes or not all(isinstance(size, int) and size >= 1 for size in sizes):
            raise VeraxError(f"sizes={self.sizes!r} must be one or more whole numbers, e.g. (2, 3, 4).")
        object.__setattr__(self, "sizes", sizes)  # one form, so that equal sizes make an equal key

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Fragments]:
        """Draws fragments of each text; the model is asked only which class it predicts."""
        started = time.perf_counter()
        if model.kind != "text":
            raise VeraxError(
                "The method 'random-fragments' draws fragments of texts, which this model of tables does not read; "
                "random works on it."
            )
        texts = check_texts(inputs)
        wanted = check_targets(model, texts, targets)
        if None in wanted and texts:
            predicted = model.predict_proba(texts).argmax(axis=1).tolist()
            wanted = [
                guess if target is None else target for guess, target in zip(predicted, wanted, strict=True)
            ]
        asked = 1 if targets is None else 0
        cost = Cost(asked, asked, (time.perf_counter() - started) / max(1, len(texts)))
        return [
            Fragments(
                evidence=self._drawn(text, 1.0),
                counter_evidence=self._drawn(text, -1.0),
                target=target or 0,
                target_name=model.class_names[target or 0],
                input=text,
                details={"count": self.count, "sizes": list(self.sizes)},
                cost=cost,
                explainer=repr(self),
            )
            for text, target in zip(texts, wanted, strict=True)
        ]

    def _drawn(self, text: str, sign: float) -> tuple[Fragment, ...]:
        words = split_words(text)
        generator = stream(self.seed, "random fragments", "for" if sign > 0 else "against", text)
        runs = drawn_runs(len(words), self.count, self.sizes, generator)
        spans = [(words.starts[first], words.ends[end - 1]) for first, end in runs]
        return tuple(
            Fragment(text[start:end], sign / place, (start, end))
            for place, (start, end) in enumerate(spans, start=1)
        )


def drawn_runs(
    length: int, count: int, sizes: Sequence[int], generator: np.random.Generator
) -> list[tuple[int, int]]:
    """Runs of a text of so many words that do not overlap, in random order: as many as there is room for.

    Sizes are drawn first; where they do not fit together, the largest is made smaller until they do. Then the words
    that are left are dealt to the gaps between the runs, each way of doing so equally likely.
    """
    if length == 0:
        return []
    if length < min(sizes):
        return [(0, length)]
    room = min(count, length // min(sizes))
    chosen = generator.choice(sizes, room).tolist()
    while sum(chosen) > length:
        largest = max(chosen)
        chosen[chosen.index(largest)] = max(size for size in sizes if size < largest)
    free = length - sum(chosen)
    bars = np.sort(generator.choice(free + room, room, replace=False)) - np.arange(room)
    gaps = np.diff(bars, prepend=0)
    runs, place = [], 0
    for gap, size in zip(gaps.tolist(), chosen, strict=True):
        runs.append((place + gap, place + gap + size))
        place += gap + size
    return [runs[number] for number in generator.permutation(room)]

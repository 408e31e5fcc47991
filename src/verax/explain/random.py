"""Random scores: the control that a useful explanation must beat."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verax.data.words import split_words
from verax.explain.base import Claim, Explainer, Target, at_least, explainers
from verax.explain.entry import check_targets
from verax.explain.explanation import Attribution, Cost
from verax.explain.perturbed import Input, shown_input
from verax.models.base import Inputs, Model
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
        spans = None
        if not isinstance(shown, str):
            features = schema_of(model).features
        elif self.ngram == 1:
            features = split_words(shown).distinct
        else:
            features, spans = _ngrams(shown, self.ngram)
        content = shown if isinstance(shown, str) else "\x1e".join(shown)
        scores = stream(self.seed, "random", self.ngram, content).uniform(-1.0, 1.0, len(features))
        return Attribution(
            features, scores, target, model.class_names[target], shown, spans, {}, cost, repr(self)
        )


def _ngrams(text: str, n: int) -> tuple[tuple[str, ...], tuple[tuple[tuple[int, int], ...], ...]]:
    """Every run of n words (all words, if there are fewer) as written, and where it stands."""
    words = split_words(text)
    n = min(n, len(words))
    if n == 0:
        return (), ()
    places = [(words.starts[i], words.ends[i + n - 1]) for i in range(len(words) - n + 1)]
    return tuple(text[start:end] for start, end in places), tuple((place,) for place in places)

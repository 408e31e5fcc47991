"""Text classifiers whose first step counts words: their rows can be built without rebuilding any text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from verax.arrays import FloatArray
from verax.data.inputs import plain_inputs, texts_in
from verax.errors import VeraxError
from verax.models.base import Answer, Batch, Inputs, Model, ask

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.feature_extraction.text import CountVectorizer

    from verax.models.base import Rows


@dataclass(frozen=True, eq=False)
class TextPipeline(Model):
    """A fitted vectoriser, the steps after it, and a classifier on its rows.

    Attributes:
        vectorizer: a fitted CountVectorizer, TfidfVectorizer or HashingVectorizer.
        transforms: the steps between vectoriser and classifier, in order; often none.
        classifier: anything fitted with ``predict_proba`` on the last transform's output.
        class_names: one name per class, in the classifier's order.
        reference: training texts, for explainers that learn from them first; None if not given.
    """

    vectorizer: CountVectorizer
    transforms: tuple[BaseEstimator, ...]
    classifier: BaseEstimator
    class_names: tuple[str, ...]
    reference: Sequence[str] | None = field(default=None, repr=False)

    kind = "text"

    def predict_proba(self, inputs: Inputs) -> FloatArray:
        """Probabilities of the classes, one row per text, checked."""
        texts = check_texts(inputs)
        return self._ask(lambda batch: self._from_rows(self.vectorizer.transform(batch)), texts, len(texts))

    def predict_rows(self, rows: Rows) -> FloatArray:
        """Probabilities from sparse rows in the space of the vectoriser's output, checked."""
        return self._ask(self._from_rows, rows, rows.shape[0])

    def _from_rows(self, rows: Rows) -> Answer:
        for transform in self.transforms:
            rows = transform.transform(rows)
        return self.classifier.predict_proba(rows)

    def _ask(self, function: Callable[[Batch], Answer], batch: Batch, n_inputs: int) -> FloatArray:
        if n_inputs == 0:
            return np.empty((0, len(self.class_names)))
        return ask(function, batch, n_inputs, len(self.class_names))


def check_texts(inputs: Inputs) -> list[str]:
    """The inputs as a list of strings, or a sentence that names the one that is not."""
    texts = texts_in(inputs)
    if set(map(type, texts)) <= {str}:  # one pass in C for the usual case
        return texts
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise VeraxError(
                f"Input {number} is {text!r} (a {type(text).__name__}), not a text; "
                "replace it by a string, or leave it out (inputs are counted from 0)."
            )
    return texts


def is_texts(inputs: object) -> TypeGuard[Sequence[str]]:
    """Whether these are texts, one or more, rather than rows of a table."""
    if isinstance(inputs, str | bytes) or not isinstance(inputs, Iterable):
        return False
    plain = plain_inputs(inputs)
    if not isinstance(plain, list):
        return False
    kinds = set(map(type, plain))
    return bool(kinds) and all(issubclass(kind, str) for kind in kinds)

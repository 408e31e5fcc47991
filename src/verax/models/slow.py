"""Models that take long for a row: answers kept by row, a limit of rows, and how many would be asked before any is."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Sequence
from copy import copy
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.arrays import FloatArray
from verax.data.inputs import cell_key, cells_of
from verax.errors import VeraxError
from verax.models.base import Answer, Batch
from verax.models.wrappers import CallableModel

if TYPE_CHECKING:
    from verax.models.base import Inputs

logger = logging.getLogger(__name__)


class KeptAnswers:
    """A slow function of inputs, such as a foundation model for tables, that is asked about each input once.

    Give it to `verax.as_model` in place of the function. Equal rows are asked once, within a call and over all calls,
    so that several explainers and `verax.judge` share their answers; before each call it is said how many are asked.

    Args:
        function: from a batch of inputs (texts, a DataFrame, or an array) to an answer for each.
        most_rows: the function is asked about no more rows than these; the call that would go beyond is refused before
            it is made, in a sentence.
        tell: called with a sentence before each call, such as ``print``; by default it is logged.

    Attributes:
        asked: rows that the function was asked about.
        kept: rows whose answer was there already.

    Example:
        >>> import numpy as np
        >>> from verax.models import KeptAnswers
        >>> slow = KeptAnswers(lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]]), most_rows=100)
        >>> answers = slow(np.array([[0.2, 1.0], [0.2, 1.0], [0.7, 1.0]]))
        >>> slow.asked, slow.kept
        (2, 1)
    """

    def __init__(
        self,
        function: Callable[[Batch], Answer],
        *,
        most_rows: int | None = None,
        tell: Callable[[str], object] | None = None,
    ) -> None:
        if most_rows is not None and most_rows < 1:
            raise VeraxError(f"most_rows must be at least 1, not {most_rows}; None sets no limit.")
        self.function = function
        self.most_rows = most_rows
        self.tell = tell or logger.info
        self.asked = 0
        self.kept = 0
        self._answers: dict[Hashable, FloatArray] = {}
        self._lock = Lock()
        # What a model is called by.
        self.__qualname__ = getattr(function, "__qualname__", type(function).__qualname__)

    def __call__(self, batch: Any) -> FloatArray:
        """The answers, of which the function is asked for those that are new."""
        keys = row_keys(batch)
        with self._lock:
            new = {key: place for place, key in reversed(list(enumerate(keys))) if key not in self._answers}
            places = sorted(new.values())
            if places:
                self._ask(batch, keys, places)
            self.kept += len(keys) - len(places)
            return np.array([self._answers[key] for key in keys])

    def _ask(self, batch: Any, keys: Sequence[Hashable], places: list[int]) -> None:
        if self.most_rows is not None and self.asked + len(places) > self.most_rows:
            raise VeraxError(
                f"{len(places):,} more rows would be asked of the model after {self.asked:,}, and most_rows is "
                f"{self.most_rows:,}; raise it, explain fewer inputs, or give explainers fewer samples, as in "
                "lime(samples=200)."
            )
        self.tell(
            f"{len(places):,} rows are asked of the model, {len(keys) - len(places):,} are known; "
            f"{self.asked:,} were asked before."
        )
        answers = np.asarray(self.function(_taken(batch, places)), dtype=np.float64)
        if len(answers) != len(places):
            raise VeraxError(
                f"The model was asked about {len(places)} rows and gave {len(answers)} answers; it must give one for "
                "each row."
            )
        self.asked += len(places)
        for place, answer in zip(places, answers, strict=True):
            self._answers[keys[place]] = answer


def row_keys(batch: Any) -> list[Hashable]:
    """What tells each input of a batch from others: a text, a row's bytes, or the kinds and values of its cells."""
    if hasattr(batch, "iloc"):
        columns = [
            [cell_key(cell) for cell in cells_of(batch.iloc[:, place])] for place in range(batch.shape[1])
        ]
        return list(zip(*columns, strict=True)) if columns else [()] * len(batch)
    if isinstance(batch, np.ndarray) and batch.dtype != object:
        return [row.tobytes() for row in np.ascontiguousarray(batch)]
    return [row if isinstance(row, str) else tuple(map(cell_key, row)) for row in batch]


def _taken(batch: Any, places: list[int]) -> Any:
    if hasattr(batch, "iloc"):
        return batch.iloc[places]
    return batch[places] if isinstance(batch, np.ndarray) else [batch[place] for place in places]


def rows_to_ask(explainer: Any, model: CallableModel, inputs: Inputs) -> int:
    """About how many different rows an explainer would ask a function about; the function is not called.

    Methods that look at answers before they go on (greedy ones, anchors) are tried with answers that are all alike, and
    may ask for more or fewer.

    Args:
        explainer: from `verax.explainer`.
        model: from `verax.as_model` around a function.
        inputs: that would be explained.
    """
    if not isinstance(model, CallableModel):
        raise VeraxError(
            f"The rows that a function is asked about can be counted, and the model is a {type(model).__name__}; wrap "
            "its predict_proba: verax.as_model(fitted.predict_proba, reference=rows)."
        )
    number = model.output == "number"
    size = 1 if number else len(model.class_names) or 2

    def alike(batch: Any) -> FloatArray:
        return np.zeros(len(batch)) if number else np.full((len(batch), size), 1 / size)

    counted = KeptAnswers(alike)
    tried = copy(model)
    tried.function = counted
    explainer.explain(tried, inputs, [0] * len(inputs))
    return counted.asked

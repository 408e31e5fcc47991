"""What is explained: something that turns a batch of inputs into class probabilities, or into numbers.

What models are asked is counted where they are asked: rows and calls, whoever asks.
"""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verax.arrays import FloatArray
from verax.data.inputs import plain_inputs, texts_in
from verax.errors import VeraxError, reason
from verax.notebook import paragraph_html

if TYPE_CHECKING:
    from scipy import sparse

    from verax.data.fields import Fields
    from verax.data.table import Schema


M = TypeVar("M")


@dataclass
class Meter:
    """Rows that models were asked for, and in how many calls."""

    rows: int = 0
    calls: int = 0


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered() -> Iterator[Meter]:
    """Counts what models are asked meanwhile; what was being counted before does not see it."""
    meter = Meter()
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


def count(rows: int, calls: int) -> None:
    """Adds to what is being counted, if something is."""
    meter = _METER.get()
    if meter is not None:
        meter.rows += rows
        meter.calls += calls


def counted(predict_proba: Callable[[M, Any], FloatArray]) -> Callable[[M, Any], FloatArray]:
    """A model's ``predict_proba`` that takes inputs as people have them, and counts them."""

    @wraps(predict_proba)
    def entered(self: M, inputs: Any) -> FloatArray:
        fields = getattr(self, "fields", None)
        if fields is not None:
            plain = fields.join(inputs)
        else:
            plain = texts_in(inputs) if getattr(self, "kind", None) == "text" else plain_inputs(inputs)
        # What it asks of itself to answer is the same question, not another one.
        token = _METER.set(None)
        try:
            answer = predict_proba(self, plain)
        finally:
            _METER.reset(token)
        count(len(plain), 1)
        return answer

    return entered


# What classifiers read: a row of numbers per input, dense or sparse.
Rows: TypeAlias = "FloatArray | sparse.csr_array"

# A batch of inputs: texts, or rows of a table (an array or a list).
Inputs = Sequence[Any] | NDArray[Any]
# What other people's code is given (a list, an array, a sparse matrix, a frame) and what it answers: their business
# until it is checked.
Batch: TypeAlias = Any
Answer: TypeAlias = Any

# Probabilities computed in single precision (xgboost, torch) may miss one by this much.
SUM_TOLERANCE = 1e-4


class Model(ABC):
    """A model of texts or of table rows, whatever library it comes from.

    Attributes:
        kind: what it reads, ``"text"`` or ``"table"``.
        output: what it predicts, ``"classes"`` or a ``"number"``. One that predicts a number has one column in
            ``predict_proba``, the number itself, and one name for it in ``class_names``.
        class_names: one name per column of ``predict_proba``.
        schema: a table's columns; None for texts.
        resampling: where absent columns of a table take their values from: training rows at random ("marginal"), or
            those that are like the input in the columns that are present ("conditional").
        fields: of a model of records, their columns; its kind is "text", see :class:`verax.data.fields.Fields`.
    """

    kind: str
    output: str = "classes"
    class_names: tuple[str, ...]
    schema: Schema | None = None
    fields: Fields | None = None
    resampling: str = "marginal"

    def __init_subclass__(cls) -> None:
        """Lets every model's ``predict_proba`` begin in one way, somebody's own too."""
        super().__init_subclass__()
        own = cls.__dict__.get("predict_proba")
        if own is not None:
            type.__setattr__(cls, "predict_proba", counted(own))

    def _repr_html_(self) -> str:
        reads = "texts" if self.kind == "text" else f"rows of {len(self.schema or ()) or 'a table'} columns"
        predicts = "predicts" if self.output == "number" else "classes:"
        return paragraph_html(
            f"reads {reads}", f"{predicts} {', '.join(self.class_names)}", bold=repr(self)[:200]
        )

    @abstractmethod
    def predict_proba(self, inputs: Inputs) -> FloatArray:
        """Probabilities of the classes, one row per input, checked; a model of numbers gives one column of them."""


def ask(
    function: Callable[[Batch], Answer], batch: Batch, n_inputs: int, n_classes: int | None = None
) -> FloatArray:
    """Calls a model's function on a batch; its answer is checked, and what it raises becomes a sentence.

    Args:
        function: what gives the probabilities.
        batch: its one argument.
        n_inputs: how many inputs the batch holds.
        n_classes: how many classes it should know of, if that is known; 1 for a model that predicts a number.
    """
    try:
        count(n_inputs, 1)
        values = function(batch)
    except VeraxError:
        raise
    except Exception as error:
        raise VeraxError(
            f"The model raised {type(error).__name__} ({reason(error)}) on "
            f"{_batch(batch, n_inputs)}; call it on these inputs alone to find the cause."
        ) from error
    return (
        check_numbers(values, n_inputs)
        if n_classes == 1
        else check_probabilities(values, n_inputs, n_classes)
    )


def check_numbers(values: Answer, n_inputs: int) -> FloatArray:
    """Returns the predicted numbers as an (inputs, 1) array, or says in a sentence what is wrong with them."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise VeraxError(
            f"The model returned a {type(values).__name__} that is not an array of numbers; it must return one number "
            "per input."
        ) from error
    if array.shape not in ((n_inputs,), (n_inputs, 1)):
        raise VeraxError(
            f"The model returned shape {array.shape} for {n_inputs} inputs; a model of numbers must return one number "
            "per input (fit one model for each of several)."
        )
    if not np.isfinite(array).all():
        bad = int(np.argmin(np.isfinite(array.reshape(n_inputs))))
        raise VeraxError(
            f"The model returned {array.reshape(n_inputs)[bad]} for input {bad}; look at that input (inputs are "
            "counted from 0)."
        )
    return array.reshape(n_inputs, 1)


def refuse_number(model: Model, what: str, instead: str) -> None:
    """Refuses a model that predicts a number, in a sentence.

    Args:
        model: what is to be explained.
        what: that cannot take one.
        instead: what to do.
    """
    if model.output == "number":
        raise VeraxError(
            f"{what} needs classes, and this model predicts a number ({model.class_names[0]}); {instead}."
        )


def check_class_names(class_names: Sequence[str] | None, defaults: Sequence[object]) -> tuple[str, ...]:
    """The names given, or the model's own class labels as names; as many as the model has classes."""
    if class_names is None:
        return tuple(str(label) for label in defaults)
    if isinstance(class_names, str) or len(class_names) != len(defaults):
        raise VeraxError(
            f"class_names={class_names!r} does not fit a model with {len(defaults)} classes "
            f"({', '.join(str(label) for label in defaults)}); give one name per class, in that order."
        )
    return tuple(str(name) for name in class_names)


def check_probabilities(
    values: Answer, n_inputs: int, n_classes: int | None = None, first: int = 0
) -> FloatArray:
    """Returns the model's answer as an (inputs, classes) array, or says in a sentence what is wrong with it.

    Args:
        values: what the model returned.
        n_inputs: how many inputs it was given.
        n_classes: how many classes it should know of, if that is known.
        first: the number of the first input, for the message.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise VeraxError(
            f"The model returned a {type(values).__name__} that is not an array of numbers; "
            "it must return one row of class probabilities per input."
        ) from error
    if array.ndim != 2 or len(array) != n_inputs or array.shape[1] < 2:
        raise VeraxError(
            f"The model returned shape {array.shape} for {n_inputs} inputs; it must return "
            f"({n_inputs}, classes), one row of at least two class probabilities per input."
        )
    if n_classes is not None and array.shape[1] != n_classes:
        raise VeraxError(
            f"The model returned {array.shape[1]} probabilities per input but has {n_classes} classes; "
            "make the two agree (class_names=...)."
        )
    totals = array @ np.ones(array.shape[1])
    # Comparisons find NaN, infinity and wrong sums alike: all of them fail them.
    if np.abs(totals - 1.0).max(initial=0.0) <= SUM_TOLERANCE and array.min(initial=0.0) >= -SUM_TOLERANCE:
        return array
    good = (np.abs(totals - 1.0) <= SUM_TOLERANCE) & (array.min(axis=1) >= -SUM_TOLERANCE)
    if not good.all():
        bad = int(np.argmin(good))
        raise VeraxError(_complaint(array[bad], first + bad))
    return array


def check_weights(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray:
    """A weight per row, one each by default; a sentence if they are not finite, 0 or more, or do not fit."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise VeraxError(
            f"There are {n_rows} rows but weights of shape {weights.shape}; give one weight per row."
        )
    bad = ~np.isfinite(weights) | (weights < 0)
    if bad.any():
        row = int(np.argmax(bad))
        raise VeraxError(
            f"Row {row} has the weight {weights[row]:g}; weights are finite numbers, 0 or more "
            "(rows are counted from 0)."
        )
    return weights


def _complaint(row: FloatArray, number: int) -> str:
    if not np.isfinite(row).all():
        return (
            f"The model returned {row[~np.isfinite(row)][0]} as a probability for input {number}; "
            "look at that input, or replace missing values before the model sees them (inputs are counted from 0)."
        )
    if row.min() < -SUM_TOLERANCE:
        return (
            f"The model returned the negative probability {row.min():.4g} for input {number}; "
            "return probabilities, between 0 and 1 (inputs are counted from 0)."
        )
    return (
        f"The model's probabilities for input {number} sum to {row.sum():.4g} instead of 1; "
        "return probabilities, not scores or log-odds (a softmax may be missing; inputs are "
        "counted from 0)."
    )


def _batch(batch: Batch, n_inputs: int) -> str:
    count = "a batch of 1 input" if n_inputs == 1 else f"a batch of {n_inputs} inputs"
    if not isinstance(batch, (list, np.ndarray)) or n_inputs == 0:
        return count
    shown = textwrap.shorten(str(batch[0]), width=60, placeholder="...")
    return f"{count}, the first of them {shown!r}"

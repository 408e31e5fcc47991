"""What models are asked, counted where they are asked: rows and calls, whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from verax.data.inputs import plain_inputs, texts_in

if TYPE_CHECKING:
    from verax.arrays import FloatArray

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

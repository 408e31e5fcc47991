"""How every ``explain`` begins and ends: inputs made plain, what the model is asked counted, errors with a name."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache, wraps
from typing import Any, Protocol, TypeVar

from verax.data.inputs import plain_inputs, plain_targets
from verax.errors import OwnCodeError, VeraxError, reason
from verax.explain.explanation import Cost, Explanation
from verax.models.base import Inputs, Model
from verax.models.meter import Meter, count, metered
from verax.models.tables import encode_rows
from verax.models.text import check_texts
from verax.text import counted

X = TypeVar("X")
# An explainer's method, as its class has it.
Method = Callable[..., Sequence[Explanation]]


class Explains(Protocol):
    """Anything with a method ``explain``, whatever its class."""

    def explain(self, model: Model, inputs: Inputs, targets: Any = None) -> Sequence[Explanation]:
        """An explanation of each input."""


def entered(explain: Method) -> Method:
    """A method ``explain`` that takes inputs and targets as people have them; its explanations know their cost."""

    @wraps(explain)
    def begun(self: X, model: Model, inputs: Inputs, targets: Any = None) -> list[Explanation]:
        return _explain(lambda *given: explain(self, *given), model, inputs, targets)

    return begun


def explanations_of(
    method: Explains, name: str, model: Model, inputs: Inputs, targets: Any = None
) -> list[Explanation]:
    """One explanation of each input by a method on trial; whatever it does wrong is a sentence that names it.

    Args:
        method: has ``explain(model, inputs, targets)``.
        name: what its user calls it.
        model: what is explained.
        inputs: texts, or rows of a table.
        targets: the class to explain for each; the predicted one by default.
    """
    try:
        explanations = _explain(method.explain, model, inputs, targets)
    except VeraxError:
        raise
    except Exception as error:
        raise OwnCodeError(
            f"The explainer {name!r} raised {type(error).__name__} ({reason(error)}) on "
            f"{counted(len(inputs), 'input')}."
        ) from error
    if len(explanations) != len(inputs):
        raise VeraxError(
            f"The explainer {name!r} returned {len(explanations)} explanations for {len(inputs)} inputs; it must "
            "return one for each, in their order."
        )
    for explanation in explanations:
        if not isinstance(explanation, Explanation):
            raise VeraxError(
                f"The explainer {name!r} returned a {type(explanation).__name__}; it must return explanations, such "
                "as verax.Attribution."
            )
    return explanations


def _explain(explain: Method, model: Model, inputs: Inputs, targets: Any) -> list[Explanation]:
    started = time.perf_counter()
    with metered() as meter:
        explanations = list(explain(model, model_inputs(model, inputs), plain_targets(targets)))
    priced = _priced(explanations, meter, time.perf_counter() - started)
    costs = [cost for explanation in priced if (cost := _cost(explanation)) is not None]
    # For an explainer that asks another one: what that one asked is part of what it asked.
    count(sum(cost.rows for cost in costs), sum(cost.calls for cost in costs))
    return priced


def model_inputs(model: Model, inputs: Inputs) -> Inputs:
    """The inputs as this model's explainers are given them: a list of texts, or an array of encoded rows."""
    if model.kind == "text":
        return check_texts(inputs)
    return plain_inputs(inputs) if model.schema is None else encode_rows(inputs, model.schema)


def _priced(explanations: list[Explanation], meter: Meter, seconds: float) -> list[Explanation]:
    """The same with their cost; those that say nothing of it share equally what was counted."""
    silent = [place for place, explanation in enumerate(explanations) if _cost(explanation) == Cost()]
    n = len(explanations)
    for number, place in enumerate(silent):
        rows, rest = divmod(meter.rows, n)
        cost = Cost(rows + (number < rest), -(-meter.calls // n), seconds / n)
        explanations[place] = replace(explanations[place], cost=cost)  # type: ignore[type-var]
    return explanations


def _cost(explanation: Explanation) -> Cost | None:
    cost = getattr(explanation, "cost", None)
    return cost if _knows_cost(type(explanation)) and isinstance(cost, Cost) else None


@cache
def _knows_cost(kind: type[Explanation]) -> bool:
    return is_dataclass(kind) and any(field.name == "cost" for field in fields(kind))

"""How every ``explain`` begins and ends: inputs made plain, what the model is asked counted, errors with a name."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence, Sized
from dataclasses import fields, is_dataclass, replace
from functools import cache, wraps
from typing import Any, Protocol, TypeVar

import numpy as np

from verax.data.inputs import plain_inputs, plain_targets
from verax.errors import OwnCodeError, VeraxError, reason
from verax.explain.explanation import Cost, Explanation
from verax.models.base import Inputs, Model, refuse_number
from verax.models.meter import Meter, count, metered
from verax.models.tables import encode_rows
from verax.models.text import check_texts
from verax.text import counted, input_named

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
        if not getattr(self, "numbers", True):
            refuse_number(
                model,
                f"The method {type(self).__name__}",
                "lime, shap and greedy explain numbers too, or let a function say in which band the number lies",
            )
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
        targets: the class to explain, as number or name: one for each, or one for all; the predicted one by default.
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
        plain = model_inputs(model, inputs)
        wanted = None if targets is None else check_targets(model, plain, targets)
        explanations = list(explain(model, plain, wanted))
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


def check_targets(model: Model, inputs: Inputs, targets: Any) -> list[int | None]:
    """Class numbers from numbers or names, one per input; None where the predicted class is meant.

    Args:
        model: whose classes they are.
        inputs: what is explained.
        targets: one class for each input in whatever holds them, or one for all; None for the predicted ones.
    """
    n = len(inputs)
    if targets is None:
        return [getattr(model, "default_target", None)] * n
    given = plain_targets(targets)
    one_for_all = isinstance(given, str | bytes) or not isinstance(given, Sized)
    if not one_for_all and len(given) != n:
        raise VeraxError(
            f"targets= holds {len(given)} classes for {n} inputs; give one for each of them, or one class for all."
        )
    if not model.class_names and n:
        model.predict_proba(inputs[:1])  # a function's classes are known from its first answer on
    if one_for_all:
        return [target_number(model, given)] * n if n else []
    return [target_number(model, target, number) for number, target in enumerate(given)]


def class_numbers(model: Model, inputs: Inputs, targets: Any = None) -> list[int]:
    """The number of the class to explain for each input: the one given (see `check_targets`), or the predicted one."""
    if targets is None and len(inputs) and getattr(model, "default_target", None) is None:
        predicted: list[int] = np.argmax(model.predict_proba(inputs), axis=1).tolist()
        return predicted
    return [target for target in check_targets(model, inputs, targets) if target is not None]


def target_number(model: Model, target: Any, number: int | None = None) -> int:
    """The number of a class given as number or name; of which input, for the sentence."""
    names = model.class_names
    if isinstance(target, str):
        if target in names:
            return names.index(target)
    else:
        given = target.item() if hasattr(target, "item") else target
        if isinstance(given, int | float) and given in range(len(names)):  # 1.5 and not-a-number are in none
            return int(given)
    known = ", ".join(f"{place} ({name})" for place, name in enumerate(names))
    of_input = "" if number is None else f" of {input_named(number)}"
    raise VeraxError(f"The target {target!r}{of_input} does not exist; the classes are {known}.")


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

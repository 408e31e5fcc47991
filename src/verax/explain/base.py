"""What an explainer is, how explainers are found by name, and how every ``explain`` begins and ends.

Inputs are made plain, what the model is asked is counted, and errors have a name.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence, Sized
from dataclasses import fields, is_dataclass, replace
from functools import cache, wraps
from numbers import Integral
from typing import Any, ClassVar, Literal, Protocol, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from verax.data.inputs import plain_inputs, plain_targets
from verax.errors import OwnCodeError, VeraxError, reason
from verax.explain.explanation import Cost, Explanation
from verax.models.base import Inputs, Meter, Model, count, metered, refuse_number
from verax.models.wrappers import check_texts, encode_rows
from verax.names import SORTS, fits, parse_name
from verax.registry import Registry
from verax.text import counted, input_named

X = TypeVar("X")
# An explainer's method, as its class has it.
Method = Callable[..., Sequence[Explanation]]


class Explains(Protocol):
    """Anything with a method ``explain``, whatever its class."""

    def explain(self, model: Model, inputs: Inputs, targets: Any = None) -> Sequence[Explanation]:
        """An explanation of each input."""


# What says of a method that it does itself all that `explanations_of` does before and after.
ENTERED = "enters"


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
        if model.fields is not None and not getattr(self, "records", True):
            raise VeraxError(
                f"The method {type(self).__name__} explains one text, and this model reads several columns "
                f"({', '.join(model.fields.names)}); lime, shap, greedy and greedy-path explain them all."
            )
        return _explain(lambda *given: explain(self, *given), model, inputs, targets)

    setattr(begun, ENTERED, True)
    return begun


def explanations_of(
    method: Explains, name: str, model: Model, inputs: Inputs, targets: Any = None
) -> list[Explanation]:
    """One explanation of each input by a method; whatever it does wrong is a sentence that names it.

    Args:
        method: has ``explain(model, inputs, targets)``.
        name: what its user calls it.
        model: what is explained.
        inputs: texts, or rows of a table.
        targets: the class to explain, as number or name: one for each, or one for all; the predicted one by default.
    """
    try:
        # A method of Verax's own takes inputs as people have them; somebody else's is given them as models take them.
        if getattr(method.explain, ENTERED, False):
            explanations = list(method.explain(model, inputs, targets))
        else:
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
    if model.fields is not None:
        return model.fields.join(inputs)
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


Target = int | str
Claim = Literal["additive", "selective", "none", "undeclared"]


class Explainer(ABC):
    """An explanation method with its parameters; a subclass is a frozen dataclass that stores nothing else.

    A plain class, or a dataclass that is not frozen, works as well if its attributes are its parameters.

    Attributes:
        claims_faithfulness: whether its scores claim to describe the model (a random control's do not);
            ``check_explainer`` holds it to the claim.
        claim: what its scores claim, in the words of Camburu et al. (2020, section 3). "additive": each feature's
            contribution, on average around the input, so that all of them sum to the output. "selective": which
            features the model used on this very input. "none": nothing.
    """

    claims_faithfulness: ClassVar[bool] = True
    claim: ClassVar[Claim] = "undeclared"

    # Whether it explains models that predict a number, too.
    numbers: ClassVar[bool] = True
    # Whether it explains models of records, which read several texts or texts beside other columns, too.
    records: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        """Lets every ``explain`` begin and end in one way, somebody's own too; see `verax.explain.base`."""
        super().__init_subclass__()
        own = cls.__dict__.get("explain")
        if own is not None:
            type.__setattr__(cls, "explain", entered(own))

    @abstractmethod
    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> Sequence[Explanation]:
        """Explains the model's prediction for each input.

        Args:
            model: what ``verax.as_model`` or ``verax.fit_model`` returned.
            inputs: texts, or rows of a table, in whatever holds them: a list, an array, a Series, a DataFrame, ...
            targets: the class to explain for each input, as its number or name, or one class for all inputs; the
                predicted one by default. A method of one's own is always given numbers, one per input, or None.
        """

    def __repr__(self) -> str:  # a dataclass writes its own
        """The explainer as code."""
        given = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__qualname__}({given})"

    @property
    def key(self) -> str:
        """A hash of the method and its parameters, the same in every process and on every machine."""
        return hashlib.sha256(f"{type(self).__module__}.{self!r}".encode()).hexdigest()


explainers: Registry[type[Explainer]] = Registry("explainer", "verax.explainers", home="verax.explain")


def explainer(name: str, **parameters: Any) -> Explainer:
    """Makes an explainer by name.

    Args:
        name: a name that ``verax list explainers`` shows, or ``package.module:Class`` for one's own; parameters may
            stand behind it, as in "lime(samples=500)".
        parameters: what its class takes, e.g. ``samples=1000, seed=0``.
    """
    if "(" in name:
        written = parse_name(name, "explainer", "lime(samples=500)")
        if twice := sorted(set(written.options) & set(parameters)):
            raise VeraxError(
                f"The parameter {twice[0]!r} of the explainer {name!r} is given twice; give it once."
            )
        name, parameters = written.name, {**written.options, **parameters}
    made_from = explainers.get(name)
    if not callable(made_from):
        raise VeraxError(f"{name!r} is not an explainer class; name a subclass of verax.Explainer.")
    known = parameters_of(made_from)
    for given, value in parameters.items() if ":" not in name else ():
        if given in known and not fits(value, known[given]) and not _is_a_word(made_from, given, value):
            raise VeraxError(
                f"The parameter {given!r} of the explainer {name!r} is {SORTS[type(known[given])]}, not {value!r}."
            )
    try:
        made = made_from(**parameters)
    except TypeError as error:
        unknown = [given for given in parameters if given not in known]
        if not unknown:
            raise VeraxError(f"The explainer {name!r} cannot be made: {error}.") from error
        raise VeraxError(
            f"The explainer {name!r} has no parameter {unknown[0]!r}; it has {', '.join(known) or 'none'}."
        ) from error
    if not hasattr(made, "explain"):
        raise VeraxError(f"{name!r} is not an explainer: it has no method explain(model, inputs, targets).")
    return made


def _is_a_word(made_from: Any, parameter: str, value: object) -> bool:
    """Whether a parameter names this word among its types, as lime's samples do "exact" beside whole numbers."""
    try:
        hint = get_type_hints(made_from).get(parameter)
    except NameError:
        return False
    literals = [part for part in get_args(hint) if get_origin(part) is Literal]
    return any(value in get_args(part) for part in literals)


def parameters_of(made_from: Any) -> dict[str, Any]:
    """An explainer's parameters and their defaults; ``dataclasses.MISSING`` where there is none."""
    if dataclasses.is_dataclass(made_from):
        return {field.name: field.default for field in dataclasses.fields(made_from) if field.init}
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    try:
        signature = inspect.signature(made_from)
    except (TypeError, ValueError):
        return {}
    return {
        name: dataclasses.MISSING if parameter.default is parameter.empty else parameter.default
        for name, parameter in signature.parameters.items()
        if parameter.kind in named
    }


def at_least(value: int | None, lowest: int, name: str) -> None:
    """Refuses a parameter that is too small or no whole number, in a sentence."""
    if value is not None and not isinstance(value, Integral):
        raise VeraxError(f"{name}={value!r} is not a whole number; give {lowest} or more.")
    if value is not None and value < lowest:
        raise VeraxError(f"{name}={value} is too small; give {lowest} or more.")

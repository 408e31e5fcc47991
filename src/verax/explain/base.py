"""What an explainer is, and how explainers are found by name."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal

from verax.errors import VeraxError
from verax.explain.entry import entered
from verax.explain.explanation import Explanation
from verax.models.base import Inputs, Model
from verax.names import SORTS, fits, parse_name
from verax.registry import Registry

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

    def __init_subclass__(cls) -> None:
        """Lets every ``explain`` begin and end in one way, somebody's own too; see `verax.explain.entry`."""
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
        if given in known and not fits(value, known[given]):
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

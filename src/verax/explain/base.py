"""What an explainer is, and how explainers are found by name."""

from __future__ import annotations

import dataclasses
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from verax.errors import VeraxError
from verax.explain.explanation import Explanation
from verax.models.base import Inputs, Model
from verax.registry import Registry

Target = int | str


@dataclasses.dataclass(frozen=True)
class Explainer(ABC):
    """An explanation method with its parameters; a subclass is a frozen dataclass that stores nothing else.

    Attributes:
        claims_faithfulness: whether its scores claim to describe the model (a random control's do not);
            ``check_explainer`` holds it to the claim.
    """

    claims_faithfulness: ClassVar[bool] = True

    @abstractmethod
    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> Sequence[Explanation]:
        """Explains the model's prediction for each input.

        Args:
            model: what ``verax.as_model`` or ``verax.fit_model`` returned.
            inputs: texts, or rows of a table.
            targets: the class to explain for each input, as its number or name; the predicted one by default.
        """

    @property
    def key(self) -> str:
        """A hash of the method and its parameters, the same in every process and on every machine."""
        return hashlib.sha256(f"{type(self).__module__}.{self!r}".encode()).hexdigest()


explainers: Registry[type[Explainer]] = Registry("explainer", "verax.explainers", home="verax.explain")


def explainer(name: str, **parameters: Any) -> Explainer:
    """Makes an explainer by name.

    Args:
        name: a name that ``verax list explainers`` shows, or ``package.module:Class`` for one's own.
        parameters: what its class takes, e.g. ``samples=1000, seed=0``.
    """
    made_from = explainers.get(name)
    if not callable(made_from):
        raise VeraxError(f"{name!r} is not an explainer class; name a subclass of verax.Explainer.")
    try:
        made = made_from(**parameters)
    except TypeError as error:
        known = (
            [item.name for item in dataclasses.fields(made_from)]
            if dataclasses.is_dataclass(made_from)
            else []
        )
        unknown = [given for given in parameters if given not in known]
        if not unknown:
            raise VeraxError(f"The explainer {name!r} cannot be made: {error}.") from error
        raise VeraxError(
            f"The explainer {name!r} has no parameter {unknown[0]!r}; it has {', '.join(known) or 'none'}."
        ) from error
    if not hasattr(made, "explain"):
        raise VeraxError(f"{name!r} is not an explainer: it has no method explain(model, inputs, targets).")
    return made


def at_least(value: int | None, lowest: int, name: str) -> None:
    """Refuses a parameter that is too small, in a sentence."""
    if value is not None and value < lowest:
        raise VeraxError(f"{name}={value} is too small; give {lowest} or more.")

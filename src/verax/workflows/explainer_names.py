"""Explainers as a command line names them: ``lime,shap(samples=500),package.module:Mine``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verax.errors import VeraxError
from verax.explain import Explainer, explainer, explainers
from verax.explain.base import parameters_of
from verax.explain.composite import AS_PUBLISHED, preset
from verax.names import Name, parse_names


@dataclass(frozen=True)
class Named:
    """An explainer and what the user called it.

    Attributes:
        name: the name with the parameters that the user wrote: what to call it.
        explainer: made of it.
        registered: the name alone, and
        parameters: all that it was made with, so that another process can make the same.
        display: how scores are shown: "marks" on the input, or "weights" that add up.
        required: whether it was asked for by name. One of a preset's methods is left out where a model cannot have it.
    """

    name: str
    explainer: Explainer
    registered: str
    parameters: Mapping[str, Any]
    display: str = "marks"
    required: bool = True


def parse_explainers(given: str, samples: int | None = None, seed: int | None = None) -> list[Named]:
    """The explainers in a list separated by commas, with parameters in parentheses as in Python.

    Args:
        given: what the user wrote.
        samples: for every explainer that has this parameter and was not given its own.
        seed: the same.
    """
    common = {name: value for name, value in (("samples", samples), ("seed", seed)) if value is not None}
    named = [_make(each, common) for each in parse_names(given, "explainer", "lime,shap(samples=500)")]
    if not named:
        raise VeraxError(f"No explainer was named; choose from: {', '.join(explainers)}.")
    return named


def preset_explainers(name: str, seed: int | None = None) -> list[Named]:
    """The explainers of a preset, each once, under the names that the preset gives them.

    Args:
        name: of the preset.
        seed: for every explainer that has this parameter.
    """
    made: dict[str, Named] = {}
    for method in preset(name):
        known = parameters_of(explainers.get(method.explainer))
        common = {"seed": seed} if seed is not None and "seed" in known else {}
        parameters = {**common, **method.parameters}
        found = explainer(method.explainer, **parameters)
        named = Named(method.name, found, method.explainer, parameters, method.display, required=False)
        made.setdefault(repr(found), named)
    return list(made.values())


def _make(written: Name, common: dict[str, int]) -> Named:
    registered, settings = AS_PUBLISHED.get(written.name, (written.name, {}))
    known = parameters_of(explainers.get(registered))
    parameters: dict[str, Any] = {key: value for key, value in common.items() if key in known}
    parameters |= {**settings, **written.options}
    return Named(written.label, explainer(registered, **parameters), registered, parameters)

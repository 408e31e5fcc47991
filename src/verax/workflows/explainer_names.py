"""Explainers as a command line names them: ``lime,shap(samples=500),package.module:Mine``."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verax.errors import VeraxError
from verax.explain import Explainer, explainer, explainers

ONE = re.compile(r"\s*(?P<name>[^(),\s]+)\s*(?:\((?P<parameters>[^()]*)\))?")


@dataclass(frozen=True)
class Named:
    """An explainer and what the user called it.

    Attributes:
        name: the name with the parameters that the user wrote: what to call it.
        explainer: made of it.
        registered: the name alone, and
        parameters: all that it was made with, so that another process can make the same.
    """

    name: str
    explainer: Explainer
    registered: str
    parameters: Mapping[str, Any]


def parse_explainers(given: str, samples: int | None = None, seed: int | None = None) -> list[Named]:
    """The explainers in a list separated by commas, with parameters in parentheses as in Python.

    Args:
        given: what the user wrote.
        samples: for every explainer that has this parameter and was not given its own.
        seed: the same.
    """
    common = {name: value for name, value in (("samples", samples), ("seed", seed)) if value is not None}
    named = []
    place = 0
    while place < len(given):
        match = ONE.match(given, place)
        if match is None:
            raise VeraxError(
                f"The explainers {given!r} cannot be read from {given[place:]!r} on; "
                "write them like this: lime,shap(samples=500)"
            )
        named.append(_make(match["name"], match["parameters"] or "", common))
        rest = given[match.end() :].lstrip()
        if rest and not rest.startswith(","):
            raise VeraxError(
                f"The explainers {given!r} need a comma before {rest!r}; write them like this: lime,shap(samples=500)"
            )
        place = len(given) - len(rest[1:].lstrip())
    if not named:
        raise VeraxError(f"No explainer was named; choose from: {', '.join(explainers)}.")
    return named


def _make(name: str, written: str, common: dict[str, int]) -> Named:
    own = _parameters(name, written)
    known = parameters_of(explainers.get(name))
    parameters = {key: value for key, value in common.items() if key in known} | own
    made = explainer(name, **parameters)
    return Named(f"{name}({written.strip()})" if own else name, made, name, parameters)


def parameters_of(made_from: Any) -> dict[str, Any]:
    """An explainer's parameters and their defaults; ``dataclasses.MISSING`` where there is none."""
    if not dataclasses.is_dataclass(made_from):
        return {}
    return {field.name: field.default for field in dataclasses.fields(made_from) if field.init}


def _parameters(name: str, written: str) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for part in written.split(",") if written.strip() else []:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not key.isidentifier() or not equals or not value:
            raise VeraxError(
                f"The parameter {part.strip()!r} of {name!r} cannot be read; write name=value, e.g. {name}(seed=1)."
            )
        parameters[key] = _value(value)
    return parameters


def _value(written: str) -> Any:
    try:
        return ast.literal_eval(written)
    except (ValueError, SyntaxError):
        return written  # a word without quotes, as shells eat them

"""Presets of methods as the conditions of a study."""

from __future__ import annotations

from verax.errors import VeraxError
from verax.explain.composite import preset


def preset_conditions(name: str) -> list[dict[str, object]]:
    """The conditions of a preset, as a spec's tables would have them."""
    try:
        methods = preset(name)
    except VeraxError as error:
        raise ValueError(f"{error} Or give each condition a table of its own: [[conditions]]") from error
    return [
        {
            "name": method.name,
            "explainer": method.explainer,
            "parameters": {
                key: list(value) if isinstance(value, tuple) else value
                for key, value in method.parameters.items()
            },
            "sizes": method.sizes,
            "any_sign": method.any_sign,
            "display": method.display,
        }
        for method in methods
    ]

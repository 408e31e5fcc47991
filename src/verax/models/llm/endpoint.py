"""Models behind an endpoint of the OpenAI interface."""

from __future__ import annotations

from collections.abc import Sequence

from verax.errors import VeraxError
from verax.models.base import Model
from verax.models.llm.prompt import Asked


def adapt_endpoint(name: str, asked: Asked, reference: Sequence[str] | None = None) -> Model:
    """A model behind an endpoint, by its name there."""
    raise VeraxError(f"The endpoint of {name!r} cannot be asked yet ({asked.prompt!r}, {reference is None}).")

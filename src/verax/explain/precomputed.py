"""Explanations made elsewhere, read from JSON lines, so that any tool's can be put on trial."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, explainers
from verax.explain.explanation import Explanation
from verax.explain.perturbed import check_targets, shown_input
from verax.models.base import Inputs, Model

Stored = dict[tuple[str | tuple[str, ...], int | None], Explanation]


@explainers.register("precomputed")
@dataclass(frozen=True)
class Precomputed(Explainer):
    """Looks explanations up by their input in a file of JSON lines.

    Each line is what ``to_dict`` of an explanation gives; by hand, ``{"kind": "attribution", "input": "the text",
    "features": [...], "scores": [...], "target": 1}`` is enough. An input explained for several targets has
    several lines.

    Attributes:
        path: the file.
    """

    path: str

    claims_faithfulness: ClassVar[bool] = False
    claim: ClassVar[Claim] = "undeclared"

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Explanation]:
        """The stored explanation of each input; with a target, the one of that target."""
        wanted = check_targets(model, inputs, targets)
        stored = _read(self.path, _changed(self.path))
        explanations = []
        for number, (given, target) in enumerate(zip(inputs, wanted, strict=True)):
            shown = shown_input(model, given)
            explanation = stored.get((shown, target))
            if explanation is None:
                about = "" if target is None else f" for the target {model.class_names[target]!r}"
                raise VeraxError(
                    f"Input {number} ({str(shown)[:40]!r}) has no explanation{about} in {self.path!r}; add a line "
                    "whose 'input' is exactly this text."
                )
            explanations.append(explanation)
        return explanations


def _changed(path: str) -> float:
    try:
        return Path(path).stat().st_mtime
    except OSError as error:
        raise VeraxError(f"The file {path!r} of explanations cannot be read ({error.strerror}).") from error


@lru_cache(maxsize=8)
def _read(path: str, changed: float) -> Stored:  # noqa: ARG001  (part of the cache's key)
    stored: Stored = {}
    with Path(path).open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                explanation = Explanation.from_dict(json.loads(line))
            except (json.JSONDecodeError, AttributeError) as error:
                raise VeraxError(f"Line {number} of {path!r} is not a JSON object ({error}).") from error
            except VeraxError as error:
                raise VeraxError(f"Line {number} of {path!r}: {error}") from error
            shown = getattr(explanation, "input", "")
            stored.setdefault((shown, None), explanation)
            stored[shown, getattr(explanation, "target", None)] = explanation
    return stored

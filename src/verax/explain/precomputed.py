"""Explanations made elsewhere, read from JSON lines, so that any tool's can be evaluated."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, check_targets, explainers
from verax.explain.explanation import Explanation
from verax.explain.matching import match_all
from verax.explain.perturbed import shown_input
from verax.models.base import Inputs, Model
from verax.text import input_named

Stored = dict[tuple[str | tuple[str, ...], int | None], Explanation]


@explainers.register("precomputed")
@dataclass(frozen=True)
class Precomputed(Explainer):
    """Looks explanations up by their input in a file of JSON lines.

    Each line is what ``to_dict`` of an explanation gives; by hand, ``{"kind": "attribution", "input": "the text",
    "features": [...], "scores": [...], "target": 1}`` is enough. An input explained for several targets has
    several lines. Tokens of other tools are matched to the text's words, see `verax.explain.matching`.

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
        advice = "add a line whose 'input' is exactly this text"
        return match_all(
            looked_up(stored, model, inputs, wanted, repr(self.path), advice), model, repr(self.path)
        )


def looked_up(
    stored: Stored, model: Model, inputs: Inputs, targets: Sequence[int | None], source: str, advice: str
) -> list[Explanation]:
    """The explanation of each input and target; a sentence for the first that has none.

    Args:
        stored: see `stored_by_input`.
        model: what is explained.
        inputs: as its explainers are given them.
        targets: the class for each; None for whichever there is.
        source: where they come from, and
        advice: what to do where one is missing, for the sentence.
    """
    explanations = []
    for number, (given, target) in enumerate(zip(inputs, targets, strict=True)):
        shown = shown_input(model, given)
        explanation = stored.get((shown, target))
        if explanation is None:
            about = "" if target is None else f" for the target {model.class_names[target]!r}"
            named = input_named(number)
            raise VeraxError(
                f"{named[:1].upper()}{named[1:]} ({str(shown)[:40]!r}) has no explanation{about} in {source}; {advice}."
            )
        explanations.append(explanation)
    return explanations


def stored_by_input(explanations: Iterable[Explanation]) -> Stored:
    """Explanations by input and target, and by input alone; of several for the same the first, of a target the last."""
    stored: Stored = {}
    for explanation in explanations:
        shown = getattr(explanation, "input", "")
        stored.setdefault((shown, None), explanation)
        stored[shown, getattr(explanation, "target", None)] = explanation
    return stored


def _changed(path: str) -> float:
    try:
        return Path(path).stat().st_mtime
    except OSError as error:
        raise VeraxError(f"The file {path!r} of explanations cannot be read ({error.strerror}).") from error


@lru_cache(maxsize=8)
def _read(path: str, changed: float) -> Stored:  # noqa: ARG001  (part of the cache's key)
    explanations = []
    with Path(path).open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                explanations.append(Explanation.from_dict(json.loads(line)))
            except (json.JSONDecodeError, AttributeError, RecursionError) as error:
                raise VeraxError(f"Line {number} of {path!r} is not a JSON object ({error}).") from error
            except VeraxError as error:
                raise VeraxError(f"Line {number} of {path!r}: {error}") from error
    return stored_by_input(explanations)

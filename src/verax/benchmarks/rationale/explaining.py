"""The job of one explainer on some inputs of one target: a score for every word, and what it cost."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verax.benchmarks.rationale.rankings import position_scores
from verax.benchmarks.rationale.target import load_texts
from verax.benchmarks.staining.jobs import make_explainer
from verax.codec import encoded
from verax.errors import VeraxError
from verax.models import Model
from verax.run.identity import fetch

# Raised when what a job computes changes.
VERSION = 2
NO_CODE: Mapping[str, str] = {}


@dataclass(frozen=True)
class Explained:
    """Scores of some inputs, in their order.

    Attributes:
        scores: for each input one per position.
        rows: asked of the model for each.
        seconds: per input.
    """

    scores: tuple[tuple[float, ...], ...]
    rows: tuple[int, ...]
    seconds: float


def explain(
    *,
    source: Mapping[str, object],
    data_hash: str,
    max_words: int,
    model: str,
    places: Sequence[int],
    method: Sequence[Any],
    code: Mapping[str, str] = NO_CODE,  # noqa: ARG001  (part of the job's key)
) -> dict[str, object]:
    """Explains some inputs of the test part.

    Args:
        source: the dataset, as arguments of ``load_dataset``.
        data_hash: its content hash, cut, when the run was planned.
        max_words: to which texts are cut.
        model: the target's reference.
        places: of the inputs.
        method: label, name (or reference) and parameters of the explainer.
        code: hashes of its code, if it is somebody's own, and of the files that its parameters name.
    """
    data = load_texts(source, max_words, data_hash)
    target = fetch(model)
    assert isinstance(target, Model)
    texts = [str(data.test.inputs[place]) for place in places]
    _, name, parameters = method
    explainer = make_explainer(name, **parameters)
    started = time.perf_counter()
    explanations = list(explainer.explain(target, texts))
    seconds = (time.perf_counter() - started) / max(1, len(texts))
    if len(explanations) != len(texts):
        raise VeraxError(f"The explainer returned {len(explanations)} explanations for {len(texts)} inputs.")
    scores = tuple(
        tuple(position_scores(explanation, text).tolist())
        for explanation, text in zip(explanations, texts, strict=True)
    )
    rows = tuple(int(getattr(getattr(each, "cost", None), "rows", 0)) for each in explanations)
    return encoded(Explained(scores, rows, seconds))

"""What is worth knowing of a study's models: how good they are, what they learnt from, and how they differ."""

from __future__ import annotations

from collections.abc import Sequence

from verax.models.base import Model
from verax.studies.build.fitting import ModelArguments, accuracy, agreement, model_arguments, training_size
from verax.studies.items.candidates import match_counts
from verax.studies.model.sources import Source
from verax.studies.model.spec import StudySpec
from verax.studies.model.spec_tables import WorseModel


def own_models(spec: StudySpec) -> tuple[str, ...]:
    """The models that conditions have in place of the study's, each once."""
    named = (condition.model for condition in spec.conditions)
    return tuple(dict.fromkeys(name for name in named if name is not None and name != spec.model))


def known_models(source: Source, worse: WorseModel | None, parts: Sequence[str]) -> dict[str, object]:
    """By what it is ("model", "worse", or the conditions whose own it is), what is known of each model.

    Args:
        source: the models.
        worse: how the worse model was made, where there is one.
        parts: the parts of the dataset that items come from.
    """
    spec = source.spec
    known: dict[str, object] = {"model": _known(source, source.model, model_arguments(spec))}
    if source.worse is not None:
        known["worse"] = _known(source, source.worse, model_arguments(spec, worse))
    matched = {part: match_counts(source, part) for part in parts} if source.others else {}
    for name, other in source.others.items():
        conditions = [condition.name for condition in spec.conditions if condition.model == name]
        known["of " + ", ".join(conditions)] = {
            **_known(source, other, model_arguments(spec, own=name)),
            "conditions": conditions,
            "agreement": agreement(source.model, other, source.dataset),
            "matched": {part: list(counts) for part, counts in matched.items()},
        }
    return known


def _known(source: Source, model: Model, arguments: ModelArguments) -> dict[str, object]:
    return {
        "name": arguments["name"],
        "accuracy": accuracy(model, source.dataset),
        "test_inputs": len(source.dataset.test),
        "training_inputs": training_size(source.dataset, arguments),
    }

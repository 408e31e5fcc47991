"""The models of a study's conditions: what is worth knowing of each, and whether the protocol can show them."""

from __future__ import annotations

from collections.abc import Sequence

from verax.errors import VeraxError
from verax.models.base import Model
from verax.studies.build.fitting import (
    ModelArguments,
    accuracy,
    agreement,
    model_arguments,
    model_name,
    training_size,
)
from verax.studies.items.candidates import match_counts
from verax.studies.model.sources import Source
from verax.studies.model.spec import StudySpec
from verax.studies.model.spec_tables import WorseModel
from verax.studies.protocol.contract import Protocol


def own_models(spec: StudySpec) -> tuple[str, ...]:
    """The models that conditions have in place of the study's, each once."""
    named = (condition.model for condition in spec.conditions)
    return tuple(dict.fromkeys(name for name in named if name is not None and name != spec.model))


def check_conditions(spec: StudySpec, protocol: Protocol) -> None:
    """Refuses what conditions ask for and their protocol cannot show."""
    name = spec.protocol["name"]
    if (own := own_models(spec)) and not protocol.own_models:
        raise VeraxError(
            f"A condition has a model of its own ({own[0]}), but the protocol {name!r} shows more of a model than its "
            "answers, so that conditions could not be compared; leave it out."
        )
    weighted = [condition.name for condition in spec.conditions if condition.display == "weights"]
    if weighted and not protocol.shows_weights:
        raise VeraxError(
            f"The condition {weighted[0]!r} is to be displayed as weights, from which people could read the model's "
            f"answer off in the protocol {name!r}; leave display out."
        )


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
        "name": model_name(arguments),
        "accuracy": accuracy(model, source.dataset),
        "test_inputs": len(source.dataset.test),
        "training_inputs": training_size(source.dataset, arguments),
    }

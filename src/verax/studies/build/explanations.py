"""The explanations of a study's items: one job of the run layer for each condition and model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verax.errors import VeraxError
from verax.explain.base import explainer, explainers, explanations_of, parameters_of
from verax.explain.explanation import Explanation
from verax.models.resolve import model_files
from verax.run import Job, Outcome, Progress, Store, execute
from verax.run.jobs import named_files
from verax.studies.build.build_folder import own_code
from verax.studies.build.fitting import (
    ModelArguments,
    data_arguments,
    model_arguments,
    study_dataset,
    study_model,
)
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.spec_tables import Condition, WorseModel
from verax.studies.definition.study import Item
from verax.studies.display.levels import as_attribution, shuffled_scores
from verax.studies.items.pool import take

# Raise it when the same arguments shall give other explanations.
VERSION = 2
# An explanation's place: item, condition, and "model" or "worse".
Key = tuple[str, str, str]


def check_explainers(spec: StudySpec) -> None:
    """Makes every condition's explainer, so that what is misspelt is told before any work."""
    for condition in filter(has_explanations, spec.conditions):
        explainer(condition.explainer, **_parameters(condition, spec.seed))


def explain_all(
    spec: StudySpec,
    items: Sequence[Item],
    worse: WorseModel | None,
    store: Store,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> dict[Key, Explanation]:
    """The explanations of the items in every condition that has some.

    Args:
        spec: conditions, dataset and models.
        items: what is explained: always the predicted class.
        worse: the worse model, if its predictions are explained too.
        store: where what is done is kept until the study is built.
        jobs: processes.
        progress: told of each finished job.
    """
    models = {"model": None} if worse is None else {"model": None, "worse": worse}
    places = [
        (condition, which) for condition in filter(has_explanations, spec.conditions) for which in models
    ]
    work = [_job(spec, items, condition, which, models[which]) for condition, which in places]
    outcomes = execute(work, store, workers=jobs, progress=progress, retry_failed=True)
    explanations: dict[Key, Explanation] = {}
    for (condition, which), outcome in zip(places, outcomes, strict=True):
        for item, explanation in zip(items, _value(outcome, condition), strict=True):
            explanations[item.id, condition.name, which] = Explanation.from_dict(explanation)
    for condition in spec.conditions:
        if condition.like is not None:
            for item in items:
                for which in models:
                    other = as_attribution(explanations[item.id, condition.like, which], condition.like)
                    about = (condition.name, which, str(item.input))
                    explanations[item.id, condition.name, which] = shuffled_scores(other, spec.seed, *about)
    return explanations


def records(explanations: Mapping[Key, Explanation]) -> tuple[dict[str, object], ...]:
    """The explanations as the study's folder keeps them, without the time that they took."""
    return tuple(
        {"item": item, "condition": condition, "model": model, "explanation": plain(explanation)}
        for (item, condition, model), explanation in explanations.items()
    )


def plain(explanation: Explanation) -> dict[str, object]:
    """An explanation as plain data that is the same whenever and wherever it was made."""
    return {name: _timeless(name, value) for name, value in explanation.to_dict().items()}


def _timeless(name: str, value: object) -> object:
    """A value of an explanation without seconds, in the parts of a composite too."""
    if isinstance(value, dict):
        return {
            key: _timeless(key, inner) for key, inner in value.items() if (name, key) != ("cost", "seconds")
        }
    return [_timeless("", inner) for inner in value] if isinstance(value, list | tuple) else value


def explain_items(
    data: Mapping[str, object],
    data_hash: str,
    model: ModelArguments,
    explainer_name: str,
    parameters: Mapping[str, Any],
    places: Sequence[tuple[str, int]],
    targets: Sequence[int],
    files: Mapping[str, str],  # noqa: ARG001  (part of the job's key)
) -> list[dict[str, object]]:
    """What a job does: explains some inputs of a dataset.

    Args:
        data: the arguments of ``load_dataset``.
        data_hash: of the dataset that the places are in.
        model: see ``model_arguments``.
        explainer_name: a registered name, or ``package.module:Class``.
        parameters: of the explainer.
        places: the part and the place of each input.
        targets: the class to explain for each.
        files: the hashes of the files that the arguments name.
    """
    dataset = study_dataset(data)
    if dataset.hash != data_hash:
        raise VeraxError(f"The dataset {dataset.name!r} has changed during the build; start the build again.")
    fitted = study_model(data, model)
    method = explainer(explainer_name, **parameters)
    explained: dict[int, dict[str, object]] = {}
    for part in sorted({part for part, _ in places}):
        numbers = [number for number, (where, _) in enumerate(places) if where == part]
        inputs = take(dataset.parts[part].inputs, [places[number][1] for number in numbers])
        wanted = [targets[number] for number in numbers]
        explanations = explanations_of(method, explainer_name, fitted, inputs, wanted)
        explained |= zip(numbers, map(plain, explanations), strict=True)
    return [explained[number] for number in range(len(places))]


def has_explanations(condition: Condition) -> bool:
    """Whether a condition has explanations of its own: made by its explainer, or imported."""
    return condition.like is None and condition.kind != "none"


def _job(
    spec: StudySpec, items: Sequence[Item], condition: Condition, which: str, worse: WorseModel | None
) -> Job:
    data, model = data_arguments(spec), model_arguments(spec, worse, condition.model)
    parameters = _parameters(condition, spec.seed)
    if condition.kind == "control" and which != "model" and "seed" in parameters:
        # A random explainer does not look at the model: with one seed both models would be shown with the same words.
        parameters["seed"] += 1
    targets = [_target(item, which) for item in items]
    named = [spec.dataset, *model_files(model["name"]), *parameters.values()]
    return Job(
        condition.name if which == "model" else f"{condition.name}, {which} model",
        f"{__name__}:explain_items",
        {
            "data": data,
            "data_hash": study_dataset(data).hash,
            "model": model,
            "explainer_name": condition.explainer,
            "parameters": parameters,
            "places": [[item.part, item.place] for item in items],
            "targets": targets,
            "files": named_files(named) | own_code(spec),
        },
        VERSION,
    )


def _target(item: Item, which: str) -> int:
    if which == "model" or item.worse is None:
        return item.prediction
    return item.worse.index(max(item.worse))


def _parameters(condition: Condition, seed: int) -> dict[str, Any]:
    """What the spec says, and the study's seed for an explainer that takes one."""
    seeded = "seed" in parameters_of(explainers.get(condition.explainer))
    return ({"seed": seed} if seeded else {}) | condition.parameters


def _value(outcome: Outcome, condition: Condition) -> Any:
    if outcome.failed:
        reason = str(outcome.error).removeprefix("VeraxError: ").rstrip(".")
        raise VeraxError(f"The items cannot be explained in the condition {condition.name!r}: {reason}.")
    return outcome.value

"""What the plans of benchmarks share: what is given as objects, where datasets come from, code that jobs depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from verax.benchmarks.spec_files import BenchmarkSpec
from verax.explain import explainers
from verax.models.llm.adapt import ENDPOINT, check_shared_limits
from verax.models.ready import check_model, models, parse_model
from verax.models.resolve import is_saved, model_files
from verax.results.findings import FLOOR
from verax.run.identity import code_behind, is_reference
from verax.run.jobs import named_files

# An explainer: what to call it, its name (or the reference of an object), and its parameters.
Method = tuple[str, str, Mapping[str, Any]]
# Arguments of `load_dataset`, and the part that is explained.
Source = dict[str, object]


@dataclass(frozen=True, eq=False)
class Objects:
    """Datasets and models that are objects, and what explainers refer to.

    Attributes:
        datasets: the reference of each by its name in the spec.
        models: the same.
        things: the objects by their references, those of explainers too.
    """

    datasets: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    things: Mapping[str, object] = field(default_factory=dict)


NO_OBJECTS = Objects()


def sources_of(spec: BenchmarkSpec, objects: Objects) -> dict[str, Source]:
    """What each dataset of a spec is loaded by."""
    return {
        name: {"name_or_path": objects.datasets[name], **spec.explained()}
        if name in objects.datasets
        else spec.source(name)
        for name in spec.datasets
    }


def check_models(spec: BenchmarkSpec, objects: Objects, *, endpoints: bool = False) -> None:
    """Refuses names of models that nobody knows, before anything is fitted; of endpoints where they cannot serve."""
    for name in spec.models:
        if name in objects.models or is_saved(name):
            continue
        if endpoints and name.startswith(ENDPOINT):
            check_shared_limits(name)
            continue
        check_model(name)


def with_floor(methods: Sequence[Method], seed: int) -> list[Method]:
    """The explainers, with the one that chooses at random."""
    if any(label == FLOOR for label, _, _ in methods):
        return list(methods)
    return [*methods, (FLOOR, FLOOR, {"seed": seed})]


def plain_methods(methods: Sequence[Method]) -> list[list[object]]:
    """The explainers as a job's arguments have them."""
    return [[label, name, dict(parameters)] for label, name, parameters in methods]


def model_arguments(name: str, objects: Objects) -> dict[str, object]:
    """What a job is told of a model: its name or reference, and the content of files and code that it stands for."""
    if name in objects.models:
        return {"model": objects.models[name]}
    files = model_code(name)
    return {"model": name, "model_files": files} if files else {"model": name}


def model_code(name: str) -> dict[str, str]:
    """The content of files that a model's name stands for, and its code if it is not Verax's own."""
    files = named_files(model_files(name))
    if is_saved(name) or name.startswith(ENDPOINT):
        return files
    return files | code_behind({name: models.module_of(parse_model(name).name)})


def own_code(methods: Sequence[Method]) -> dict[str, str]:
    """The code of explainers that are named and not Verax's own, and the content of files that parameters name."""
    named = [(label, name, parameters) for label, name, parameters in methods if not is_reference(name)]
    modules = {label: explainers.module_of(name) for label, name, _ in named}
    files = named_files(value for _, _, parameters in named for value in parameters.values())
    return code_behind(modules) | files
